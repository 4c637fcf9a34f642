import path from 'node:path';
import { holds, notChecked, notFound, wrong, type Verdict } from './claim.js';
import type { Looking } from './looking.js';
import type { Tree } from './tree.js';
import { lineOf, nearest } from './words.js';

/** Fewer flags are no command line. */
const flagsMin = 3;

/** Do the sources spell the flag? Wrong only for a program of the package. */
export async function lookUpOption(
  { tree }: Looking,
  flag: string,
  command: string,
): Promise<Verdict> {
  const words = await tree.words();
  const known = [flag, flag.replace(/^--no-/, '--')].find((each) => words.flags.has(each));
  if (known !== undefined)
    return holds(`The sources have ${known}.`, await evidenceOfFlag(tree, known), 'medium');
  // Many readers of a command line are given the name without its dashes.
  const bare = flag.slice(2);
  const isOwn = await isOwnProgram(tree, command);
  const mayBeOwn = isOwn || (command === '' && (await tree.packages()).length > 0);
  if (mayBeOwn && words.hasText(bare)) return holds(`The sources have '${bare}'.`, [], 'medium');
  const reason = `No source has ${flag}.`;
  if (!words.isComplete || words.flags.size < flagsMin) return notChecked(reason);
  if (!isOwn || namesOf(bare).some((each) => words.has(each)))
    return notFound(`${reason} It may be of another program.`);
  const near = nearest(flag, words.flags.keys());
  if (near === undefined) return notFound(reason);
  return wrong(reason, `It is probably ${near}.`, await evidenceOfFlag(tree, near), 'medium');
}

/** As a variable or a field, from which a flag can be made. */
function namesOf(bare: string): string[] {
  const camel = bare.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return [camel, bare.replaceAll('-', '_')];
}

async function evidenceOfFlag(tree: Tree, flag: string): Promise<Verdict['evidence']> {
  const file = (await tree.words()).flags.get(flag) ?? '';
  const text = (await tree.text(file)) ?? '';
  return tree.evidence(file, lineOf(text, text.indexOf(flag)), undefined, flag);
}

async function isOwnProgram(tree: Tree, command: string): Promise<boolean> {
  const name = path.posix.basename(command);
  return (await tree.packages()).some(({ programs }) => programs.includes(name));
}

/** Is it a script of the package, a target of the makefile, or a sub-command of the package's own program? */
export function lookUpCommand(looking: Looking, runner: string, name: string): Promise<Verdict> {
  if (runner === 'npm run') return lookUpScript(looking, name);
  return runner === 'make' ? lookUpTarget(looking, name) : lookUpSubcommand(looking, runner, name);
}

async function lookUpScript({ tree }: Looking, name: string): Promise<Verdict> {
  const manifest = await tree.manifest();
  const scripts = manifest?.json['scripts'];
  if (manifest === undefined || typeof scripts !== 'object' || scripts === null)
    return notChecked('There is no package.json with scripts.');
  const { file, text } = manifest;
  const names = Object.keys(scripts);
  const isThere = names.includes(name);
  const at = text.indexOf(`"${isThere ? name : 'scripts'}"`);
  const evidence = await tree.evidence(file, lineOf(text, at));
  if (isThere) return holds(`${file} has the script.`, evidence);
  const near = nearest(name, names);
  return wrong(
    `${file} has no script ${name}.`,
    near === undefined ? `It has ${names.slice(0, 8).join(', ')}.` : `It is probably ${near}.`,
    evidence,
  );
}

/** A makefile that includes others, or makes targets by pattern, may have any target. */
const opaque = /^\s*-?s?include\s|^[^\s#:]*%[^:]*:|\$\(eval|^\$\(/m;

async function lookUpTarget({ tree }: Looking, name: string): Promise<Verdict> {
  const file = ['Makefile', 'makefile', 'GNUmakefile'].find((each) => tree.paths.has(each));
  const text = file === undefined ? undefined : await tree.text(file);
  if (file === undefined || text === undefined) return notChecked('The root has no makefile.');
  const targets = new Map<string, number>();
  for (const match of text.matchAll(/^([\w./ -]{1,200}?)\s*::?(?!=)/gm))
    for (const each of (match[1] ?? '').split(/\s+/)) targets.set(each, lineOf(text, match.index));
  const line = targets.get(name);
  if (line !== undefined) return holds(`${file} has the target.`, await tree.evidence(file, line));
  if (opaque.test(text)) return notFound(`${file} has no such target of its own.`);
  const near = nearest(name, targets.keys());
  return wrong(
    `${file} has no target ${name}.`,
    near === undefined
      ? `It has ${[...targets.keys()].slice(0, 8).join(', ')}.`
      : `It is probably ${near}.`,
    await tree.evidence(file, 1),
  );
}

async function lookUpSubcommand(
  { tree }: Looking,
  program: string,
  name: string,
): Promise<Verdict> {
  if (!(await isOwnProgram(tree, program)))
    return notChecked(`No manifest of the tree says that ${program} is a program of it.`);
  const words = await tree.words();
  if (words.hasText(name)) return holds(`The sources have '${name}'.`, [], 'medium');
  // Its words may be arguments as well as sub-commands.
  return notFound(`No string of the sources is '${name}'.`);
}
