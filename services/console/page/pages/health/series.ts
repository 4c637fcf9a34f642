import type { Sample } from '../../../samples.js';

export const hourMs = 3_600_000;

/** More than this between two samples: some were missed. */
const gapMs = 15_000;

/** Samples by time, each once, of the hour before the last: what came live behind what was there before. */
export function joined(before: readonly Sample[], more: readonly Sample[]): Sample[] {
  const known = new Map([...before, ...more].map((each) => [each.at_ms, each]));
  const all = [...known.values()].sort((one, other) => one.at_ms - other.at_ms);
  const lastMs = all.at(-1)?.at_ms ?? 0;
  return all.filter(({ at_ms }) => at_ms >= lastMs - hourMs);
}

/** A page that was hidden heard none meanwhile. */
export function isBehindGap(before: readonly Sample[], sample: Sample): boolean {
  const last = before.at(-1);
  return last !== undefined && sample.at_ms - last.at_ms > gapMs;
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
