// Measures the bus against nats-server, against ZeroMQ and LevelDB alone, in one run on one machine.
//
//   npm run bench:bus -- [--quick] [--only requests,posts] [--json FILE] [--write]
//
// --quick: short runs, to see that it works. --write: puts the tables into results.md. The sides take
// turns, so that what else the machine does hits all of them. A figure never makes it fail.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { percentile, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { measureParts } from './parts.mjs';
import {
  auditedRequests,
  batchedRequests,
  bareRequests,
  bodyBytes,
  ensureNatsServer,
  jetstreamPosts,
  leanLevelPosts,
  levelPosts,
  natsRequests,
  sigmaPosts,
  sigmaRequests,
} from './sides.mjs';

const windows = [1, 64, 512];

/** `bar`: how the ratio of our median to the peer's is to be. Of a latency, less is better. */
const comparisons = {
  requests: {
    what: 'requests and replies',
    sides: [sigmaRequests, batchedRequests, natsRequests, bareRequests, auditedRequests],
    rows: [
      { window: 64, figure: 'perSecond', peer: 'batched', bar: 0.8 },
      { window: 512, figure: 'perSecond', peer: 'batched', bar: 0.8 },
      { window: 1, figure: 'p50Ms', peer: 'batched', bar: 1.15 },
      { window: 64, figure: 'perSecond', peer: 'nats', bar: 1.3 },
      { window: 512, figure: 'perSecond', peer: 'nats', bar: 2 },
      { window: 1, figure: 'p50Ms', peer: 'nats', bar: 1 },
      { window: 64, figure: 'perSecond', peer: 'zeromq' },
      { window: 512, figure: 'perSecond', peer: 'zeromq' },
      { window: 1, figure: 'p50Ms', peer: 'zeromq' },
      { window: 64, figure: 'perSecond', peer: 'audited' },
      { window: 512, figure: 'perSecond', peer: 'audited' },
      { window: 1, figure: 'p50Ms', peer: 'audited' },
    ],
  },
  posts: {
    what: 'durable messages accepted',
    sides: [sigmaPosts, levelPosts, leanLevelPosts, jetstreamPosts],
    rows: [
      { window: 64, figure: 'perSecond', peer: 'level', bar: 0.6 },
      { window: 512, figure: 'perSecond', peer: 'level', bar: 0.6 },
      { window: 64, figure: 'perSecond', peer: 'level-lean' },
      { window: 512, figure: 'perSecond', peer: 'level-lean' },
      { window: 64, figure: 'perSecond', peer: 'jetstream', bar: 0.5 },
      { window: 512, figure: 'perSecond', peer: 'jetstream', bar: 1 },
    ],
  },
};

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(comparisons).join(',') },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const effort = options.quick
  ? { runs: 5, ms: 300, warmMs: 500, profileMs: 2_000 }
  : { runs: 7, ms: 1_500, warmMs: 3_000, profileMs: 8_000 };

const sections = [];
const rows = [];
section('Machine', machine());
for (const name of options.only.split(',')) await measure(comparisons[name]);
if (options.only.includes('requests')) section(...(await partsTable()));
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`);
if (options.write) writeFileSync(path.join(import.meta.dirname, 'results.md'), results());

async function measure({ what, sides: openers, rows: wanted }) {
  const folder = temporaryFolder('sigma-bench');
  const sides = [];
  for (const open of openers) sides.push(await open(folder));
  const runs = new Map();
  for (const window of windows) {
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
  section(`${what}: figures`, figuresTable(sides, runs));
  section(`${what}: ratios`, ratiosTable(what, wanted, runs));
}

function figuresTable(sides, runs) {
  const head = ['window', 'side', 'per second', '(min..max)', 'p50', 'p99', 'CPU per call'];
  const lines = windows.flatMap((window) =>
    sides.map(({ name }) => {
      const all = runs.get(`${name} ${window}`);
      const rates = all.map(({ perSecond }) => perSecond);
      return [
        window,
        name,
        Math.round(median(rates)),
        `${Math.round(Math.min(...rates))}..${Math.round(Math.max(...rates))}`,
        milliseconds(median(all.map(({ p50Ms }) => p50Ms))),
        milliseconds(median(all.map(({ p99Ms }) => p99Ms))),
        cpuText(all),
      ];
    }),
  );
  return `${table([head, ...lines])}\n\nCPU per call in µs: main thread + all others of the process.`;
}

function cpuText(all) {
  return all[0].cpu
    .map(({ role }, at) => {
      const us = (part) => median(all.map(({ cpu }) => cpu[at][part])).toFixed(1);
      return `${role} ${us('mainUs')}+${us('othersUs')}`;
    })
    .join(', ');
}

function ratiosTable(what, wanted, runs) {
  const lines = wanted.map(({ window, figure, peer, bar }) => {
    const of = (name) => median(runs.get(`${name} ${window}`).map((each) => each[figure]));
    const [ours, its] = [of('sigma'), of(peer)];
    const ratio = ours / its;
    const isLatency = figure === 'p50Ms';
    const name = `${what}, ${isLatency ? 'p50 ms, one at a time' : `per second, window ${window}`}, against ${peer}`;
    const holds = bar === undefined ? undefined : isLatency ? ratio <= bar : ratio >= bar;
    rows.push({ name, ours, peer: its, ratio, ...(bar !== undefined && { bar, holds }) });
    const shown = (value) => (isLatency ? value.toFixed(3) : Math.round(value));
    const barText = bar === undefined ? '' : `${isLatency ? '≤' : '≥'} ${bar}`;
    const verdict = holds === undefined ? '' : holds ? 'holds' : 'MISSED';
    return [name, shown(ours), shown(its), ratio.toFixed(2), barText, verdict];
  });
  return table([['', 'ours', 'peer', 'ratio', 'bar', ''], ...lines]);
}

async function partsTable() {
  const window = 64;
  process.stderr.write('profiles\n');
  const load = { window, ms: effort.profileMs };
  const all = await measureParts(temporaryFolder('sigma-bench'), load);
  const roles = ['requester', 'broker', 'worker'];
  const lines = all.map((each) => [each.part, ...roles.map((role) => each[role].toFixed(2))]);
  const sums = roles.map((role) => all.reduce((sum, each) => sum + each[role], 0).toFixed(2));
  const text = table([['', ...roles], ...lines, ['sum', ...sums]]);
  return [`Where the time of a request goes, window ${window}, µs of the main threads`, text];
}

function machine() {
  const [processor] = cpus();
  return table([
    ['date', new Date().toISOString()],
    ['processor', `${processor?.model.trim() ?? ''}, ${cpus().length} cores`],
    ['kernel', release()],
    ['node', process.version],
    ['peer', ensureNatsServer()],
    ['body', `${bodyBytes} bytes`],
    ['runs', `${effort.runs} of ${effort.ms} ms for each figure; median, (min..max)`],
    [
      'load',
      loadavg()
        .map((each) => each.toFixed(2))
        .join(' '),
    ],
  ]);
}

function section(title, text) {
  sections.push({ title, text });
  process.stdout.write(`\n${title}\n\n${text}\n`);
}

function results() {
  const body = sections.map(({ title, text }) => `## ${title}\n\n\`\`\`\n${text}\n\`\`\`\n`);
  return `# The bus, measured\n\nWritten by \`npm run bench:bus -- --write\`; run it on your own machine.\n\n${body.join('\n')}`;
}

function median(figures) {
  return percentile(figures, 50);
}

function milliseconds(ms) {
  return `${ms.toFixed(3)} ms`;
}
