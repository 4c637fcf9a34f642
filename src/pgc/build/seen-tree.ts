import { lstatSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { languageOf } from '../source/language.js';
import type { RuleDigests } from '../mine/fact-store.js';
import type { FileRow } from '../format/shard-index.js';
import { attributesName } from '../source/role-marks.js';
import type { SourceFile, SourceTree } from '../source/source-tree.js';
import { isBelowAny, isSettled, stampOfInput, type TreeListing } from '../source/tree-listing.js';
import { readSeen, stampNumbers, writeSeen, type Known, type Seen } from '../plan/seen-file.js';

/** A file that changed this shortly before it was read may change again within one tick of its clock. */
const settledMs = 2_000;
/** Each takes about 120 bytes. */
const pathsMax = 1_000_000;
/** Reasons that depend on the content alone. */
const decidedByContent: readonly string[] = ['binary', 'generated'];

type Stamp = readonly bigint[];

interface SeenOptions {
  /** Files that may have changed, and folders below which anything may have; absent: anything. */
  changed?: ReadonlySet<string> | undefined;
  /** Of the rules in force: facts of other rules are not those of this run. */
  digests: RuleDigests;
}

/**
 * What the last run saw of a tree: its listing, and what it read in each file. What was read is valid while device, inode,
 * size and both times are unchanged, which git's index does as well (Documentation/technical/racy-git of git 2.x).
 */
export class SeenTree {
  readonly #tree: SourceTree;
  readonly #startedMs = Date.now();
  readonly #before: Seen | undefined;
  readonly #places = new Map<string, number>();
  readonly #digests: RuleDigests;
  readonly #changed: ReadonlySet<string> | undefined;
  /** Of the paths of the last run: 1 where something may have changed. */
  readonly #touched: Uint8Array;
  /** Of the paths of the last run: 1 where the stamp is as it was. */
  readonly #same: Uint8Array;
  /** Others. Taken before the file is read, so that a write during the run shows in the next one. */
  readonly #stamps = new Map<string, Stamp>();
  readonly #folders = new Map<string, boolean>();
  /** Of the paths of the last run: 1 where what was known of it still holds. */
  readonly #recalled: Uint8Array;
  /** Of the others. */
  readonly #known = new Map<string, Known>();
  #listing: TreeListing = { files: [], leftOut: [], note: '', by: 'walk', inputs: {} };
  #contents: Set<string> | undefined;
  /** A file was not as it was, or not known. */
  #isNew = false;

  private constructor(
    tree: SourceTree,
    before: Seen | undefined,
    { changed, digests }: SeenOptions,
  ) {
    this.#tree = tree;
    this.#before = before;
    this.#changed = before === undefined ? undefined : changed;
    this.#digests = digests;
    const paths = before?.paths ?? [];
    this.#touched = new Uint8Array(paths.length).fill(this.#changed === undefined ? 1 : 0);
    this.#same = new Uint8Array(paths.length);
    this.#recalled = new Uint8Array(paths.length);
    for (const [at, path] of paths.entries()) {
      this.#places.set(path, at);
      if (this.#changed !== undefined && isBelowAny(this.#changed, path)) this.#touched[at] = 1;
    }
  }

  /** `path`: a file of `write`; if absent, damaged or of another version, nothing was seen. */
  static async read(path: string, tree: SourceTree, options: SeenOptions): Promise<SeenTree> {
    return new SeenTree(tree, await readSeen(path), options);
  }

  /**
   * The files of the tree. Where it is known what may have changed, only that is listed, and the rest is as the last run
   * has found it. Throws REPO_UNREADABLE.
   */
  async list(): Promise<TreeListing> {
    this.#listing = (await this.#patched()) ?? (await this.#tree.list());
    // They are read in each run, and no miner says what was in them.
    for (const { path } of this.#listing.leftOut)
      if (attributesName.test(path)) this.#isAsStamped(path, this.#places.get(path));
    return this.#listing;
  }

  /** The last result for a file if it is unchanged; else undefined: read the file and call `note`. */
  recall(path: string): Known | undefined {
    const at = this.#places.get(path);
    const known = at === undefined ? undefined : this.#knownAt(at);
    if (at !== undefined && known !== undefined && this.#touched[at] === 0) return known;
    if (this.#isAsStamped(path, at)) return known;
    this.#isNew = true;
    return undefined;
  }

  /** Call after `recall` of the same path. */
  note(known: Known): void {
    const at = this.#places.get(known.path);
    if (at !== undefined && this.#before?.known[at] === known) this.#recalled[at] = 1;
    else this.#known.set(known.path, known);
  }

  /** Whether the last run had the facts of this content, in any file. */
  hasSeen({ language, blob }: Pick<FileRow, 'language' | 'blob'>): boolean {
    this.#contents ??= new Set(
      this.#before?.known.flatMap((each) =>
        each !== undefined && 'blob' in each && this.#isOfRules(each) ? contentOf(each) : [],
      ),
    );
    return this.#contents.has(contentOf({ language, blob }));
  }

  /** Facts of what it has seen may be missing, and are no reason to mine it. */
  get lacksFacts(): boolean {
    return this.#before?.about.lacks_facts === true;
  }

  /** Whether `write` would write something else than what was read, though the tree may be as it was. */
  get isOutdated(): boolean {
    const { inputs } = this.#before?.about ?? {};
    return this.#isNew || JSON.stringify(inputs) !== JSON.stringify(this.#listing.inputs);
  }

  /** Whether the tree is what it was when the manifest of this digest was written. */
  isAsBefore(served: string): boolean {
    const before = this.#before;
    if (before === undefined || before.about.served !== served || served === '') return false;
    if (JSON.stringify(before.about.digests) !== JSON.stringify(this.#digests)) return false;
    const { files, leftOut, note } = this.#listing;
    if (files.length + leftOut.length !== before.paths.length) return false;
    const isSame = (path: string, known: Known | undefined): boolean => {
      const at = this.#places.get(path);
      return at !== undefined && isEqual(before.known[at], known);
    };
    return (
      note === before.about.note &&
      files.every(({ path }) => isSame(path, this.#foundIn(path))) &&
      leftOut.every((each) => isSame(each.path, each) && this.#isSettled(each.path))
    );
  }

  /**
   * Writes what this run has seen; removes the file where that is too much. `served`: digest of the manifest that was
   * written from it. Throws STORE_UNAVAILABLE.
   */
  async write(path: string, served: string): Promise<void> {
    const { files, leftOut, by, note, inputs } = this.#listing;
    const count = files.length + leftOut.length;
    if (count > pathsMax) return rm(path, { force: true });
    const seen: Seen = {
      ...{ paths: [], languages: [], known: [], stamps: new BigUint64Array(count * stampNumbers) },
      about: {
        ...{ served, started_ms: this.#startedMs, digests: this.#digests, by, note, inputs },
        lacks_facts: this.lacksFacts,
      },
    };
    for (const { path: file, language } of files) {
      const known = this.#foundIn(file);
      this.#add(seen, file, known);
      seen.languages.push(known !== undefined && 'language' in known ? known.language : language);
    }
    for (const each of leftOut) {
      this.#add(seen, each.path, each);
      seen.languages.push(undefined);
    }
    await writeSeen(path, seen);
  }

  /** In this run. */
  #foundIn(path: string): Known | undefined {
    const at = this.#places.get(path);
    return at !== undefined && this.#recalled[at] === 1
      ? this.#before?.known[at]
      : this.#known.get(path);
  }

  #add({ paths, known, stamps }: Seen, path: string, its: Known | undefined): void {
    const isKept =
      its !== undefined &&
      (!('reason' in its) || decidedByContent.includes(its.reason) || attributesName.test(path));
    const stamp = isKept ? (this.#stamps.get(path) ?? this.#stampBefore(path, its)) : undefined;
    if (stamp !== undefined) stamps.set(stamp, paths.length * stampNumbers);
    paths.push(path);
    known.push(its);
  }

  /** Of what is as it was, or was not looked at in this run. */
  #stampBefore(path: string, its: Known): Stamp | undefined {
    const at = this.#places.get(path);
    if (at === undefined) return undefined;
    const isSame = this.#same[at] === 1 || this.#touched[at] === 0;
    return isSame && isEqual(this.#before?.known[at], its) ? this.#stampAt(at) : undefined;
  }

  /** The last listing with the changed paths in it listed anew; undefined: everything is to be listed. */
  async #patched(): Promise<TreeListing | undefined> {
    const [before, changed] = [this.#before, this.#changed];
    if (before === undefined || changed === undefined) return undefined;
    const { by, note, inputs } = before.about;
    const isAsThen = ([path, stamp]: [string, string]): boolean =>
      isSettled(stamp) && stampOfInput(path) === stamp;
    if (!Object.entries(inputs).every(isAsThen)) return undefined;
    const found = await this.#tree.listBelow(changed, by);
    if (found === undefined) return undefined;
    const files: SourceFile[] = [...found.files];
    const leftOut = [...found.leftOut];
    for (const [at, path] of before.paths.entries()) {
      if (this.#touched[at] !== 0) continue;
      const known = before.known[at];
      const language = before.languages[at];
      if (language === undefined) {
        if (known !== undefined && 'reason' in known) leftOut.push(known);
      } else if (this.#knownAt(at) !== undefined) files.push({ path, language });
      // It will be read: its text decides anew.
      else files.push({ path, language: languageOf(path) ?? language });
    }
    files.sort((one, other) => (one.path < other.path ? -1 : 1));
    return { files, leftOut, note, by, inputs };
  }

  /** Undefined for what is to be read again. */
  #knownAt(at: number): Known | undefined {
    const known = this.#before?.known[at];
    if (known === undefined || !this.#hasStamp(at)) return undefined;
    return 'reason' in known || this.#isOfRules(known) ? known : undefined;
  }

  /** Whether its facts are those of the rules in force. */
  readonly #isOfRules = ({ language }: FileRow): boolean =>
    this.#before?.about.digests[language] === this.#digests[language];

  #stampAt(at: number): Stamp | undefined {
    if (!this.#hasStamp(at)) return undefined;
    return [...(this.#before?.stamps.subarray(at * stampNumbers, (at + 1) * stampNumbers) ?? [])];
  }

  /** No file has an inode of number 0. */
  #hasStamp(at: number): boolean {
    return this.#before?.stamps[at * stampNumbers + 1] !== 0n;
  }

  /** Whether a file is as it was when it was read; else its stamp is kept for the next run. */
  #isAsStamped(path: string, at: number | undefined): boolean {
    const stamp = this.#stampOf(path);
    if (stamp === undefined) return false;
    const [stamps, first] = [this.#before?.stamps, (at ?? 0) * stampNumbers];
    const isSame =
      at !== undefined && stamp.every((each, number) => each === stamps?.[first + number]);
    if (isSame) this.#same[at] = 1;
    else this.#stamps.set(path, stamp);
    return isSame;
  }

  #isSettled(path: string): boolean {
    const at = this.#places.get(path);
    if (!attributesName.test(path)) return true;
    return at !== undefined && this.#same[at] === 1;
  }

  /** A folder that has become a link is another folder. */
  #isInPlace(folder: string): boolean {
    let isInPlace = this.#folders.get(folder);
    if (isInPlace === undefined) {
      isInPlace = realpathSync.native(folder) === folder;
      this.#folders.set(folder, isInPlace);
    }
    return isInPlace;
  }

  /** Undefined for anything but a regular file, and for a file that may still change unnoticed. */
  #stampOf(path: string): Stamp | undefined {
    try {
      const place = join(this.#tree.root, path);
      if (!this.#isInPlace(dirname(place))) return undefined;
      const found = lstatSync(place, { bigint: true });
      if (!found.isFile() || Number(found.ctimeMs) > this.#startedMs - settledMs) return undefined;
      const { dev, ino, size, mtimeNs, ctimeNs } = found;
      return [dev, ino, size, mtimeNs, ctimeNs];
    } catch {
      return undefined;
    }
  }
}

function contentOf({ language, blob }: Pick<FileRow, 'language' | 'blob'>): string {
  return `${language} ${blob}`;
}

function isEqual(one: Known | undefined, other: Known | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  if ('reason' in one || 'reason' in other)
    return 'reason' in one && 'reason' in other && one.reason === other.reason;
  return one.blob === other.blob && one.language === other.language;
}
