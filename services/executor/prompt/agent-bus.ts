import { backoffMs } from '../../../src/base/backoff.js';
import { systemClock } from '../../../src/base/clock.js';
import { pause } from '../../../src/base/pause.js';
import type { Client } from '../../../src/client/client.js';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import {
  taskMessages,
  taskService,
  type QueueAnswer,
} from '../../../src/task/requests/messages.js';

const readyMsMax = 5_000;
const askMsMax = 30_000;
const lookMsMax = 10_000;
/** While the manager or the broker is away. */
const patience = { baseMs: 200, capMs: 5_000 } as const;
/** Whoever answers may be starting anew; asked again under the same ids, nothing is done twice. */
const passing: ReadonlySet<string> = new Set([
  'NO_BROKER',
  'BROKER_LOST',
  'BROKER_BUSY',
  'BROKER_DRAINING',
  'NO_RESPONDER',
  'RESPONDER_LOST',
  'DEADLINE_EXCEEDED',
  'RATE_LIMITED',
  'STORE_UNAVAILABLE',
]);

interface Bodied<Q, A> {
  type: string;
  request: { encode(value: Q): Buffer };
  answer: { decode(bytes: Uint8Array): A };
}

/** The agent of one task on the bus. What it asks of its manager waits for it, as long as the task has time. */
export class AgentBus implements AsyncDisposable {
  readonly agent: string;
  readonly #open: () => Client;
  readonly #signal: AbortSignal;
  #client: Client | undefined;

  /** `signal`: nobody waits any more. */
  constructor(parts: { agent: string; open: () => Client; signal: AbortSignal }) {
    this.agent = parts.agent;
    this.#open = parts.open;
    this.#signal = parts.signal;
  }

  /** One that is connected. Throws CANCELLED, and what the broker refused it with for good. */
  async client(): Promise<Client> {
    this.#client ??= this.#open();
    for (;;) {
      if (this.#signal.aborted) throw new BusError('CANCELLED');
      if (this.#client.state === 'closed') throw this.#client.trouble ?? new BusError('CANCELLED');
      try {
        await this.#client.ready({ withinMs: readyMsMax });
        return this.#client;
      } catch (error) {
        if (!asBusError(error).retryable) throw error;
        await pause(systemClock, patience.baseMs, this.#signal);
      }
    }
  }

  /** Asks whoever manages tasks. Throws what it refuses with, CANCELLED. */
  async ask<Q, A>(message: Bodied<Q, A>, request: Q): Promise<A> {
    const body = message.request.encode(request);
    const options = { deadlineMs: askMsMax, isIdempotent: true, signal: this.#signal };
    return this.patiently(async (client) => {
      const reply = await client.request(`service:${taskService}`, message.type, body, options);
      return message.answer.decode(reply.body);
    });
  }

  /** Stored once, however often it is posted under its id. */
  post(to: string, type: string, body: Buffer, id: string): Promise<void> {
    return this.patiently(async (client) => {
      await client.post(to, type, body, { id, deadlineMs: askMsMax });
    });
  }

  queue(): Promise<QueueAnswer> {
    return this.ask(taskMessages.queue, { owner: '' });
  }

  /** The same for who can go on without it: it is asked for once. */
  async queueNow(): Promise<QueueAnswer> {
    const { type, request, answer } = taskMessages.queue;
    const client = await this.client();
    const options = { deadlineMs: lookMsMax, isIdempotent: true, signal: this.#signal };
    const body = request.encode({ owner: '' });
    return answer.decode(
      (await client.request(`service:${taskService}`, type, body, options)).body,
    );
  }

  /** Again, as long as what it fails of passes by itself. Throws CANCELLED, and what else it fails of. */
  async patiently<T>(work: (client: Client) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await work(await this.client());
      } catch (error) {
        if (this.#signal.aborted || !passing.has(asBusError(error).code)) throw error;
      }
      const ms = patience.baseMs + backoffMs(patience, tries, Math.random());
      await pause(systemClock, ms, this.#signal);
    }
  }

  /** Of messages whose texts stand on disk. What does not arrive comes again, and is known then. */
  settle(seqs: number[]): void {
    if (seqs.length > 0) this.#client?.settle(seqs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.close();
  }
}
