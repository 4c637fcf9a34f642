import {
  advancedSession,
  begunSession,
  decodeSession,
  encodeSession,
  isSessionOver,
  type SessionStep,
  type SessionTold,
} from '../../attention/session/record.js';
import type { SessionRecord } from '../../attention/session/session-record.js';
import type { SessionEffect } from '../../attention/session/session.machine.js';
import { sessionLimits, type AttendRequest } from '../../attention/session/shapes.js';
import type { Clock } from '../../base/clock.js';
import { KeyedMutex } from '../../base/keyed-mutex.js';
import { BusError } from '../../errors/bus-error.js';
import { damagedRecord } from '../../store/damaged.js';
import { attendKey, attendPrefix, errandPrefix } from '../../store/keys.js';
import type { Operation, Store } from '../../store/port.js';
import { UncertainWrites } from './uncertain-writes.js';
import { operationsOf, Outbox, type Pending } from './outbox.js';
import { Waiters } from './waiters.js';

export interface SessionBookParts {
  store: Store;
  clock: Clock;
  random: () => number;
  /** Performs an effect once it is on disk: at least once, in order for each session, again when it throws. */
  perform: (record: SessionRecord, effect: SessionEffect) => Promise<void>;
  onTrouble: (context: string, error: unknown) => void;
  limits?: Partial<Pick<typeof sessionLimits, 'open' | 'kept'>>;
}

/** All attention sessions of a manager, durable as tasks are (see TaskBook): the last session of each context. */
export class SessionBook implements AsyncDisposable {
  readonly #parts: SessionBookParts;
  readonly #limits: { open: number; kept: number };
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #turns = new KeyedMutex();
  readonly #waiters = new Waiters();
  readonly #outbox: Outbox<SessionEffect>;
  readonly uncertain: UncertainWrites;
  readonly #closing = new AbortController();

  private constructor(parts: SessionBookParts) {
    this.#parts = parts;
    this.#limits = { ...sessionLimits, ...parts.limits };
    this.uncertain = new UncertainWrites({ ...parts, turns: this.#turns });
    this.#outbox = new Outbox<SessionEffect>({
      ...parts,
      prefix: errandPrefix,
      closing: this.#closing.signal,
      perform: async (context, effect) => {
        const record = this.#sessions.get(context);
        if (record !== undefined) await parts.perform(record, effect);
      },
    });
  }

  /** Reads what an earlier process left. Throws STORE_UNAVAILABLE. */
  static async open(parts: SessionBookParts): Promise<SessionBook> {
    const book = new SessionBook(parts);
    for await (const [key, bytes] of parts.store.entries({ prefix: attendPrefix })) {
      const context = key.slice(attendPrefix.length);
      try {
        book.#sessions.set(context, decodeSession(bytes));
      } catch (error) {
        parts.onTrouble(context, damagedRecord(key, error));
      }
    }
    await book.#outbox.read();
    return book;
  }

  /** Continues what an earlier process left. */
  resume(): void {
    this.#outbox.resume();
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Undefined: the context has no session. */
  peek(context: string): SessionRecord | undefined {
    return this.#sessions.get(context);
  }

  /** Throws NO_SUCH_SESSION. */
  get(context: string): SessionRecord {
    const record = this.#sessions.get(context);
    if (record === undefined)
      throw new BusError('NO_SUCH_SESSION', { context: context.slice(0, 96) });
    return record;
  }

  /** The one changed last comes first. */
  list(): SessionRecord[] {
    return [...this.#sessions.values()].sort((one, other) => other.updated_ms - one.updated_ms);
  }

  open(): SessionRecord[] {
    return [...this.#sessions.values()].filter((each) => !isSessionOver(each));
  }

  /**
   * Begins a session of a context; a finished one makes room. The same request of the same agent returns the open session. Throws SESSION_EXISTS, ATTEND_FULL, STORE_UNAVAILABLE.
   */
  begin(asked: AttendRequest, owner: string): Promise<SessionRecord> {
    const { context } = asked;
    // Sessions that begin at the same time must count each other.
    return this.#turns.run('', () =>
      this.#turns.run(context, async () => {
        await this.uncertain.settle(context);
        const before = this.#sessions.get(context);
        if (before !== undefined && !isSessionOver(before)) {
          const isSame = JSON.stringify(before.asked) === JSON.stringify(asked);
          if (isSame && before.owner === owner) return before;
          throw new BusError('SESSION_EXISTS', { context });
        }
        if (this.open().length >= this.#limits.open)
          throw new BusError('ATTEND_FULL', { limit: this.#limits.open });
        const run = (before?.run ?? 0) + 1;
        const nowMs = this.#parts.clock.nowMs();
        return this.store(begunSession(asked, { owner, run, nowMs }), this.#tooOld(context));
      }),
    );
  }

  /**
   * Sends the step that `decide` computes from the session as it is when its turn comes; undefined: none. Throws NO_SUCH_SESSION, ATTEND_STATE, STORE_UNAVAILABLE, and what `decide` throws.
   */
  decide(
    context: string,
    decide: (record: SessionRecord) => SessionTold | undefined,
  ): Promise<SessionRecord> {
    return this.#turns.run(context, async () => {
      await this.uncertain.settle(context);
      const record = this.get(context);
      const what = decide(record);
      if (what === undefined) return record;
      return this.store(advancedSession(record, what, this.#parts.clock.nowMs()), []);
    });
  }

  /** Resolves when the revision differs from this one, the session is over, the signal aborts, or the book is closed. */
  async changed(context: string, revision: number, signal: AbortSignal): Promise<SessionRecord> {
    for (;;) {
      const record = this.get(context);
      const isEnough = record.revision !== revision || isSessionOver(record);
      if (isEnough || signal.aborted || this.isClosed) return record;
      await this.#waiters.wait(context, signal);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.uncertain[Symbol.dispose]();
    this.#waiters.wakeAll();
    await Promise.all([this.#turns.ended(), this.#outbox.ended()]);
  }

  /** Writes first, then adopts. */
  async store(
    { record, effects }: SessionStep,
    more: readonly Operation[],
  ): Promise<SessionRecord> {
    const pending = this.#outbox.named(record.id, effects);
    await this.uncertain.commit({
      ...{ id: record.id, key: attendKey(record.id), bytes: encodeSession(record) },
      more: [...operationsOf(pending), ...more],
      adopt: () => {
        for (const { key } of more) this.#sessions.delete(key.slice(attendPrefix.length));
        this.#adopt(record, pending);
      },
    });
    return record;
  }

  #adopt(record: SessionRecord, pending: readonly Pending<SessionEffect>[]): void {
    this.#sessions.set(record.id, record);
    this.#outbox.add(record.id, pending);
    this.#waiters.wake(record.id);
  }

  /** Finished sessions that make room for this one. */
  #tooOld(context: string): Operation[] {
    const over = this.list().filter((each) => isSessionOver(each) && each.id !== context);
    return over
      .filter(({ id }) => !this.#outbox.has(id))
      .slice(this.#limits.kept - 1)
      .map(({ id }) => ({ type: 'del', key: attendKey(id) }));
  }
}
