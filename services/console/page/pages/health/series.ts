import type { Sample } from '../../../samples.js';

export const hourMs = 3_600_000;

/** Samples by time, each once, of the last hour: what came live behind what was there before. */
export function joined(
  before: readonly Sample[],
  more: readonly Sample[],
  nowMs: number,
): Sample[] {
  const known = new Map([...before, ...more].map((each) => [each.at_ms, each]));
  return [...known.values()]
    .filter(({ at_ms }) => at_ms >= nowMs - hourMs)
    .sort((one, other) => one.at_ms - other.at_ms);
}

type Figure = { [Name in keyof Sample]: Sample[Name] extends number ? never : Name }[keyof Sample];

/** One of its figures over time; where the broker was away, and where nothing was looked at, there is none. */
export function valuesOf(samples: readonly Sample[], name: Figure): (number | null)[] {
  return samples.map((each) => each[name]);
}

/** The last one that is known. */
export function lastOf(samples: readonly Sample[], name: Figure): number | undefined {
  return samples.findLast((each) => each[name] !== null)?.[name] ?? undefined;
}
