import { BusError } from '../../errors/bus-error.js';

/** Limit for requests waiting for room. */
export const waitingMax = 1_024;

/** Limit for reservations: with less room, shards would be closed and opened at every question. */
const reservedShareMax = 0.5;

/** An open shard. */
export interface Opened<S> {
  value: S;
  close(): void;
}

interface PoolParts<S> {
  budgetBytes: number;
  /** Bytes that an open shard takes; asked before opening. */
  costOf: (key: string) => number;
  open: (key: string) => Promise<Opened<S>>;
  /** Called when one shard exceeds the whole budget; it is opened when no other is open. */
  onOversize?: (key: string, bytes: number) => void;
}

interface PoolCounts {
  open: number;
  bytes: number;
  /** Requests waiting for room. */
  waiting: number;
  /** Totals since the start. */
  opened: number;
  closed: number;
}

interface Entry<S> {
  key: string;
  bytes: number;
  users: number;
  opened: Promise<Opened<S>>;
}

interface Waiting<S> {
  key: string;
  enter: (entry: Entry<S>) => void;
  giveUp: () => void;
}

/**
 * Opens shards on demand and closes the least recently used ones, so that open shards cost at most the budget. A shard
 * in use is never closed: requests without room wait in order. A shard larger than the whole budget is opened alone.
 */
export class ShardPool<S> {
  readonly #parts: PoolParts<S>;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<S>>();
  /** Shards of an older version, closed after their last request. */
  readonly #leaving = new Set<Entry<S>>();
  #waiting: Waiting<S>[] = [];
  #bytes = 0;
  #reserved = 0;
  #opened = 0;
  #closed = 0;

  constructor(parts: PoolParts<S>) {
    this.#parts = parts;
  }

  get counts(): PoolCounts {
    const open = this.#entries.size + this.#leaving.size;
    const waiting = this.#waiting.length;
    return { open, bytes: this.#bytes, waiting, opened: this.#opened, closed: this.#closed };
  }

  isOpen(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Throws what `open` and `work` throw; HOST_BUSY; CANCELLED when `signal` aborts before there is room. */
  async use<T>(key: string, work: (shard: S) => Promise<T>, signal?: AbortSignal): Promise<T> {
    // Waiting requests come first; else one busy shard would starve all others.
    const entry =
      (this.#waiting.length === 0 ? this.#enter(key) : undefined) ??
      (await this.#wait(key, signal));
    try {
      const { value } = await entry.opened;
      return await work(value);
    } finally {
      this.#leave(entry);
    }
  }

  /** The shard has a newer version: the next request opens it again. */
  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#leaving.add(entry);
    if (entry.users > 0) return;
    this.#close(entry);
    this.#admit();
  }

  /**
   * Reserves part of the budget for something else, at most half of it in all, until disposed of. Idle shards are
   * closed for it.
   */
  reserve(bytes: number): Disposable {
    this.#reserved += bytes;
    this.#makeRoom(0);
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (!isOver) this.#reserved -= bytes;
        isOver = true;
        this.#admit();
      },
    };
  }

  /** Waiting requests get CANCELLED; shards in use are closed after their last request. */
  closeAll(): void {
    for (const { giveUp } of [...this.#waiting]) giveUp();
    for (const key of [...this.#entries.keys()]) this.drop(key);
  }

  /** Undefined when there is no room at present. */
  #enter(key: string): Entry<S> | undefined {
    const entry = this.#entries.get(key) ?? this.#openEntry(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.users += 1;
    return entry;
  }

  #openEntry(key: string): Entry<S> | undefined {
    const { costOf, onOversize } = this.#parts;
    const bytes = costOf(key);
    const isOver = !this.#makeRoom(bytes);
    if (isOver && this.#bytes > 0) return undefined;
    if (isOver) onOversize?.(key, bytes);
    this.#bytes += bytes;
    this.#opened += 1;
    const entry: Entry<S> = { key, bytes, users: 0, opened: this.#parts.open(key) };
    // The caller gets the error; the next request tries again.
    entry.opened.catch(() => {
      if (this.#entries.get(key) === entry) this.drop(key);
    });
    return entry;
  }

  /** Closes idle shards, least recently used first, until there is room. False: there is none even so. */
  #makeRoom(bytes: number): boolean {
    const { budgetBytes } = this.#parts;
    const room = budgetBytes - Math.min(this.#reserved, reservedShareMax * budgetBytes);
    const hasRoom = (): boolean => this.#bytes + bytes <= room;
    for (const entry of this.#entries.values()) {
      if (hasRoom()) break;
      if (entry.users > 0) continue;
      this.#entries.delete(entry.key);
      this.#close(entry);
    }
    return hasRoom();
  }

  #wait(key: string, signal: AbortSignal | undefined): Promise<Entry<S>> {
    if (this.#waiting.length >= waitingMax)
      return Promise.reject(new BusError('HOST_BUSY', { limit: waitingMax }));
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        signal?.removeEventListener('abort', giveUp);
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        reject(new BusError('CANCELLED'));
      };
      const waiting: Waiting<S> = {
        key,
        enter: (entry) => {
          signal?.removeEventListener('abort', giveUp);
          resolve(entry);
        },
        giveUp,
      };
      if (signal?.aborted === true) return giveUp();
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #leave(entry: Entry<S>): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    if (this.#leaving.has(entry)) this.#close(entry);
    this.#admit();
  }

  /** First come, first served. */
  #admit(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const entry = this.#enter(first.key);
      if (entry === undefined) return;
      this.#waiting.shift();
      first.enter(entry);
    }
  }

  #close(entry: Entry<S>): void {
    this.#leaving.delete(entry);
    this.#bytes -= entry.bytes;
    this.#closed += 1;
    // A shard that failed to open needs no closing.
    void entry.opened.then(
      (opened) => opened.close(),
      () => undefined,
    );
  }
}
