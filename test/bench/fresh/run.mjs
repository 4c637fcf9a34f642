// How soon an answer reflects a change of a tree, what that costs, and whether answers meanwhile are of one state or the other.
//
//   npm run bench:fresh -- --repo DIR [--home DIR] [--work DIR] [--only one,fifty,thousand,header,switch] [--ways once,watched]
//     [--apart N] [--seed N] [--write]
//
// Works on a copy of the tree and of its index (--home; else one is built). once: a run of `sigma index` and a question after it,
// a process each. watched: `sigma up --watch`, asked in a loop over the bus. switch: between HEAD and the nearest of its first
// parents that is so many files apart (2 000). At most 9 changes each way, each at most 10 minutes. Exits with 1 when an answer is of neither state,
// or never of the new one.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { megabytes, seconds, table } from '../kernel/figures.mjs';
import { processTree, temporaryFolder } from '../kernel/process.mjs';
import { running } from '../lattice/product.mjs';
import { endings } from '../../campaign/edits/edit.mjs';
import { outputOf } from '../../oracle/sources.mjs';
import { askMeanwhile, askOnce, askRunning, stateOf, toldText } from './asking.mjs';
import {
  addFunction,
  callFrom,
  declaredIn,
  editable,
  endingOf,
  headerChanges,
  widestHeader,
} from './marks.mjs';
import { indexed, privateTree, watchState } from './private-tree.mjs';

const caseMsMax = 600_000;
const pauseMs = { once: 1_000, watched: 100 };
/** A host opens the new index a moment after the run that wrote it. */
const settleMsMax = 60_000;
/** Seconds that are aimed at. */
const aims = { one: 2, fifty: 5, thousand: 20, header: 10 };

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    home: { type: 'string' },
    work: { type: 'string' },
    only: { type: 'string', default: 'one,fifty,thousand,header,switch' },
    ways: { type: 'string', default: 'once,watched' },
    apart: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
if (options.repo === undefined) throw new Error('--repo is wanted');
const only = options.only.split(',');
const work = options.work ?? temporaryFolder('bench-fresh');
const repo = path.resolve(options.repo);
say('copying');
const at = await privateTree({ repo, home: options.home, work });
const { root } = at;
const ends = only.includes('switch') ? await endsOfSwitch() : undefined;
if (ends !== undefined) await outputOf('git', ['checkout', '-q', ends.from], root);
say('indexing');
const first = await indexed(at);
const unchanged = await indexed(at);
const files = editable(root, Number(options.seed));
const cases = casesOf();
const rows = [];
let marks = 0;
if (options.ways.includes('once')) for (const each of cases) await once(each);
if (options.ways.includes('watched')) await watchedRun();

const { report } = first;
const lines = [
  `${path.basename(repo)}: ${report.files_total} files, ${report.lines_total} lines, ${report.shards.length} shards; load ${loadavg()
    .map((each) => each.toFixed(1))
    .join(' ')}`,
  `first run here ${seconds(first.wallMs)} (processor ${seconds(first.cpuMs)}), ${report.files_mined} mined, ${megabytes(first.peakRssBytes)}; nothing changed ${seconds(unchanged.wallMs)} (${seconds(unchanged.cpuMs)}), ${megabytes(unchanged.peakRssBytes)}`,
  '',
  table([
    [
      'CHANGE',
      'HOW',
      'FILES',
      'SEEN AFTER',
      'PROCESSOR',
      'MINED',
      'BOUND',
      'WRITTEN',
      'IN FILES',
      'MEMORY',
      'ANSWERS MEANWHILE',
    ],
    ...rows.map(({ cells }) => cells),
  ]),
];
const bad = rows.filter(({ isRight }) => !isRight);
const late = rows.filter(({ aim, seenMs }) => aim !== undefined && !(seenMs <= 1_000 * aim));
const text = [
  ...lines,
  '',
  `${rows.length - late.length} of ${rows.length} within what is aimed at (one file 2 s, fifty 5 s, a thousand 20 s, a header 10 s)`,
  `${rows.length - bad.length} of ${rows.length} changes seen, and answered for one state or the other meanwhile`,
].join('\n');
process.stdout.write(`${text}\n`);
if (options.write) {
  const file = path.join(import.meta.dirname, 'results.md');
  const head =
    '# How soon a change is seen\n\n`npm run bench:fresh -- --repo DIR --write` adds a table.\n';
  writeFileSync(file, `${readIf(file) ?? head}\n\`\`\`\n${text}\n\`\`\`\n`);
}
process.exitCode = bad.length === 0 ? 0 : 1;

/** Each makes its change with a name that is new to the tree, and says what to ask. */
function casesOf() {
  const folder = largestFolder();
  const calls = (which, count) => (name) => {
    const done = callFrom(root, which, count, name);
    return { calls: name, count: done.length, files: done.length };
  };
  const header = only.includes('header') ? widestHeader(root) : undefined;
  const inFolder = files.filter((file) => file.startsWith(`${folder}/`));
  return [
    { group: 'one', title: 'a body', change: calls(files, 1) },
    {
      group: 'one',
      title: 'a function more',
      change: (name) => {
        addFunction(root, files[1], name);
        return { defines: name, files: 1 };
      },
    },
    { group: 'fifty', title: '50 all over the tree', change: calls(files, 50) },
    ...(inFolder.length < 50
      ? []
      : [{ group: 'fifty', title: `50 of ${folder}`, change: calls(inFolder, 50) }]),
    { group: 'thousand', title: '1 000 files', change: calls(files, 1_000) },
    ...(header === undefined
      ? []
      : Object.entries(headerChanges).map(([title, change]) => ({
          group: 'header',
          title: `${path.basename(header.file)}, of ${header.by}: ${title}`,
          change: (name) => ({ ...change(path.join(root, header.file), name), files: 1 }),
        }))),
    ...(ends === undefined
      ? []
      : [{ group: 'switch', title: `${ends.apart} files apart`, change: () => switched() }]),
  ].filter(({ group }) => only.includes(group));
}

/** The first folder of the tree that holds most of what can be changed, and not all. */
function largestFolder() {
  const counts = new Map();
  for (const file of files) {
    const folder = file.split('/').slice(0, 2).join('/');
    if (folder !== file) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}

async function once(each) {
  marks += 1;
  const change = await each.change(markOf(marks));
  say(`${each.title}: sigma index`);
  const ask = askOnce(at);
  let isDone = false;
  const asking = askMeanwhile(change, ask, { isOver: () => isDone, pauseMs: pauseMs.once });
  const its = await indexed(at);
  isDone = true;
  const { told } = await asking;
  const startedMs = performance.now();
  const state = await stateOf(change, ask);
  const answerMs = performance.now() - startedMs;
  const { files_mined, sites_bound = '?' } = its.report;
  add(each, 'once', change, {
    seenMs: state === 'new' ? its.wallMs + answerMs : undefined,
    figures: [
      seconds(its.cpuMs),
      files_mined,
      sites_bound,
      megabytes(its.written.bytes),
      its.written.files,
      megabytes(its.peakRssBytes),
    ],
    told,
  });
}

async function watchedRun() {
  say('sigma up --watch');
  await running({ ...at, args: ['--watch'] }, async (questions, { pid }) => {
    await quiet();
    for (const each of cases) {
      marks += 1;
      let peakBytes = 0;
      const polling = globalThis.setInterval(() => {
        const bytes = processTree(pid).reduce((sum, { rssBytes }) => sum + rssBytes, 0);
        peakBytes = Math.max(peakBytes, bytes);
      }, 500);
      say(`${each.title}: watched`);
      const startedMs = performance.now();
      const change = await each.change(markOf(marks));
      const changedMs = performance.now();
      const { told, newMs } = await askMeanwhile(change, askRunning(questions), {
        isOver: (isNewMs) => isNewMs !== undefined || performance.now() - startedMs > caseMsMax,
        pauseMs: pauseMs.watched,
      });
      await quiet();
      globalThis.clearInterval(polling);
      const { files_mined = '?' } = watchState(at) ?? {};
      const seenMs = newMs === undefined ? undefined : newMs - changedMs;
      const figures = ['', files_mined, '', '', '', megabytes(peakBytes)];
      add(each, 'watched', change, { seenMs, figures, told });
    }
  });
}

/** Until no refresh is on its way. */
async function quiet() {
  const startedMs = performance.now();
  for (let calm = 0; calm < 4 && performance.now() - startedMs < settleMsMax;) {
    await wait(500);
    calm = watchState(at)?.state === 'refreshing' ? 0 : calm + 1;
  }
}

function add({ group, title }, how, change, { seenMs, figures, told }) {
  const cells = [title, how, change.files, seenMs === undefined ? 'never' : seconds(seenMs)];
  rows.push({
    cells: [...cells, ...figures, toldText(told)],
    ...{ seenMs, aim: aims[group] },
    isRight: seenMs !== undefined && told.wrong === 0 && Object.keys(told.failed).length === 0,
  });
  say(rows.at(-1).cells.join(' | '));
}

/** HEAD, and the nearest first parent that is far enough away; and a function that only the one has, and only the other. */
async function endsOfSwitch() {
  const git = (...args) => outputOf('git', args, root);
  const to = (await git('rev-parse', 'HEAD')).trim();
  const parents = (await git('rev-list', '--first-parent', '--max-count=20000', to))
    .trim()
    .split('\n');
  const apartOf = async (from) =>
    (await git('diff', '--name-only', from, to)).split('\n').length - 1;
  let [near, far] = [0, parents.length - 1];
  while (far - near > 1) {
    const middle = (near + far) >> 1;
    if ((await apartOf(parents[middle])) < Number(options.apart)) near = middle;
    else far = middle;
  }
  const from = parents[far];
  const added = await functionOnlyIn(git, from, to);
  const gone = await functionOnlyIn(git, to, from);
  return { from, to, apart: await apartOf(from), names: { [to]: added, [from]: gone } };
}

async function functionOnlyIn(git, without, within) {
  const list = await git('diff', '--name-only', '--diff-filter=AM', without, within);
  for (const file of list.trim().split('\n')) {
    if (!endings.includes(endingOf(file))) continue;
    const text = await git('diff', '-U0', without, within, '--', file);
    const added = text.split('\n').flatMap((line) => (line[0] === '+' ? [line.slice(1)] : []));
    for (const name of declaredIn(added, endingOf(file)).slice(0, 3)) {
      // No line: it fails.
      const found = await git('grep', '-lw', name, without).catch(() => '');
      if (found === '') return name;
    }
  }
  throw new Error(`no function that only ${within} has`);
}

async function switched() {
  const head = (await outputOf('git', ['rev-parse', 'HEAD'], root)).trim();
  const next = head === ends.to ? ends.from : ends.to;
  await outputOf('git', ['checkout', '-q', '-f', next], root);
  return { old: ends.names[head], fresh: ends.names[next], files: ends.apart };
}

/** One word, which no tokenizer takes apart. */
function markOf(number) {
  return `zorkmid${[...String(number)].map((digit) => 'abcdefghij'[digit]).join('')}`;
}

function readIf(file) {
  try {
    return readFileSync(file, 'utf8').trimEnd() + '\n';
  } catch {
    return undefined;
  }
}

function say(what) {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what}\n`);
}
