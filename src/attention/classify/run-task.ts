import { readArguments } from './command-pattern.js';
import { word, type Spot } from './examination.js';
import { anyOf } from './rulebook.js';
import type { Word } from './shell.js';
import { madeBy, makeRecipes, packageMakes, packageScripts } from './tasks.js';
import type { Unwrapper } from './unwrap.js';

/** Names of scripts and targets: what they start stands in a file of the tree. */

const packagers = new Set(['npm', 'pnpm', 'yarn', 'bun']);
const makers = new Set(['make', 'gmake', 'just']);
/** Tools that read names from files that are not read here. */
const otherRunners = new Set([
  'task',
  'rake',
  'mage',
  'invoke',
  'inv',
  'npm-run-all',
  'run-s',
  'run-p',
  'grunt',
  'gulp',
  'ninja-task',
]);
/** These run scripts of the tree along with what they do. */
const lifecycle: Record<string, string[]> = {
  install: ['preinstall', 'install', 'postinstall', 'prepare'],
  ci: ['preinstall', 'install', 'postinstall', 'prepare'],
  i: ['preinstall', 'install', 'postinstall', 'prepare'],
  pack: ['prepack', 'prepare', 'postpack'],
  publish: ['prepublishOnly', 'prepack', 'prepare', 'postpublish'],
  version: ['preversion', 'version', 'postversion'],
};
const shorthands: Record<string, string> = {
  t: 'test',
  tst: 'test',
  start: 'start',
  stop: 'stop',
  restart: 'restart',
  test: 'test',
};

/** True: it is judged by what it starts. */
export async function runTask(
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<boolean> {
  const program = unwrapper.nameOf(words);
  if (packagers.has(program)) return await packageTask(program, words, unwrapper, spot);
  if (makers.has(program)) return await make(program, words, unwrapper, spot);
  if (!otherRunners.has(program)) return false;
  const { operands } = unwrapper.exam.book.read(words);
  const known = await taskNames(program, unwrapper, spot);
  for (const name of operands.slice(1))
    if (known?.test(name.text) !== true) await unread(name, words, unwrapper, spot);
  return true;
}

/** Names that the file of a runner defines: what they do is read there. Undefined: there is no such file. */
async function taskNames(
  program: string,
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<RegExp | undefined> {
  const wanted = Object.hasOwn(taskFiles, program) ? taskFiles[program] : undefined;
  for (const file of wanted?.files ?? []) {
    const source = await unwrapper.exam.read(word(file), spot);
    if (source === undefined || wanted === undefined) continue;
    const names = [...source.matchAll(wanted.name)].map((each) => anyOf([each[1] ?? '']).source);
    return new RegExp(names.slice(0, namesMax).join('|') || '(?!)');
  }
  return undefined;
}

const namesMax = 500;
const taskFiles: Record<string, { files: string[]; name: RegExp }> = {
  task: {
    files: ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml', 'Taskfile.dist.yml'],
    name: /^ {2,4}["']?([\w:-]+)["']?:/gm,
  },
  rake: {
    files: ['Rakefile', 'rakefile', 'Rakefile.rb'],
    name: /^\s*(?:multi)?task\s*\(?\s*:?["']?([\w:-]+)/gm,
  },
  invoke: { files: ['tasks.py'], name: /^def\s+(\w+)/gm },
  inv: { files: ['tasks.py'], name: /^def\s+(\w+)/gm },
  gulp: {
    files: ['gulpfile.js', 'gulpfile.mjs', 'gulpfile.ts'],
    name: /(?:task\s*\(\s*["']|exports\.|export\s+(?:const|function|async\s+function)\s+)(\w[\w:-]*)/g,
  },
  grunt: { files: ['Gruntfile.js', 'gruntfile.js'], name: /registerTask\s*\(\s*["']([\w:-]+)/g },
};

async function packageTask(
  program: string,
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<boolean> {
  const { exam } = unwrapper;
  const given = exam.book.read(words);
  const operands = given.operands.slice(1);
  const [given0, second] = operands;
  // `yarn` alone installs.
  const first = given0 ?? (program === 'yarn' && words.length === 1 ? word('install') : undefined);
  if (first === undefined) return false;
  if (['exec', 'x', 'dlx'].includes(first.text) && program !== 'bun') {
    // Behind options of the whole: `pnpm -r exec tsc` starts tsc.
    const inner = words
      .slice(words.indexOf(first) + 1)
      .filter(({ text }, at) => at > 0 || text !== '--');
    if (inner.length > 0 && !/^-/.test(inner[0]?.text ?? '')) {
      await unwrapper.run(inner, unwrapper.inner(spot, `${program} ${first.text}`));
      return true;
    }
  }
  const isRun = ['run', 'run-script', 'rum', 'urn'].includes(first.text);
  const name =
    given0 === undefined ? undefined : isRun ? second : shorthand(program, first, words, unwrapper);
  const folder = ['--prefix', '-C', '--dir', '--cwd']
    .flatMap((flag) => given.flags.get(flag) ?? [])
    .at(-1);
  const isElsewhere = [
    '-w',
    '--workspace',
    '-F',
    '--filter',
    '--workspaces',
    '-r',
    '--recursive',
    '-ws',
  ].some((flag) => given.flags.has(flag));
  const manifest = word(folder === undefined ? 'package.json' : `${folder}/package.json`);
  if (name === undefined) {
    for (const each of Object.hasOwn(lifecycle, first.text) ? (lifecycle[first.text] ?? []) : [])
      if (operands.length <= 1 && !given.flags.has('--ignore-scripts'))
        await scripts(each, [], manifest, unwrapper, spot);
    return isRun;
  }
  if (!name.isStatic) {
    exam.opaque('hidden-script', words, spot, 'its script is told only when it runs');
    return true;
  }
  const at = words.indexOf(name);
  const rest = words.slice(at + 1).filter(({ text }) => text !== '--');
  const isRead = !isElsewhere && (await scripts(name.text, rest, manifest, unwrapper, spot));
  if (!isRead) await unread(name, words, unwrapper, spot);
  return true;
}

/** `yarn lint` is `yarn run lint`, unless yarn itself has that word. */
function shorthand(
  program: string,
  first: Word,
  words: readonly Word[],
  unwrapper: Unwrapper,
): Word | undefined {
  const full = Object.hasOwn(shorthands, first.text) ? shorthands[first.text] : undefined;
  if (full !== undefined && !(program === 'bun' && full === 'test'))
    return full === first.text ? first : word(full);
  if (program === 'npm') return undefined;
  // No words of these packagers: scripts, whatever they are called.
  if (['build', 'lint', 'check', 'dev', 'format'].includes(first.text)) return first;
  const given = unwrapper.exam.book.read(words);
  if (unwrapper.exam.book.matches(given).length > 0 || unwrapper.exam.book.isHarmless(given))
    return undefined;
  return first;
}

async function scripts(
  name: string,
  rest: readonly Word[],
  manifest: Word,
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<boolean> {
  const source = await unwrapper.exam.read(manifest, spot);
  const texts = source === undefined ? undefined : packageScripts(source, name);
  if (texts === undefined) return false;
  const place = unwrapper.exam.place(manifest.text, spot);
  const file = place.kind === 'inside' ? place.path : spot.file;
  for (const text of texts) {
    const scope = unwrapper.fresh(spot, { name: '', positionals: [...rest] });
    if (file.includes('/')) scope.cwd = file.slice(0, file.lastIndexOf('/'));
    const makes = packageMakes(source ?? '');
    const own = unwrapper.inner(spot, `run ${name}`, { file, scope, makes });
    await unwrapper.shell(rest.length > 0 ? `${text} "$@"` : text, own);
  }
  return true;
}

async function make(
  program: string,
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<boolean> {
  const { exam } = unwrapper;
  const given = readArguments(words, exam.book.grammarOf('make'));
  if (
    ['--version', '-v', '--help', '-n', '--dry-run', '--just-print', '-q', '--list', '-l'].some(
      (flag) => given.flags.has(flag) && !(flag === '-l' && program !== 'just'),
    )
  )
    return true;
  const variables = new Map<string, string>();
  const goals: Word[] = [];
  for (const operand of given.operands.slice(1)) {
    const setting = /^(\w+)[:?+]?=(.*)$/s.exec(operand.text);
    if (setting === null) goals.push(operand);
    else variables.set(setting[1] ?? '', setting[2] ?? '');
  }
  const scope = spot.scope.fork();
  for (const folder of ['-C', '--directory'].flatMap((flag) => given.flags.get(flag) ?? [])) {
    const place = exam.place(folder, { ...spot, scope });
    scope.cwd = place.kind === 'unknown' ? undefined : place.path;
  }
  for (const text of given.flags.get('--eval') ?? []) exam.opaque('hidden-code', text, spot);
  const own = unwrapper.inner(
    spot,
    `${program} ${goals.map(({ text }) => text).join(' ')}`.trim(),
    { scope },
  );
  const named = ['-f', '--file', '--makefile'].flatMap((flag) => given.flags.get(flag) ?? []);
  const files =
    named.length > 0
      ? named
      : program === 'just'
        ? ['justfile', 'Justfile', '.justfile']
        : ['GNUmakefile', 'makefile', 'Makefile'];
  if (goals.some(({ isStatic }) => !isStatic)) {
    exam.opaque('hidden-script', words, spot, 'its target is told only when it runs');
    return true;
  }
  for (const file of files) {
    const source = await exam.read(word(file), own);
    if (source === undefined) continue;
    await recipes(source, file, goals, variables, words, unwrapper, own);
    return true;
  }
  for (const goal of goals.length > 0 ? goals : [word('all')])
    await unread(goal, words, unwrapper, own);
  return true;
}

async function recipes(
  source: string,
  file: string,
  goals: readonly Word[],
  variables: ReadonlyMap<string, string>,
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<void> {
  const place = unwrapper.exam.place(file, spot);
  const own = {
    ...spot,
    file: place.kind === 'inside' ? place.path : spot.file,
    makes: madeBy(source, variables),
  };
  const { lines, missing } = makeRecipes(
    source,
    goals.map(({ text }) => text),
    variables,
  );
  for (const line of lines) {
    if (!unwrapper.exam.mayGoOn()) return;
    await unwrapper.shell(line, { ...own, scope: unwrapper.fresh(own, { name: '' }) });
  }
  for (const name of missing) await unread(word(name), words, unwrapper, spot);
}

/** Judged by its name where its text cannot be read: the usual names of checks and builds pass (skip conditions). */
async function unread(
  name: Word,
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<void> {
  const { exam } = unwrapper;
  if (exam.book.riskyTask.test(name.text) && !exam.book.harmlessTask.test(name.text)) {
    if (exam.inspector === undefined && !spot.remote)
      return exam.step(`${name.text} is read where it can be`);
    return exam.found({
      signal: 'Irreversibility',
      rule: 'named-task',
      words,
      spot,
      says: `a task named ${name.text} that cannot be read`,
    });
  }
  if (exam.book.harmlessTask.test(name.text) && name.isStatic) return;
  await unwrapper.opaqueOrLater(word(`./${name.text}`), words, spot);
}
