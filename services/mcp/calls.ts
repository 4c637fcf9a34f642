import {
  type CallToolResult,
  type InputRequest,
  type InputRequiredResult,
  type InputResponses,
  type McpServer,
  type ServerContext,
  acceptedContent,
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { BusError } from '../../src/errors/bus-error.js';
import { unwanted, type Call, type Decision } from '../../src/operations/operation.js';
import { clientOf } from './envelope.js';

/** SEP-2663. The SDK knows its methods by name, and leaves all else to the server. */
const extension = 'io.modelcontextprotocol/tasks';

/** Calls that were handed over at once, under way or waiting to be fetched; one more is answered as any other call. */
const callsMax = 256;
/** An answer that comes within this needs no second request. */
const atOnceMs = 500;
const pollIntervalMs = 1_000;
/** After its begin a call ends by itself; its answer is kept for as long again. */
export const callMsMax = 60 * 60_000;
const ttlMs = 2 * callMsMax;
const idCharsMax = 64;

type Status = 'working' | 'input_required' | 'completed' | 'cancelled';
type Answer = CallToolResult | InputRequiredResult;
/** What the work of a call is given. */
export type Working = Required<Pick<Call, 'signal' | 'tell' | 'ask'>>;

/** One call whose client comes back for the answer. */
class HandedOver {
  readonly id = randomUUID();
  readonly beganMs = Date.now();
  readonly #abort = new AbortController();
  readonly #asked = new Map<string, { request: InputRequest; said: (value: unknown) => void }>();
  #questions = 0;
  #changedMs = this.beganMs;
  #doing = '';
  #result: CallToolResult | undefined;
  #isCancelled = false;

  get working(): Working {
    return {
      signal: this.#abort.signal,
      tell: (doing) => {
        this.#doing = doing;
        this.#changed();
      },
      ask: (asked, signal) => this.#ask(asked, signal),
    };
  }

  /** Why it ends is for its work to see. */
  end(reason?: unknown): void {
    this.#abort.abort(reason);
    for (const { said } of this.#asked.values()) said(undefined);
    this.#asked.clear();
  }

  cancel(): void {
    if (this.#result !== undefined) return;
    this.#isCancelled = true;
    this.#changed();
    this.end(unwanted);
  }

  done(result: CallToolResult): void {
    this.#result = result;
    this.#changed();
  }

  /** Answers to what is not asked, or not any more, are ignored. */
  hear(responses: Readonly<Record<string, unknown>>): void {
    for (const [key, response] of Object.entries(responses)) {
      this.#asked.get(key)?.said(response);
      this.#asked.delete(key);
    }
    this.#changed();
  }

  get seed(): Record<string, unknown> {
    const told = this.#doing !== '' && { statusMessage: this.#doing };
    const [createdAt, lastUpdatedAt] = [this.beganMs, this.#changedMs].map((ms) =>
      new Date(ms).toISOString(),
    );
    const its = { taskId: this.id, status: this.#status, ...told, createdAt, lastUpdatedAt };
    return { ...its, ttlMs, pollIntervalMs };
  }

  get whole(): Record<string, unknown> {
    if (this.#status === 'completed') return { ...this.seed, result: this.#result };
    const asked = [...this.#asked].map(([key, { request }]) => [key, request] as const);
    return asked.length === 0
      ? this.seed
      : { ...this.seed, inputRequests: Object.fromEntries(asked) };
  }

  get #status(): Status {
    if (this.#isCancelled) return 'cancelled';
    if (this.#result !== undefined) return 'completed';
    return this.#asked.size > 0 ? 'input_required' : 'working';
  }

  #changed(): void {
    this.#changedMs = Date.now();
  }

  async #ask<Form extends z.ZodObject>(
    { key: what, message, form }: Decision<Form>,
    signal: AbortSignal,
  ): Promise<z.output<Form> | undefined> {
    // The same may be asked twice; the protocol wants each key once.
    const key = `${what}-${(this.#questions += 1)}`;
    const request = inputRequired.elicit({ message, requestedSchema: form });
    const response = await new Promise<unknown>((said) => {
      if (signal.aborted || this.#abort.signal.aborted) return said(undefined);
      this.#asked.set(key, { request, said });
      signal.addEventListener('abort', () => said(undefined));
      this.#changed();
    });
    this.#asked.delete(key);
    if (signal.aborted || this.#abort.signal.aborted) throw new BusError('CANCELLED');
    const responses = { [key]: response } as InputResponses;
    return acceptedContent(responses, key, form) as z.output<Form> | undefined;
  }
}

/** Long calls of clients that can come back for the answer: the tasks extension, for all connections of this server. */
export class HandedOverCalls implements Disposable {
  readonly #calls = new Map<string, HandedOver>();
  readonly #limits: { atOnceMs: number; callsMax: number };

  constructor(limits: { atOnceMs?: number; callsMax?: number } = {}) {
    this.#limits = { atOnceMs, callsMax, ...limits };
  }

  /** Whether this request may be answered with a task. */
  takes(context: ServerContext): boolean {
    this.#forgetOld();
    return canComeBack(context) && this.#calls.size < this.#limits.callsMax;
  }

  /** The answer where it comes at once, or asks something first; otherwise a task. `signal`: of the request alone. */
  async begin(work: (its: Working) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    const call = new HandedOver();
    this.#calls.set(call.id, call);
    const end = (): void => call.end();
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    const answered = work(call.working);
    const early = await Promise.race([answered, delay(this.#limits.atOnceMs)]);
    signal.removeEventListener('abort', end);
    if (early !== undefined) {
      this.#calls.delete(call.id);
      return early;
    }
    void answered.then((result) => call.done(result as CallToolResult));
    return { resultType: 'task', ...call.seed } as unknown as Answer;
  }

  /** `tasks/get`, `tasks/update` and `tasks/cancel`. */
  serveOn({ server }: McpServer): void {
    server.registerCapabilities({ extensions: { [extension]: {} } });
    const one = z.looseObject({ taskId: z.string().max(idCharsMax) });
    server.setRequestHandler(
      'tasks/get',
      { params: one },
      ({ taskId }, context) => this.#of(taskId, context).whole,
    );
    server.setRequestHandler('tasks/update', { params: one }, ({ taskId }, context) => {
      // The SDK takes the answers out of the parameters of every request.
      this.#of(taskId, context).hear(context.mcpReq.inputResponses ?? {});
      return {};
    });
    server.setRequestHandler('tasks/cancel', { params: one }, ({ taskId }, context) => {
      this.#of(taskId, context).cancel();
      return {};
    });
  }

  [Symbol.dispose](): void {
    for (const call of this.#calls.values()) call.end();
  }

  #of(id: string, context: ServerContext): HandedOver {
    if (!canComeBack(context)) {
      const requiredCapabilities = { extensions: { [extension]: {} } };
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
    }
    this.#forgetOld();
    const call = this.#calls.get(id);
    if (call === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown task');
    return call;
  }

  #forgetOld(): void {
    const sinceMs = Date.now() - ttlMs;
    for (const call of this.#calls.values())
      if (call.beganMs < sinceMs) {
        call.end();
        this.#calls.delete(call.id);
      }
  }
}

/** Each request says it anew. */
function canComeBack(context: ServerContext): boolean {
  return clientOf(context)?.extensions?.[extension] !== undefined;
}
