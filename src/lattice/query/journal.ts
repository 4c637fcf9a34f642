import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import type { CodedError, HopAnswer } from '../../pgc/shapes.js';
import { Log, logDeletion, type LogParts } from '../../machine/log.js';
import { queryKey, queryPrefix } from '../../store/keys.js';
import type { Store } from '../../store/port.js';
import type { Link } from './links.js';
import type { QueryEvent } from './query.machine.js';

/** Limit of queries with a journal; others begin anew after a restart of the manager. */
const journalsMax = 1_000;
/** Upper limit of the remaining time of a stored query. */
const leftMsMax = 15 * 60_000;
/** Limit of one step; a larger one is not stored, nor are later ones. */
const stepBytesMax = 4 * 1024 * 1024;

/** Raised when steps of earlier versions cannot be read any more. */
const stepFormat = 2;

/** One event of a query with its results. */
export interface QueryStep {
  event: QueryEvent;
  /** `via`: the id of the link that led there; empty: found by search. */
  answered: { agent: string; answer: HopAnswer; via: string; elapsedMs: number } | null;
  links: Link[];
  errors: CodedError[];
  asked: string[];
}

/** The stored steps of one query. */
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

/** A query of an earlier process. Its steps stay on disk until it is asked again or expires. */
interface Left {
  versions: string;
  /** Unix time of its deadline. */
  untilMs: number;
}

/**
 * Steps of running queries, written before their effects are performed. They are not synced: after a power cut lost steps are asked again. After a restart the same question of the same caller continues from the stored steps; they are deleted at their deadline.
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

  /** Reads the queries of an earlier process. Throws STORE_UNAVAILABLE. */
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
   * Runs a query with a journal that is deleted at its end. `key`: caller and question. `versions`: of the cards; steps over other versions are dropped. `untilMs`: Unix time of the deadline.
   */
  async run<T>(
    { key, versions: over, untilMs }: QueryOf,
    work: (journal: Journal) => Promise<T>,
  ): Promise<T> {
    const versions = `${stepFormat} ${over}`;
    const id = createHash('sha256').update(key).digest('hex');
    // The same question twice at once: one of them has the journal.
    if (this.#open.has(id) || this.#open.size >= journalsMax) return work(noJournal);
    this.#open.add(id);
    try {
      const left = this.#left.get(id);
      const parts = this.#parts(id);
      let log = new Log(parts);
      // Damaged steps cost only the resumption of this query.
      if (left?.versions === versions) log = await Log.open(parts).catch(() => log);
      const past = log.entries.slice(1) as QueryStep[];
      if (left !== undefined && past.length === 0) {
        await this.#forget(id);
        log = new Log(parts);
      }
      this.#left.delete(id);
      // A store that fails costs the resumption, not the query: what follows is not stored.
      const isStored = (entry: Left | QueryStep): Promise<boolean> =>
        log.append(entry).then(
          () => true,
          () => false,
        );
      let isWhole = past.length > 0 || (await isStored({ versions, untilMs }));
      const add = async (step: QueryStep): Promise<void> => {
        isWhole &&= await isStored(step);
      };
      return await work({ past, add });
    } finally {
      await this.#forget(id);
      this.#open.delete(id);
    }
  }

  /** Entry 0 is what the query is over, each later one a step. */
  #parts(id: string): LogParts<Left | QueryStep> {
    const prefix = `${queryPrefix}${id}/`;
    return { store: this.#store, prefix, isUnsynced: true, entryBytesMax: stepBytesMax };
  }

  /** Deletes expired queries, and sets a timer for the next one. */
  async #expire(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    for (const [id, { untilMs }] of this.#left) if (untilMs <= nowMs) await this.#forget(id);
    const next = Math.min(...[...this.#left.values()].map(({ untilMs }) => untilMs));
    if (Number.isFinite(next) && !this.#isOver)
      this.#expiry = this.#clock.after(next - nowMs, () => void this.#expire());
  }

  async #forget(id: string): Promise<void> {
    this.#left.delete(id);
    try {
      await this.#store.write(await logDeletion(this.#store, `${queryPrefix}${id}/`));
    } catch {
      // The next start deletes expired queries.
    }
  }
}

/** A query with an unreadable head counts as expired. */
function leftBy(head: Buffer | undefined, nowMs: number): Left {
  try {
    const { versions, untilMs } = JSON.parse(head?.toString() ?? '') as Partial<Left>;
    // A wrong clock at the time of writing must not keep it for ever.
    return { versions: versions ?? '', untilMs: Math.min(untilMs ?? 0, nowMs + leftMsMax) };
  } catch {
    return { versions: '', untilMs: 0 };
  }
}
