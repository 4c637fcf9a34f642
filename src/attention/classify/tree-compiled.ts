import path from 'node:path/posix';
import { cmakeCommands } from './build-files.js';
import { word } from './examination.js';
import {
  script,
  within,
  shell,
  argv,
  operandsOf,
  canList,
  listed,
  partsMax,
  type Told,
} from './tree-told.js';

/** Builds of compiled languages: what Cargo, Go, CMake and Ninja run out of files of the tree. */

/** `build.rs` of the package and of its members, what its settings start; `cargo run` runs its programs. */
export async function cargo(told: Told): Promise<void> {
  const [first = '', ...rest] = operandsOf(told);
  if (await cargoAlias(first, rest, told)) return;
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
    const named = ['-p', '--package'].flatMap((flag) => told.given.flags.get(flag) ?? []);
    // A package is mostly called like its folder.
    const homes = named.flatMap((name) => [
      ...folders.filter((each) => path.basename(each) === name),
      ...[name, `crates/${name}`, `tools/${name}`],
    ]);
    for (const folder of homes.length > 0 ? new Set(homes) : ['.'])
      for (const file of mains.length > 0 ? mains : ['src/main.rs'])
        await script(path.join(root, folder, file), 'rust', told);
  }
}

/** A word that the settings of the tree give a meaning: `xtask = "run --package xtask --"`. */
async function cargoAlias(first: string, rest: readonly string[], told: Told): Promise<boolean> {
  if (!/^\w[\w-]*$/.test(first)) return false;
  for (const file of ['.cargo/config.toml', '.cargo/config']) {
    const settings = (await told.unwrapper.exam.read(word(file), told.spot)) ?? '';
    const aliases = /^\s*\[alias\]\s*$([^[]*(?:\[(?!\w+\]\s*$)[^[]*)*)/m.exec(settings)?.[1] ?? '';
    const found = new RegExp(`^\\s*${first}\\s*=\\s*(?:"([^"]*)"|\\[([^\\]]*)\\])`, 'm').exec(
      aliases,
    );
    if (found === null) continue;
    const words =
      found[1]?.split(/\s+/) ??
      [...(found[2] ?? '').matchAll(/"([^"]*)"/g)].map((each) => each[1] ?? '');
    await argv(['cargo', ...words.filter((each) => each !== ''), ...rest], told, file);
    return true;
  }
  return false;
}

/** `//go:generate` runs as a command; `go run` runs the files that it names. */
export async function go(told: Told): Promise<void> {
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

export async function cmake(told: Told): Promise<void> {
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

export async function ninja(told: Told): Promise<void> {
  const source = await told.unwrapper.exam.read(
    word(told.given.flags.get('-f')?.[0] ?? 'build.ninja'),
    told.spot,
  );
  for (const [, line = ''] of (source ?? '').matchAll(/^\s+command\s*=\s*(.+)$/gm)) {
    if (!told.unwrapper.exam.mayGoOn()) return;
    await shell(line.replace(/\$(?:in|out)\b/g, 'x'), told, 'build.ninja');
  }
}
