import { lstatSync, type Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { BusError } from '../../errors/bus-error.js';
import { runGit } from './git/run-git.js';
import { fileNameOf, type FileName } from './git/tree-entries.js';
import { languageOf } from './language.js';
import type { FactsLanguage } from '../format/facts.js';

export const leftOutReasons = [
  'unknown language',
  'binary',
  'too large',
  'generated',
  'unreadable',
  'name is not UTF-8',
  'repository of its own',
  'absent',
  'symbolic link',
  'not a file',
  'outside the root',
  'skipped folder',
  'outside the plan',
  'miner failed',
] as const;
export type LeftOutReason = (typeof leftOutReasons)[number];

export interface LeftOut {
  path: string;
  reason: LeftOutReason;
}

export interface SourceFile {
  path: string;
  language: FactsLanguage;
}

/** In order of the paths. */
export interface Listing {
  files: SourceFile[];
  leftOut: LeftOut[];
  /** What the user should know about the listing; else empty. */
  note: string;
}

/** The listing of a work tree, and what it depends on. */
export interface TreeListing extends Listing {
  by: 'git' | 'walk';
  /** Files that are not listed but decide what is, each with `stampOfInput` of before the listing. */
  inputs: Record<string, string>;
}

/** More arguments than this may be too many for a process. */
const argumentBytesMax = 64 * 1024;
/** An input that changed this shortly before it was looked at may have changed again unseen. */
const settledMs = 2_000;
/** Folders read at once. */
const foldersAtOnce = 8;

/** Lists by git where there is git, else by walking. Throws REPO_UNREADABLE for a bare repository. */
export async function listTree(root: string): Promise<TreeListing> {
  const inputs = await inputsOf(root);
  const leftOut: LeftOut[] = [];
  const listed = await listByGit(root, leftOut);
  const isByGit = typeof listed === 'object';
  const files = sourcesAmong(isByGit ? listed : await listByWalk(root, leftOut, ['']), leftOut);
  if (!isByGit && files.length === 0) await checkIsNotBare(root);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  leftOut.sort((a, b) => (a.path < b.path ? -1 : 1));
  const isBroken = listed === 'failed' && (await hasGit(root));
  const by = isByGit ? 'git' : 'walk';
  return { files, leftOut, note: isBroken ? brokenGitNote : '', by, inputs };
}

/** See `SourceTree.listBelow`. */
export async function listBelow(
  root: string,
  paths: ReadonlySet<string>,
  by: TreeListing['by'],
): Promise<Pick<TreeListing, 'files' | 'leftOut'> | undefined> {
  const isDeciding = by === 'git' ? /(?:^|\/)\.gitignore$/ : decidingForWalk;
  const leftOut: LeftOut[] = [];
  const below: string[] = [];
  for (const path of paths) {
    if (isDeciding.test(path)) return undefined;
    if (!isBelowAny(paths, parentOf(path))) below.push(path);
  }
  const found =
    by === 'git' ? await listByGit(root, leftOut, below) : await walkFrom(root, leftOut, below);
  if (typeof found === 'string') return undefined;
  return { files: sourcesAmong(found, leftOut), leftOut };
}

/** Whether a path, or a folder around it, is among `paths`. */
export function isBelowAny(paths: ReadonlySet<string>, path: string): boolean {
  if (paths.has(path)) return true;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (paths.has(path.slice(0, end))) return true;
  return false;
}

function sourcesAmong(paths: readonly string[], leftOut: LeftOut[]): SourceFile[] {
  const files: SourceFile[] = [];
  for (const path of paths) {
    const language = languageOf(path);
    if (language === undefined) leftOut.push({ path, reason: 'unknown language' });
    else files.push({ path, language });
  }
  return files;
}

/**
 * Git's index, and where else it looks for what to ignore; without git, where it would begin. A new repository above the
 * tree is found by the next whole listing.
 */
async function inputsOf(root: string): Promise<Record<string, string>> {
  const [places, excludes] = await Promise.all([
    runGit(root, ['rev-parse', '--show-cdup', '--git-path', 'index', '--git-path', 'info/exclude']),
    runGit(root, ['config', '--path', '--get', 'core.excludesFile']),
  ]);
  const paths = [join(root, '.git')];
  if (places !== undefined) {
    const config = process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config');
    paths.push(...linesOf(excludes), join(config, 'git/ignore'));
    for (const line of linesOf(places))
      if (/^(?:\.\.\/)+$/.test(line)) paths.push(...ignoresAbove(line));
      else paths.push(line);
  }
  const all = paths.map((path) => resolve(root, path));
  return Object.fromEntries(all.map((path) => [path, stampOfInput(path)]));
}

/** `up`: from a folder to its work tree, like `../../`. */
function ignoresAbove(up: string): string[] {
  const depth = up.length / '../'.length;
  return Array.from({ length: depth }, (_, at) => `${'../'.repeat(at + 1)}.gitignore`);
}

function linesOf(output: Buffer | undefined): string[] {
  return output?.toString().split('\n').filter(Boolean) ?? [];
}

/** Of a file or folder that decides what is listed; empty: it is not there. */
export function stampOfInput(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs, mode } = lstatSync(path);
    // A folder's times change with what git does in it.
    if (mode & folderBit) return 'folder';
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}${ctimeMs > Date.now() - settledMs ? unsettled : ''}`;
  } catch {
    return '';
  }
}

const folderBit = 0o040000;
const unsettled = ' unsettled';

export function isSettled(stamp: string): boolean {
  return !stamp.endsWith(unsettled);
}

/** `failed`: no usable git. `nothing`: git ignores the whole folder. `below`: these paths alone. */
async function listByGit(
  root: string,
  leftOut: LeftOut[],
  below?: readonly string[],
): Promise<string[] | 'failed' | 'nothing'> {
  if (below?.length === 0) return [];
  // Git believes a path that ends in a slash to be a folder.
  const paths = below === undefined ? [] : ['--', ...below];
  if (paths.reduce((sum, path) => sum + path.length + 1, 0) > argumentBytesMax) return 'failed';
  const args = ['ls-files', '-z', '-t', '--stage', '--others', '--exclude-standard'];
  const listed = await runGit(root, ['--literal-pathspecs', ...args, ...paths]);
  if (listed === undefined) return 'failed';
  if (below === undefined && listed.length === 0) return 'nothing';
  // During a merge, git lists an unresolved path once per side.
  const found = new Set<string>();
  for (const { name, isExact } of namesIn(listed)) {
    const [, mode, path = ''] = rowOfGit.exec(name) ?? [];
    // Git lists an untracked repository as one folder.
    const isRepository = mode === undefined ? path.endsWith('/') : mode === submoduleMode;
    const its = mode === undefined ? path.replace(/\/$/, '') : path;
    if (!isExact) leftOut.push({ path: its, reason: 'name is not UTF-8' });
    else if (isRepository) leftOut.push({ path: its, reason: 'repository of its own' });
    else found.add(its);
  }
  return [...found];
}

/** Whether this folder or one above has a `.git`. */
async function hasGit(root: string): Promise<boolean> {
  for (let folder = root; ; folder = dirname(folder)) {
    const found = await lstat(join(folder, '.git')).catch(() => undefined);
    if (found !== undefined) return true;
    if (folder === dirname(folder)) return false;
  }
}

async function checkIsNotBare(root: string): Promise<void> {
  const answer = await runGit(root, ['rev-parse', '--is-bare-repository']);
  if (answer?.toString().trim() !== 'true') return;
  const detail = 'it is a bare repository; name what to read with --as-of, such as --as-of HEAD';
  throw new BusError('REPO_UNREADABLE', { path: root, detail });
}

/** The files below these folders, the first of which is not asked whether it is one to skip. */
async function listByWalk(
  root: string,
  leftOut: LeftOut[],
  from: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  const folders = [...from];
  const visit = async (folder: string): Promise<void> => {
    const entries = await entriesOf(join(root, folder));
    if (entries === undefined) {
      leftOut.push({ path: folder, reason: 'unreadable' });
      return;
    }
    const names = new Set(entries.map(({ name }) => name));
    if (!from.includes(folder) && isCache(names)) {
      leftOut.push({ path: folder, reason: 'skipped folder' });
      return;
    }
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!entry.isExact) leftOut.push({ path, reason: 'name is not UTF-8' });
      else if (entry.kind === 'file') found.push(path);
      else if (entry.kind !== 'folder') leftOut.push({ path, reason: refusals[entry.kind] });
      else if (isSkipped(entry.name, names)) leftOut.push({ path, reason: 'skipped folder' });
      else folders.push(path);
    }
  };
  while (folders.length > 0) await Promise.all(folders.splice(-foldersAtOnce).map(visit));
  return found;
}

/** As `listByWalk`, of files and folders. Those in folders that are skipped are not found. */
async function walkFrom(
  root: string,
  leftOut: LeftOut[],
  paths: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  const known = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  const isWithin = (folder: string): Promise<ReadonlySet<string> | undefined> => {
    const asked = known.get(folder) ?? namesOf(folder);
    known.set(folder, asked);
    return asked;
  };
  /** The names in a folder that is walked; undefined: it is not. */
  const namesOf = async (folder: string): Promise<ReadonlySet<string> | undefined> => {
    const entries = await entriesOf(join(root, folder));
    if (entries === undefined) return undefined;
    const names = new Set(entries.map(({ name }) => name));
    if (folder === '') return names;
    const around = await isWithin(parentOf(folder));
    const isWalked =
      around !== undefined && !isSkipped(basename(folder), around) && !isCache(names);
    return isWalked && !(await isLink(join(root, folder))) ? names : undefined;
  };
  for (const path of paths) {
    const around = await isWithin(parentOf(path));
    if (around === undefined || !around.has(basename(path))) continue;
    const entry = await lstat(join(root, path)).catch(() => undefined);
    if (entry === undefined) continue;
    const kind = kindOf(entry);
    if (kind === 'file') found.push(path);
    else if (kind !== 'folder') leftOut.push({ path, reason: refusals[kind] });
    else if ((await isWithin(path)) === undefined) leftOut.push({ path, reason: 'skipped folder' });
    else found.push(...(await listByWalk(root, leftOut, [path])));
  }
  return [...new Set(found)];
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => true,
  );
}

const refusals = { link: 'symbolic link', other: 'not a file' } as const;

const brokenGitNote = 'git cannot list this tree; files that it would ignore are read as well';
const submoduleMode = '160000';
/** `? path` of what is not tracked, else `H mode id stage<tab>path` with another letter for some. */
const rowOfGit = /^(?:\? |[A-Z] (\d+) [0-9a-f]+ \d\t)(.*)$/s;

/** The names of a `-z` listing. */
function* namesIn(listing: Buffer): Generator<FileName> {
  let start = 0;
  for (let end = listing.indexOf(0); end >= 0; end = listing.indexOf(0, start)) {
    yield fileNameOf(listing.subarray(start, end));
    start = end + 1;
  }
}

interface Entry extends FileName {
  kind: 'file' | 'folder' | 'link' | 'other';
}

/** Undefined for a folder that cannot be read. */
async function entriesOf(folder: string): Promise<Entry[] | undefined> {
  const options = { withFileTypes: true, encoding: 'buffer' } as const;
  const entries = await readdir(folder, options).catch(() => undefined);
  return entries?.map((entry) => {
    const { name, isExact } = fileNameOf(entry.name);
    return { name, isExact, kind: kindOf(entry) };
  });
}

function kindOf(
  entry: Pick<Dirent<Buffer>, 'isFile' | 'isDirectory' | 'isSymbolicLink'>,
): Entry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

const skippedNames = new Set(['node_modules', '__pycache__']);
/** Usual build output, but also valid source folders: the kernel has `drivers/target`. */
const outputNames = new Set(['dist', 'build', 'target']);
const projectFiles = ['package.json', 'Cargo.toml', 'pyproject.toml', 'setup.py', 'pom.xml'];
const cacheMarks = ['CACHEDIR.TAG', 'pyvenv.cfg'];
/** Of files whose presence decides whether folders beside or around them are walked. */
const decidingForWalk = new RegExp(
  `(?:^|/)(?:${[...projectFiles, ...cacheMarks].map((name) => name.replace('.', '\\.')).join('|')})$`,
);

/** `siblings`: the names beside a folder of this name. */
function isSkipped(name: string, siblings: ReadonlySet<string>): boolean {
  if (name.startsWith('.') || skippedNames.has(name)) return true;
  return outputNames.has(name) && projectFiles.some((file) => siblings.has(file));
}

function isCache(names: ReadonlySet<string>): boolean {
  return cacheMarks.some((mark) => names.has(mark));
}
