import type { Clock } from '../base/clock.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { ErrorCode } from '../errors/catalogue.js';
import type { Reply } from './pending.js';
import type { Asker } from './request.js';

export interface Ask {
  to: string;
  type: string;
  body: Buffer;
}

/**
 * The outcome of one ask. lost: no agent is there to answer. timeout: the common deadline has passed.
 * failed: the agent or the bus answered with an error.
 */
export type Gathered =
  | { to: string; status: 'answered'; reply: Reply }
  | { to: string; status: 'failed' | 'lost' | 'timeout' | 'cancelled'; error: BusError };

export interface GatherOptions {
  /** For all together, waiting for a turn included. */
  deadlineMs: number;
  /** Concurrent asks; the rest waits. */
  concurrency: number;
  clock: Clock;
  signal?: AbortSignal;
  /** May be delivered twice, see `RequestOptions`. */
  isIdempotent?: boolean;
  /** `at`: which of the asks. */
  onPartial?: (at: number, body: Buffer) => void;
}

const lostCodes: ReadonlySet<ErrorCode> = new Set([
  'RESPONDER_LOST',
  'AGENT_OFFLINE',
  'UNKNOWN_AGENT',
  'NO_RESPONDER',
  'PEER_STALLED',
  'BROKER_LOST',
  'NO_BROKER',
]);

/** Asks all and waits for every outcome. In the order of `asks`; throws nothing. */
export async function gather(
  asker: Asker,
  asks: readonly Ask[],
  options: GatherOptions,
): Promise<Gathered[]> {
  const { clock, deadlineMs } = options;
  const untilMs = clock.monotonicMs() + deadlineMs;
  const results: Gathered[] = [];
  let next = 0;
  const takeTurns = async (): Promise<void> => {
    for (let at = next++; at < asks.length; at = next++) {
      const ask = asks[at];
      if (ask !== undefined) results[at] = await one(asker, ask, at, untilMs, options);
    }
  };
  const turns = Math.max(1, Math.min(options.concurrency, asks.length));
  await Promise.all(Array.from({ length: turns }, takeTurns));
  return results;
}

async function one(
  asker: Asker,
  { to, type, body }: Ask,
  at: number,
  untilMs: number,
  { clock, deadlineMs, signal, isIdempotent, onPartial }: GatherOptions,
): Promise<Gathered> {
  try {
    if (signal?.aborted === true) throw new BusError('CANCELLED');
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0) throw new BusError('DEADLINE_EXCEEDED', { ms: deadlineMs });
    const reply = await asker.request(to, type, body, {
      deadlineMs: leftMs,
      ...(signal !== undefined && { signal }),
      ...(isIdempotent !== undefined && { isIdempotent }),
      ...(onPartial !== undefined && { onPartial: (part: Buffer) => onPartial(at, part) }),
    });
    return { to, status: 'answered', reply };
  } catch (error) {
    const coded = asBusError(error);
    return { to, status: statusOf(coded.code), error: coded };
  }
}

function statusOf(code: ErrorCode): 'failed' | 'lost' | 'timeout' | 'cancelled' {
  if (code === 'DEADLINE_EXCEEDED') return 'timeout';
  if (code === 'CANCELLED') return 'cancelled';
  return lostCodes.has(code) ? 'lost' : 'failed';
}
