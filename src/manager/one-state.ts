import { systemClock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import { BusError } from '../errors/bus-error.js';
import { failureOf } from '../lattice/fan-out.js';
import type { Lattice } from '../lattice/lattice.js';
import type { AskingOptions } from '../lattice/questions.js';
import type { CodedError } from '../pgc/shapes.js';
import type { Shards } from '../remote/shards.js';

/** Hosts look for a newer index four times a second. */
const swapMsMax = 300;

/**
 * Hosts take a newer index one after the other, and an answer takes a while. One for which some shards spoke of an older state than
 * others is asked for once more; when that is so again, or there is no time left, it says so in its errors.
 */
export async function inOneState<A extends { errors: CodedError[] }>(
  shards: Shards,
  lattice: Lattice,
  { deadlineMs, signal }: Pick<AskingOptions, 'deadlineMs' | 'signal'>,
  ask: (lattice: Lattice, deadlineMs: number) => Promise<A>,
): Promise<A> {
  const startedMs = systemClock.monotonicMs();
  const { kept } = lattice;
  let isOne = kept.states.watch();
  const first = await ask(lattice, deadlineMs);
  if (isOne()) return first;
  const tookMs = systemClock.monotonicMs() - startedMs;
  const leftMs = deadlineMs - tookMs - swapMsMax;
  if (leftMs < tookMs || signal?.aborted === true) return mixed(first, lattice);
  await pause(systemClock, swapMsMax, signal);
  const all = await shards.lattices();
  const now = [...all.values()].find((each) => each.kept === kept) ?? lattice;
  isOne = kept.states.watch();
  const second = await ask(now, leftMs);
  return isOne() ? second : mixed(second, now);
}

/** An answer of several states says so. */
export function mixed<A extends { errors: CodedError[] }>(answer: A, { cards }: Lattice): A {
  const agent = [...cards.values()][0]?.project ?? '';
  const failure = failureOf(agent, new BusError('INDEX_CHANGED', { agent }));
  return { ...answer, errors: [...answer.errors, failure] };
}
