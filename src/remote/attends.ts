import type { RequestOptions } from '../client/request.js';
import {
  attendMessages,
  type AttendDocument,
  type AttendWord,
} from '../attention/session/messages.js';
import type { Row, SessionView } from '../attention/session/shapes.js';
import type { Client } from '../client/client.js';
import { askManager, type Exchange } from './request.js';

/** One wait for a change; the manager answers earlier when there is one. */
const waitMs = 20_000;
const marginMs = 10_000;

/** A manager's sessions of attention over the bus. */
export class Attends {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** `document`: an AttendRequest as JSON. Throws ATTEND_INVALID, TASK_INVALID, SESSION_EXISTS, ATTEND_FULL. */
  begin(document: object, options: RequestOptions = {}): Promise<SessionView> {
    const value = { json: Buffer.from(JSON.stringify(document)) };
    return this.#ask(attendMessages.begin, value, { ...options, isIdempotent: true });
  }

  /** Throws NO_SUCH_SESSION. */
  show(context: string, options: RequestOptions = {}): Promise<SessionView> {
    return this.#shown({ context, wait_ms: 0, revision: 0 }, options);
  }

  list(isAll: boolean, limit: number, options: RequestOptions = {}): Promise<SessionView[]> {
    const value = { is_all: isAll, limit };
    return this.#ask(attendMessages.list, value, { ...options, isIdempotent: true });
  }

  /** Throws NO_SUCH_SESSION, ATTEND_STATE, ATTEND_NOT_YOURS, USAGE, ATTEND_INVALID. */
  say(
    said: Pick<AttendWord, 'context' | 'what'> & Partial<AttendWord>,
    options: RequestOptions = {},
  ): Promise<SessionView> {
    const value = { ...{ question: 0, choice: '', text: '' }, ...said };
    return this.#ask(attendMessages.say, value, options);
  }

  /** Until it is over, a person is asked something, or `withinMs` have passed. `onChange` gets every revision. */
  async follow(
    view: SessionView,
    onChange: (view: SessionView) => void,
    { withinMs = Infinity, ...options }: RequestOptions & { withinMs?: number } = {},
  ): Promise<SessionView> {
    const untilMs = performance.now() + withinMs;
    let now = view;
    onChange(now);
    while (!now.is_over && !asksPerson(now)) {
      const leftMs = Math.floor(untilMs - performance.now());
      if (leftMs < 1) break;
      const wait_ms = Math.min(waitMs, leftMs);
      const { context, revision } = now;
      const asked = { ...options, deadlineMs: wait_ms + marginMs };
      const next = await this.#shown({ context, wait_ms, revision }, asked);
      if (next.revision !== revision) onChange(next);
      now = next;
    }
    return now;
  }

  #shown(
    query: { context: string; wait_ms: number; revision: number },
    options: RequestOptions,
  ): Promise<SessionView> {
    return this.#ask(attendMessages.show, query, { ...options, isIdempotent: true });
  }

  /** The answers are JSON documents. */
  async #ask<Q, T>(
    message: Exchange<Q, AttendDocument>,
    value: Q,
    options: RequestOptions,
  ): Promise<T> {
    const { json } = await askManager(this.#client, message, value, options);
    return JSON.parse(Buffer.from(json).toString()) as T;
  }
}

/** It goes on only when a person says something: to the session, about the risk of one of its tasks, or to one of them. */
export function asksPerson({ question, trace, state }: SessionView): boolean {
  // Its tasks end, even if they ask something.
  if (state === 'withdrawing') return false;
  return question !== null || openGates({ trace }).length > 0 || askingRows({ trace }).length > 0;
}

/** Tasks that wait for an answer, apart from their risk. */
export function askingRows({ trace }: Pick<SessionView, 'trace'>): Row[] {
  return trace.filter(({ asks = '', is_over }) => asks !== '' && !is_over);
}

export function openGates({ trace }: Pick<SessionView, 'trace'>): string[] {
  return trace.flatMap(({ open_gate, is_over }) =>
    open_gate === '' || is_over ? [] : [open_gate],
  );
}
