import { randomBytes } from 'node:crypto';
import type { Client } from '../../src/client/client.js';
import type { Config } from '../../src/config/config.js';
import { asBusError, BusError } from '../../src/errors/bus-error.js';
import { traceTo, type Logger } from '../../src/observe/log.js';
import { openClient, untilAccepted } from '../process.js';
import { finishMsMax, handOverType } from './hosted-shard.js';

/** Concurrent takeovers; requests to a shard wait during its turn. */
const handOversAtOnce = 8;
const handOverMsMax = finishMsMax + 2_000;
/** A live host shows a sign of life within this time, even when busy; sessions of a killed one linger for seconds. */
const signMsMax = 1_500;
/** A killed host counts as present until the broker notices its silence. */
const leavingMsMax = 8_000;
const pollMs = 100;

export interface Claim {
  ids: readonly string[];
  /** The tree's path, for the error. */
  path: string;
  takesOver: boolean;
  /** Aborts the claim. */
  signal: AbortSignal;
}

/** The agents among `ids` that a host serves at this moment. */
export async function servedAmong(client: Client, ids: readonly string[]): Promise<string[]> {
  const agents = await client.agents({ role: 'pgc' });
  const served = new Set(
    agents.filter(({ state }) => state !== 'offline').map(({ record }) => record.id),
  );
  return ids.filter((id) => served.has(id));
}

/**
 * Calls `begin` for each shard when no other host serves it, or when its host has finished the requests it had
 * started; until this process registers, further requests wait at the broker. Throws ALREADY_SERVED, INTERRUPTED.
 */
export async function claim(
  config: Config,
  log: Logger,
  { ids, path, takesOver, signal }: Claim,
  begin: (id: string) => Promise<void>,
): Promise<void> {
  const agent = `pgc-host-${process.pid}-${randomBytes(4).toString('hex')}`;
  const client = openClient(config, { agent, role: 'pgc', isEphemeral: true }, traceTo(log));
  const stop = (): void => void client.close();
  signal.addEventListener('abort', stop);
  try {
    let served: string[] = [];
    await untilAccepted(client, log, async () => {
      served = takesOver ? await servedAmong(client, ids) : await untilFree(client, ids, path);
    });
    if (signal.aborted) throw new BusError('INTERRUPTED');
    const servedIds = new Set(served);
    const free = ids.filter((id) => !servedIds.has(id));
    await Promise.all(free.map(begin));
    const queue = served.values();
    // When one shard's host is dead, all shards of that process are free.
    let isDead = false;
    const work = async (): Promise<void> => {
      for (const id of queue) {
        if (!isDead) isDead = await handOver(client, id, log);
        // This process is stopping, so the shard stays with a host that can serve it.
        if (signal.aborted) throw new BusError('INTERRUPTED');
        await begin(id);
      }
    };
    await Promise.all(Array.from({ length: handOversAtOnce }, work));
  } finally {
    signal.removeEventListener('abort', stop);
    await client.close();
  }
}

async function untilFree(client: Client, ids: readonly string[], path: string): Promise<string[]> {
  const untilMs = performance.now() + leavingMsMax;
  while ((await servedAmong(client, ids)).length > 0) {
    if (performance.now() > untilMs) throw new BusError('ALREADY_SERVED', { path });
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return [];
}

/**
 * Resolves when the shard's host has finished its requests. A host that shows no sign of life or cannot hand over
 * loses the shard anyway: callers ask again. True: no sign of life.
 */
async function handOver(client: Client, id: string, log: Logger): Promise<boolean> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), signMsMax);
  try {
    await client.request(`agent:${id}`, handOverType, Buffer.alloc(0), {
      deadlineMs: handOverMsMax,
      signal: silence.signal,
      onPartial: () => clearTimeout(timer),
    });
    return false;
  } catch (error) {
    log.warn({ agent: id, code: asBusError(error).code }, 'taken over without being handed over');
    return silence.signal.aborted;
  } finally {
    clearTimeout(timer);
  }
}
