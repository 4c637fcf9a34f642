import { BusError } from '../errors/bus-error.js';
import { damagedRecord } from '../store/damaged.js';
import { hex64 } from '../store/keys.js';
import { del, put } from '../store/operations.js';
import type { Operation, Store } from '../store/port.js';
import { persist, type Patience } from './persist.js';

export interface LogParts<T> {
  store: Store;
  /** Of its keys: `<prefix><n>`, from 0. */
  prefix: string;
  /** Throws for a damaged entry. */
  check?: (entry: T) => void;
  /** Not synced: entries survive the process, but after a power cut the last ones may be missing. */
  isUnsynced?: boolean;
  /** Of one entry; a larger one is refused TOO_LARGE. */
  entryBytesMax?: number;
  /** Absent: an entry that cannot be written now is refused. */
  patience?: Patience;
}

/** Entries of one id, in order, which are only added to and go away together. One appends at a time. */
export class Log<T> {
  readonly #parts: LogParts<T>;
  readonly #entries: T[] = [];
  #bytes = 0;

  constructor(parts: LogParts<T>) {
    this.#parts = parts;
  }

  /** Throws RECORD_DAMAGED, also when an entry before others is missing, and STORE_UNAVAILABLE. */
  static async open<T>(parts: LogParts<T>): Promise<Log<T>> {
    const log = new Log(parts);
    const { store, prefix, check } = parts;
    for await (const [key, value] of store.entries({ prefix })) {
      try {
        if (key !== prefix + hex64(log.#entries.length))
          throw new Error('an entry before it is missing');
        const entry = JSON.parse(value.toString()) as T;
        check?.(entry);
        log.#entries.push(entry);
      } catch (error) {
        throw damagedRecord(key, error);
      }
      log.#bytes += value.length;
    }
    return log;
  }

  get entries(): readonly T[] {
    return this.#entries;
  }

  /** As they are stored. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves when it is stored; only then it is one of `entries`. Throws TOO_LARGE, STORE_UNAVAILABLE. */
  async append(entry: T): Promise<void> {
    const { store, prefix, isUnsynced = false, entryBytesMax: limit, patience } = this.#parts;
    const operation = put(prefix + hex64(this.#entries.length), entry);
    const bytes = operation.value.length;
    if (limit !== undefined && bytes > limit)
      throw new BusError('TOO_LARGE', { what: `an entry of ${prefix}`, bytes, limit });
    await persist(
      () => (isUnsynced ? store.write([operation]) : store.commit([operation])),
      patience,
    );
    this.#entries.push(entry);
    this.#bytes += bytes;
  }
}

/** Deletes a whole log, in one batch with what it belongs to. Throws STORE_UNAVAILABLE. */
export async function logDeletion(store: Store, prefix: string): Promise<Operation[]> {
  const gone: Operation[] = [];
  for await (const key of store.keys({ prefix })) gone.push(del(key));
  return gone;
}
