import { backoffMs } from '../base/backoff.js';
import type { Trace } from '../base/trace.js';
import { asBusError } from '../errors/bus-error.js';
import type { AgentRecord } from '../wire/messages.js';
import type { Client } from './client.js';

/** The registry entry of an agent that owns no part of a code base. */
export function plainRecord(
  alias: string,
  capabilities: string[],
  more: Partial<Omit<AgentRecord, 'id' | 'role'>> = {},
): Omit<AgentRecord, 'id' | 'role'> {
  const none = { model: '', project: '', scope: [], overlays: {}, protocol_versions: ['1.0'] };
  return { alias, capabilities, ...none, ...more };
}

/** Between two attempts to register; a broker whose store fails must not be asked without a pause. */
const registerBackoff = { baseMs: 250, capMs: 5_000 };
const readyMsMax = 5_000;

/**
 * Runs `work` with a live client until it succeeds once. Resolves early when the client is closed.
 * Throws what trying again does not help.
 */
export async function untilAccepted(
  client: Client,
  trace: Trace,
  work: () => Promise<void>,
): Promise<void> {
  const { agent } = client.identity;
  for (let attempt = 0; client.state !== 'closed'; attempt += 1) {
    try {
      await client.ready({ withinMs: readyMsMax });
      return await work();
    } catch (error) {
      const { code, retryable } = asBusError(error);
      trace('warn', 'not registered yet', { code, agent });
      if (!retryable) throw error;
    }
    const waitMs = registerBackoff.baseMs + backoffMs(registerBackoff, attempt, Math.random());
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** Resolves when a client has ended for good: refused, superseded or closed by this process. */
export function whenClosed(client: Client): Promise<void> {
  return new Promise((resolve) => {
    if (client.state === 'closed') return resolve();
    const watching = client.onState((state) => {
      if (state !== 'closed') return;
      watching[Symbol.dispose]();
      resolve();
    });
  });
}
