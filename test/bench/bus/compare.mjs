// Runs the sides of a comparison in turns and tells how they did, side by side.
import { percentile, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';

/** `{ figures, ratios, rows }`: two tables, and the ratios as data. */
export async function compare(comparison, { bytes, effort }) {
  const what = `${comparison.what}, ${bytes} bytes`;
  const folder = temporaryFolder('sigma-bench');
  const sides = [];
  for (const open of comparison.sides) sides.push(await open(folder, { bytes }));
  const runs = new Map();
  // A bus that runs for days is measured, not its compiler: all have been busy before the first figure.
  for (const side of sides) await side.run({ window: 64, ms: effort.warmMs });
  for (const window of comparison.windows) {
    for (const side of sides) await side.run({ window, ms: effort.warmMs });
    for (let round = 0; round < effort.runs; round += 1) {
      process.stderr.write(`${what}, window ${window}, round ${round + 1} of ${effort.runs}\n`);
      for (const side of sides) {
        const key = `${side.name} ${window}`;
        const figures = await side.run({ window, ms: effort.ms });
        runs.set(key, [...(runs.get(key) ?? []), figures]);
      }
    }
  }
  for (const side of sides) await side.close();
  const rows = comparison.rows.map((each) => rowOf(what, each, runs));
  const names = sides.map(({ name }) => name);
  return {
    figures: figuresTable(comparison.windows, names, runs),
    ratios: table([['', 'ours', 'peer', 'ratio', 'bar', ''], ...rows.map(({ line }) => line)]),
    rows: rows.map(({ data }) => data),
  };
}

export function median(figures) {
  return percentile(figures, 50);
}

export function milliseconds(ms) {
  return `${ms.toFixed(3)} ms`;
}

function figuresTable(windows, names, runs) {
  const head = [
    'window',
    'side',
    'per second',
    '(min..max)',
    'p50',
    'p99',
    'refused',
    'CPU per call',
  ];
  const lines = windows.flatMap((window) =>
    names.map((name) => {
      const all = runs.get(`${name} ${window}`);
      const rates = all.map(({ perSecond }) => perSecond);
      return [
        window,
        name,
        Math.round(median(rates)),
        `${Math.round(Math.min(...rates))}..${Math.round(Math.max(...rates))}`,
        milliseconds(median(all.map(({ p50Ms }) => p50Ms))),
        milliseconds(median(all.map(({ p99Ms }) => p99Ms))),
        refusedText(all),
        cpuText(all),
      ];
    }),
  );
  return `${table([head, ...lines])}\n\nrefused: how often a call had to be made again. CPU per call in µs: main thread + all others of the process.`;
}

function refusedText(all) {
  const refused = median(all.map((each) => each.refused ?? 0));
  return refused === 0 ? '' : refused.toFixed(2);
}

function cpuText(all) {
  return all[0].cpu
    .map(({ role }, at) => {
      const us = (part) => median(all.map(({ cpu }) => cpu[at][part])).toFixed(1);
      return `${role} ${us('mainUs')}+${us('othersUs')}`;
    })
    .join(', ');
}

function rowOf(what, { window, figure, peer, bar }, runs) {
  const of = (name) => median(runs.get(`${name} ${window}`).map((each) => each[figure]));
  const [ours, its] = [of('sigma'), of(peer)];
  const ratio = ours / its;
  const isLatency = figure === 'p50Ms';
  const name = `${what}, ${isLatency ? 'p50 ms, one at a time' : `per second, window ${window}`}, against ${peer}`;
  const holds = bar === undefined ? undefined : isLatency ? ratio <= bar : ratio >= bar;
  const shown = (value) => (isLatency ? value.toFixed(3) : Math.round(value));
  const barText = bar === undefined ? '' : `${isLatency ? '≤' : '≥'} ${bar}`;
  const verdict = holds === undefined ? '' : holds ? 'holds' : 'MISSED';
  return {
    data: { name, ours, peer: its, ratio, ...(bar !== undefined && { bar, holds }) },
    line: [name, shown(ours), shown(its), ratio.toFixed(2), barText, verdict],
  };
}
