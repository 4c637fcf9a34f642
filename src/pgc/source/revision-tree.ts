import { normalize } from 'node:path';
import { BusError } from '../../errors/bus-error.js';
import { blobId } from './blob.js';
import { isInnerPath } from './confined-reader.js';
import { BlobProcess, type BlobRead } from './git/blob-process.js';
import { revisionAt } from './git/revision.js';
import { eachEntry, type TreeEntry } from './git/tree-entries.js';
import { languageOf } from './language.js';
import {
  fileBytesMax,
  sourceOf,
  realRoot,
  type LeftOut,
  type Listing,
  type LeftOutReason,
  type Source,
  type SourceFile,
} from './source-tree.js';

/** `blobId` cannot check the longer ids of a SHA-256 repository. */
const sha1Digits = 40;

/** The source files of a folder at one commit, as `SourceTree` is for the work tree. Reads only objects of git. */
export class RevisionTree implements AsyncDisposable {
  readonly #blobs: BlobProcess;
  readonly #files: SourceFile[] = [];
  readonly #leftOut: LeftOut[] = [];
  /** Object ids by path. */
  readonly #ids = new Map<string, string>();

  /** `root`: absolute, without links. `commit`: full id. */
  private constructor(
    readonly root: string,
    readonly commit: string,
  ) {
    this.#blobs = new BlobProcess(root, fileBytesMax);
  }

  /**
   * `revision` as git writes it: `v6.1`, `HEAD~3`, an id. Throws REPO_UNREADABLE (no such folder, no git, damaged
   * objects), USAGE (it names no commit) and INTERRUPTED.
   */
  static async open(folder: string, revision: string, signal?: AbortSignal): Promise<RevisionTree> {
    const root = await realRoot(folder);
    const { commit } = await revisionAt(root, revision);
    const tree = new RevisionTree(root, commit);
    try {
      const end = await eachEntry(root, commit, (entry) => tree.#add(entry), signal);
      if (end === 'aborted') throw new BusError('INTERRUPTED');
      if (end !== 'ended') throw tree.#broken(`the tree of ${commit} cannot be listed`);
    } catch (error) {
      await tree[Symbol.asyncDispose]();
      throw error;
    }
    tree.#files.sort((a, b) => (a.path < b.path ? -1 : 1));
    return tree;
  }

  /** The files that a miner can read, in order of their paths. */
  list(): Promise<Listing> {
    return Promise.resolve({ files: [...this.#files], leftOut: [...this.#leftOut], note: '' });
  }

  /** The whole file, or the reason why it is left out. Throws REPO_UNREADABLE when git fails. */
  async read(file: SourceFile): Promise<Source | LeftOut> {
    const id = this.#ids.get(file.path);
    if (id === undefined) {
      const refused = this.#leftOut.find(({ path }) => path === file.path);
      return refused ?? { path: file.path, reason: 'absent' };
    }
    const result = await this.#blob(id, file.path);
    if ('refused' in result) {
      const reason = result.refused === 'missing' ? 'unreadable' : result.refused;
      return { path: file.path, reason };
    }
    const { bytes } = result;
    const blob = blobId(bytes);
    if (id.length === sha1Digits && blob !== id) return { path: file.path, reason: 'unreadable' };
    return sourceOf(file, bytes, blob);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#blobs.close();
  }

  async #blob(id: string, path: string): Promise<BlobRead> {
    try {
      return await this.#blobs.read(id);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw this.#broken(`${why}, at ${path} (damaged, or left out of a partial clone?)`);
    }
  }

  #add(entry: TreeEntry): void {
    const { path, id } = entry;
    const reason = reasonAgainst(entry) ?? (this.#ids.has(path) ? 'unreadable' : undefined);
    const language = languageOf(path);
    if (reason !== undefined) this.#leftOut.push({ path, reason });
    else {
      // Files without a miner are kept too: settings of the tree are read by name.
      this.#ids.set(path, id);
      if (language === undefined) this.#leftOut.push({ path, reason: 'unknown language' });
      else this.#files.push({ path, language });
    }
  }

  #broken(detail: string): BusError {
    return new BusError('REPO_UNREADABLE', { path: this.root, detail });
  }
}

function reasonAgainst({ mode, path, isExact }: TreeEntry): LeftOutReason | undefined {
  if (mode === '120000') return 'symbolic link';
  // A submodule: a commit of another repository.
  if (mode === '160000') return 'repository of its own';
  if (!mode.startsWith('100')) return 'not a file';
  if (!isExact) return path.includes('\ufffd') ? 'name is not UTF-8' : 'unreadable';
  // A tree object may contain `..`.
  return isInnerPath(path) && normalize(path) === path ? undefined : 'outside the root';
}
