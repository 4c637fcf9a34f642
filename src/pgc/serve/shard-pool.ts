import { BusError } from '../../errors/bus-error.js';

/** Questions that wait until another shard may be closed. */
export const waitingMax = 1_024;

/** Of the budget, what may be taken for something else: shards that close each other at every question answer nobody. */
const reservedShareMax = 0.5;

/** One opened shard, and what it holds in memory. */
export interface Opened<S> {
  value: S;
  close(): void;
}

export interface PoolParts<S> {
  budgetBytes: number;
  /** What an open one takes; asked before it is opened. */
  costOf: (key: string) => number;
  open: (key: string) => Promise<Opened<S>>;
  /** A shard of this cost alone exceeds the budget; it is opened when nothing else is. */
  onOversize?: (key: string, bytes: number) => void;
}

export interface PoolCounts {
  open: number;
  bytes: number;
  /** Questions that wait for room. */
  waiting: number;
  /** Since the beginning. */
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
 * Opens shards when they are asked and closes those that were not for longest, so that what is open costs at
 * most the budget. One that is answering is never closed: who finds no room waits in line. A shard that is larger than
 * the whole budget is opened alone.
 */
export class ShardPool<S> {
  readonly #parts: PoolParts<S>;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry<S>>();
  /** Of an older version; closed when the last question is answered. */
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

  /** Throws what `open` and `work` throw; HOST_BUSY, CANCELLED when `signal` aborts before there is room. */
  async use<T>(key: string, work: (shard: S) => Promise<T>, signal?: AbortSignal): Promise<T> {
    // Whoever waits comes first, else one busy shard would keep all others out.
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

  /** There is a newer version: the next question opens it anew. */
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
   * Takes so much of the budget for something else, until it is disposed of, but never more than half of it. Shards that nobody
   * asks are closed for it.
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

  /** For good: whoever waits hears CANCELLED, what is answering is closed after its answer. */
  closeAll(): void {
    for (const { giveUp } of [...this.#waiting]) giveUp();
    for (const key of [...this.#entries.keys()]) this.drop(key);
  }

  /** Undefined when there is no room before somebody leaves. */
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
    // Whoever waits for it hears it; the next question tries again.
    entry.opened.catch(() => {
      if (this.#entries.get(key) === entry) this.drop(key);
    });
    return entry;
  }

  /** Closes those that were not asked for longest, as far as it helps. False: there is none even so. */
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

  /** In the order of their coming. */
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
    // One that could not be opened has nothing to close.
    void entry.opened.then(
      (opened) => opened.close(),
      () => undefined,
    );
  }
}
