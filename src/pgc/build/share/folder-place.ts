import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BusError } from '../../../errors/bus-error.js';
import { ConfinedReader } from '../../source/confined-reader.js';
import type { PublishedPlace } from './published-place.js';

/** A local or mounted folder. Several may write into it at once: a file is renamed into its place when it is complete. */
export class FolderPlace implements PublishedPlace {
  readonly title: string;
  readonly atOnce = 4;
  readonly #root: string;
  #count = 0;

  /** `root`: absolute, without links. */
  constructor(root: string) {
    this.#root = root;
    this.title = root;
  }

  async get(name: string, bytesMax: number): Promise<Buffer | undefined> {
    const result = await new ConfinedReader(this.#root, bytesMax).read(name);
    if ('bytes' in result) return result.bytes;
    if (result.refused === 'absent') return undefined;
    throw new BusError('PUBLISHED_DAMAGED', { place: this.title, name, detail: result.refused });
  }

  async lengthOf(name: string): Promise<number | undefined> {
    const found = await stat(join(this.#root, name)).catch(() => undefined);
    return found?.isFile() === true ? found.size : undefined;
  }

  async put(name: string, bytes: Buffer): Promise<void> {
    const path = join(this.#root, name);
    this.#count += 1;
    // Other machines may write the same object, with the same process id.
    const temporary = `${path}.${process.pid}-${Date.now()}-${this.#count}.tmp`;
    try {
      await mkdir(dirname(path), { recursive: true });
      const handle = await open(temporary, 'wx', 0o644);
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      const detail = error instanceof Error ? error.message : String(error);
      throw new BusError('PUBLISHED_UNREACHABLE', { place: this.title, detail }, { cause: error });
    }
  }
}
