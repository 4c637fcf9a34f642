import { bytesText, countText } from './amounts.js';
import { duration } from './time-text.js';

/** How values are written, and by which steps an axis may count. */
export interface Scale {
  format: (value: number) => string;
  steps: readonly number[];
}

const decimal = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, at) => 10 ** (from + at)).flatMap((ten) =>
    [1, 2, 5].map((each) => Number((each * ten).toPrecision(1))),
  );

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000] as const;

export const scales = {
  count: { format: countText, steps: decimal(0, 9) },
  rate: {
    format: (rate) => `${rate < 10 ? Number(rate.toFixed(1)) : countText(rate)}/s`,
    steps: decimal(-1, 7),
  },
  bytes: { format: bytesText, steps: Array.from({ length: 46 }, (_, power) => 2 ** power) },
  /** `0.42 ms`, `12 ms`, `1.2 s`, `3 min`. */
  time: {
    format: (ms) =>
      ms >= second ? duration(ms) : `${ms < 10 ? Number(ms.toFixed(2)) : Math.round(ms)} ms`,
    steps: [
      ...decimal(-2, 3),
      ...[1, 2, 5, 10, 15, 30].map((each) => each * second),
      ...[1, 2, 5, 10, 15, 30].map((each) => each * minute),
      ...[1, 2, 6, 12].map((each) => each * hour),
      ...[1, 2, 7, 30].map((each) => each * day),
    ],
  },
  score: { format: (score) => score.toFixed(2), steps: [0.1, 0.2, 0.25, 0.5] },
} as const satisfies Record<string, Scale>;
