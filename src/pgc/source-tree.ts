import { access, readdir, realpath, stat } from 'node:fs/promises';
import { constants } from 'node:fs';
import { basename, join } from 'node:path';
import { BusError } from '../errors/bus-error.js';
import { blobId, measureLines } from './blob.js';
import { ConfinedReader } from './confined-reader.js';
import type { FactsLanguage } from './facts.js';
import { git } from './git.js';
import { languageIn, languageOf } from './miners/language.js';

/** Larger files are data; parsers need some ten times their size in memory. */
export const fileBytesMax = 32 * 1024 * 1024;
/** A zero byte in this much of the beginning means that it is not text: the rule of git. */
const binaryProbeBytes = 8_000;
/** Nobody writes lines like this; minifiers and generators do. */
export const lineBytesMax = 10_000;

export const leftOutReasons = [
  'unknown language',
  'binary',
  'too large',
  'generated',
  'unreadable',
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

/** What an index run reads, wherever it stands. */
export type ReadableTree = Pick<SourceTree, 'root' | 'list' | 'read'>;

/** The source files of a folder or of a git work tree (or of a folder in one). Paths are relative, with `/`. */
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

  /** What a miner may read, by name; in order of the paths. Git decides what belongs, where there is git. */
  async list(): Promise<{ files: SourceFile[]; leftOut: LeftOut[] }> {
    const leftOut: LeftOut[] = [];
    const paths = (await this.#listByGit()) ?? (await this.#listByWalk(leftOut));
    const files: SourceFile[] = [];
    for (const path of paths) {
      const language = languageOf(path);
      if (language === undefined) leftOut.push({ path, reason: 'unknown language' });
      else files.push({ path, language });
    }
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files, leftOut };
  }

  /** The whole file, or why it is left out. */
  async read(file: SourceFile): Promise<Source | LeftOut> {
    const result = await this.#reader.read(file.path);
    if ('refused' in result) return { path: file.path, reason: result.refused };
    return sourceOf(file, result.bytes, blobId(result.bytes));
  }

  /** Undefined when there is no usable git, or when git ignores this folder as a whole. */
  async #listByGit(): Promise<string[] | undefined> {
    const listing = await git(this.root, [
      'ls-files',
      '-z',
      '--cached',
      '--others',
      '--exclude-standard',
    ]);
    if (listing === undefined || listing.length === 0) return undefined;
    // During a merge an unresolved path is listed once per side.
    return [...new Set(listing.toString('utf8').split('\0').filter(Boolean))];
  }

  async #listByWalk(leftOut: LeftOut[]): Promise<string[]> {
    const found: string[] = [];
    const folders = [''];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const entries = await readdir(join(this.root, folder), { withFileTypes: true }).catch(
        () => undefined,
      );
      if (entries === undefined) {
        leftOut.push({ path: folder, reason: 'unreadable' });
        continue;
      }
      const names = new Set(entries.map((entry) => entry.name));
      for (const entry of entries) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.isSymbolicLink()) leftOut.push({ path, reason: 'symbolic link' });
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

/** What is in a file decides whether it is read, and as what. */
export function sourceOf(file: SourceFile, bytes: Buffer, blob: string): Source | LeftOut {
  const { path } = file;
  if (bytes.subarray(0, binaryProbeBytes).includes(0)) return { path, reason: 'binary' };
  const { lines, longest } = measureLines(bytes);
  if (longest > lineBytesMax) return { path, reason: 'generated' };
  return { path, language: languageIn(file.language, path, bytes), bytes, blob, lines };
}

const skippedNames = new Set(['node_modules', '__pycache__']);
/** Names of build output, but also of honest source folders: the kernel has `drivers/target`. */
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
