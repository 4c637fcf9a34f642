import type { ArtifactHistory } from '../critic/review/messages.js';
import type { TrackedIteration } from '../critic/shapes.js';
import { trendOf } from '../critic/cycle/tracking.js';
import { printable, table } from './terminal.js';

/** Cells of the longest bar. */
const barCells = 40;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** What was made of an artifact, critique by critique. `isPlain`: in ASCII. */
export function renderHistory(history: ArtifactHistory, isPlain: boolean): string {
  const { tracking, state, why, needs_person, ratifications } = history;
  const { artifact, threshold, iterations } = tracking;
  const rows = iterations.map(rowOf);
  return [
    `${printable(artifact)}: ${printable(state)}${why === '' ? '' : `, ${printable(why)}`}`,
    '',
    table([['ITERATION', 'SCORE', 'CHANGE', `GATE ${threshold}`, 'OPEN', 'MODES'], ...rows]),
    '',
    ...chartOf(iterations, threshold, isPlain),
    '',
    ...trendLines(iterations, threshold),
    ...flagLines(iterations),
    ...areaLines(iterations.at(-1)),
    ...ratifications.map(({ judgement, by, text, at_ms }) =>
      printable(`${dateOf(at_ms)} ${judgement} by ${by}${text === '' ? '' : `: ${text}`}`),
    ),
    ...(needs_person ? decideLines(artifact) : []),
  ].join('\n');
}

function rowOf(each: TrackedIteration): string[] {
  const { iteration, score, improvement_delta: delta, threshold_met, findings } = each;
  return [
    String(iteration),
    score === null ? '-' : score.toFixed(3),
    delta === null ? '-' : signed(delta),
    threshold_met ? 'met' : 'not met',
    String(findings.length),
    printable(each.modes_applied.join(', ')),
  ];
}

/** A bar for each iteration, and a mark at the threshold. Wide enough for any terminal, and read in any pipe. */
function chartOf(
  iterations: readonly TrackedIteration[],
  threshold: number,
  isPlain: boolean,
): string[] {
  const gate = Math.min(barCells - 1, Math.floor(threshold * barCells));
  return iterations.map(({ iteration, score }) => {
    const bar = (score === null ? '' : barOf(score, isPlain)).padEnd(barCells);
    const marked = bar.slice(0, gate) + (isPlain ? '|' : '┃') + bar.slice(gate + 1);
    const figure = score === null ? 'not scored' : score.toFixed(2);
    return `${String(iteration).padStart(4)} ${marked} ${figure}`;
  });
}

function barOf(score: number, isPlain: boolean): string {
  const cells = Math.max(0, Math.min(1, score)) * barCells;
  if (isPlain) return '#'.repeat(Math.round(cells));
  const rest = eighths[Math.floor((cells % 1) * eighths.length)] ?? '';
  return '█'.repeat(Math.floor(cells)) + rest;
}

function trendLines(iterations: readonly TrackedIteration[], threshold: number): string[] {
  const trend = trendOf(iterations, threshold);
  const { projected, projection, is_plateau, oscillation, new_findings, lasting } = trend;
  const left =
    projected === null
      ? `no projection: ${projection}`
      : `${projected} more ${projected === 1 ? 'iteration' : 'iterations'} projected: ${projection}`;
  return [
    left,
    `new findings in each iteration: ${new_findings.join(', ')}; ${lasting.length} stay open`,
    ...(is_plateau ? ['plateau: the last two iterations hardly improved the score'] : []),
    ...(oscillation > 0 ? [`oscillation: it is what it was ${oscillation} versions ago`] : []),
  ];
}

function flagLines(iterations: readonly TrackedIteration[]): string[] {
  return iterations.flatMap(({ iteration, flags }) =>
    flags.map(({ code, level, text }) =>
      printable(`${level} ${code} in iteration ${iteration}: ${text}`),
    ),
  );
}

function areaLines(last: TrackedIteration | undefined): string[] {
  const areas = last?.improvement_areas ?? [];
  return areas.length === 0 ? [] : ['To improve', ...areas.map((each) => `  ${printable(each)}`)];
}

function decideLines(artifact: string): string[] {
  const its = printable(artifact);
  return ['A person decides:', `  sigma critic ratify ${its} --judgement accept|refuse|revise`];
}

function signed(delta: number): string {
  return `${delta < 0 ? '' : '+'}${delta.toFixed(3)}`;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}
