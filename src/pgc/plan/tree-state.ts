import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
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

/** Files of a tree that are all compared; of a larger one only those that an answer names, which takes no time. */
const comparedMax = 20_000;
/** Between two turns of the event loop. */
const comparedAtOnce = 500;
/** Files of another stamp, whose content says whether they are other ones. One more counts as changed. */
const readMax = 64;
/** How long a comparison of all files is believed. */
const believedMs = 2_000;
/** Paths of an answer that are compared. */
const namedMax = 1_000;
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
  /** Indexed files that are other ones now, or gone. New files are not counted. */
  files_changed: number;
  /** `all` files were compared; else those that the answer names, or none. */
  compared: 'all' | 'named' | 'none';
  /** Those of the paths asked for that have changed. */
  changed: string[];
  /** A newer index is about to be served: the answer is from the one before. */
  is_replaced: boolean;
}

interface Known {
  manifestMs: number;
  manifest: Manifest;
  seen: SeenFiles | undefined;
  rows: ReadonlyMap<string, number>;
  /** Of all files. */
  count: { changed: number; untilMs: number } | undefined;
}

/** The states of the trees that have an index below one home. */
export class TreeStates {
  readonly #home: string;
  readonly #known = new Map<string, Known>();

  constructor(home: string) {
    this.#home = home;
  }

  /**
   * `paths`: files that an answer names. `versions`: by alias, of the shards that answered. Undefined for a tree that has no index here.
   * Never throws.
   */
  async of(
    root: string,
    paths: readonly string[],
    versions: ReadonlyMap<string, string> = new Map(),
  ): Promise<TreeState | undefined> {
    const place = placeOf(root, this.#home);
    const known = await this.#read(place, root).catch(() => undefined);
    if (known === undefined) return undefined;
    const { manifest, seen, rows } = known;
    const state: TreeState = {
      ...{ project: manifest.project, root, commit: manifest.history?.commit ?? '' },
      ...{ of: 'work tree', files_changed: 0, compared: 'none', changed: [] },
      is_replaced: manifest.shards.some(
        (shard) => (versions.get(shard.alias) ?? servedVersion(shard)) !== servedVersion(shard),
      ),
    };
    if (manifest.as_of !== '') return { ...state, commit: manifest.as_of, of: 'commit' };
    if (seen === undefined) return state;
    const comparison = new Comparison(root, seen);
    const named = [...new Set(paths)].slice(0, namedMax);
    const changed = named.filter((path) => comparison.isChanged(rows.get(path)));
    const isSmall = rows.size <= comparedMax;
    const all = isSmall ? await this.#count(known, comparison) : changed.length;
    // A file may have changed since all were counted.
    const files_changed = Math.max(all, changed.length);
    return { ...state, changed, files_changed, compared: isSmall ? 'all' : 'named' };
  }

  async #read(place: IndexPlace, root: string): Promise<Known> {
    const manifestMs = statSync(place.manifest).mtimeMs;
    const before = this.#known.get(root);
    if (before?.manifestMs === manifestMs) return before;
    const manifest = await readManifest(place, root);
    const seen = await readSeenFiles(place.seen);
    // That of another manifest says nothing of this one.
    const isIts = seen?.served.startsWith(`${manifest.digest} `) === true;
    const rows = new Map<string, number>();
    if (isIts)
      for (const [at, path] of seen.paths.entries()) if (seen.blobAt(at) !== '') rows.set(path, at);
    const known = { manifestMs, manifest, seen: isIts ? seen : undefined, rows, count: undefined };
    // Read again when it has come: a run writes it after the manifest.
    if (isIts || manifest.as_of !== '') this.#remember(root, known);
    return known;
  }

  #remember(root: string, known: Known): void {
    this.#known.delete(root);
    this.#known.set(root, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > treesMax && oldest !== undefined) this.#known.delete(oldest);
  }

  async #count(known: Known, comparison: Comparison): Promise<number> {
    const { count, rows } = known;
    if (count !== undefined && Date.now() < count.untilMs) return count.changed;
    let changed = 0;
    let compared = 0;
    for (const at of rows.values()) {
      if (comparison.isChanged(at)) changed += 1;
      compared += 1;
      if (compared % comparedAtOnce === 0) await nextTurn();
    }
    known.count = { changed, untilMs: Date.now() + believedMs };
    return changed;
  }
}

/** Of files with what a run has seen of them. */
class Comparison {
  readonly #root: string;
  readonly #seen: SeenFiles;
  readonly #reader: ConfinedReader;
  readonly #found = new Map<number, boolean>();
  #toRead = readMax;

  constructor(root: string, seen: SeenFiles) {
    this.#root = root;
    this.#seen = seen;
    this.#reader = new ConfinedReader(root, fileBytesMax);
  }

  /** `at`: its row; undefined: the index does not have it. */
  isChanged(at: number | undefined): boolean {
    if (at === undefined) return false;
    const found = this.#found.get(at) ?? (!this.#isAsStamped(at) && this.#isOther(at));
    this.#found.set(at, found);
    return found;
  }

  #isAsStamped(at: number): boolean {
    const { paths, stamps, startedMs } = this.#seen;
    try {
      const place = join(this.#root, paths[at] ?? '');
      const found = lstatSync(place, { bigint: true, throwIfNoEntry: false });
      if (found === undefined) return false;
      const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = found;
      const first = at * stampNumbers;
      // Too young for a stamp when it was read: it is as it was if nothing has been done to it since.
      if (stamps[first + 1] === 0n) return Number(ctimeMs) < startedMs - tickMs;
      return [dev, ino, size, mtimeNs, ctimeNs].every((each, by) => each === stamps[first + by]);
    } catch {
      return false;
    }
  }

  #isOther(at: number): boolean {
    if (this.#toRead === 0) return true;
    this.#toRead -= 1;
    const read = this.#reader.readSync(this.#seen.paths[at] ?? '');
    return !('bytes' in read) || blobId(read.bytes) !== this.#seen.blobAt(at);
  }
}
