import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { BusError } from '../../errors/bus-error.js';
import { dirname, isAbsolute, normalize, resolve, sep } from 'node:path';

export type ReadRefusal =
  | 'outside the root'
  | 'symbolic link'
  | 'absent'
  | 'not a file'
  | 'too large'
  | 'unreadable';
type ReadResult = { bytes: Buffer } | { refused: ReadRefusal };

// O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads regular files below one root and nothing else, through no path and no symbolic link. */
export class ConfinedReader {
  readonly #root: string;
  readonly #fileBytesMax: number;

  /** `realRoot`: absolute, without links. */
  constructor(realRoot: string, fileBytesMax: number) {
    this.#root = realRoot;
    this.#fileBytesMax = fileBytesMax;
  }

  /** `path` relative to the root, with `/`. Throws STORE_UNAVAILABLE where the system opens no more files. */
  async read(path: string): Promise<ReadResult> {
    if (!isInnerPath(path)) return { refused: 'outside the root' };
    const place = resolve(this.#root, path);
    try {
      // Checked before opening, because opening a device can have an effect, and again on the open handle, because
      // the path may have changed in between.
      if (!isBelow(await realpath(dirname(place)), this.#root))
        return { refused: 'outside the root' };
      if (isSpecial(await lstat(place))) return { refused: 'not a file' };
      const handle = await open(place, openFlags);
      try {
        if (!this.#isOpenedInside(handle.fd, place)) return { refused: 'outside the root' };
        const found = await handle.stat();
        if (!found.isFile()) return { refused: 'not a file' };
        if (found.size > this.#fileBytesMax) return { refused: 'too large' };
        const intake = new Intake(found.size, this.#fileBytesMax);
        while (intake.take((await handle.read(intake.room())).bytesRead));
        return intake.result();
      } finally {
        await handle.close();
      }
    } catch (error) {
      return { refused: refusalOf(place, error) };
    }
  }

  /** Blocking version of `read`, for callers that cannot be asynchronous. */
  readSync(path: string): ReadResult {
    if (!isInnerPath(path)) return { refused: 'outside the root' };
    const place = resolve(this.#root, path);
    let handle: number | undefined;
    try {
      if (!isBelow(realpathSync(dirname(place)), this.#root))
        return { refused: 'outside the root' };
      if (isSpecial(lstatSync(place))) return { refused: 'not a file' };
      handle = openSync(place, openFlags);
      if (!this.#isOpenedInside(handle, place)) return { refused: 'outside the root' };
      const found = fstatSync(handle);
      if (!found.isFile()) return { refused: 'not a file' };
      if (found.size > this.#fileBytesMax) return { refused: 'too large' };
      const intake = new Intake(found.size, this.#fileBytesMax);
      while (intake.take(readSync(handle, intake.room())));
      return intake.result();
    } catch (error) {
      return { refused: refusalOf(place, error) };
    } finally {
      if (handle !== undefined) closeSync(handle);
    }
  }

  /** A folder on the path may have become a link after the check; the open handle has only one real path. */
  #isOpenedInside(handle: number, place: string): boolean {
    try {
      return isBelow(readlinkSync(`/proc/self/fd/${handle}`), this.#root);
    } catch {
      // No /proc outside Linux. There the path must still resolve to the open file, inside the root.
    }
    const real = realpathSync(place);
    const [opened, found] = [fstatSync(handle, { bigint: true }), statSync(real, { bigint: true })];
    return isBelow(real, this.#root) && opened.dev === found.dev && opened.ino === found.ino;
  }
}

/** The bytes read so far. The file may grow while it is read; at most one byte above the limit is read. */
class Intake {
  #bytes: Buffer;
  #filled = 0;
  readonly #bytesMax: number;

  constructor(expected: number, bytesMax: number) {
    // The extra byte shows whether the file goes on.
    this.#bytes = Buffer.allocUnsafe(expected + 1);
    this.#bytesMax = bytesMax;
  }

  room(): Buffer {
    const { length } = this.#bytes;
    if (this.#filled === length)
      this.#bytes = Buffer.concat([this.#bytes], Math.min(2 * length, this.#bytesMax + 1));
    return this.#bytes.subarray(this.#filled);
  }

  /** Counts the bytes of one read. Returns whether to read on. */
  take(bytes: number): boolean {
    this.#filled += bytes;
    return bytes > 0 && this.#filled <= this.#bytesMax;
  }

  result(): ReadResult {
    if (this.#filled > this.#bytesMax) return { refused: 'too large' };
    return { bytes: this.#bytes.subarray(0, this.#filled) };
  }
}

/** Not to be opened at all: opening a device can have an effect. */
function isSpecial(found: Stats): boolean {
  return !found.isFile() && !found.isDirectory() && !found.isSymbolicLink();
}

/** A relative path that stays below its start, judged by its text alone. */
export function isInnerPath(path: string): boolean {
  if (path === '' || path.includes('\0') || isAbsolute(path)) return false;
  const normal = normalize(path);
  return normal !== '..' && !normal.startsWith(`..${sep}`);
}

/** Both absolute and without links; a root is below itself. */
export function isBelow(real: string, root: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

function refusalOf(path: string, error: unknown): ReadRefusal {
  const { code, message: detail } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EMFILE':
    case 'ENFILE':
      // Too many files are open: that says nothing about this one.
      throw new BusError('STORE_UNAVAILABLE', { path, detail }, { cause: error });
    case 'ELOOP':
      return 'symbolic link';
    case 'ENOENT':
    case 'ENOTDIR':
      return 'absent';
    case 'EISDIR':
    case 'ENXIO':
      return 'not a file';
    default:
      return 'unreadable';
  }
}
