import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import type { CodedError, HopAnswer } from '../../pgc/shapes.js';
import { queryKey, queryPrefix } from '../../store/keys.js';
import type { Store } from '../../store/port.js';
import type { Link } from './links.js';
import type { QueryEvent } from './query.machine.js';

/** Queries whose steps are kept at once; those beyond begin anew when their manager does. */
const journalsMax = 1_000;
/** No question waits longer, whatever its journal says. */
const leftMsMax = 15 * 60_000;
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

export interface QueryOf {
  key: string;
  versions: string;
  untilMs: number;
}

export const noJournal: Journal = { past: [], add: () => Promise.resolve() };

/** A query that an earlier process left. Its steps stay on disk until it is asked again. */
interface Left {
  versions: string;
  /** Unix time at which nobody waits any more. */
  untilMs: number;
}

/**
 * Steps of queries under way, on disk before their effects are performed. They are not synced: what a power cut takes is
 * found again by asking. A manager that starts anew hands the steps of its predecessor to whoever asks the same again,
 * and deletes them when nobody can ask any more.
 */
export class Journals implements Disposable {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #left: Map<string, Left>;
  readonly #open = new Set<string>();
  #expiry: Disposable | undefined;
  #isOver = false;

  private constructor(store: Store, clock: Clock, left: Map<string, Left>) {
    this.#store = store;
    this.#clock = clock;
    this.#left = left;
  }

  /** Looks what an earlier process left. Throws STORE_UNAVAILABLE. */
  static async open(store: Store, clock: Clock): Promise<Journals> {
    const ids = new Set<string>();
    for await (const key of store.keys({ prefix: queryPrefix }))
      ids.add(key.slice(queryPrefix.length, key.lastIndexOf('/')));
    const heads = await store.getMany([...ids].map((id) => queryKey(id, 0)));
    const left = new Map([...ids].map((id, at) => [id, leftBy(heads[at], clock.nowMs())]));
    const journals = new Journals(store, clock, left);
    await journals.#expire();
    return journals;
  }

  /** Queries of an earlier process that may still be asked again. */
  get left(): number {
    return this.#left.size;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#expiry?.[Symbol.dispose]();
  }

  /**
   * Runs a query with its journal, which is gone when it ends. `key`: who asks what. `versions`: of the cards; steps
   * over other ones are of no use. `untilMs`: Unix time at which nobody waits any more.
   */
  async run<T>(
    { key, versions, untilMs }: QueryOf,
    work: (journal: Journal) => Promise<T>,
  ): Promise<T> {
    const id = createHash('sha256').update(key).digest('hex');
    // The same question twice at once: one of them has the journal.
    if (this.#open.has(id) || this.#open.size >= journalsMax) return work(noJournal);
    this.#open.add(id);
    try {
      const left = this.#left.get(id);
      const past = left?.versions === versions ? await this.#stepsOf(id) : [];
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

  /** What is damaged costs this query its resumption, and nobody else anything. */
  async #stepsOf(id: string): Promise<QueryStep[]> {
    const steps: QueryStep[] = [];
    try {
      for await (const [key, value] of this.#store.entries({ prefix: `${queryPrefix}${id}/` }))
        if (key !== queryKey(id, 0)) steps.push(JSON.parse(value.toString()) as QueryStep);
      return steps;
    } catch {
      return [];
    }
  }

  /** Deletes what is out of time, and comes back for the next. */
  async #expire(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    for (const [id, { untilMs }] of this.#left) if (untilMs <= nowMs) await this.#forget(id);
    const next = Math.min(...[...this.#left.values()].map(({ untilMs }) => untilMs));
    if (Number.isFinite(next) && !this.#isOver)
      this.#expiry = this.#clock.after(next - nowMs, () => void this.#expire());
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

/** Without a head that can be read, a query begins anew: its time is over. */
function leftBy(head: Buffer | undefined, nowMs: number): Left {
  try {
    const { versions, untilMs } = JSON.parse(head?.toString() ?? '') as Partial<Left>;
    // A clock that was wrong when this was written shall not keep it for ever.
    return { versions: versions ?? '', untilMs: Math.min(untilMs ?? 0, nowMs + leftMsMax) };
  } catch {
    return { versions: '', untilMs: 0 };
  }
}
