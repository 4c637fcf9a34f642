import { randomBytes } from 'node:crypto';
import type { Trace } from '../../base/trace.js';
import type { Client, Identity } from '../../client/client.js';
import { untilAccepted } from '../../client/registration.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { finishMsMax, handOverType } from './hosted-shard.js';

/** Shards that are asked to come over at once; each is parked for as long as its turn takes. */
const handOversAtOnce = 8;
const handOverMsMax = finishMsMax + 2_000;
/** A host that lives says so within this, also while it is busy; the sessions of a killed one linger for seconds. */
const signMsMax = 1_500;
/** One that was killed counts as there until its silence is noticed. */
const leavingMsMax = 8_000;
const pollMs = 100;

/** How the processes that serve shards reach the bus. */
export interface HostBus {
  /** Connects in the background. */
  connect: (identity: Identity) => Client;
  trace: Trace;
}

export interface Claim {
  ids: readonly string[];
  /** Of the tree, for the error. */
  path: string;
  takesOver: boolean;
  /** Which process serves each; absent: one serves all of them. */
  holderOf?: (id: string) => string;
  /** Nothing more is wanted. */
  signal: AbortSignal;
}

/** Those of these agents that a host serves now. */
export async function servedAmong(client: Client, ids: readonly string[]): Promise<string[]> {
  const agents = await client.agents({ role: 'pgc' });
  const served = new Set(
    agents.filter(({ state }) => state !== 'offline').map(({ record }) => record.id),
  );
  return ids.filter((id) => served.has(id));
}

/**
 * Calls `begin` with each shard once no other host answers for it, or once that host has answered all it had begun:
 * from then on, until this process greets the broker, questions wait there. Throws ALREADY_SERVED, INTERRUPTED.
 */
export async function claim(
  { connect, trace }: HostBus,
  { ids, path, takesOver, signal, holderOf = () => '' }: Claim,
  begin: (id: string) => Promise<void>,
): Promise<void> {
  const agent = `pgc-host-${process.pid}-${randomBytes(4).toString('hex')}`;
  const client = connect({ agent, role: 'pgc', isEphemeral: true });
  const stop = (): void => void client.close();
  signal.addEventListener('abort', stop);
  try {
    let served: string[] = [];
    await untilAccepted(client, trace, async () => {
      served = takesOver ? await servedAmong(client, ids) : await untilFree(client, ids, path);
    });
    if (signal.aborted) throw new BusError('INTERRUPTED');
    const theirs = new Set(served);
    const free = ids.filter((id) => !theirs.has(id));
    const begun = await Promise.allSettled(free.map(begin));
    const queue = served.values();
    // All of a process that is gone are gone.
    const dead = new Set<string>();
    const work = async (): Promise<void> => {
      for (const id of queue) {
        const holder = holderOf(id);
        if (!dead.has(holder) && (await handOver(client, id, trace))) dead.add(holder);
        // Ending, we would take the shard from a host that could go on with it.
        if (signal.aborted) throw new BusError('INTERRUPTED');
        await begin(id);
      }
    };
    await Promise.all(Array.from({ length: handOversAtOnce }, work));
    // The others must not wait for one that cannot be served.
    const failed = begun.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
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
 * Resolves when its host has answered what it had begun. A host that shows no life, or cannot hand over, loses the shard
 * all the same: the callers that wait for it ask again. True: it shows no life.
 */
async function handOver(client: Client, id: string, trace: Trace): Promise<boolean> {
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
    trace('warn', 'taken over without being handed over', {
      agent: id,
      code: asBusError(error).code,
    });
    return silence.signal.aborted;
  } finally {
    clearTimeout(timer);
  }
}
