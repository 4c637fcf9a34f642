import { backoffMs } from '../base/backoff.js';
import { systemClock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import { attentionMessages } from '../attention/messages.js';
import type { ActionDigest } from '../attention/shapes.js';
import type { Client } from '../client/client.js';
import type { ProvenRole } from '../config/keys.js';
import { delegationMessages } from '../delegation/task/messages.js';
import type { Assignment, TaskResponse } from '../delegation/task/shapes.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { Logger } from '../observe/log.js';

const askMsMax = 10_000;
const postMsMax = 30_000;
const respondMsMax = 24 * 3_600_000;
/** Who may give leave. */
const managerRole: ProvenRole = 'manager';
/** While the manager or the broker is away. */
const patience = { baseMs: 200, capMs: 5_000 } as const;

/** What one assignment says to its manager. */
export class ManagerLink {
  readonly #client: Client;
  readonly #log: Logger;
  readonly #assignment: Assignment;
  /** By the monotonic clock; counted from before it was asked for. */
  #leaseEndMs = 0;

  constructor(client: Client, log: Logger, assignment: Assignment) {
    this.#client = client;
    this.#log = log;
    this.#assignment = assignment;
  }

  /**
   * Whether the task is still its own: a process that stood still may have lost the lease without hearing of it, and
   * then the manager is asked once more.
   */
  async holds(signal: AbortSignal): Promise<boolean> {
    return performance.now() < this.#leaseEndMs || (await this.claim(signal)) !== 'over';
  }

  /** Waits for the manager as long as it takes. `over`: another attempt has the task, or the signal was given. */
  async claim(signal: AbortSignal): Promise<{ leaseMs: number } | 'over'> {
    const { claim, lease } = delegationMessages;
    const { task, attempt, lease_ms } = this.#assignment;
    const body = claim.codec.encode({ task_id: task.id, attempt });
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        const askedMs = performance.now();
        const reply = await this.#ask(claim.type, body, signal);
        const leaseMs = lease.decode(reply).lease_ms || lease_ms;
        this.#leaseEndMs = askedMs + leaseMs;
        return { leaseMs };
      } catch (error) {
        const { code } = asBusError(error);
        if (isOver(code)) return 'over';
        this.#log.debug({ code, task: task.id }, 'the manager does not answer yet');
        await this.#pause(tries, signal);
      }
    }
    return 'over';
  }

  /**
   * Uses up a grant, durably, before anything begins. Waits for the manager without a limit: without its answer nothing
   * is run. `refused`: the grant was used before, is for something else, or comes from an agent that is no manager (an
   * operator may let one hand out work).
   */
  async use(
    grant: string,
    digest: ActionDigest,
    signal: AbortSignal,
  ): Promise<'used' | 'refused' | 'over'> {
    const { type, request } = attentionMessages.use;
    const { task, attempt } = this.#assignment;
    const body = request.encode({ task_id: task.id, attempt, grant, digest });
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        const role = await this.#client.roleOf(this.#assignment.manager);
        if (role === '') throw new BusError('AGENT_OFFLINE', { agent: this.#assignment.manager });
        if (role !== managerRole) return 'refused';
        await this.#ask(type, body, signal);
        return 'used';
      } catch (error) {
        const { code } = asBusError(error);
        if (isOver(code) || code === 'NO_SUCH_TASK') return 'over';
        if (code === 'GRANT_USED' || code === 'GRANT_REFUSED') return 'refused';
        this.#log.debug({ code, task: task.id, grant }, 'the manager does not answer yet');
        await this.#pause(tries, signal);
      }
    }
    return 'over';
  }

  /** A sign of life. Only the word of the manager itself ends the work: a silent one may be starting anew. */
  async progress(summary: string, signal: AbortSignal): Promise<'go on' | 'over'> {
    const { type, codec } = delegationMessages.progress;
    const { task, attempt, lease_ms } = this.#assignment;
    const askedMs = performance.now();
    try {
      const body = codec.encode({ task_id: task.id, attempt, summary });
      const reply = await this.#ask(type, body, signal);
      const leaseMs = delegationMessages.lease.decode(reply).lease_ms || lease_ms;
      this.#leaseEndMs = Math.max(this.#leaseEndMs, askedMs + leaseMs);
    } catch (error) {
      if (isOver(asBusError(error).code)) return 'over';
    }
    return 'go on';
  }

  /**
   * Resolves when the broker has stored it, or never will; tried until then, always under the same id. What is not
   * accepted in a day, or is too large, is given up: the lease runs out.
   */
  async respond(
    response: TaskResponse,
    signal: AbortSignal,
  ): Promise<'stored' | 'given up' | 'left'> {
    const endMs = performance.now() + respondMsMax;
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        await postResponse(this.#client, this.#assignment.manager, response);
        return 'stored';
      } catch (error) {
        const { code } = asBusError(error);
        this.#log.warn({ code, task: response.task_id }, 'the response is not stored yet');
        if (code === 'TOO_LARGE' || performance.now() > endMs) return 'given up';
        await this.#pause(tries, signal);
      }
    }
    return 'left';
  }

  async #ask(type: string, body: Buffer, signal: AbortSignal): Promise<Buffer> {
    const to = `agent:${this.#assignment.manager}`;
    const options = { deadlineMs: askMsMax, isIdempotent: true, signal };
    return (await this.#client.request(to, type, body, options)).body;
  }

  #pause(tries: number, signal: AbortSignal): Promise<void> {
    const ms = patience.baseMs + backoffMs(patience, tries, Math.random());
    return pause(systemClock, ms, signal);
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

function isOver(code: string): boolean {
  return code === 'STALE_ATTEMPT' || code === 'TASK_NOT_ASSIGNED';
}
