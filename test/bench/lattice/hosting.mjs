// What it costs to have the whole tree in memory and be asked: time until ready, memory, processes; and whether the
// plan gives every file to one shard and to no other.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { megabytes, milliseconds, percentile, seconds, table } from '../kernel/figures.mjs';
import { processTree, pssOf } from '../kernel/process.mjs';
import { openIndex } from '../lookup/product.mjs';
import { chance } from '../lookup/random.mjs';
import { planOf, running } from './product.mjs';
import { questionsOf } from './questions.mjs';
import { chains } from './traces.mjs';

const askedCount = 1_000;
const deadlineMs = 60_000;
/** Caches of the start are let go of meanwhile. */
const idleMs = 5_000;
const shownMax = 10;

export async function measureHosting({ root, home, seed }) {
  const plan = await judgePlan({ root, home });
  const figures = await running({ root, home }, async (questions, lattice) => {
    await wait(idleMs);
    const idle = memoryOf(lattice.pid);
    const asked = await askMany(questions, seed);
    await wait(idleMs);
    const { shards } = await questions.topology({}, { deadlineMs });
    const after = memoryOf(lattice.pid);
    return {
      ready_ms: lattice.readyMs,
      whole_ms: lattice.wholeMs,
      shards: shards.length,
      idle,
      after,
      asked,
      plan,
    };
  });
  return { figures, text: render(figures) };
}

function memoryOf(pid) {
  const processes = processTree(pid).map(({ pid: its, name, rssBytes }) => ({
    name,
    rss_bytes: rssBytes,
    pss_bytes: pssOf(its),
  }));
  const sum = (field) => processes.reduce((total, each) => total + each[field], 0);
  return { processes, rss_bytes: sum('rss_bytes'), pss_bytes: sum('pss_bytes') };
}

/** Different questions in an order that follows from the seed, one after the other. */
async function askMany(questions, seed) {
  const below = chance(seed);
  const names = [...new Set(chains.flatMap(({ functions }) => functions.map(({ name }) => name)))];
  const texts = [...questionsOf('reported'), ...questionsOf('dev')].map(({ question }) => question);
  const name = () => names[below(names.length)];
  const kinds = {
    ask: () =>
      questions.ask(
        { question: `What does ${name()} do?`, overlays: [], top_k: 5 },
        { deadlineMs },
      ),
    query: () => {
      const question =
        below(2) === 0 ? texts[below(texts.length)] : `How does ${name()} reach ${name()}?`;
      return questions.query({ question, from: '', max_hops: 6, top_k: 5 }, { deadlineMs });
    },
    callers: () => questions.callers({ symbol: name() }, { deadlineMs }),
    trace: () => {
      const { functions } = chains[below(chains.length)];
      const ends = { from: functions[0].name, to: functions.at(-1).name };
      return questions.trace(ends, { deadlineMs });
    },
  };
  const rows = [];
  for (let at = 0; at < askedCount; at += 1) {
    const kind = Object.keys(kinds)[below(4)];
    const startedMs = performance.now();
    const code = await kinds[kind]().then(
      ({ errors }) => errors[0]?.code ?? '',
      (error) => error.code ?? String(error),
    );
    rows.push({ kind, ms: performance.now() - startedMs, code });
  }
  return rows;
}

/** By the plan's own rule, the longest path that holds a file owns it; and by what the shards really hold. */
async function judgePlan({ root, home }) {
  const { shards, aliasOf } = await planOf({ root, home });
  const paths = shards.flatMap((shard) => shard.paths);
  const tree = await openIndex(root, home);
  const holders = new Map();
  for (const index of tree.shards)
    for (let file = 0; file < index.fileCount; file += 1) {
      const { path: name } = index.file(file);
      holders.set(name, [...(holders.get(name) ?? []), index.info.alias]);
    }
  const files = filesBelow(root);
  return {
    files: files.length,
    paths_given_twice: paths.length - new Set(paths).size,
    without_owner: files.filter((file) => aliasOf(file) === undefined).slice(0, shownMax),
    held: holders.size,
    held_twice: [...holders].filter(([, by]) => by.length > 1).slice(0, shownMax),
    held_by_another: [...holders].filter(([file, [by]]) => by !== aliasOf(file)).slice(0, shownMax),
  };
}

function filesBelow(root) {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name)))
    .filter((file) => !file.startsWith('.git/'));
}

function render({ ready_ms, whole_ms, shards, idle, after, asked, plan }) {
  const count = (rows) => rows.length;
  const kinds = [...new Set(asked.map(({ kind }) => kind))].sort();
  const failed = asked.filter(({ code }) => code !== '' && code !== 'NOT_FOUND');
  const times = (rows, percent) =>
    milliseconds(
      percentile(
        rows.map(({ ms }) => ms),
        percent,
      ),
    );
  return [
    table([
      ['HOSTING', ''],
      ['start to ready', seconds(ready_ms)],
      ['start to all shards known', seconds(whole_ms)],
      ['shards', shards],
      ['processes', idle.processes.length],
      ['memory idle, RSS', megabytes(idle.rss_bytes)],
      ['memory idle, PSS', megabytes(idle.pss_bytes)],
      [`memory after ${askedCount} questions, RSS`, megabytes(after.rss_bytes)],
      [`memory after ${askedCount} questions, PSS`, megabytes(after.pss_bytes)],
      ['files of the tree', plan.files],
      ['files without a shard', count(plan.without_owner)],
      ['paths given to two shards', plan.paths_given_twice],
      ['files that shards hold', plan.held],
      ['files held twice', count(plan.held_twice)],
      ['files held by another than their owner', count(plan.held_by_another)],
    ]),
    '',
    table([
      ['PROCESS', 'IDLE RSS', 'IDLE PSS'],
      ...idle.processes.map((each) => [
        each.name,
        megabytes(each.rss_bytes),
        megabytes(each.pss_bytes),
      ]),
    ]),
    '',
    table([
      ['ASKED', 'TIMES', 'P50 MS', 'P99 MS', 'FAILED'],
      ...kinds.map((kind) => {
        const rows = asked.filter((each) => each.kind === kind);
        const its = failed.filter((each) => each.kind === kind);
        return [kind, rows.length, times(rows, 50), times(rows, 99), its.length];
      }),
    ]),
    ...[...new Set(failed.map(({ kind, code }) => `  ${kind} failed with ${code}`))],
  ].join('\n');
}
