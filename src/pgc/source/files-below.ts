import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { BusError } from '../../errors/bus-error.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { ConfinedReader, isBelow, type ReadRefusal } from './confined-reader.js';

/** Of a file that a prompt reads, or a critic. */
export const readBytesMax = 256 * 1024;

/** Reads text files below one folder. Links are followed as long as they stay below it. */
export class FilesBelow {
  readonly #given: string;
  readonly #root: string;
  readonly #reader: ConfinedReader;

  private constructor(given: string, root: string) {
    this.#given = given;
    this.#root = root;
    this.#reader = new ConfinedReader(root, readBytesMax);
  }

  /** `root`: a folder that is there. */
  static async of(root: string): Promise<FilesBelow> {
    return new FilesBelow(path.resolve(root), await realpath(root));
  }

  /** Refuses with READ_OUTSIDE, READ_MISSING, READ_NOT_A_FILE, READ_TOO_LARGE, READ_BINARY, READ_UNREADABLE. */
  async read(wanted: string): Promise<{ text: string } | { refused: BusError }> {
    try {
      return { text: await this.open(await this.locate(wanted), wanted) };
    } catch (error) {
      return { refused: refusalOf(error, wanted) };
    }
  }

  /** Where a path leads, links followed, from the root. Throws READ_OUTSIDE. */
  async locate(wanted: string): Promise<string> {
    const place = path.resolve(this.#root, wanted);
    if (!isBelow(place, this.#root) && !isBelow(place, this.#given))
      throw new BusError('READ_OUTSIDE', { path: wanted });
    const real = await realpath(place);
    if (!isBelow(real, this.#root)) throw new BusError('READ_OUTSIDE', { path: wanted });
    return path.relative(this.#root, real);
  }

  /** The text of what stands there. A link that has taken its place since, or that of a folder on the way, is not followed. */
  async open(located: string, wanted: string): Promise<string> {
    // The root itself is a folder, and no path below it.
    if (located === '') throw new BusError('READ_NOT_A_FILE', { path: wanted });
    const answer = await this.#reader.read(located);
    if ('bytes' in answer) return textOf(answer.bytes, wanted);
    if (answer.refused === 'too large') throw await this.#tooLarge(located, wanted);
    throw new BusError(codeOf(answer.refused), { path: wanted, detail: answer.refused });
  }

  async #tooLarge(located: string, wanted: string): Promise<BusError> {
    const { size } = await lstat(path.join(this.#root, located));
    return new BusError('READ_TOO_LARGE', { path: wanted, bytes: size, limit: readBytesMax });
  }
}

function textOf(bytes: Buffer, wanted: string): string {
  if (bytes.includes(0)) throw new BusError('READ_BINARY', { path: wanted });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new BusError('READ_BINARY', { path: wanted }, { cause });
  }
}

function codeOf(refusal: Exclude<ReadRefusal, 'too large'>): ErrorCode {
  switch (refusal) {
    // Links were followed before: one that is met now came since.
    case 'symbolic link':
    case 'outside the root':
      return 'READ_OUTSIDE';
    case 'absent':
      return 'READ_MISSING';
    case 'not a file':
      return 'READ_NOT_A_FILE';
    case 'unreadable':
      return 'READ_UNREADABLE';
  }
}

function refusalOf(error: unknown, wanted: string): BusError {
  if (error instanceof BusError) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new BusError('READ_MISSING', { path: wanted }, { cause: error });
  return new BusError('READ_UNREADABLE', { path: wanted, detail: code }, { cause: error });
}
