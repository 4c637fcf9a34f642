import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import type { Store } from '../../store/port.js';
import { Journals, noJournal, type Journal, type QueryOf } from './journal.js';

/** Pause before an unusable store is tried again. */
const lookEveryMs = 15_000;

export interface KeptJournalsParts {
  /** Throws STORE_LOCKED, STORE_SCHEMA, STORE_UNAVAILABLE. */
  openStore: () => Promise<Store>;
  clock: Clock;
  /** Called when the store becomes usable or unusable. */
  onChange: (trouble: BusError | undefined) => void;
}

/**
 * Journals of queries that do without a store when it is unusable: a query then answers, but does not survive its manager. An unusable store is tried again from time to time.
 */
export class KeptJournals implements AsyncDisposable {
  readonly #parts: KeptJournalsParts;
  #store: Store | undefined;
  #journals: Journals | undefined;
  #why: BusError | undefined;
  #reported: string | undefined;
  readonly #closing = new AbortController();
  #looking: Promise<void> | undefined;

  private constructor(parts: KeptJournalsParts) {
    this.#parts = parts;
  }

  /** Throws STORE_LOCKED: another manager of this home is at work. */
  static async open(parts: KeptJournalsParts): Promise<KeptJournals> {
    const kept = new KeptJournals(parts);
    await kept.#open();
    if (kept.#why?.code === 'STORE_LOCKED') throw kept.#why;
    kept.#report();
    kept.#looking = kept.#look();
    return kept;
  }

  /** JOURNAL_UNAVAILABLE, or undefined: steps are kept. */
  get trouble(): BusError | undefined {
    if (this.#journals !== undefined && this.#store?.state === 'serving') return undefined;
    const detail = this.#why?.message ?? 'its disk does not take what is written';
    return new BusError('JOURNAL_UNAVAILABLE', { detail }, { cause: this.#why });
  }

  /** As `Journals.run`; without a store, without a journal. */
  run<T>(of: QueryOf, work: (journal: Journal) => Promise<T>): Promise<T> {
    return this.#journals === undefined ? work(noJournal) : this.#journals.run(of, work);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#looking;
    this.#journals?.[Symbol.dispose]();
    await this.#store?.[Symbol.asyncDispose]();
  }

  async #open(): Promise<void> {
    const { openStore, clock } = this.#parts;
    let store: Store | undefined;
    try {
      store = await openStore();
      this.#journals = await Journals.open(store, clock);
      this.#store = store;
      this.#why = undefined;
    } catch (error) {
      this.#why = asBusError(error);
      await store?.[Symbol.asyncDispose]();
    }
  }

  async #look(): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      await pause(this.#parts.clock, lookEveryMs, signal);
      if (signal.aborted) return;
      // An open store recovers by itself.
      if (this.#journals === undefined) await this.#open();
      this.#report();
    }
  }

  #report(): void {
    const { trouble } = this;
    if (trouble?.code === this.#reported) return;
    this.#reported = trouble?.code;
    this.#parts.onChange(trouble);
  }
}
