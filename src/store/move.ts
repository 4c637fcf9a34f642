import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { Contents } from './contents.js';
import {
  agentPrefix,
  appliedKey,
  deadPrefix,
  layoutKey,
  messagePrefix,
  moveKey,
  schemaKey,
} from './keys.js';
import type { Operation, Store } from './port.js';
import { stepsOf } from './steps.js';

/**
 * What a broker keeps goes from one store to another, and at no moment a broker serves one of them half-full, or both: each has a
 * mark while it is not to be served, and the source has its mark before the target loses its own.
 */

/** A target that took nothing for so long fails. */
const awayMsMax = 120_000;
const againMs = 250;

/** `in`: it is being filled. `out`: what it held is elsewhere. */
export type MoveMark = { kind: 'in' } | { kind: 'out'; where: string };

export interface Kept {
  agents: number;
  /** Not settled, and no dead letters. */
  messages: number;
  dead_letters: number;
  entries: number;
  /** Of keys and values. */
  bytes: number;
}

/** Of this store alone. */
const own = new Set([layoutKey, schemaKey, appliedKey, moveKey]);
const isKept = (key: string): boolean => !own.has(key);

export async function markOf(store: Store): Promise<MoveMark | undefined> {
  const text = (await store.get(moveKey))?.toString();
  if (text === undefined) return undefined;
  return text === 'in' ? { kind: 'in' } : { kind: 'out', where: text.replace(/^out /, '') };
}

/** Undefined: it may be served. Synced. */
export function setMark(store: Store, mark: MoveMark | undefined): Promise<void> {
  if (mark === undefined) return store.commit([{ type: 'del', key: moveKey }]);
  const value = Buffer.from(mark.kind === 'in' ? 'in' : `out ${mark.where}`);
  return store.commit([{ type: 'put', key: moveKey, value }]);
}

export function movedError(path: string, mark: MoveMark): BusError {
  const detail =
    mark.kind === 'in'
      ? 'a move to it has not come to its end'
      : `what it held was moved to ${mark.where}`;
  return new BusError('STORE_MOVED', { path, detail });
}

/** Throws STORE_MOVED. */
export async function assertNotMoved(store: Store, path: string): Promise<void> {
  const mark = await markOf(store);
  if (mark !== undefined) throw movedError(path, mark);
}

export async function keptIn(store: Store): Promise<{ kept: Kept; digest: string }> {
  const contents = new Contents();
  const counts = new Map([agentPrefix, messagePrefix, deadPrefix].map((each) => [each, 0]));
  for await (const [key, value] of store.entries({ prefix: '' })) {
    if (!isKept(key)) continue;
    contents.add(key, value);
    const prefix = key.slice(0, key.indexOf('/') + 1);
    const count = counts.get(prefix);
    if (count !== undefined) counts.set(prefix, count + 1);
  }
  const countOf = (prefix: string): number => counts.get(prefix) ?? 0;
  const { entries, bytes } = contents;
  const dead_letters = countOf(deadPrefix);
  const messages = countOf(messagePrefix) - dead_letters;
  const kept = { agents: countOf(agentPrefix), messages, dead_letters, entries, bytes };
  return { kept, digest: contents.digest() };
}

/**
 * Replaces what `to` keeps by what `from` keeps. The marks are not touched. `signal`: given when `to` is of no use any more. Throws
 * STORE_UNAVAILABLE.
 */
export async function copyKept(
  from: Store,
  to: Store,
  tools: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  for await (const step of stepsOf(to, isKept))
    await commit(
      to,
      step.map(({ key }) => ({ type: 'del', key })),
      tools,
    );
  for await (const step of stepsOf(from, isKept)) await commit(to, step, tools);
}

/** Again, which does no harm, while the target is away: a log that is full makes room, servers elect anew. */
async function commit(
  store: Store,
  step: Operation[],
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  const untilMs = clock.monotonicMs() + awayMsMax;
  while (true) {
    try {
      return await store.commit(step);
    } catch (error) {
      if (!asBusError(error).retryable || signal.aborted || clock.monotonicMs() > untilMs)
        throw error;
    }
    await pause(clock, againMs, signal);
  }
}

/** Throws MOVE_DIFFERS. */
export async function compareKept(from: Store, to: Store, path: string): Promise<Kept> {
  const [wanted, got] = [await keptIn(from), await keptIn(to)];
  if (wanted.digest === got.digest) return wanted.kept;
  const detail = `${got.kept.entries} entries of ${got.kept.bytes} bytes arrived, of ${wanted.kept.entries} of ${wanted.kept.bytes}`;
  throw new BusError('MOVE_DIFFERS', { path, detail });
}
