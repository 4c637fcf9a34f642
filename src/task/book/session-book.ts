import {
  advancedSession,
  begunSession,
  decodeSession,
  encodeSession,
  isSessionOver,
  type SessionTold,
} from '../../attention/session/record.js';
import type { SessionRecord } from '../../attention/session/session-record.js';
import type { SessionEffect } from '../../attention/session/session.machine.js';
import { sessionLimits, type AttendRequest } from '../../attention/session/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import type { DurableParts } from '../../machine/outbox.js';
import { Records } from '../../machine/records.js';
import { attendKey, attendPrefix, errandPrefix } from '../../store/keys.js';
import { del } from '../../store/operations.js';
import type { Operation } from '../../store/port.js';

export interface SessionBookParts extends DurableParts {
  /** Performs an effect once it is on disk: at least once, in order for each session, again when it throws. */
  perform: (record: SessionRecord, effect: SessionEffect) => Promise<void>;
  limits?: Partial<Pick<typeof sessionLimits, 'open' | 'kept'>>;
}

/** All attention sessions of a manager, durable as tasks are (see TaskBook): the last session of each context. */
export class SessionBook implements AsyncDisposable {
  readonly #parts: SessionBookParts;
  readonly #limits: { open: number; kept: number };
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #records: Records<SessionRecord, SessionEffect>;

  private constructor(parts: SessionBookParts) {
    this.#parts = parts;
    this.#limits = { ...sessionLimits, ...parts.limits };
    this.#records = new Records({
      ...parts,
      prefix: attendPrefix,
      idOf: ({ id }) => id,
      encode: encodeSession,
      decode: decodeSession,
      find: (context) => this.#sessions.get(context),
      adopt: ({ record, more = [] }) => {
        for (const { key } of more) this.#sessions.delete(key.slice(attendPrefix.length));
        this.#sessions.set(record.id, record);
      },
      outbox: { prefix: errandPrefix, perform: parts.perform },
    });
  }

  /** Reads what an earlier process left. Throws STORE_UNAVAILABLE. */
  static async open(parts: SessionBookParts): Promise<SessionBook> {
    const book = new SessionBook(parts);
    const { records } = await book.#records.read();
    for (const record of records) book.#sessions.set(record.id, record);
    return book;
  }

  /** Continues what an earlier process left. */
  resume(): void {
    this.#records.resume();
  }

  get isClosed(): boolean {
    return this.#records.isClosed;
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
    return this.#records.turn('', () =>
      this.#records.turn(context, async () => {
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
        const more = this.#tooOld(context);
        return this.#records.write({ ...begunSession(asked, { owner, run, nowMs }), more });
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
    return this.#records.turn(context, async () => {
      const record = this.get(context);
      const what = decide(record);
      if (what === undefined) return record;
      return this.#records.write(advancedSession(record, what, this.#parts.clock.nowMs()));
    });
  }

  /** Resolves when the revision differs from this one, the session is over, the signal aborts, or the book is closed. */
  changed(context: string, revision: number, signal: AbortSignal): Promise<SessionRecord> {
    const isEnough = (record: SessionRecord): boolean =>
      record.revision !== revision || isSessionOver(record);
    return this.#records.changed(context, () => this.get(context), isEnough, signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#records[Symbol.asyncDispose]();
  }

  /** Finished sessions that make room for this one. */
  #tooOld(context: string): Operation[] {
    const over = this.list().filter((each) => isSessionOver(each) && each.id !== context);
    return over
      .filter(({ id }) => !this.#records.outbox.has(id))
      .slice(this.#limits.kept - 1)
      .map(({ id }) => del(attendKey(id)));
  }
}
