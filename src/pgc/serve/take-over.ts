import { randomBytes } from 'node:crypto';
import type { Client } from '../../client/client.js';
import type { Config } from '../../config/config.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { traceTo, type Logger } from '../../observe/log.js';
import { openClient, untilAccepted } from '../../../services/process.js';
import { finishMsMax, handOverType } from './hosted-shard.js';

/** Shards that are asked to come over at once; each is parked for as long as its turn takes. */
const handOversAtOnce = 8;
const handOverMsMax = finishMsMax + 2_000;
/** A host that lives says so within this, also while it is busy; the sessions of a killed one linger for seconds. */
const signMsMax = 1_500;
/** One that was killed counts as there until its silence is noticed. */
const leavingMsMax = 8_000;
const pollMs = 100;

export interface Claim {
  ids: readonly string[];
  /** Of the tree, for the error. */
  path: string;
  takesOver: boolean;
  /** Nothing more is wanted. */
  signal: AbortSignal;
}

/** Of these agents, the ones that somebody serves now. */
export async function servedAmong(client: Client, ids: readonly string[]): Promise<string[]> {
  const agents = await client.agents({ role: 'pgc' });
  const served = new Set(
    agents.filter(({ state }) => state !== 'offline').map(({ record }) => record.id),
  );
  return ids.filter((id) => served.has(id));
}

/**
 * Calls `begin` with each shard when nobody else answers for it, or when the host that does has answered all it had
 * begun: from then on until this process greets the broker, questions wait there. Throws ALREADY_SERVED, INTERRUPTED.
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
    const theirs = new Set(served);
    const free = ids.filter((id) => !theirs.has(id));
    await Promise.all(free.map(begin));
    const queue = served.values();
    // All of a process that is gone are gone.
    let isDead = false;
    const work = async (): Promise<void> => {
      for (const id of queue) {
        if (!isDead) isDead = await handOver(client, id, log);
        // Ending, we would take the shard from a host that could go on with it.
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
 * Resolves when its host has answered what it had begun. One that shows no life, or cannot hand over, loses the shard
 * all the same: whoever waits for its answers asks again. True: it shows none.
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
