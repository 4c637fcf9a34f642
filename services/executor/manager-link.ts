import { backoffMs } from '../../src/base/backoff.js';
import type { Client } from '../../src/client/client.js';
import { delegationMessages } from '../../src/delegation/messages.js';
import type { Assignment, TaskResponse } from '../../src/delegation/shapes.js';
import { asBusError } from '../../src/errors/bus-error.js';
import type { Logger } from '../../src/observe/log.js';

const askMsMax = 10_000;
const postMsMax = 30_000;
/** While the manager or the broker is away. */
const patience = { baseMs: 200, capMs: 5_000 } as const;

/** What one assignment says to its manager. */
export class ManagerLink {
  readonly #client: Client;
  readonly #log: Logger;
  readonly #assignment: Assignment;

  constructor(client: Client, log: Logger, assignment: Assignment) {
    this.#client = client;
    this.#log = log;
    this.#assignment = assignment;
  }

  /** Waits for the manager as long as it takes. `over`: another attempt has the task, or the signal was given. */
  async claim(signal: AbortSignal): Promise<{ leaseMs: number } | 'over'> {
    const { claim, lease } = delegationMessages;
    const { task, attempt, lease_ms } = this.#assignment;
    const body = claim.codec.encode({ task_id: task.id, attempt });
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        const reply = await this.#ask(claim.type, body, signal);
        return { leaseMs: lease.decode(reply).lease_ms || lease_ms };
      } catch (error) {
        const { code } = asBusError(error);
        if (code === 'STALE_ATTEMPT') return 'over';
        this.#log.debug({ code, task: task.id }, 'the manager does not answer yet');
        await this.#pause(tries, signal);
      }
    }
    return 'over';
  }

  /** A sign of life. Only the word of the manager itself ends the work: a silent one may be starting anew. */
  async progress(summary: string, signal: AbortSignal): Promise<'go on' | 'over'> {
    const { type, codec } = delegationMessages.progress;
    const { task, attempt } = this.#assignment;
    try {
      await this.#ask(type, codec.encode({ task_id: task.id, attempt, summary }), signal);
    } catch (error) {
      if (asBusError(error).code === 'STALE_ATTEMPT') return 'over';
    }
    return 'go on';
  }

  /** Resolves when the broker has stored it; tried until then, always under the same id. */
  async respond(response: TaskResponse, signal: AbortSignal): Promise<boolean> {
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        await postResponse(this.#client, this.#assignment.manager, response);
        return true;
      } catch (error) {
        const { code } = asBusError(error);
        this.#log.warn({ code, task: response.task_id }, 'the response is not stored yet');
        await this.#pause(tries, signal);
      }
    }
    return false;
  }

  async #ask(type: string, body: Buffer, signal: AbortSignal): Promise<Buffer> {
    const to = `agent:${this.#assignment.manager}`;
    const options = { deadlineMs: askMsMax, isIdempotent: true, signal };
    return (await this.#client.request(to, type, body, options)).body;
  }

  #pause(tries: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, patience.baseMs + backoffMs(patience, tries, Math.random()));
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

/** Under an id that is a function of the attempt: however often it is posted, it is stored once. */
export async function postResponse(
  client: Client,
  manager: string,
  response: TaskResponse,
): Promise<void> {
  const { type, codec } = delegationMessages.response;
  const id = `${response.task_id}-${response.attempt}-response`;
  await client.post(`agent:${manager}`, type, codec.encode(response), {
    id,
    deadlineMs: postMsMax,
  });
}
