import { KeyedMutex } from '../base/keyed-mutex.js';
import { damagedRecord } from '../store/damaged.js';
import { del } from '../store/operations.js';
import type { Operation } from '../store/port.js';
import { Outbox, type DurableParts } from './outbox.js';
import { persist, type Patience } from './persist.js';
import { Waiters } from './waiters.js';

/** A timer whose event could not be written is tried again after this. */
const timerRetryMs = 1_000;

const asJson = (record: unknown): Buffer => Buffer.from(JSON.stringify(record));

/** One change of a record: written in one batch, then adopted, then its effects are performed. */
export interface Change<R, E> {
  record: R;
  effects?: readonly E[];
  /** Written in the same batch. */
  more?: readonly Operation[];
  /** The record is deleted. */
  isDeleted?: boolean;
}

export interface RecordsParts<R, E> extends DurableParts {
  /** Of the keys of records: `<prefix><id>`. */
  prefix: string;
  idOf: (record: R) => string;
  /** Absent: as JSON. */
  encode?: (record: R) => Buffer;
  /** Throws for a damaged record. */
  decode: (bytes: Buffer, key: string) => R;
  /** The record as it is now, for its effects and timers. Absent: it is read from disk. */
  find?: (id: string) => R | undefined | Promise<R | undefined>;
  /** The change is on disk: `find` returns its record from now on. */
  adopt?: (change: Change<R, E>) => void;
  /** Absent: its changes have no effects. */
  outbox?: {
    prefix: string;
    /** At least once, in order for each record, again when it throws. A second time must change nothing. */
    perform: (record: R, effect: E) => Promise<void>;
  };
  timers?: {
    /** Unix time at which each is due. */
    of: (record: R) => Partial<Record<string, number>>;
    due: (record: R, timer: string, nowMs: number) => Change<R, E>;
  };
}

/** A batch that was rejected while it was written: it may be on disk all the same. */
interface Uncertain {
  key: string;
  bytes: Buffer | undefined;
  adopt: () => void;
}

/**
 * Durable records, each with a machine: step, persist, perform, settle. One change of an id at a time. A change is adopted only when it is on disk; its effects are on disk with it until they are performed, also by the next process. The owner keeps in memory what it needs.
 */
export class Records<R, E = never> implements AsyncDisposable {
  readonly #parts: RecordsParts<R, E>;
  readonly #turns = new KeyedMutex();
  readonly #waiters = new Waiters();
  readonly #closing = new AbortController();
  readonly outbox: Outbox<E>;
  /** At most as many as were written at the same time. */
  readonly #uncertain = new Map<string, Uncertain>();
  readonly #reopened: Disposable;
  /** One for each record: its earliest timer. */
  readonly #alarms = new Map<string, Disposable>();
  #isResumed = false;
  #changes = 0;

  constructor(parts: RecordsParts<R, E>) {
    this.#parts = parts;
    const { store, onTrouble, outbox } = parts;
    this.outbox = new Outbox({
      ...{ ...parts, closing: this.#closing.signal, prefix: outbox?.prefix ?? '' },
      perform: async (id, effect) => {
        const record = await this.#find(id);
        // A record that is gone has no effects.
        if (record !== undefined) await outbox?.perform(record, effect);
      },
    });
    this.#reopened = store.onReopened(() => {
      for (const id of this.#uncertain.keys())
        this.turn(id, () => Promise.resolve()).catch((error: unknown) => onTrouble(id, error));
    });
  }

  /** What an earlier process left; ids of damaged records, which stay as they are and are reported as RECORD_DAMAGED. Throws STORE_UNAVAILABLE. */
  async read(): Promise<{ records: R[]; damaged: string[] }> {
    const { store, prefix, outbox } = this.#parts;
    const records: R[] = [];
    const damaged: string[] = [];
    for await (const [key, bytes] of store.entries({ prefix })) {
      const record = this.#decoded(key, bytes);
      if (record === undefined) damaged.push(key.slice(prefix.length));
      else records.push(record);
    }
    if (outbox !== undefined) await this.outbox.read();
    return { records, damaged };
  }

  /** Undefined: there is none, or it is damaged. Throws STORE_UNAVAILABLE. */
  async load(id: string): Promise<R | undefined> {
    const key = this.#parts.prefix + id;
    const bytes = await this.#parts.store.get(key);
    return bytes && this.#decoded(key, bytes);
  }

  /** Continues what an earlier process left: timers of these records, and pending effects. */
  resume(records: Iterable<R> = []): void {
    this.#isResumed = true;
    for (const record of records) this.#arm(record);
    this.outbox.resume();
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Work on one record, when earlier work on it has ended and what is on disk of it is known. Throws STORE_UNAVAILABLE. */
  turn<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(id, async () => {
      await this.#settle(id);
      return work();
    });
  }

  /** In the turn of its record: resolves when the change is on disk and adopted. Throws STORE_UNAVAILABLE. */
  async write(change: Change<R, E>, patience?: Patience): Promise<R> {
    const { store, prefix, idOf, encode = asJson } = this.#parts;
    const { record, effects = [], more = [], isDeleted = false } = change;
    const id = idOf(record);
    const key = prefix + id;
    const pending = this.outbox.named(id, effects);
    const bytes = isDeleted ? undefined : encode(record);
    const operation: Operation =
      bytes === undefined ? del(key) : { type: 'put', key, value: bytes };
    const adopt = (): void => {
      this.#changes += 1;
      this.outbox.push(id, pending);
      this.#parts.adopt?.(change);
      this.outbox.work(id);
      if (this.#isResumed) this.#arm(record);
      this.#waiters.wake(id);
    };
    const isServing = store.state === 'serving';
    try {
      await persist(() => store.commit([operation, ...more, ...pending]), patience);
    } catch (error) {
      if (isServing) this.#uncertain.set(id, { key, bytes, adopt });
      throw error;
    }
    adopt();
    return record;
  }

  /** Resolves with what `read` returns when that is enough, the signal aborts, or the process ends (see `isClosed`). */
  async changed(
    id: string,
    read: () => R | Promise<R>,
    isEnough: (record: R) => boolean,
    signal: AbortSignal,
  ): Promise<R> {
    for (;;) {
      const changes = this.#changes;
      const record = await read();
      if (isEnough(record) || signal.aborted || this.isClosed) return record;
      // A change while it was read would not wake this caller.
      if (changes === this.#changes) await this.#waiters.wait(id, signal);
    }
  }

  /** Effects being performed are finished; the rest waits for the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#reopened[Symbol.dispose]();
    for (const alarm of this.#alarms.values()) alarm[Symbol.dispose]();
    this.#waiters.wakeAll();
    await Promise.all([this.#turns.ended(), this.outbox.ended()]);
  }

  async #find(id: string): Promise<R | undefined> {
    return this.#parts.find === undefined ? this.load(id) : this.#parts.find(id);
  }

  #decoded(key: string, bytes: Buffer): R | undefined {
    const { decode, prefix, onTrouble } = this.#parts;
    try {
      return decode(bytes, key);
    } catch (error) {
      onTrouble(key.slice(prefix.length), damagedRecord(key, error));
      return undefined;
    }
  }

  async #settle(id: string): Promise<void> {
    const uncertain = this.#uncertain.get(id);
    if (uncertain === undefined) return;
    const found = await this.#parts.store.get(uncertain.key);
    this.#uncertain.delete(id);
    const { bytes } = uncertain;
    if (bytes === undefined ? found === undefined : found?.equals(bytes)) uncertain.adopt();
  }

  /** Sets the clock for the earliest timer of a record. */
  #arm(record: R, waitMs = 0): void {
    const { clock, timers, idOf, onTrouble } = this.#parts;
    if (timers === undefined) return;
    const id = idOf(record);
    this.#alarms.get(id)?.[Symbol.dispose]();
    this.#alarms.delete(id);
    const armed = Object.entries(timers.of(record)) as [string, number][];
    const [first] = armed.sort(([, a], [, b]) => a - b);
    if (first === undefined || this.isClosed) return;
    const [timer, atMs] = first;
    const fire = (): void =>
      void this.turn(id, () => this.#fire(id, timer)).catch((error: unknown) => {
        onTrouble(id, error);
        // No other event would wake the record.
        this.#arm(record, timerRetryMs);
      });
    this.#alarms.set(id, clock.after(Math.max(waitMs, atMs - clock.nowMs()), fire));
  }

  async #fire(id: string, timer: string): Promise<void> {
    const { clock, timers } = this.#parts;
    const record = await this.#find(id);
    if (record === undefined || timers === undefined) return;
    const atMs = timers.of(record)[timer];
    const nowMs = clock.nowMs();
    if (atMs !== undefined && atMs <= nowMs) await this.write(timers.due(record, timer, nowMs));
    // It was set anew or cleared while this waited for its turn.
    else this.#arm(record);
  }
}
