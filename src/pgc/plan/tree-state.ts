import { lstatSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { blobId } from '../source/blob.js';
import { ConfinedReader } from '../source/confined-reader.js';
import { fileBytesMax } from '../source/source-tree.js';
import {
  placeOf,
  readManifest,
  servedVersion,
  type IndexPlace,
  type Manifest,
} from './manifest.js';
import { readSeenFiles, stampNumbers, type SeenFiles } from './seen-file.js';

/** Files of a tree that are all compared; of a larger one only those that an answer shows, which takes no time. */
const comparedMax = 20_000;
/** Between two turns of the event loop. */
const comparedAtOnce = 500;
/** Of files with another stamp, whose content says whether they are other ones, in one comparison. */
const readBytesMax = 8 * 1024 * 1024;
const readMax = 256;
/** How long a comparison of all files is believed. */
const believedMs = 2_000;
/** Paths of an answer that are compared, and of those the changed ones that are named. */
const shownMax = 1_000;
const namedMax = 10;
/** Trees that are remembered. */
const treesMax = 16;
/** The clock of a file system may be behind by a tick. */
const tickMs = 50;

/** What an answer was made from, and how far the tree has gone on since. */
export interface TreeState {
  project: string;
  /** Absolute, without links. */
  root: string;
  /** At which the work tree stood; empty without git. */
  commit: string;
  /** What was read: the files of the work tree, or those of the commit, which never change. */
  of: 'work tree' | 'commit';
  /** Of the index: another one after each run that changed it. */
  index: string;
  /** `all` files were compared; else those that the answer shows, or none. */
  compared: 'all' | 'shown' | 'none';
  /** Of those, the files that are other ones now, or gone. New files are not counted. */
  files_changed: number;
  /** Of those, the files that were touched; whether their content is another was not looked at. */
  files_unsure: number;
  /** The first of those that the answer shows and that have changed. */
  changed: string[];
  /** The answer may be from the index before this one. */
  is_replaced: boolean;
}

/** Whether a file is what was indexed; `unsure`: it was touched, and not read. */
type Finding = 'same' | 'changed' | 'unsure';

interface Known {
  stamp: string;
  manifest: Manifest;
  seen: SeenFiles | undefined;
  rows: ReadonlyMap<string, number>;
  /** Of all files. */
  count: { findings: Promise<Finding[]>; untilMs: number } | undefined;
}

/** The states of the trees that have an index below one home. */
export class TreeStates {
  readonly #home: string;
  readonly #readBytes: number;
  readonly #known = new Map<string, Known>();

  constructor(home: string, readBytes = readBytesMax) {
    this.#home = home;
    this.#readBytes = readBytes;
  }

  /**
   * `paths`: what may be files that an answer shows; undefined: nothing is compared. `versions`: by alias, of the shards that are
   * asked. Undefined for a tree that has no index here. Never throws.
   */
  async of(
    root: string,
    paths: readonly string[] | undefined,
    versions: ReadonlyMap<string, string> = new Map(),
  ): Promise<TreeState | undefined> {
    const known = await this.#read(placeOf(root, this.#home), root).catch(() => undefined);
    if (known === undefined) return undefined;
    const { manifest, seen, rows } = known;
    const state: TreeState = {
      ...{ project: manifest.project, root, commit: manifest.history?.commit ?? '' },
      ...{ of: 'work tree', index: manifest.digest, compared: 'none' },
      ...{ files_changed: 0, files_unsure: 0, changed: [] },
      is_replaced: manifest.shards.some(
        (shard) => (versions.get(shard.alias) ?? servedVersion(shard)) !== servedVersion(shard),
      ),
    };
    if (manifest.as_of !== '') return { ...state, commit: manifest.as_of, of: 'commit' };
    if (seen === undefined || paths === undefined) return state;
    const shown = [...new Set(paths)].filter((path) => rows.has(path));
    const isLarge = rows.size > comparedMax;
    if (isLarge && shown.length > shownMax) return state;
    const comparison = new Comparison(root, seen, this.#readBytes);
    const changed: string[] = [];
    const found: Finding[] = [];
    for (const path of shown.slice(0, shownMax)) {
      const finding = await comparison.of(rows.get(path) as number);
      found.push(finding);
      if (finding === 'changed') changed.push(path);
    }
    const all = isLarge ? found : await this.#findings(known, root);
    const count = (kind: Finding, among: readonly Finding[]): number =>
      among.filter((each) => each === kind).length;
    return {
      ...state,
      compared: isLarge ? 'shown' : 'all',
      // One may have changed since all were looked at.
      files_changed: Math.max(count('changed', all), changed.length),
      files_unsure: count('unsure', all),
      changed: changed.slice(0, namedMax),
    };
  }

  async #read(place: IndexPlace, root: string): Promise<Known> {
    // A run that finds nothing new may still have looked at files again.
    const stamp = [place.manifest, place.seen].map(stampOf).join(' ');
    const before = this.#known.get(root);
    if (before?.stamp === stamp) return before;
    const manifest = await readManifest(place, root);
    const seen = await readSeenFiles(place.seen);
    // That of another manifest says nothing of this one.
    const isIts = seen?.served.startsWith(`${manifest.digest} `) === true;
    const rows = new Map<string, number>();
    if (isIts)
      for (const [at, path] of seen.paths.entries()) if (seen.blobAt(at) !== '') rows.set(path, at);
    const known = { stamp, manifest, seen: isIts ? seen : undefined, rows, count: undefined };
    this.#known.delete(root);
    this.#known.set(root, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > treesMax && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }

  /** Of all files, once for all who ask within a moment. */
  #findings(known: Known, root: string): Promise<readonly Finding[]> {
    const { count, seen, rows } = known;
    if (seen === undefined) return Promise.resolve([]);
    if (count !== undefined && Date.now() < count.untilMs) return count.findings;
    const comparison = new Comparison(root, seen, this.#readBytes);
    const compare = async (): Promise<Finding[]> => {
      const findings: Finding[] = [];
      for (const at of rows.values()) findings.push(await comparison.of(at));
      return findings;
    };
    known.count = { findings: compare(), untilMs: Date.now() + believedMs };
    return known.count.findings;
  }
}

/** Of files with what a run has seen of them. */
class Comparison {
  readonly #root: string;
  readonly #seen: SeenFiles;
  readonly #reader: ConfinedReader;
  readonly #folders = new Map<string, boolean>();
  #looked = 0;
  #toRead = readMax;
  #bytesToRead: number;

  constructor(root: string, seen: SeenFiles, readBytes: number) {
    this.#bytesToRead = readBytes;
    this.#root = root;
    this.#seen = seen;
    this.#reader = new ConfinedReader(root, fileBytesMax);
  }

  /** `at`: its row. */
  async of(at: number): Promise<Finding> {
    this.#looked += 1;
    if (this.#looked % comparedAtOnce === 0) await nextTurn();
    const path = this.#seen.paths[at] ?? '';
    const size = this.#sizeUnlessSame(path, at);
    if (typeof size === 'string') return size;
    if (this.#toRead === 0 || size > this.#bytesToRead) return 'unsure';
    this.#toRead -= 1;
    this.#bytesToRead -= size;
    const read = await this.#reader.read(path);
    return 'bytes' in read && blobId(read.bytes) === this.#seen.blobAt(at) ? 'same' : 'changed';
  }

  /** Of a file that was touched: how much is to be read of it. */
  #sizeUnlessSame(path: string, at: number): number | Finding {
    const { stamps, startedMs } = this.#seen;
    const first = at * stampNumbers;
    try {
      const place = join(this.#root, path);
      const found = lstatSync(place, { bigint: true, throwIfNoEntry: false });
      if (found?.isFile() !== true) return 'changed';
      const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = found;
      // Too young for a stamp when it was read: it is as it was if nothing was done to it, or to a folder around it, since.
      const isSame =
        stamps[first + 1] === 0n
          ? Number(ctimeMs) < startedMs - tickMs && this.#isUntouched(dirname(path))
          : [dev, ino, size, mtimeNs, ctimeNs].every((each, by) => each === stamps[first + by]);
      return isSame ? 'same' : Number(size);
    } catch {
      return 'changed';
    }
  }

  #isUntouched(folder: string): boolean {
    if (folder === '.') return true;
    let isUntouched = this.#folders.get(folder);
    if (isUntouched === undefined) {
      const { ctimeMs } = lstatSync(join(this.#root, folder));
      isUntouched = ctimeMs < this.#seen.startedMs - tickMs && this.#isUntouched(dirname(folder));
      this.#folders.set(folder, isUntouched);
    }
    return isUntouched;
  }
}

/** Empty: it is not there. */
function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs}`;
}
