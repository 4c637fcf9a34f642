import { constants, type Dirent } from 'node:fs';
import { access, lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BusError } from '../../errors/bus-error.js';
import { blobId, measureLines } from './blob.js';
import { ConfinedReader } from './confined-reader.js';
import type { FactsLanguage } from '../format/facts.js';
import { runGit } from './git/run-git.js';
import { fileNameOf, type FileName } from './git/tree-entries.js';
import { languageIn, languageOf } from './language.js';

/** Larger files are data; a parser needs about ten times the size in memory. */
export const fileBytesMax = 32 * 1024 * 1024;
/** A zero byte this near the beginning means binary: git's rule. */
const binaryProbeBytes = 8_000;
/** No person writes longer lines; minifiers and generators do. */
export const lineBytesMax = 10_000;

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

export interface Source extends SourceFile {
  bytes: Buffer;
  /** Git blob id. */
  blob: string;
  lines: number;
}

/** The source of an index run: a work tree or a revision. */
export type ReadableTree = Pick<SourceTree, 'root' | 'list' | 'read'>;

/** In order of the paths. */
export interface Listing {
  files: SourceFile[];
  leftOut: LeftOut[];
  /** What the user should know about the listing; else empty. */
  note: string;
}

/** The source files of a folder, a git work tree, or a folder in one. Paths are relative, with `/`. */
export class SourceTree {
  readonly #reader: ConfinedReader;

  /** `root`: absolute, without links. */
  private constructor(readonly root: string) {
    this.#reader = new ConfinedReader(root, fileBytesMax);
  }

  /** Throws REPO_UNREADABLE. */
  static async open(folder: string): Promise<SourceTree> {
    return new SourceTree(await realRoot(folder));
  }

  /** Lists by git where there is git, else by walking. Throws REPO_UNREADABLE for a bare repository. */
  async list(): Promise<Listing> {
    const leftOut: LeftOut[] = [];
    const listed = await this.#listByGit(leftOut);
    const isByGit = typeof listed === 'object';
    const paths = isByGit ? listed : await this.#listByWalk(leftOut);
    const files: SourceFile[] = [];
    for (const path of paths) {
      const language = languageOf(path);
      if (language === undefined) leftOut.push({ path, reason: 'unknown language' });
      else files.push({ path, language });
    }
    if (!isByGit && files.length === 0) await this.#checkIsNotBare();
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    const isBroken = listed === 'failed' && (await this.#hasGit());
    return { files, leftOut, note: isBroken ? brokenGitNote : '' };
  }

  /** The whole file, or the reason why it is left out. */
  async read(file: SourceFile): Promise<Source | LeftOut> {
    const result = await this.#reader.read(file.path);
    if ('refused' in result) return { path: file.path, reason: result.refused };
    return sourceOf(file, result.bytes, blobId(result.bytes));
  }

  /** `failed`: no usable git. `nothing`: git ignores the whole folder. */
  async #listByGit(leftOut: LeftOut[]): Promise<string[] | 'failed' | 'nothing'> {
    const [tracked, others] = await Promise.all([
      runGit(this.root, ['ls-files', '-z', '--stage']),
      runGit(this.root, ['ls-files', '-z', '--others', '--exclude-standard']),
    ]);
    if (tracked === undefined || others === undefined) return 'failed';
    if (tracked.length + others.length === 0) return 'nothing';
    // During a merge, git lists an unresolved path once per side.
    const found = new Set<string>();
    const add = (path: string, isExact: boolean, isRepository: boolean): void => {
      if (!isExact) leftOut.push({ path, reason: 'name is not UTF-8' });
      else if (isRepository) leftOut.push({ path, reason: 'repository of its own' });
      else found.add(path);
    };
    for (const row of namesIn(tracked)) {
      const [, mode = '', path = ''] = /^(\d+) [0-9a-f]+ \d\t(.*)$/s.exec(row.name) ?? [];
      add(path, row.isExact, mode === submoduleMode);
    }
    // Git lists an untracked repository as one folder.
    for (const { name, isExact } of namesIn(others))
      add(name.replace(/\/$/, ''), isExact, name.endsWith('/'));
    return [...found];
  }

  /** Whether this folder or one above has a `.git`. */
  async #hasGit(): Promise<boolean> {
    for (let folder = this.root; ; folder = dirname(folder)) {
      const found = await lstat(join(folder, '.git')).catch(() => undefined);
      if (found !== undefined) return true;
      if (folder === dirname(folder)) return false;
    }
  }

  async #checkIsNotBare(): Promise<void> {
    const answer = await runGit(this.root, ['rev-parse', '--is-bare-repository']);
    if (answer?.toString().trim() !== 'true') return;
    const detail = 'it is a bare repository; name what to read with --as-of, such as --as-of HEAD';
    throw new BusError('REPO_UNREADABLE', { path: this.root, detail });
  }

  async #listByWalk(leftOut: LeftOut[]): Promise<string[]> {
    const found: string[] = [];
    const folders = [''];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const entries = await entriesOf(join(this.root, folder));
      if (entries === undefined) {
        leftOut.push({ path: folder, reason: 'unreadable' });
        continue;
      }
      const names = new Set(entries.map((entry) => entry.name));
      for (const entry of entries) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (!entry.isExact) leftOut.push({ path, reason: 'name is not UTF-8' });
        else if (entry.isSymbolicLink()) leftOut.push({ path, reason: 'symbolic link' });
        else if (entry.isFile()) found.push(path);
        else if (!entry.isDirectory()) leftOut.push({ path, reason: 'not a file' });
        else if (await isSkipped(join(this.root, path), names)) {
          leftOut.push({ path, reason: 'skipped folder' });
        } else folders.push(path);
      }
    }
    return found;
  }
}

const brokenGitNote = 'git cannot list this tree; files that it would ignore are read as well';
const submoduleMode = '160000';

/** The names of a `-z` listing. */
function* namesIn(listing: Buffer): Generator<FileName> {
  let start = 0;
  for (let end = listing.indexOf(0); end >= 0; end = listing.indexOf(0, start)) {
    yield fileNameOf(listing.subarray(start, end));
    start = end + 1;
  }
}

type Entry = FileName & Pick<Dirent<Buffer>, 'isFile' | 'isDirectory' | 'isSymbolicLink'>;

/** Undefined for a folder that cannot be read. */
async function entriesOf(folder: string): Promise<Entry[] | undefined> {
  const options = { withFileTypes: true, encoding: 'buffer' } as const;
  const entries = await readdir(folder, options).catch(() => undefined);
  return entries?.map((entry) => ({
    ...fileNameOf(entry.name),
    isFile: () => entry.isFile(),
    isDirectory: () => entry.isDirectory(),
    isSymbolicLink: () => entry.isSymbolicLink(),
  }));
}

/** Decides by content whether a file is read, and as which language. */
export function sourceOf(file: SourceFile, bytes: Buffer, blob: string): Source | LeftOut {
  const { path } = file;
  if (bytes.subarray(0, binaryProbeBytes).includes(0)) return { path, reason: 'binary' };
  const { lines, longest } = measureLines(bytes);
  if (longest > lineBytesMax) return { path, reason: 'generated' };
  return { path, language: languageIn(file.language, path, bytes), bytes, blob, lines };
}

const skippedNames = new Set(['node_modules', '__pycache__']);
/** Usual build output, but also valid source folders: the kernel has `drivers/target`. */
const outputNames = new Set(['dist', 'build', 'target']);
const projectFiles = ['package.json', 'Cargo.toml', 'pyproject.toml', 'setup.py', 'pom.xml'];
const cacheMarks = ['CACHEDIR.TAG', 'pyvenv.cfg'];

async function isSkipped(folder: string, siblings: ReadonlySet<string>): Promise<boolean> {
  const name = basename(folder);
  if (name.startsWith('.') || skippedNames.has(name)) return true;
  if (outputNames.has(name) && projectFiles.some((file) => siblings.has(file))) return true;
  const inside = await readdir(folder).catch((): string[] => []);
  return cacheMarks.some((mark) => inside.includes(mark));
}

/** Absolute and without links. Throws REPO_UNREADABLE. */
export async function realRoot(folder: string): Promise<string> {
  try {
    const real = await realpath(folder);
    if (!(await stat(real)).isDirectory()) {
      throw new BusError('REPO_UNREADABLE', { path: folder, detail: 'not a folder' });
    }
    await access(real, constants.R_OK | constants.X_OK);
    return real;
  } catch (error) {
    if (error instanceof BusError) throw error;
    const detail = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new BusError('REPO_UNREADABLE', { path: folder, detail }, { cause: error });
  }
}
