import { loadPolicy } from '../attention/policy/policy-file.js';
import { isDecider } from '../task/requests/permissions.js';
import { stepAfterTaskChange, assertTask } from '../task/station/session-tasks.js';
import { answered, escapedFrom } from '../attention/session/answers.js';
import {
  attendMessages,
  type AttendQuery,
  type AttendsQuery,
  type AttendWord,
} from '../attention/session/messages.js';
import {
  isSessionOver,
  kindOf,
  questionOf,
  sessionView,
  type SessionTold,
} from '../attention/session/record.js';
import type { SessionRecord } from '../attention/session/session-record.js';
import { readAttend } from '../attention/session/request.js';
import type { SessionEffect } from '../attention/session/session.machine.js';
import {
  contextOfSession,
  sessionLimits,
  sessionOfContext,
  type SessionView,
} from '../attention/session/shapes.js';
import type { UpstreamRules } from '../attention/session/upstream.js';
import { systemClock } from '../base/clock.js';
import { givenWithin } from '../base/within.js';
import type { Client } from '../client/client.js';
import type { Incoming } from '../client/responder.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { Logger } from '../observe/log.js';
import type { Store } from '../store/port.js';
import { withdrawSession } from '../task/station/attention-station.js';
import type { TaskBook } from '../task/book/book.js';
import type { TaskRecord } from '../task/life/record.js';
import { SessionBook } from '../task/book/session-book.js';
import type { TodoLists } from '../task/todo/todo-lists.js';
import { AttendEffects } from './attend-effects.js';
import type { AttentionParts, GateHandler } from './gate-handler.js';
import type { TodoHandler } from './todo-handler.js';

const listMax = 100;
const waitMsMax = 60_000;
/** An answer must still reach the caller in time. */
const waitMarginMs = 250;
/** How often sessions are checked for missed changes and unanswered questions. */
const lookEveryMs = 15_000;

export interface AttendHandlerParts {
  client: Client;
  store: Store;
  log: Logger;
  attention: AttentionParts;
  gates: GateHandler;
  upstream?: UpstreamRules;
}

/** Attends intents: takes a person through the checkpoints of a session, and follows what was delegated. */
export class AttendHandler implements AsyncDisposable {
  readonly #parts: AttendHandlerParts;
  #sessions: SessionBook | undefined;
  #tasks: TaskBook | undefined;
  #effects: AttendEffects | undefined;
  #looking: Disposable | undefined;

  constructor(parts: AttendHandlerParts) {
    this.#parts = parts;
  }

  /** Before anything is kept of tasks. Throws STORE_UNAVAILABLE. */
  async conduct(tasks: TaskBook): Promise<void> {
    const { store, log } = this.#parts;
    this.#tasks = tasks;
    this.#sessions = await SessionBook.open({
      store,
      clock: systemClock,
      random: Math.random,
      perform: this.#perform,
      onTrouble: (context, error) =>
        log.warn({ context, code: asBusError(error).code }, 'session waits'),
    });
  }

  /** Goes on with what an earlier process left; once this client serves. */
  resume(): void {
    this.#of().sessions.resume();
    this.#lookLater();
  }

  serveOn(client: Client, { lists, todos }: { lists: TodoLists; todos: TodoHandler }): void {
    const { sessions, tasks } = this.#of();
    const { attention, gates, upstream = loadPolicy().upstream } = this.#parts;
    this.#effects = new AttendEffects({
      ...{ client, lists, todos, tasks, sessions, rules: upstream },
      classify: attention.classify,
      approved: gates.ports.approved,
      withdraw: (session, reason) => withdrawSession(tasks, { session, reason }),
    });
    const { begin, show, list, say } = attendMessages;
    const told = (view: object): Buffer =>
      begin.answer.encode({ json: Buffer.from(JSON.stringify(view)) });
    client.serve({
      [begin.type]: async ({ body, from }) =>
        told(await this.#begin(begin.request.decode(body).json, from)),
      [show.type]: async (incoming) =>
        told(sessionView(await this.#shown(show.request.decode(incoming.body), incoming))),
      [list.type]: ({ body }) => told(this.#listed(list.request.decode(body))),
      [say.type]: async ({ body, from }) =>
        told(sessionView(await this.#said(say.request.decode(body), from))),
    });
  }

  /** After each change of a task. */
  noticed(task: TaskRecord): void {
    const context = contextOfSession(task.task.session);
    const session = context === undefined ? undefined : this.#sessions?.peek(context);
    if (context === undefined || !isFollowing(session)) return;
    this.#of()
      .sessions.decide(context, (now) =>
        isFollowing(now) ? stepAfterTaskChange(now, task) : undefined,
      )
      // Seen again when all of them are looked at.
      .catch((error: unknown) => this.#trouble(context, error));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#looking?.[Symbol.dispose]();
    await this.#sessions?.[Symbol.asyncDispose]();
  }

  async #begin(json: Uint8Array, from: string): Promise<SessionView> {
    const asked = readAttend(parsed(json));
    for (const each of [...asked.tasks, ...(asked.prior?.tasks ?? [])]) assertTask(each);
    const { sessions } = this.#of();
    const before = sessions.peek(asked.context);
    // Approvals are of one session, and end with it.
    if (before === undefined || isSessionOver(before))
      await this.#parts.gates.forget(sessionOfContext(asked.context));
    const { owner = from } = asked;
    if (owner !== from && (await this.#parts.client.roleOf(from)) !== 'operator')
      throw new BusError('UNAUTHORISED', { agent: from, role: owner });
    const record = await sessions.begin(asked, owner);
    const { id: context, run } = record;
    this.#parts.log.info({ context, run, owner, by: from }, 'session begun');
    return sessionView(record);
  }

  async #shown(
    { context, wait_ms, revision }: AttendQuery,
    { deadlineMs, signal }: Incoming,
  ): Promise<SessionRecord> {
    const { sessions } = this.#of();
    await this.#catchUp(sessions.get(context));
    if (wait_ms === 0) return sessions.get(context);
    const leftMs = deadlineMs > 0 ? deadlineMs - waitMarginMs : wait_ms;
    const ms = Math.max(1, Math.min(wait_ms, leftMs, waitMsMax));
    using late = givenWithin(systemClock, ms, signal);
    return await sessions.changed(context, revision, late.signal);
  }

  /** Does not ask again about a risk that was judged a moment ago: tasks report to their session later than to their judge. */
  async #catchUp(record: SessionRecord): Promise<void> {
    if (!isFollowing(record)) return;
    const asking = record.rows.filter(({ open_gate }) => open_gate !== '');
    if (asking.length > 0) await this.#effects?.follow(record, asking);
  }

  #listed({ is_all, limit }: AttendsQuery): SessionView[] {
    const { sessions } = this.#of();
    const all = sessions.list().map(sessionView);
    const max = Math.min(listMax, limit > 0 ? limit : listMax);
    return all.filter(({ is_over }) => is_all || !is_over).slice(0, max);
  }

  async #said(said: AttendWord, agent: string): Promise<SessionRecord> {
    const { sessions } = this.#of();
    const { context, what, question: number, choice, text } = said;
    await this.#assertMay(sessions.get(context), what, agent);
    const by = await this.#parts.client.personOf(agent);
    const record = await sessions.decide(context, (now): SessionTold => {
      switch (what) {
        case 'answer':
          return answered(now, { number, choice, text }, by, systemClock.nowMs());
        case 'escape':
          return escapedFrom(now);
        case 'withdraw':
          return { event: { type: 'session.withdrawn', reason: 'ATTEND_WITHDRAWN' }, patch: {} };
        default:
          throw new BusError('USAGE', { detail: 'say answer, withdraw or escape' });
      }
    });
    this.#parts.log.info({ context, what, choice, by, agent }, 'session got an answer');
    return record;
  }

  /** A person decides. The agent that began the session may also bring results, and withdraw it. */
  async #assertMay(record: SessionRecord, what: AttendWord['what'], agent: string): Promise<void> {
    const isOwn = agent === record.owner;
    if (isOwn && (what !== 'answer' || kindOf(record) === 'restore')) return;
    if (!isDecider(await this.#parts.client.roleOf(agent)))
      throw new BusError('ATTEND_NOT_YOURS', { agent, what, context: record.id });
  }

  readonly #perform = async (record: SessionRecord, effect: SessionEffect): Promise<void> => {
    const effects = this.#effects;
    if (effects === undefined) throw new BusError('CANCELLED');
    try {
      const told = await this.#done(effects, record, effect);
      if (told !== undefined) await this.#tell(record.id, told);
    } catch (error) {
      const { code, retryable } = asBusError(error);
      if (retryable || code === 'TASKS_FULL') throw error;
      this.#trouble(record.id, error);
      // A retry would fail again: the session ends instead of waiting.
      if (effect.type !== 'session.withdraw' && effect.type !== 'session.end')
        await this.#tell(record.id, {
          event: { type: 'session.withdrawn', reason: code },
          patch: { note: asBusError(error).message },
        });
    }
  };

  #done(
    effects: AttendEffects,
    record: SessionRecord,
    effect: SessionEffect,
  ): Promise<SessionTold | undefined> {
    switch (effect.type) {
      case 'upstream.scan':
        return effects.scan(record);
      case 'tasks.find':
        return effects.find(record);
      case 'tasks.adopt':
        return effects.adopt(record);
      case 'tasks.classify':
        return effects.classify(record);
      case 'tasks.delegate':
        return effects.delegate(record);
      case 'tasks.follow':
        return effects.follow(record).then(() => undefined);
      case 'session.withdraw':
        return effects.withdraw(record, effect.reason);
      case 'session.end':
        return effects.settle(record).then(() => undefined);
    }
  }

  /** A repeated or late event is dropped. */
  async #tell(context: string, told: SessionTold): Promise<void> {
    try {
      await this.#of().sessions.decide(context, () => told);
    } catch (error) {
      if (asBusError(error).code !== 'ATTEND_STATE') throw error;
    }
  }

  /** Missed changes, and unanswered questions. */
  async #look(): Promise<void> {
    const { sessions } = this.#of();
    const nowMs = systemClock.nowMs();
    for (const record of sessions.open()) {
      const { id: context, since_ms } = record;
      try {
        if (isFollowing(record)) await this.#effects?.follow(record);
        else if (questionOf(record) !== undefined && nowMs - since_ms > sessionLimits.questionMs)
          await this.#tell(context, {
            event: { type: 'session.withdrawn', reason: 'ATTEND_EXPIRED' },
            patch: {},
          });
      } catch (error) {
        this.#trouble(context, error);
      }
    }
    this.#lookLater();
  }

  #lookLater(): void {
    this.#looking?.[Symbol.dispose]();
    if (this.#of().sessions.isClosed) return;
    this.#looking = systemClock.after(lookEveryMs, () => void this.#look());
  }

  #trouble(context: string, error: unknown): void {
    const { code, message } = asBusError(error);
    this.#parts.log.warn({ session: sessionOfContext(context), code }, message);
  }

  #of(): { sessions: SessionBook; tasks: TaskBook } {
    if (this.#sessions === undefined || this.#tasks === undefined)
      throw new Error('bug: sessions are used before they were opened');
    return { sessions: this.#sessions, tasks: this.#tasks };
  }
}

const isFollowing = (record: SessionRecord | undefined): boolean =>
  record?.snapshot.matches({ open: 'looping' }) === true;

function parsed(json: Uint8Array): unknown {
  const { bytes: limit } = sessionLimits;
  if (json.byteLength > limit)
    throw new BusError('TOO_LARGE', { what: 'the session', bytes: json.byteLength, limit });
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch (error) {
    throw new BusError('ATTEND_INVALID', {
      detail: error instanceof Error ? error.message : 'not JSON',
    });
  }
}
