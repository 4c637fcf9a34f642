import {
  attendMessages,
  type AttendDocument,
  type AttendWord,
} from '../../src/attention/session/messages.js';
import type { SessionView } from '../../src/attention/session/shapes.js';
import type { Client } from '../../src/client/client.js';
import { taskService } from '../../src/task/requests/messages.js';

/** One wait for a change; the manager answers earlier when there is one. */
const waitMs = 20_000;
const marginMs = 10_000;
const deadlineMs = 30_000;

interface Asking {
  signal?: AbortSignal;
  deadlineMs?: number;
  isIdempotent?: boolean;
}

/** A manager's sessions of attention over the bus. */
export class Attends {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** `document`: an AttendRequest as somebody writes it. Throws ATTEND_INVALID, TASK_INVALID, SESSION_EXISTS, ATTEND_FULL. */
  async begin(document: object, options: Asking = {}): Promise<SessionView> {
    const { type, request } = attendMessages.begin;
    const body = request.encode({ json: Buffer.from(JSON.stringify(document)) });
    return this.#view(type, body, { ...options, isIdempotent: true });
  }

  /** Throws NO_SUCH_SESSION. */
  show(context: string, options: Asking = {}): Promise<SessionView> {
    return this.#shown({ context, wait_ms: 0, revision: 0 }, options);
  }

  async list(isAll: boolean, limit: number, options: Asking = {}): Promise<SessionView[]> {
    const { type, request } = attendMessages.list;
    const body = request.encode({ is_all: isAll, limit });
    return this.#document<SessionView[]>(type, body, { ...options, isIdempotent: true });
  }

  /** Throws NO_SUCH_SESSION, ATTEND_STATE, ATTEND_NOT_YOURS, USAGE, ATTEND_INVALID. */
  async say(
    said: Pick<AttendWord, 'context' | 'what'> & Partial<AttendWord>,
    options: Asking = {},
  ): Promise<SessionView> {
    const { type, request } = attendMessages.say;
    const body = request.encode({ ...{ question: 0, choice: '', text: '' }, ...said });
    return this.#view(type, body, options);
  }

  /** Until it is over, a person is asked something, or `withinMs` are gone. `onChange` is told of every revision. */
  async follow(
    view: SessionView,
    onChange: (view: SessionView) => void,
    { withinMs = Infinity, ...options }: Asking & { withinMs?: number } = {},
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
    options: Asking,
  ): Promise<SessionView> {
    const { type, request } = attendMessages.show;
    return this.#view(type, request.encode(query), { ...options, isIdempotent: true });
  }

  #view(type: string, body: Buffer, options: Asking): Promise<SessionView> {
    return this.#document<SessionView>(type, body, options);
  }

  async #document<T>(type: string, body: Buffer, options: Asking): Promise<T> {
    const asked = { deadlineMs, ...options };
    const reply = await this.#client.request(`service:${taskService}`, type, body, asked);
    const { json }: AttendDocument = attendMessages.begin.answer.decode(reply.body);
    return JSON.parse(Buffer.from(json).toString()) as T;
  }
}

/** It goes on only when a person says something: to the session, or about the risk of one of its tasks. */
export function asksPerson({ question, trace }: SessionView): boolean {
  return question !== null || openGates({ trace }).length > 0;
}

export function openGates({ trace }: Pick<SessionView, 'trace'>): string[] {
  return trace.flatMap(({ open_gate, is_over }) =>
    open_gate === '' || is_over ? [] : [open_gate],
  );
}
