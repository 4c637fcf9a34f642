import type { JSX } from 'preact';
import { Chart } from '../../parts/chart.js';
import { scales } from '../../parts/scales.js';

/** The scores of an artifact over its iterations, with the gate that they must reach. */
export function Scores({
  iterations,
  threshold,
}: {
  iterations: readonly { iteration: number; score: number | null }[];
  threshold: number;
}): JSX.Element {
  return (
    <Chart
      title="Score by iteration"
      xs={iterations.map(({ iteration }) => iteration)}
      lines={[
        { name: 'score', colour: 'accent', values: iterations.map(({ score }) => score) },
        { name: 'needed', colour: 'warn', values: iterations.map(() => threshold), isDashed: true },
      ]}
      scale={scales.score}
      isTime={false}
      max={1}
    />
  );
}
