import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import { damagedRecord } from '../store/damaged.js';
import { hex64 } from '../store/keys.js';
import { del, put } from '../store/operations.js';
import type { Store } from '../store/port.js';
import { Waiters } from './waiters.js';

const backoff = { baseMs: 200, capMs: 30_000 };

/** Puts the effect on disk, in the batch of its record. */
export type Pending<E> = ReturnType<typeof put> & { effect: E };

/** What everything durable needs. */
export interface DurableParts {
  store: Store;
  clock: Clock;
  random: () => number;
  onTrouble: (id: string, error: unknown) => void;
}

export interface OutboxParts<E> extends DurableParts {
  /** Of its keys: `<prefix><id>/<n>`. */
  prefix: string;
  /** Called at least once; when it throws, it is called again. */
  perform: (id: string, effect: E) => Promise<void>;
  closing: AbortSignal;
}

/**
 * Effects that are still to be performed, by id of their record, in order. They are written in the batch of the record that asks for them, and stay on disk until they are done.
 */
export class Outbox<E> {
  readonly #parts: OutboxParts<E>;
  readonly #pending = new Map<string, Pending<E>[]>();
  readonly #doing = new Map<string, Promise<void>>();
  readonly #tries = new Waiters();
  #next = 0;
  #isResumed = false;

  constructor(parts: OutboxParts<E>) {
    this.#parts = parts;
  }

  /** Reads what an earlier process left. Throws STORE_UNAVAILABLE. */
  async read(): Promise<void> {
    const { store, prefix, onTrouble } = this.#parts;
    for await (const [key, bytes] of store.entries({ prefix })) {
      const [id = '', n = ''] = key.slice(prefix.length).split('/');
      this.#next = Math.max(this.#next, Number.parseInt(n, 16));
      try {
        const effect = JSON.parse(bytes.toString()) as E;
        this.push(id, [{ ...put(key, effect), effect }]);
      } catch (error) {
        onTrouble(id, damagedRecord(key, error));
      }
    }
  }

  /** The operations that store effects; they are performed after `push` and `work`. */
  named(id: string, effects: readonly E[]): Pending<E>[] {
    return effects.map((effect) => {
      this.#next += 1;
      return { ...put(`${this.#parts.prefix}${id}/${hex64(this.#next)}`, effect), effect };
    });
  }

  /** Call it when the effects are on disk. */
  push(id: string, pending: readonly Pending<E>[]): void {
    if (pending.length > 0) this.#pending.set(id, [...(this.#pending.get(id) ?? []), ...pending]);
  }

  /** Performs what is pending of this id, unless that is under way. */
  work(id: string): void {
    if (!this.#isResumed || this.#parts.closing.aborted) return;
    if (this.#doing.has(id) || !this.#pending.has(id)) return;
    const doing = this.#doAll(id).finally(() => {
      this.#doing.delete(id);
      this.work(id);
    });
    this.#doing.set(id, doing);
  }

  has(id: string): boolean {
    return this.#pending.has(id);
  }

  /** Begins to perform. */
  resume(): void {
    this.#isResumed = true;
    for (const id of this.#pending.keys()) this.work(id);
  }

  /** Resolves when one of this id was performed or has failed, none is pending, or the process ends. */
  async tried(id: string): Promise<void> {
    if (this.has(id)) await this.#tries.wait(id, this.#parts.closing);
  }

  /** Resolves when no effect is being performed. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#doing.values());
  }

  async #doAll(id: string): Promise<void> {
    for (;;) {
      const [next] = this.#pending.get(id) ?? [];
      if (next === undefined || !(await this.#do(id, next))) return;
      const rest = (this.#pending.get(id) ?? []).slice(1);
      if (rest.length === 0) this.#pending.delete(id);
      else this.#pending.set(id, rest);
      // Not synced: performing it twice is allowed.
      await this.#parts.store.write([del(next.key)]).catch(() => undefined);
    }
  }

  /** Tries until it is done; false: the process ends first. */
  async #do(id: string, { effect }: Pending<E>): Promise<boolean> {
    const { clock, random, perform, onTrouble, closing } = this.#parts;
    for (let attempt = 0; !closing.aborted; attempt += 1) {
      try {
        await perform(id, effect);
        return true;
      } catch (error) {
        onTrouble(id, error);
      } finally {
        this.#tries.wake(id);
      }
      await pause(clock, backoffMs(backoff, attempt, random()), closing);
    }
    return false;
  }
}
