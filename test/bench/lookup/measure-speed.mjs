import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { mean, megabytes, percentile, table } from '../kernel/figures.mjs';
import { run } from '../kernel/process.mjs';
import { CscopeLines } from './cscope-lines.mjs';
import { functionsOnce } from './measure-calls.mjs';
import { callersOf, definitionsOf, placeOf } from './product.mjs';

const deadlineMs = 60_000;
const rounds = 7;
const coldRuns = 20;
const coldLines = 100_000;
const childMsMax = 300_000;
/** Called in tens of thousands of places. */
const popular =
  'kfree printk kmalloc kzalloc memcpy memset mutex_lock mutex_unlock spin_lock spin_unlock dev_err pr_err'.split(
    ' ',
  );

/** Callers and definitions of the whole kernel in this process, beside one cscope that stays open; turn by turn. */
export async function measureSpeed(bench) {
  const { product, peers, root, home } = bench;
  const names = await functionsOnce(bench);
  const cscope = new CscopeLines(await peers.cscope(), peers.root);
  const random = await lookups({ product, cscope, names, times: rounds });
  const often = await lookups({ product, cscope, names: popular, times: rounds });
  cscope.close();
  const figures = {
    ...{ shards: product.ports.length, random, popular: often },
    cold: await coldOpen({ tree: product.tree, home }),
    memory: await child('open-all.mjs', [root, home, ...names.slice(0, 100)]),
  };
  return { figures, text: render(figures) };
}

/** Each name is asked of each side once per round. The first round is kept apart: nothing was in memory yet. */
async function lookups({ product, cscope, names, times }) {
  const sides = {
    callers: async (name) =>
      (await product.questions.callers({ symbol: name }, { deadlineMs })).callers.length,
    definitions: async (name) => (await definitionsOf(product.ports, name)).length,
    cscope: async (name) => (await cscope.callers(name)).sites.length,
  };
  const all = [];
  for (let round = 0; round < times; round += 1) {
    const ms = { callers: [], definitions: [], cscope: [] };
    const found = { callers: 0, definitions: 0, cscope: 0 };
    const cpuUs = { callers: 0, definitions: 0, cscope: 0 };
    for (const name of names) {
      for (const [side, ask] of Object.entries(sides)) {
        const startedMs = performance.now();
        const before = process.cpuUsage();
        found[side] += await ask(name);
        const { user, system } = process.cpuUsage(before);
        cpuUs[side] += user + system;
        ms[side].push(performance.now() - startedMs);
      }
    }
    all.push({ ms, found, cpuUs });
  }
  const [first, ...warm] = all;
  return { names: names.length, first: rowsOf([first]), warm: rowsOf(warm), ratio: ratios(warm) };
}

/** Percentiles of each round, then their median over the rounds. */
function rowsOf(all) {
  return Object.fromEntries(
    Object.keys(all[0].ms).map((side) => {
      const over = (percent) => all.map(({ ms }) => percentile(ms[side], percent));
      const [p50, p95, max] = [50, 95, 100].map(over);
      const cpu = spread(all.map(({ cpuUs, ms }) => cpuUs[side] / 1_000 / ms[side].length));
      const found = all[0].found[side];
      return [side, { p50: spread(p50), p95: spread(p95), max: spread(max), cpu, found }];
    }),
  );
}

/** cscope's time for all names by ours, of each round. */
function ratios(all) {
  return spread(all.map(({ ms }) => mean(ms.cscope) / mean(ms.callers)));
}

function spread(figures) {
  return { median: percentile(figures, 50), min: Math.min(...figures), max: Math.max(...figures) };
}

/** A fresh process opens the shard that is nearest to 100 000 lines and looks up the callers of one of its names. */
async function coldOpen({ tree, home }) {
  const { manifest } = tree;
  const [nearest] = manifest.shards.toSorted(
    (one, other) => Math.abs(one.lines - coldLines) - Math.abs(other.lines - coldLines),
  );
  const index = tree.shards.find(({ info }) => info.alias === nearest.alias);
  const name = index.defines().find((each) => callersOf(index, [each]).length > 0);
  const file = path.join(placeOf(tree.root, home).segments, nearest.segment);
  const runs = [];
  for (let each = 0; each < coldRuns; each += 1)
    runs.push(await child('open-one.mjs', [file, nearest.alias, name]));
  const of = (field) => spread(runs.map((each) => each[field]));
  return {
    ...{
      alias: nearest.alias,
      lines: nearest.lines,
      files: nearest.files,
      name,
      bytes: runs[0].bytes,
    },
    ...{ open: of('openMs'), lookup: of('lookupMs'), both: of('bothMs') },
  };
}

async function child(script, args) {
  const file = path.join(import.meta.dirname, script);
  const ended = await run(process.execPath, ['--expose-gc', file, ...args], {
    timeoutMs: childMsMax,
  });
  if (ended.code !== 0) throw new Error(`${script} failed: ${ended.stderr.slice(-500)}`);
  return JSON.parse(ended.stdout);
}

function render({ shards, random, popular: often, cold, memory }) {
  const head = [
    'LOOKUPS',
    'SITES',
    'P50 MS',
    'P95 MS',
    'MAX MS',
    'CPU MS',
    'P50 SPREAD',
    'MAX SPREAD',
  ];
  const rows = (title, sides) =>
    Object.entries(sides).map(([side, { p50, p95, max, cpu, found }]) => [
      `${title}, ${side}`,
      found,
      ...[p50, p95, max].map(({ median }) => median.toFixed(3)),
      // What cscope uses is not seen from here.
      side === 'cscope' ? '-' : cpu.median.toFixed(3),
      range(p50, 3),
      range(max, 1),
    ]);
  return [
    table([
      head,
      ...rows(`${random.names} random`, random.warm),
      ...rows(`${often.names} popular`, often.warm),
      ...rows('random, first time', random.first),
      ...rows('popular, first time', often.first),
    ]),
    `${shards} shards open; percentiles of ${rounds - 1} rounds after the first: median, spread (lowest..highest round); CPU: mean of a lookup, whatever else the machine does`,
    `cscope takes ${random.ratio.median.toFixed(1)} times (${range(random.ratio, 1)}) as long for the random names, ${often.ratio.median.toFixed(1)} times (${range(often.ratio, 1)}) for the popular ones`,
    `cold: ${cold.alias}, ${cold.lines} lines, ${megabytes(cold.bytes)}: open ${shown(cold.open)}, callers of ${cold.name} ${shown(cold.lookup)}, both ${shown(cold.both)}; ${coldRuns} fresh processes, files in the page cache`,
    `memory: ${megabytes(memory.openedBytes / memory.shards)} per open shard (${memory.shards} shards, ${megabytes(memory.fileBytes / memory.shards)} on disk each); ${megabytes(memory.usedBytes / memory.shards)} after callers of ${memory.names} names`,
  ].join('\n');
}

const range = ({ min, max }, digits) => `${min.toFixed(digits)}..${max.toFixed(digits)}`;
const shown = (figures) => `${figures.median.toFixed(1)} ms (${range(figures, 1)})`;
