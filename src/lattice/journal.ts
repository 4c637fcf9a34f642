import { createHash } from 'node:crypto';
import type { CodedError, HopAnswer } from '../pgc/shapes.js';
import { queryKey, queryPrefix } from '../store/keys.js';
import type { Store } from '../store/port.js';
import type { Link } from './links.js';
import type { QueryEvent } from './query.machine.js';

/** Queries whose steps are kept at once; those beyond begin anew when their manager does. */
const journalsMax = 1_000;
/** A step that is larger is not kept, nor what follows it. */
const stepBytesMax = 4 * 1024 * 1024;

/** What one event of a query brought. */
export interface QueryStep {
  event: QueryEvent;
  /** `via`: the id of the link that led there; empty: found by search. */
  answered: { agent: string; answer: HopAnswer; via: string; elapsedMs: number } | null;
  links: Link[];
  errors: CodedError[];
  asked: string[];
}

/** The steps of one query, for whoever goes on with it. */
export interface Journal {
  readonly past: readonly QueryStep[];
  add(step: QueryStep): Promise<void>;
}

export const noJournal: Journal = { past: [], add: () => Promise.resolve() };

interface Kept {
  versions: string;
  untilMs: number;
  steps: QueryStep[];
}

/**
 * Steps of queries under way, on disk before their effects are performed. They are not synced: what a power cut takes is
 * found again by asking. A manager that starts anew hands the steps of its predecessor to whoever asks the same again.
 */
export class Journals {
  readonly #store: Store;
  readonly #left: Map<string, Kept>;
  readonly #open = new Set<string>();

  private constructor(store: Store, left: Map<string, Kept>) {
    this.#store = store;
    this.#left = left;
  }

  /** Reads what an earlier process left, and deletes what nobody can wait for any more. */
  static async open(store: Store, nowMs: number): Promise<Journals> {
    const left = new Map<string, Kept>();
    for await (const [key, value] of store.entries({ prefix: queryPrefix })) {
      const id = key.slice(queryPrefix.length, key.lastIndexOf('/'));
      const kept = left.get(id);
      try {
        const read: unknown = JSON.parse(value.toString());
        if (kept === undefined) left.set(id, { ...(read as Omit<Kept, 'steps'>), steps: [] });
        else kept.steps.push(read as QueryStep);
      } catch {
        // What is damaged costs this query its resumption, not the manager its start.
        left.set(id, { versions: '', untilMs: 0, steps: [] });
      }
    }
    const journals = new Journals(store, left);
    for (const [id, { untilMs }] of left) if (untilMs < nowMs) await journals.#forget(id);
    return journals;
  }

  /**
   * Runs a query with its journal, which is gone when it ends. `key`: who asks what. `versions`: of the cards; steps
   * over other ones are of no use. `untilMs`: Unix time at which nobody waits any more.
   */
  async run<T>(
    { key, versions, untilMs }: { key: string; versions: string; untilMs: number },
    work: (journal: Journal) => Promise<T>,
  ): Promise<T> {
    const id = createHash('sha256').update(key).digest('hex');
    // The same question twice at once: one of them has the journal.
    if (this.#open.has(id) || this.#open.size >= journalsMax) return work(noJournal);
    this.#open.add(id);
    try {
      const left = this.#left.get(id);
      const past = left?.versions === versions ? left.steps : [];
      if (left !== undefined && past.length === 0) await this.#forget(id);
      this.#left.delete(id);
      const isWhole =
        past.length > 0 || (await this.#put(id, 0, JSON.stringify({ versions, untilMs })));
      return await work({ past, add: this.#adder(id, past.length, isWhole) });
    } finally {
      await this.#forget(id);
      this.#open.delete(id);
    }
  }

  #adder(id: string, from: number, isBegun: boolean): Journal['add'] {
    let next = from + 1;
    let isWhole = isBegun;
    return async (step) => {
      const text = JSON.stringify(step);
      isWhole &&= text.length <= stepBytesMax && (await this.#put(id, next, text));
      next += 1;
    };
  }

  /** A store that fails costs the resumption, not the query: false, and what follows is not kept. */
  async #put(id: string, step: number, text: string): Promise<boolean> {
    const put = { type: 'put' as const, key: queryKey(id, step), value: Buffer.from(text) };
    return this.#store.write([put]).then(
      () => true,
      () => false,
    );
  }

  async #forget(id: string): Promise<void> {
    this.#left.delete(id);
    try {
      const keys: string[] = [];
      for await (const key of this.#store.keys({ prefix: `${queryPrefix}${id}/` })) keys.push(key);
      await this.#store.write(keys.map((key) => ({ type: 'del', key })));
    } catch {
      // The next start deletes what is out of time.
    }
  }
}
