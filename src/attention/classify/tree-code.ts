import path from 'node:path/posix';
import { parse } from 'yaml';
import {
  builtFolder,
  cmakeCommands,
  gradleAsks,
  reachedAnt,
  reachedGradle,
  reachedMaven,
  reachedRake,
  xmlDeeds,
} from './build-files.js';
import type { Arguments } from './command-pattern.js';
import { cut, word, type Spot } from './examination.js';
import { bareScript } from './script-text.js';
import type { Word } from './shell.js';
import type { Unwrapper } from './unwrap.js';

/** Code of the tree that a tool runs besides what it is told: builds, generators, hooks, configuration that is a script. */

/** Files of one folder that are looked through for directives. */
const listedMax = 400;
/** Parts of a build that are read, each by its own file. */
const partsMax = 8;

interface Told {
  program: string;
  given: Arguments;
  words: readonly Word[];
  unwrapper: Unwrapper;
  spot: Spot;
}

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

/** A script of the tree in a language; nothing where there is none. */
async function script(file: string, language: string, told: Told): Promise<boolean> {
  const { unwrapper, spot } = told;
  const text = await unwrapper.exam.read(word(file), spot);
  if (text === undefined) return false;
  await unwrapper.interpreting.known(text, language, within(told, file));
  return true;
}

function within({ unwrapper, spot }: Told, file: string): Spot {
  const place = unwrapper.exam.place(file, spot);
  const own = place.kind === 'inside' ? place.path : spot.file;
  return unwrapper.inner(spot, file, { file: own, input: { kind: 'none' } });
}

async function shell(text: string, told: Told, file: string): Promise<void> {
  const own = within(told, file);
  const scope = told.unwrapper.fresh(own, { name: '' });
  await told.unwrapper.shell(text, { ...own, scope });
}

async function argv(words: readonly string[], told: Told, file: string): Promise<void> {
  const own = within(told, file);
  const scope = told.unwrapper.fresh(own, { name: '' });
  const given = words.map((text) => ({ text, isStatic: !/[$%]\{|[$%]\(|\{\{/.test(text) }));
  await told.unwrapper.run(given, { ...own, scope });
}

function operandsOf({ given }: Told): string[] {
  return given.operands.slice(1).map(({ text }) => text);
}

/** `build.rs` of the package and of its members, what its settings start; `cargo run` runs its programs. */
async function cargo(told: Told): Promise<void> {
  const [first = ''] = operandsOf(told);
  if (
    !/^(?:build|b|check|c|test|t|run|r|bench|clippy|doc|d|rustc|rustdoc|fix|package|install|nextest|llvm-cov|miri|expand)$/.test(
      first,
    )
  )
    return;
  const { exam } = told.unwrapper;
  const manifest = told.given.flags.get('--manifest-path')?.[0] ?? 'Cargo.toml';
  const root = path.dirname(manifest);
  const source = (await exam.read(word(manifest), told.spot)) ?? '';
  const members = /\bmembers\s*=\s*\[([^\]]*)\]/.exec(source)?.[1] ?? '';
  const folders = ['.', ...[...members.matchAll(/"([^"*]+)"/g)].map((each) => each[1] ?? '')];
  for (const folder of folders.slice(0, partsMax)) {
    const own =
      folder === '.'
        ? source
        : await exam.read(word(path.join(root, folder, 'Cargo.toml')), told.spot);
    const build = /^\s*build\s*=\s*"([^"]+)"/m.exec(own ?? '')?.[1] ?? 'build.rs';
    await script(path.join(root, folder, build), 'rust', told);
  }
  for (const file of ['.cargo/config.toml', '.cargo/config']) {
    const settings = await exam.read(word(path.join(root, file)), told.spot);
    for (const [, list = '', one = ''] of (settings ?? '').matchAll(
      /^\s*(?:runner|rustc|rustc-wrapper|rustc-workspace-wrapper|linker)\s*=\s*(?:\[([^\]]*)\]|"([^"]*)")/gm,
    ))
      await shell(list === '' ? one : list.replace(/[",]/g, ' '), told, file);
  }
  if (first === 'run' || first === 'r') {
    const bin = told.given.flags.get('--bin')?.[0];
    const example = told.given.flags.get('--example')?.[0];
    const mains =
      bin !== undefined && bin !== '' ? [`src/bin/${bin}.rs`, `src/bin/${bin}/main.rs`] : [];
    if (example !== undefined && example !== '') mains.push(`examples/${example}.rs`);
    for (const file of mains.length > 0 ? mains : ['src/main.rs'])
      await script(path.join(root, file), 'rust', told);
  }
}

/** `//go:generate` runs as a command; `go run` runs the files that it names. */
async function go(told: Told): Promise<void> {
  const [first = '', ...rest] = operandsOf(told);
  if (first === 'generate') return await goGenerate(rest, told);
  if (first !== 'run') return;
  const files = rest.filter((each) => each.endsWith('.go'));
  for (const file of files.slice(0, partsMax)) await script(file, 'go', told);
  const [target] = rest;
  if (files.length > 0 || target === undefined || !/^\.{0,2}\/|^\.$/.test(target)) return;
  for (const file of (await listed(target, told)).slice(0, partsMax))
    if (file.endsWith('.go') && !file.endsWith('_test.go')) await script(file, 'go', told);
}

async function goGenerate(targets: readonly string[], told: Told): Promise<void> {
  const { exam } = told.unwrapper;
  for (const target of targets.length > 0 ? targets : ['.']) {
    const files = target.endsWith('.go') ? [target] : await listed(target, told);
    if (!(await canList(told)) && !target.endsWith('.go'))
      exam.opaque('hidden-code', told.words, told.spot, 'its directives cannot be read');
    for (const file of files) {
      if (!file.endsWith('.go')) continue;
      const place = exam.place(file, told.spot);
      if (place.kind !== 'inside') continue;
      // Only what has directives is a script of this action.
      const looked = await exam.inspector?.read(place.path);
      if (looked?.includes('//go:generate') !== true) continue;
      const text = (await exam.readInside(place.path)) ?? '';
      await directives(text, file, told);
    }
  }
}

async function directives(text: string, file: string, told: Told): Promise<void> {
  const aliases = new Map<string, string>();
  for (const [, line = ''] of text.matchAll(/^\/\/go:generate[ \t]+([^\n]+)$/gm)) {
    const alias = /^-command\s+(\S+)\s+(.+)$/.exec(line);
    if (alias !== null) {
      aliases.set(alias[1] ?? '', alias[2] ?? '');
      continue;
    }
    const [first = ''] = line.split(/\s/);
    const called = aliases.get(first);
    const own = called === undefined ? line : `${called}${line.slice(first.length)}`;
    const named = own.replace(/\$GO(?:FILE|PACKAGE|LINE|ARCH|OS|ROOT)\b|\$\{GO\w+\}/g, 'x');
    const spot = within(told, file);
    const scope = told.unwrapper.fresh(spot, { name: '' });
    const folder = path.dirname(spot.file);
    scope.cwd = folder === '.' ? '' : folder;
    await told.unwrapper.shell(named, { ...spot, scope });
  }
}

function canList({ unwrapper }: Told): Promise<boolean> {
  return Promise.resolve(unwrapper.exam.inspector?.list !== undefined);
}

/** Files of a folder, of `./...` of all below it. */
async function listed(target: string, { unwrapper, spot }: Told): Promise<string[]> {
  const { exam } = unwrapper;
  const isDeep = target.endsWith('...');
  const folder = target.replace(/\/?\.\.\.$/, '') || '.';
  const place = exam.place(folder, spot);
  if (place.kind !== 'inside' || exam.inspector?.list === undefined) return [];
  const found = await exam.inspector.list(place.path, isDeep, listedMax + 1);
  if (found === undefined || found.length > listedMax) {
    if (found !== undefined)
      exam.opaque('too-many-scripts', target, spot, 'more files than are looked at');
    return [];
  }
  const cwd = spot.scope.cwd ?? '';
  return found.map((each) => path.relative(cwd === '' ? '.' : cwd, each));
}

async function gradle(told: Told): Promise<void> {
  const { given, unwrapper } = told;
  const { exam } = unwrapper;
  const value = (...flags: string[]): string[] =>
    flags.flatMap((flag) => given.flags.get(flag) ?? []);
  const isDry = given.flags.has('-m') || given.flags.has('--dry-run');
  const asked = operandsOf(told);
  const goals = isDry ? [] : asked.map((each) => each.split(':').at(-1) ?? each);
  const folder = value('-p', '--project-dir')[0] ?? '.';
  const settings = await firstOf(
    ['settings.gradle', 'settings.gradle.kts'].map((each) => path.join(folder, each)),
    told,
  );
  const included = [...(settings?.text ?? '').matchAll(/["']:?([\w:-]+)["']/g)].map((each) =>
    (each[1] ?? '').replaceAll(':', '/'),
  );
  const named = asked.flatMap((each) =>
    each.includes(':') ? [each.split(':').slice(0, -1).join('/').replace(/^\//, '')] : [],
  );
  const isWhole = asked.some((each) => !each.includes(':'));
  const folders = [
    ...new Set(
      ['.', 'buildSrc', ...named, ...(isWhole ? included : [])].filter((each) => each !== ''),
    ),
  ];
  const found: { text: string; file: string }[] = settings === undefined ? [] : [settings];
  for (const each of folders.slice(0, partsMax)) {
    const build = await firstOf(
      ['build.gradle', 'build.gradle.kts'].map((name) => path.join(folder, each, name)),
      told,
    );
    if (build !== undefined) found.push(build);
  }
  for (const file of value('-b', '--build-file', '-I', '--init-script', '-c', '--settings-file')) {
    const text = await exam.read(word(file), told.spot);
    if (text === undefined) await unwrapper.opaqueOrLater(word(file), told.words, told.spot);
    else found.push({ text, file });
  }
  const known = new Set<string>();
  for (const { text, file } of found) await gradleFile(text, file, goals, known, told);
  for (const goal of goals) if (!known.has(goal) && !gradleAsks.test(goal)) namedTask(goal, told);
}

async function gradleFile(
  text: string,
  file: string,
  goals: readonly string[],
  known: Set<string>,
  told: Told,
): Promise<void> {
  const { code, bare } = bareScript(text, 'jvm');
  const reached = reachedGradle(code, bare, goals);
  for (const name of reached.names) known.add(name);
  await told.unwrapper.interpreting.known(reached.code, 'jvm', within(told, file));
  for (const [, applied = ''] of reached.code.matchAll(
    /\bapply\s*\(?\s*from\s*[:=]\s*["']([^"'\n]+)["']/g,
  )) {
    const inner = await told.unwrapper.exam.read(word(applied), told.spot);
    if (inner !== undefined && applied !== file)
      await gradleFile(inner, applied, goals, known, told);
  }
}

async function firstOf(
  files: readonly string[],
  { unwrapper, spot }: Told,
): Promise<{ text: string; file: string } | undefined> {
  for (const file of files) {
    const text = await unwrapper.exam.read(word(file), spot);
    if (text !== undefined) return { text, file };
  }
  return undefined;
}

/** `flywayClean` is told by its name where nothing else tells it; what a build makes is cleaned by every build. */
function namedTask(name: string, { unwrapper, words, spot }: Told): void {
  const { exam } = unwrapper;
  const plain = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  if (/^(?:clean|clean-(?:test|build|jar|compile.*|eclipse|idea)|clean:clean)$/.test(plain)) return;
  if (!exam.book.riskyTask.test(plain)) return;
  exam.found({
    ...{ signal: 'Irreversibility', rule: 'named-task', words, spot },
    says: `a task named ${cut(name, 80)}`,
  });
}

async function maven(told: Told): Promise<void> {
  const goals = operandsOf(told);
  const profiles = [...told.given.flags].flatMap(([flag, values]) =>
    /^-P./.test(flag)
      ? [flag.slice(2)]
      : flag === '-P' || flag === '--activate-profiles'
        ? values
        : [],
  );
  const file = ['-f', '--file'].flatMap((flag) => told.given.flags.get(flag) ?? [])[0] ?? 'pom.xml';
  const source = await told.unwrapper.exam.read(word(file), told.spot);
  for (const goal of goals) if (goal.includes(':')) namedTask(goal, told);
  if (source === undefined) return;
  const text = reachedMaven(
    source,
    goals,
    profiles.flatMap((each) => each.split(',')),
  );
  await deeds(
    goals.includes('clean') ? text : text.replace(/<fileset>[\s\S]*?<\/fileset>/g, ''),
    file,
    told,
  );
}

async function ant(told: Told): Promise<void> {
  const file =
    ['-f', '-file', '-buildfile'].flatMap((flag) => told.given.flags.get(flag) ?? [])[0] ??
    'build.xml';
  const source = await told.unwrapper.exam.read(word(file), told.spot);
  if (source === undefined) return;
  const goals = operandsOf(told);
  await deeds(reachedAnt(source, goals), file, told);
}

async function deeds(source: string, file: string, told: Told): Promise<void> {
  const { commands, shells, scripts, removes } = xmlDeeds(source);
  const spot = within(told, file);
  for (const each of commands) await argv(each, told, file);
  for (const each of shells) await shell(each.replace(/\$\(([\w.]+)\)/g, '$UNKNOWN'), told, file);
  for (const each of scripts) await told.unwrapper.interpreting.known(each, 'jvm', spot);
  for (const each of removes) {
    if (builtFolder.test(each) && !/\.\.|[,;]/.test(each)) continue;
    told.unwrapper.exam.found({
      ...{ signal: 'Irreversibility', rule: 'build-deletes', words: [word(cut(each, 200))], spot },
      says: 'a step of a build that deletes or sends',
    });
  }
}

async function dotnet(told: Told): Promise<void> {
  const [first = '', ...rest] = operandsOf(told);
  if (!/^(?:build|test|run|publish|pack|restore|msbuild|clean|watch)$/.test(first)) return;
  const named = rest.filter((each) => /\.\w*proj$|\.targets$/.test(each));
  const project = told.given.flags.get('--project')?.[0];
  const folder =
    project !== undefined && project !== ''
      ? project
      : (rest.find((each) => /^[\w./-]+$/.test(each)) ?? '.');
  const found =
    named.length > 0 ? [] : (await listed(folder, told)).filter((each) => /\.\w*proj$/.test(each));
  for (const file of [...named, ...found, 'Directory.Build.targets', 'Directory.Build.props'].slice(
    0,
    partsMax,
  )) {
    const source = await told.unwrapper.exam.read(word(file), told.spot);
    if (source !== undefined) await deeds(source.replace(/<!--[\s\S]*?-->/g, ''), file, told);
  }
}

async function cmake(told: Told): Promise<void> {
  const { given, unwrapper, spot } = told;
  const value = (...flags: string[]): string[] =>
    flags.flatMap((flag) => given.flags.get(flag) ?? []);
  for (const file of value('-P')) {
    const text = await unwrapper.exam.read(word(file), spot);
    if (text === undefined) await unwrapper.opaqueOrLater(word(file), told.words, spot);
    else await cmakeFile(file, text, [], 0, told);
  }
  if (given.flags.has('-E') || given.flags.has('-P')) return;
  const folder = value('-S')[0] ?? operandsOf(told)[0] ?? '.';
  const isBuild = given.flags.has('--build');
  const file = path.join(isBuild ? '.' : folder, 'CMakeLists.txt');
  const text = await unwrapper.exam.read(word(file), spot);
  if (text !== undefined) await cmakeFile(file, text, value('--target', '-t'), 0, told);
}

async function cmakeFile(
  file: string,
  text: string,
  targets: readonly string[],
  depth: number,
  told: Told,
): Promise<void> {
  if (depth > 3) return;
  for (const words of cmakeCommands(text, targets))
    await argv(
      words.map((each) => (/^\$\{?CMAKE_COMMAND\}$/.test(each) ? 'cmake' : each)),
      told,
      file,
    );
  await told.unwrapper.interpreting.known(text, 'cmake', within(told, file));
  const folder = path.dirname(file);
  for (const [, below, included] of text.matchAll(
    /\badd_subdirectory\s*\(\s*([\w./-]+)|\binclude\s*\(\s*"?([\w./-]+\.cmake)/gi,
  )) {
    const inner =
      below === undefined
        ? path.join(folder, included ?? '')
        : path.join(folder, below, 'CMakeLists.txt');
    const source = await told.unwrapper.exam.read(word(inner), told.spot);
    if (source !== undefined) await cmakeFile(inner, source, targets, depth + 1, told);
  }
}

async function ninja(told: Told): Promise<void> {
  const source = await told.unwrapper.exam.read(
    word(told.given.flags.get('-f')?.[0] ?? 'build.ninja'),
    told.spot,
  );
  for (const [, line = ''] of (source ?? '').matchAll(/^\s+command\s*=\s*(.+)$/gm)) {
    if (!told.unwrapper.exam.mayGoOn()) return;
    await shell(line.replace(/\$(?:in|out)\b/g, 'x'), told, 'build.ninja');
  }
}

async function rake(told: Told): Promise<void> {
  const found = await firstOf(['Rakefile', 'rakefile', 'Rakefile.rb'], told);
  if (found === undefined) return;
  const reached = reachedRake(
    found.text,
    operandsOf(told).filter((each) => !each.includes('=')),
  );
  await told.unwrapper.interpreting.known(reached ?? found.text, 'ruby', within(told, found.file));
  for (const [, text = ''] of (reached ?? '').matchAll(/\bsh\s*\(?\s*["']([^"'\n]+)["']/g))
    await shell(text, told, found.file);
}

/** Scripts of composer.json: those that are named, and those that come along with what it does. */
async function composer(told: Told): Promise<void> {
  const [first = '', second] = operandsOf(told);
  const name =
    first === 'run' || first === 'run-script' || first === 'exec' ? (second ?? '') : first;
  const source = await told.unwrapper.exam.read(word('composer.json'), told.spot);
  if (source === undefined && first.startsWith('run')) namedTask(name, told);
  if (source === undefined || told.given.flags.has('--no-scripts')) return;
  const lists = objectAt(jsonOf(source), 'scripts');
  if (first.startsWith('run') && !Object.hasOwn(lists, name)) namedTask(name, told);
  const events = [
    'install',
    'update',
    'require',
    'remove',
    'dump-autoload',
    'create-project',
  ].includes(name)
    ? Object.keys(lists).filter((each) => /^(?:pre|post)-/.test(each))
    : [`pre-${name}-cmd`, name, `post-${name}-cmd`];
  const done = new Set<string>();
  const queue = events;
  for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
    if (done.has(event) || done.size >= listedMax) continue;
    done.add(event);
    for (const line of [lists[event]].flat()) {
      if (typeof line !== 'string') continue;
      const called = /^@(?!php|composer|putenv)([\w:-]+)/.exec(line)?.[1];
      if (called !== undefined) queue.push(called);
      else if (!/^[\w\\]+::\w+$|^@putenv/.test(line))
        await shell(line.replace(/^@/, ''), told, 'composer.json');
    }
  }
}

async function taskfile(told: Told): Promise<void> {
  const found = await firstOf(
    ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml', 'Taskfile.dist.yml'],
    told,
  );
  if (found === undefined || told.given.flags.has('--dry') || told.given.flags.has('-n')) return;
  const content = yamlOf(found.text);
  const tasks = objectAt(content, 'tasks');
  const vars = objectAt(content, 'vars');
  const goals = operandsOf(told).filter((each) => !each.includes('='));
  const queue = goals.length > 0 ? goals : ['default'];
  const done = new Set<string>();
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    if (done.has(name) || done.size >= listedMax) continue;
    done.add(name);
    const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
    const body = typeof task === 'string' || Array.isArray(task) ? { cmds: task } : record(task);
    for (const need of [body['deps']].flat())
      queue.push(typeof need === 'string' ? need : textAt(need, 'task'));
    for (const step of [body['cmds'], body['cmd'], body['status'], body['preconditions']].flat()) {
      const own = typeof step === 'string' ? { cmd: step } : record(step);
      if (typeof own['task'] === 'string') queue.push(own['task']);
      const line = own['cmd'] ?? own['defer'] ?? own['sh'];
      if (typeof line === 'string')
        await shell(templated(line, { ...vars, ...objectAt(body, 'vars') }), told, found.file);
    }
  }
}

function templated(line: string, vars: Record<string, unknown>): string {
  return line.replace(/\{\{\s*\.(\w+)\s*\}\}|\{\{[^{}]*\}\}/g, (_, name?: string) => {
    const value = name === undefined ? undefined : vars[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '$UNKNOWN';
  });
}

async function tox(told: Told): Promise<void> {
  const found = await firstOf(['tox.ini'], told);
  if (found === undefined) return;
  const wanted = (told.given.flags.get('-e') ?? []).flatMap((each) => each.split(','));
  for (const [, name = '', body = ''] of found.text.matchAll(
    /^\[testenv(?::([^\]]+))?\]\n((?:(?!^\[)[^\n]*\n?)*)/gm,
  )) {
    if (name !== '' && wanted.length > 0 && !wanted.includes(name)) continue;
    for (const [, lines = ''] of body.matchAll(
      /^commands(?:_pre|_post)?\s*=([^\n]*\n?(?:[ \t]+[^\n]*\n?)*)/gm,
    ))
      for (const line of lines.split('\n').map((each) => each.trim().replace(/^-\s*/, '')))
        if (line !== '' && !line.startsWith('#'))
          await shell(
            line.replace(/\{posargs(?::([^}]*))?\}/g, '$1').replace(/\{[^}]*\}/g, '$UNKNOWN'),
            told,
            found.file,
          );
  }
}

const hooksOf: Record<string, string[]> = {
  commit: ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit'],
  merge: ['pre-merge-commit', 'post-merge'],
  pull: ['post-merge'],
  checkout: ['post-checkout'],
  switch: ['post-checkout'],
  am: ['applypatch-msg', 'pre-applypatch', 'post-applypatch'],
};

/** Hooks that lie in the tree run with what git does. */
async function hooks(told: Told): Promise<void> {
  const [first = ''] = operandsOf(told);
  const names = Object.hasOwn(hooksOf, first) ? (hooksOf[first] ?? []) : [];
  for (const name of names)
    for (const file of [`.husky/${name}`, `.githooks/${name}`, `.git/hooks/${name}`]) {
      const text = await told.unwrapper.exam.read(word(file), told.spot);
      if (text !== undefined)
        await told.unwrapper.interpreting.text(text, [], undefined, within(told, file));
    }
}

/** `pip install .` runs `setup.py`, or the build that lies in the tree. */
async function python(told: Told): Promise<void> {
  const operands = operandsOf(told);
  const [first = '', second] = operands;
  const isBuild = told.program === 'build' || (told.program === 'uv' && first === 'build');
  const isInstall =
    ['install', 'wheel', 'sync'].includes(first) || (first === 'pip' && second === 'install');
  const editable = ['-e', '--editable'].flatMap((flag) => told.given.flags.get(flag) ?? []);
  const isEditable = told.given.flags.has('-e') || told.given.flags.has('--editable');
  const named = [...operands.slice(1), ...editable].filter((each) =>
    /^\.{1,2}(?:\/|\[|$)|^\.\//.test(each),
  );
  if (!isBuild && !(isInstall && (named.length > 0 || isEditable || first === 'sync'))) return;
  for (const each of named.length > 0 ? named : ['.']) {
    const folder = each.replace(/\[.*$/, '') || '.';
    await script(path.join(folder, 'setup.py'), 'python', told);
    const project = await told.unwrapper.exam.read(
      word(path.join(folder, 'pyproject.toml')),
      told.spot,
    );
    const backend = /^\s*backend-path\s*=\s*\[\s*"([^"]+)"/m.exec(project ?? '')?.[1];
    const name = /^\s*build-backend\s*=\s*"([^":]+)/m.exec(project ?? '')?.[1];
    if (backend !== undefined && name !== undefined)
      await script(path.join(folder, backend, `${name.replaceAll('.', '/')}.py`), 'python', told);
  }
}

/** Programs that a plan asks: `data "external"`. */
async function terraform(told: Told): Promise<void> {
  const [first = ''] = operandsOf(told);
  if (!/^(?:plan|apply|refresh|console|test|destroy)$/.test(first)) return;
  const folder = told.given.flags.get('-chdir')?.[0] ?? '.';
  for (const file of (await listed(folder, told))
    .filter((each) => each.endsWith('.tf'))
    .slice(0, partsMax)) {
    const source = (await told.unwrapper.exam.read(word(file), told.spot)) ?? '';
    for (const [, list = ''] of source.matchAll(
      /\bdata\s+"external"[^{]{0,80}\{[^}]{0,400}?\bprogram\s*=\s*\[([^\]]*)\]/g,
    )) {
      const words = [...list.matchAll(/"((?:\\.|[^"\\])*)"/g)].map((each) =>
        (each[1] ?? '').replace(/\$\{path\.(?:module|root|cwd)\}/g, folder),
      );
      if (words.length > 0) await argv(words, told, file);
    }
  }
}

/** `mix.exs` runs with every task; its aliases are commands of mix, of a shell, or functions. */
async function mix(told: Told): Promise<void> {
  const source = await told.unwrapper.exam.read(word('mix.exs'), told.spot);
  const [first = ''] = operandsOf(told);
  if (source === undefined) return;
  await told.unwrapper.interpreting.known(source, 'elixir', within(told, 'mix.exs'));
  const key = first.replace(/[^\w.]/g, '').replaceAll('.', '\\.');
  const list = new RegExp(`(?:^|[\\s,[])"?${key}"?:\\s*(?:\\[([^\\]]*)\\]|("[^"]*"))`, 'm').exec(
    source,
  );
  for (const [, line = ''] of (list?.[1] ?? list?.[2] ?? '').matchAll(/"([^"]*)"/g))
    if (line.split(' ')[0] !== first)
      await shell(line.startsWith('cmd ') ? line.slice(4) : `mix ${line}`, told, 'mix.exs');
}

/** A compose file that opens the machine to what it starts. */
async function compose(told: Told): Promise<void> {
  const operands = operandsOf(told);
  const words = told.program === 'docker' ? operands.slice(1) : operands;
  if (
    (told.program === 'docker' && operands[0] !== 'compose') ||
    !['up', 'run', 'create', 'start'].includes(words[0] ?? '')
  )
    return;
  const named = ['-f', '--file']
    .flatMap((flag) => told.given.flags.get(flag) ?? [])
    .filter((each) => each !== '');
  const files =
    named.length > 0
      ? named
      : ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'];
  for (const file of files) {
    const source = await told.unwrapper.exam.read(word(file), told.spot);
    const line =
      source === undefined ? undefined : opensMachine.exec(source.replace(/^\s*#.*$/gm, ''))?.[0];
    if (line === undefined) continue;
    const spot = within(told, file);
    told.unwrapper.exam.found({
      ...{
        signal: 'SecurityBoundary',
        rule: 'container-escape',
        words: [word(cut(line.trim(), 200))],
        spot,
      },
      says: 'a container that reaches the machine',
    });
  }
}

const opensMachine =
  /^\s*privileged:\s*true|docker\.sock|^\s*-\s*["']?(?:\/|~|\$\{?HOME\}?|\/(?:etc|root|home|var|boot|proc|sys)[^:\n]*):\/|^\s*(?:pid|ipc|network_mode|userns_mode):\s*["']?host|^\s*cap_add:|^\s*source:\s*["']?\/["']?\s*$/m;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function yamlOf(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function objectAt(value: unknown, key: string): Record<string, unknown> {
  return record(record(value)[key]);
}

function textAt(value: unknown, key: string): string {
  const found = record(value)[key];
  return typeof found === 'string' ? found : '';
}
