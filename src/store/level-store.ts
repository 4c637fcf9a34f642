import { mkdir } from 'node:fs/promises';
import { Level } from 'level';
import { BusError } from '../errors/bus-error.js';
import { prefixEnd, schemaKey, schemaVersion } from './keys.js';
import type { Operation, Range, Store } from './port.js';

type Batch = { operations: Operation[]; resolve: () => void; reject: (error: Error) => void };

/** Operations in one synced batch; more would make the first of them wait for the last. */
const batchOperationsMax = 4_096;

/** LevelDB. Its lock file is the guard that one process at a time owns the folder. */
export class LevelStore implements Store {
  readonly #db: Level<string, Buffer>;
  readonly #path: string;
  #waiting: Batch[] = [];
  #writing: Promise<void> | undefined;

  private constructor(path: string, db: Level<string, Buffer>) {
    this.#path = path;
    this.#db = db;
  }

  /** Throws STORE_LOCKED, STORE_SCHEMA or STORE_UNAVAILABLE. The folder is created with mode 0700. */
  static async open(path: string): Promise<LevelStore> {
    const db = new Level<string, Buffer>(path, { keyEncoding: 'utf8', valueEncoding: 'buffer' });
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await db.open();
    } catch (error) {
      throw openingError(path, error);
    }
    const store = new LevelStore(path, db);
    try {
      await store.#checkSchema();
    } catch (error) {
      await db.close();
      throw error;
    }
    return store;
  }

  async get(key: string): Promise<Buffer | undefined> {
    return this.#db.get(key);
  }

  async getMany(keys: string[]): Promise<(Buffer | undefined)[]> {
    return this.#db.getMany(keys);
  }

  entries(range: Range): AsyncIterable<[string, Buffer]> {
    return this.#db.iterator(bounds(range));
  }

  keys(range: Range): AsyncIterable<string> {
    return this.#db.keys(bounds(range));
  }

  commit(operations: Operation[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operations, resolve, reject });
      this.#writing ??= this.#drain();
    });
  }

  async write(operations: Operation[]): Promise<void> {
    try {
      await this.#db.batch(operations);
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#db.close();
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const riding = this.#takeBatch();
      try {
        // `sync` is false by default: a power cut would lose what was acknowledged.
        await this.#db.batch(
          riding.flatMap((each) => each.operations),
          { sync: true },
        );
        for (const each of riding) each.resolve();
      } catch (error) {
        for (const each of riding) each.reject(this.#unavailable(error));
      }
    }
    this.#writing = undefined;
  }

  #takeBatch(): Batch[] {
    let operations = 0;
    let count = 0;
    for (const each of this.#waiting) {
      operations += each.operations.length;
      if (count > 0 && operations > batchOperationsMax) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #checkSchema(): Promise<void> {
    const found = (await this.#db.get(schemaKey)) as Buffer | undefined;
    if (found === undefined)
      return this.commit([{ type: 'put', key: schemaKey, value: Buffer.from(schemaVersion) }]);
    const got = found.toString();
    if (got !== schemaVersion)
      throw new BusError('STORE_SCHEMA', { path: this.#path, got, wanted: schemaVersion });
  }

  #unavailable(error: unknown): BusError {
    return new BusError(
      'STORE_UNAVAILABLE',
      { path: this.#path, detail: detailOf(error) },
      { cause: error },
    );
  }
}

function bounds(range: Range): { gt?: string; gte?: string; lt: string; limit: number } {
  const start = range.after === undefined ? { gte: range.prefix } : { gt: range.after };
  return { ...start, lt: prefixEnd(range.prefix), limit: range.limit ?? -1 };
}

function openingError(path: string, error: unknown): BusError {
  const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : undefined;
  if (cause?.code === 'LEVEL_LOCKED')
    return new BusError('STORE_LOCKED', { path }, { cause: error });
  return new BusError('STORE_UNAVAILABLE', { path, detail: detailOf(error) }, { cause: error });
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
