import { rename, rm } from 'node:fs/promises';
import { BusError } from '../errors/bus-error.js';
import { appliedKey, metaPrefix } from '../store/keys.js';
import { syncFolder, unavailable } from '../store/level-folder.js';
import { LevelStore, type StoreOptions } from '../store/level-store.js';
import type { Operation } from '../store/port.js';
import { start, type Position } from './log-entry.js';

/** What the log says, up to one of its entries, in a LevelDB of this machine. Not synced: the log can say it again. */
export class Replica {
  readonly folder: string;
  readonly #options: StoreOptions;
  #level: LevelStore;

  private constructor(folder: string, options: StoreOptions, level: LevelStore) {
    this.folder = folder;
    this.#options = options;
    this.#level = level;
  }

  /** Throws what `LevelStore.open` does, and STORE_NOT_EMPTY for a store that was not filled from a log. */
  static async open(folder: string, options: StoreOptions): Promise<Replica> {
    const replica = new Replica(folder, options, await LevelStore.open(folder, options));
    try {
      if ((await replica.#level.get(appliedKey)) === undefined) await replica.#expectEmpty();
      return replica;
    } catch (error) {
      await replica[Symbol.asyncDispose]();
      throw error;
    }
  }

  get level(): LevelStore {
    return this.#level;
  }

  /** Of the last entry that is applied. */
  async position(): Promise<Position> {
    const mark = await this.#level.get(appliedKey);
    return mark === undefined ? start : positionOf(mark);
  }

  /** Applies operations together with the place in the log that they bring the replica to. */
  apply(operations: readonly Operation[], { sequence, crc }: Position): Promise<void> {
    const value = Buffer.from(`${sequence} ${crc}`);
    return this.#level.write([...operations, { type: 'put', key: appliedKey, value }]);
  }

  /**
   * Puts another content in place of the present one, which is left as it is when that fails. `keepAs`: the present one is moved
   * there, else removed.
   */
  async replace(fill: (level: LevelStore) => Promise<void>, keepAs?: string): Promise<void> {
    const fresh = `${this.folder}.restoring`;
    try {
      await rm(fresh, { recursive: true, force: true });
      {
        await using level = await LevelStore.open(fresh, this.#options);
        await fill(level);
      }
      // A power cut may not leave a mark whose entries are not all there.
      await syncFolder(fresh);
      await this.#level[Symbol.asyncDispose]();
      if (keepAs === undefined) await rm(this.folder, { recursive: true, force: true });
      else await rename(this.folder, keepAs);
      await rename(fresh, this.folder);
    } catch (error) {
      throw unavailable(this.folder, error);
    } finally {
      // Closed already: opens what is in place now.
      if (this.#level.state !== 'serving')
        this.#level = await LevelStore.open(this.folder, this.#options);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#level[Symbol.asyncDispose]();
  }

  async #expectEmpty(): Promise<void> {
    for await (const key of this.#level.keys({ prefix: '' }))
      if (!key.startsWith(metaPrefix)) throw new BusError('STORE_NOT_EMPTY', { path: this.folder });
  }
}

export function positionOf(mark: Buffer): Position {
  const [sequence = 0, crc = 0] = mark.toString().split(' ').map(Number);
  return { sequence, crc };
}
