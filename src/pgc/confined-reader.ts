import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, normalize, resolve, sep } from 'node:path';

export type ReadRefusal =
  'outside the root' | 'symbolic link' | 'absent' | 'not a file' | 'too large' | 'unreadable';
export type ReadResult = { bytes: Buffer } | { refused: ReadRefusal };

// Non-blocking: opening a named pipe would wait for a writer.
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads regular files below one root and never anything else, whatever a path or a link says. */
export class ConfinedReader {
  readonly #root: string;
  readonly #fileBytesMax: number;

  /** `realRoot`: absolute, without links. */
  constructor(realRoot: string, fileBytesMax: number) {
    this.#root = realRoot;
    this.#fileBytesMax = fileBytesMax;
  }

  /** `path` relative to the root, with `/`. */
  async read(path: string): Promise<ReadResult> {
    if (!isInnerPath(path)) return { refused: 'outside the root' };
    const place = resolve(this.#root, path);
    try {
      // Before opening, for opening alone can do something to a device; after it, for what was opened counts.
      if (!isBelow(await realpath(dirname(place)), this.#root))
        return { refused: 'outside the root' };
      const handle = await open(place, openFlags);
      try {
        if (!this.#isOpenedInside(handle.fd, place)) return { refused: 'outside the root' };
        const { size } = await handle.stat().then((stat) => (stat.isFile() ? stat : { size: -1 }));
        if (size < 0) return { refused: 'not a file' };
        if (size > this.#fileBytesMax) return { refused: 'too large' };
        const bytes = await handle.readFile();
        return bytes.length > this.#fileBytesMax ? { refused: 'too large' } : { bytes };
      } finally {
        await handle.close();
      }
    } catch (error) {
      return { refused: refusalOf(error) };
    }
  }

  /** As `read`, for who cannot wait: a few lines of a file that was just read by someone else. */
  readSync(path: string): ReadResult {
    if (!isInnerPath(path)) return { refused: 'outside the root' };
    const place = resolve(this.#root, path);
    let handle: number | undefined;
    try {
      if (!isBelow(realpathSync(dirname(place)), this.#root))
        return { refused: 'outside the root' };
      handle = openSync(place, openFlags);
      if (!this.#isOpenedInside(handle, place)) return { refused: 'outside the root' };
      const found = fstatSync(handle);
      if (!found.isFile()) return { refused: 'not a file' };
      if (found.size > this.#fileBytesMax) return { refused: 'too large' };
      const bytes = readFileSync(handle);
      return bytes.length > this.#fileBytesMax ? { refused: 'too large' } : { bytes };
    } catch (error) {
      return { refused: refusalOf(error) };
    } finally {
      if (handle !== undefined) closeSync(handle);
    }
  }

  /** A folder on the way may have become a link since it was looked at; the open file has one place. */
  #isOpenedInside(handle: number, place: string): boolean {
    try {
      return isBelow(readlinkSync(`/proc/self/fd/${handle}`), this.#root);
    } catch {
      // No such folder outside Linux: the place must still lead, inside, to the very file that is open.
    }
    const real = realpathSync(place);
    const [opened, found] = [fstatSync(handle, { bigint: true }), statSync(real, { bigint: true })];
    return isBelow(real, this.#root) && opened.dev === found.dev && opened.ino === found.ino;
  }
}

/** A relative path that stays below where it starts, by its text alone. */
export function isInnerPath(path: string): boolean {
  if (path === '' || path.includes('\0') || isAbsolute(path)) return false;
  const normal = normalize(path);
  return normal !== '..' && !normal.startsWith(`..${sep}`);
}

/** Both absolute and without links; a root is below itself. */
export function isBelow(real: string, root: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

function refusalOf(error: unknown): ReadRefusal {
  switch ((error as NodeJS.ErrnoException).code) {
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
