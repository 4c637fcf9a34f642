import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
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
  readonly #folders = new Map<string, Promise<boolean>>();

  /** `realRoot`: absolute, without links. */
  constructor(realRoot: string, fileBytesMax: number) {
    this.#root = realRoot;
    this.#fileBytesMax = fileBytesMax;
  }

  /** `path` relative to the root, with `/`. */
  async read(path: string): Promise<ReadResult> {
    if (!isInnerPath(path)) return { refused: 'outside the root' };
    const place = resolve(this.#root, path);
    if (!(await this.#isInside(dirname(place)))) return { refused: 'outside the root' };
    try {
      const handle = await open(place, openFlags);
      try {
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
      const found = fstatSync(handle);
      if (!found.isFile()) return { refused: 'not a file' };
      if (found.size > this.#fileBytesMax) return { refused: 'too large' };
      return { bytes: readFileSync(handle) };
    } catch (error) {
      return { refused: refusalOf(error) };
    } finally {
      if (handle !== undefined) closeSync(handle);
    }
  }

  /** One real-path look-up per folder: a link in the middle of a path may lead anywhere. */
  #isInside(folder: string): Promise<boolean> {
    let known = this.#folders.get(folder);
    if (known === undefined) {
      known = realpath(folder).then(
        (real) => isBelow(real, this.#root),
        // What does not exist leads nowhere; opening it will say so.
        () => true,
      );
      this.#folders.set(folder, known);
    }
    return known;
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
