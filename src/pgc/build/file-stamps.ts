import { lstatSync, realpathSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { minerVersion } from '../format/facts.js';
import { writeAtomically } from '../format/segment-file.js';
import type { FileRow } from '../format/shard-index.js';
import type { LeftOut } from '../source/source-tree.js';

/** Raised whenever the content, or the rules that decide whether a file is read, change. */
const format = 1;
/** A file that changed this shortly before it was read may change again within one tick of its clock. */
const settledMs = 2_000;
/** Each takes about 200 bytes. */
const stampsMax = 1_000_000;
const fileBytesMax = 512 * 1024 * 1024;
/** Reasons that depend on the content alone. */
const decidedByContent: readonly string[] = ['binary', 'generated'];

const header = z.object({ format: z.literal(format), miner: z.literal(minerVersion) });
type Known = FileRow | LeftOut;
type Entry = [stamp: string, known: Known];
type Row = [path: string, ...Entry];
/** The stamp of no file. */
const unstamped = '';

/**
 * What the last run read in each file. Valid while device, inode, size and both times are unchanged, which git's index
 * does as well (Documentation/technical/racy-git of git 2.x).
 */
export class FileStamps {
  readonly #root: string;
  readonly #startedMs = Date.now();
  readonly #before: ReadonlyMap<string, Entry>;
  /** Taken before the file is read, so that a write during the run shows in the next one. */
  readonly #stamps = new Map<string, string>();
  readonly #folders = new Map<string, boolean>();
  readonly #now: Row[] = [];
  readonly #changed: ReadonlySet<string> | undefined;

  private constructor(
    root: string,
    before: ReadonlyMap<string, Entry>,
    changed: ReadonlySet<string> | undefined,
  ) {
    this.#root = root;
    this.#before = before;
    this.#changed = changed;
  }

  /**
   * `path`: a file of `write`; if absent, damaged or of another version, no stamps are known. `changed`: files that
   * may have changed, and folders below which anything may have; absent: anything.
   */
  static async read(
    path: string,
    root: string,
    changed?: ReadonlySet<string>,
  ): Promise<FileStamps> {
    try {
      // gzip carries a checksum.
      const text = gunzipSync(await readFile(path), { maxOutputLength: fileBytesMax }).toString();
      const [first = '', ...lines] = text.split('\n');
      header.parse(JSON.parse(first));
      const entries = lines
        .map((line) => JSON.parse(line) as [string, string, Known])
        .map(([name, stamp, known]): [string, Entry] => [name, [stamp, known]]);
      return new FileStamps(root, new Map(entries), changed);
    } catch {
      return new FileStamps(root, new Map(), undefined);
    }
  }

  /** Of files whose content is known, but not whether this tree has it: each is read. Throws STORE_UNAVAILABLE. */
  static async writeUnstamped(path: string, rows: readonly FileRow[]): Promise<void> {
    await written(
      path,
      rows.map((row) => [row.path, unstamped, row]),
    );
  }

  /** What a file was when it was read last, or where the index was pulled from. */
  before(path: string): Known | undefined {
    return this.#before.get(path)?.[1];
  }

  /** The last result for a file if it is unchanged; else undefined: read the file and call `note`. */
  recall(path: string): Known | undefined {
    const unchanged = this.#before.get(path);
    const isStamped = unchanged !== undefined && unchanged[0] !== unstamped;
    if (isStamped && !this.#mayHaveChanged(path)) {
      this.#stamps.set(path, unchanged[0]);
      return unchanged[1];
    }
    const stamp = this.#stampOf(path);
    if (stamp === undefined) return undefined;
    this.#stamps.set(path, stamp);
    const [before, known] = this.#before.get(path) ?? [];
    return before === stamp ? known : undefined;
  }

  /** Call after `recall` of the same path. */
  note(known: Known): void {
    const stamp = this.#stamps.get(known.path) ?? unstamped;
    if (!('reason' in known) || decidedByContent.includes(known.reason))
      this.#now.push([known.path, stamp, known]);
  }

  /** Writes the stamps of this run. Throws STORE_UNAVAILABLE. */
  async write(path: string): Promise<void> {
    await written(path, this.#now);
  }

  #mayHaveChanged(path: string): boolean {
    if (this.#changed === undefined || this.#changed.has(path)) return true;
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      if (this.#changed.has(path.slice(0, end))) return true;
    return false;
  }

  /** A folder that has become a link is another folder. */
  #isInPlace(folder: string): boolean {
    let isInPlace = this.#folders.get(folder);
    if (isInPlace === undefined) {
      isInPlace = realpathSync(folder) === folder;
      this.#folders.set(folder, isInPlace);
    }
    return isInPlace;
  }

  /** Undefined for anything but a regular file, and for a file that may still change unnoticed. */
  #stampOf(path: string): string | undefined {
    try {
      const place = join(this.#root, path);
      if (!this.#isInPlace(dirname(place))) return undefined;
      const found = lstatSync(place, { bigint: true });
      if (!found.isFile() || Number(found.ctimeMs) > this.#startedMs - settledMs) return undefined;
      const { dev, ino, size, mtimeNs, ctimeNs } = found;
      return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
    } catch {
      return undefined;
    }
  }
}

/** Removes the file if there are too many. Throws STORE_UNAVAILABLE. */
async function written(path: string, rows: readonly Row[]): Promise<void> {
  if (rows.length > stampsMax) return rm(path, { force: true });
  const lines = [{ format, miner: minerVersion }, ...rows].map((each) => JSON.stringify(each));
  await writeAtomically(path, [gzipSync(lines.join('\n'), { level: 1 })]);
}
