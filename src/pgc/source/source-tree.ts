import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { BusError } from '../../errors/bus-error.js';
import { blobId, measureLines } from './blob.js';
import { ConfinedReader } from './confined-reader.js';
import { languageIn } from './language.js';
import {
  listBelow,
  listTree,
  type LeftOut,
  type Listing,
  type SourceFile,
  type TreeListing,
} from './tree-listing.js';

/** Larger files are data; a parser needs about ten times the size in memory. */
export const fileBytesMax = 32 * 1024 * 1024;
/** A zero byte this near the beginning means binary: git's rule. */
const binaryProbeBytes = 8_000;
/** No person writes longer lines; minifiers and generators do. */
export const lineBytesMax = 10_000;

export { leftOutReasons } from './tree-listing.js';
export type { LeftOut, LeftOutReason, Listing, SourceFile } from './tree-listing.js';

export interface Source extends SourceFile {
  bytes: Buffer;
  /** Git blob id. */
  blob: string;
  lines: number;
}

/** The source of an index run: a work tree or a revision. */
export interface ReadableTree {
  readonly root: string;
  list(): Promise<Listing>;
  read(file: SourceFile): Promise<Source | LeftOut>;
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
  list(): Promise<TreeListing> {
    return listTree(this.root);
  }

  /**
   * As `list`, but only what stands at, or below, these paths now; `by`: how the whole tree was listed. Undefined: that
   * cannot be told from them alone.
   */
  listBelow(
    paths: ReadonlySet<string>,
    by: TreeListing['by'],
  ): Promise<Pick<TreeListing, 'files' | 'leftOut'> | undefined> {
    return listBelow(this.root, paths, by);
  }

  /** The whole file, or the reason why it is left out. */
  async read(file: SourceFile): Promise<Source | LeftOut> {
    const result = await this.#reader.read(file.path);
    if ('refused' in result) return { path: file.path, reason: result.refused };
    return sourceOf(file, result.bytes, blobId(result.bytes));
  }
}

/** Decides by content whether a file is read, and as which language. */
export function sourceOf(file: SourceFile, bytes: Buffer, blob: string): Source | LeftOut {
  const { path } = file;
  if (bytes.subarray(0, binaryProbeBytes).includes(0)) return { path, reason: 'binary' };
  const { lines, longest } = measureLines(bytes);
  if (longest > lineBytesMax) return { path, reason: 'generated' };
  return { path, language: languageIn(file.language, path, bytes), bytes, blob, lines };
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
