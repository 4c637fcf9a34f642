import { backoffMs } from '../../base/backoff.js';
import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { deedPrefix, hex64 } from '../../store/keys.js';
import { damagedRecord } from '../../store/damaged.js';
import type { Operation, Store } from '../../store/port.js';
import type { SideEffect } from '../life/advance.js';

const backoff = { baseMs: 200, capMs: 30_000 };

export interface Pending<D = SideEffect> {
  key: string;
  effect: D;
}

export interface OutboxParts<D = SideEffect> {
  store: Store;
  clock: Clock;
  random: () => number;
  /** Called at least once; when it throws, it is called again. */
  perform: (id: string, effect: D) => Promise<void>;
  onTrouble: (id: string, error: unknown) => void;
  closing: AbortSignal;
  /** Prefix of its keys; absent: that of tasks. */
  prefix?: string;
}

/**
 * Effects that are still to be performed, by id of the task or session, in order. They are written in the batch of the record that asks for them, and stay on disk until they are done.
 */
export class Outbox<D = SideEffect> {
  readonly #parts: OutboxParts<D>;
  readonly #prefix: string;
  readonly #pending = new Map<string, Pending<D>[]>();
  readonly #doing = new Map<string, Promise<void>>();
  #next = 0;
  #isResumed = false;

  constructor(parts: OutboxParts<D>) {
    this.#parts = parts;
    this.#prefix = parts.prefix ?? deedPrefix;
  }

  /** Reads what an earlier process left. Throws STORE_UNAVAILABLE. */
  async read(): Promise<void> {
    for await (const [key, bytes] of this.#parts.store.entries({ prefix: this.#prefix })) {
      const [id = '', n = ''] = key.slice(this.#prefix.length).split('/');
      this.#next = Math.max(this.#next, Number.parseInt(n, 16));
      try {
        this.#push(id, [{ key, effect: JSON.parse(bytes.toString()) as D }]);
      } catch (error) {
        this.#parts.onTrouble(id, damagedRecord(key, error));
      }
    }
  }

  /** Gives effects their keys; they are performed after `add`. */
  named(id: string, effects: readonly D[]): Pending<D>[] {
    return effects.map((effect) => {
      this.#next += 1;
      return { key: `${this.#prefix}${id}/${hex64(this.#next)}`, effect };
    });
  }

  /** Call it when the effects are on disk: they are performed from now on. */
  add(id: string, pending: readonly Pending<D>[]): void {
    this.#push(id, pending);
    this.#work(id);
  }

  has(id: string): boolean {
    return this.#pending.has(id);
  }

  /** Begins to perform. */
  resume(): void {
    this.#isResumed = true;
    for (const id of this.#pending.keys()) this.#work(id);
  }

  /** Resolves when no effect is being performed. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#doing.values());
  }

  #push(id: string, pending: readonly Pending<D>[]): void {
    if (pending.length > 0) this.#pending.set(id, [...(this.#pending.get(id) ?? []), ...pending]);
  }

  #work(id: string): void {
    if (!this.#isResumed || this.#parts.closing.aborted) return;
    if (this.#doing.has(id) || !this.#pending.has(id)) return;
    const doing = this.#doAll(id).finally(() => {
      this.#doing.delete(id);
      this.#work(id);
    });
    this.#doing.set(id, doing);
  }

  async #doAll(id: string): Promise<void> {
    for (;;) {
      const [next] = this.#pending.get(id) ?? [];
      if (next === undefined || !(await this.#do(id, next))) return;
      const rest = (this.#pending.get(id) ?? []).slice(1);
      if (rest.length === 0) this.#pending.delete(id);
      else this.#pending.set(id, rest);
      // Not synced: performing it twice is allowed.
      await this.#parts.store.write([{ type: 'del', key: next.key }]).catch(() => undefined);
    }
  }

  /** Tries until it is done; false: the process ends first. */
  async #do(id: string, { effect }: Pending<D>): Promise<boolean> {
    const { clock, random, perform, onTrouble, closing } = this.#parts;
    for (let attempt = 0; !closing.aborted; attempt += 1) {
      try {
        await perform(id, effect);
        return true;
      } catch (error) {
        onTrouble(id, error);
      }
      await pause(clock, backoffMs(backoff, attempt, random()), closing);
    }
    return false;
  }
}

export function operationsOf<D>(pending: readonly Pending<D>[]): Operation[] {
  return pending.map(({ key, effect }) => ({
    type: 'put',
    key,
    value: Buffer.from(JSON.stringify(effect)),
  }));
}
