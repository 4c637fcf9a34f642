import type { Clock } from '../../base/clock.js';
import type { Trace } from '../../base/trace.js';
import { asBusError } from '../../errors/bus-error.js';
import { retryMs } from './limits.js';

export interface Wanted {
  /** What it is begun with: with another one it is begun anew. */
  print: string;
  begin: () => Promise<AsyncDisposable>;
}

interface KeptParts {
  /** In the log. */
  what: string;
  wanted: () => ReadonlyMap<string, Wanted>;
  /** At a time. */
  limit: number;
  clock: Clock;
  trace: Trace;
}

/** Keeps what is wanted running: begins it, ends what is wanted no more, and tries again what could not begin. */
export class Kept implements AsyncDisposable {
  readonly #parts: KeptParts;
  readonly #running = new Map<string, { print: string; its: AsyncDisposable }>();
  #work: Promise<void> | undefined;
  #isDue = false;
  #isEnded = false;
  #retry: Disposable | undefined;

  constructor(parts: KeptParts) {
    this.#parts = parts;
  }

  /** Resolves when all is as wanted, as far as it could be begun. */
  refresh(): Promise<void> {
    this.#isDue = true;
    this.#work ??= this.#settle();
    return this.#work;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    await this.refresh();
    this.#retry?.[Symbol.dispose]();
  }

  async #settle(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      const wanted = this.#isEnded ? new Map<string, Wanted>() : this.#parts.wanted();
      const over = [...this.#running].filter(
        ([key, { print }]) => wanted.get(key)?.print !== print,
      );
      for (const [key] of over) this.#running.delete(key);
      // One that cannot end keeps none of the others.
      await Promise.allSettled(over.map(([, { its }]) => its[Symbol.asyncDispose]()));
      await this.#begin([...wanted].filter(([key]) => !this.#running.has(key)));
    }
    this.#work = undefined;
  }

  async #begin(missing: readonly [string, Wanted][]): Promise<void> {
    const { what, limit, clock, trace } = this.#parts;
    const room = limit - this.#running.size;
    if (missing.length > room)
      trace('warn', `too many ${what}`, { limit, leftOut: missing.length - room });
    let failed = 0;
    for (const [key, { print, begin }] of missing.slice(0, room)) {
      if (this.#isEnded) return;
      try {
        this.#running.set(key, { print, its: await begin() });
      } catch (error) {
        failed += 1;
        trace('warn', `${what}: one could not begin`, { key, code: asBusError(error).code });
      }
    }
    this.#retry?.[Symbol.dispose]();
    this.#retry = failed === 0 ? undefined : clock.after(retryMs, () => void this.refresh());
  }
}
