import type { Arguments } from './command-pattern.js';
import { type Spot } from './examination.js';
import type { Word } from './shell.js';
import { script, type Told } from './tree-told.js';
import type { Unwrapper } from './unwrap.js';
import { cargo, cmake, go, ninja } from './tree-compiled.js';
import { compose, hooks, terraform } from './tree-platform.js';
import { ant, dotnet, gradle, maven } from './tree-projects.js';
import { composer, mix, python, rake, taskfile, tox } from './tree-tasks.js';

/** Code of the tree that a tool runs besides what it is told: builds, generators, hooks, configuration that is a script. */

/** Finds what stands in the tree; what a tool does itself is judged elsewhere. */
export async function treeCode(
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<void> {
  const { exam } = unwrapper;
  if (exam.inspector === undefined || spot.remote) return;
  const given = exam.book.read(words);
  const program = given.operands[0]?.text ?? '';
  const told: Told = { program, given, words, unwrapper, spot };
  const reader = Object.hasOwn(readers, program) ? readers[program] : undefined;
  const loads = exam.book.loadsOf(given);
  if ((reader === undefined && loads.length === 0) || asksOnly(given)) return;
  for (const { files, flags, language } of loads)
    for (const file of [...files, ...(flags ?? []).flatMap((flag) => valuesOf(flag, told))])
      await script(file, language, told);
  await reader?.(told);
}

/** Whether or not the tables say that the flag has a value. */
function valuesOf(flag: string, { given, words }: Told): string[] {
  const next = words[words.findIndex(({ text }) => text === flag) + 1];
  const known = (given.flags.get(flag) ?? []).filter((each) => each !== '');
  return known.length > 0 || !given.flags.has(flag) || next === undefined ? known : [next.text];
}

function asksOnly({ flags, operands }: Arguments): boolean {
  return (
    operands.length === 1 && ['--version', '--help', '-V', '-h'].some((flag) => flags.has(flag))
  );
}

const readers: Record<string, (told: Told) => Promise<void>> = {
  ...{ cargo, go, gradle, gradlew: gradle, mvn: maven, mvnw: maven, ant, cmake, rake, composer },
  ...{
    task: taskfile,
    tox,
    git: hooks,
    dotnet,
    pip: python,
    pip3: python,
    uv: python,
    build: python,
  },
  ...{
    terraform,
    tofu: terraform,
    mix,
    docker: compose,
    'docker-compose': compose,
    ninja,
    nox: quiet,
  },
};

async function quiet(): Promise<void> {
  // Read by the table of the policy.
}
