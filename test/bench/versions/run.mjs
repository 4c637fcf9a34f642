// What one version more of a repository costs, and how time, memory and disk grow with the number of lines.
//
//   npm run bench:versions -- --repo DIR [--versions N] [--every N] [--only checkout,worktrees,growth]
//     [--growth DIR,DIR] [--finished REPORT,REPORT] [--write]
//
// checkout: N versions (10), so many commits apart (50), one after the other in one tree; worktrees: the same, each in a tree of
// its own, all in one home. growth: each DIR is indexed from scratch; REPORT is what `sigma index --json` printed of a run before.
// 0.4 million lines take some ten minutes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bytesIn, indexed, privateTree } from '../fresh/private-tree.mjs';
import { megabytes, seconds, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { outputOf } from '../../oracle/sources.mjs';

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    versions: { type: 'string', default: '10' },
    every: { type: 'string', default: '50' },
    only: { type: 'string', default: 'checkout,worktrees,growth' },
    growth: { type: 'string', default: '' },
    finished: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});
const only = options.only.split(',');
const given = (text) => text.split(',').filter((each) => each !== '');
const work = temporaryFolder('bench-versions');
const texts = [
  `load ${loadavg()
    .map((each) => each.toFixed(1))
    .join(' ')}`,
];
let done = 0;
let wanted = 0;
if (options.repo !== undefined && (only.includes('checkout') || only.includes('worktrees')))
  await versions(path.resolve(options.repo));
if (only.includes('growth')) await growth();
texts.push(`${done} of ${wanted} runs`);
const text = texts.join('\n\n');
process.stdout.write(`${text}\n`);
if (options.write) {
  const head = '# Versions and growth\n\n`npm run bench:versions -- --repo DIR --write`.\n';
  writeFileSync(path.join(import.meta.dirname, 'results.md'), `${head}\n\`\`\`\n${text}\n\`\`\`\n`);
}

async function versions(repo) {
  const { root, home } = await privateTree({ repo, work });
  const git = (...args) => outputOf('git', args, root);
  const count = Number(options.versions);
  const every = Number(options.every);
  const parents = await git('rev-list', '--first-parent', `--max-count=${count * every}`, 'HEAD');
  const all = parents.trim().split('\n');
  const commits = all
    .filter((_, at) => at % every === 0)
    .slice(0, count)
    .reverse();
  const apart = [];
  for (const [at, commit] of commits.entries())
    apart.push(
      at === 0
        ? ''
        : (await git('diff', '--name-only', commits[at - 1], commit)).split('\n').length - 1,
    );
  if (only.includes('checkout')) {
    const rows = [];
    for (const [at, commit] of commits.entries()) {
      await git('checkout', '-q', '-f', commit);
      rows.push(await row({ root, home }, commit, apart[at]));
    }
    add(`${path.basename(repo)}, one tree`, rows);
  }
  if (only.includes('worktrees')) {
    const shared = path.join(work, 'shared-home');
    const rows = [];
    for (const [at, commit] of commits.entries()) {
      const tree = path.join(work, 'trees', `version-${at + 1}`);
      mkdirSync(path.dirname(tree), { recursive: true });
      await git('worktree', 'add', '-q', '--detach', tree, commit);
      rows.push(await row({ root: tree, home: shared }, commit, apart[at]));
    }
    add(`${path.basename(repo)}, a work tree each`, rows);
  }
}

async function row(at, commit, files) {
  wanted += 1;
  say(`${path.basename(at.root)} at ${commit.slice(0, 10)}`);
  const before = bytesIn(at.home);
  const { report, wallMs, cpuMs, peakRssBytes, written } = await indexed(at);
  const { lines_total, files_mined, sites_bound = '?' } = report;
  done += 1;
  return {
    cells: [
      ...[commit.slice(0, 10), files, lines_total, seconds(wallMs), seconds(cpuMs)],
      ...[files_mined, sites_bound],
      ...[megabytes(written.bytes), megabytes(peakRssBytes), megabytes(bytesIn(at.home))],
      megabytes(bytesIn(at.home) - before),
    ],
    ...{ wallMs, cpuMs },
    grown: bytesIn(at.home) - before,
  };
}

function add(title, rows) {
  const head = [
    'COMMIT',
    'FILES CHANGED',
    'LINES',
    'WALL',
    'PROCESSOR',
    'MINED',
    'BOUND',
    'WRITTEN',
    'MEMORY',
  ];
  const [first, ...later] = rows;
  const mean = (field) => later.reduce((sum, each) => sum + each[field], 0) / later.length;
  texts.push(
    [
      title,
      table([[...head, 'DISK', 'MORE'], ...rows.map(({ cells }) => cells)]),
      `one more: ${seconds(mean('wallMs'))} (${((100 * mean('wallMs')) / first.wallMs).toFixed(0)} % of the first; processor ${seconds(mean('cpuMs'))}, ${((100 * mean('cpuMs')) / first.cpuMs).toFixed(0)} %), ${(mean('grown') / 2 ** 20).toFixed(1)} MB (${((100 * mean('grown')) / first.grown).toFixed(0)} %)`,
    ].join('\n'),
  );
}

async function growth() {
  const rows = [];
  for (const folder of given(options.growth)) {
    wanted += 1;
    say(folder);
    const home = path.join(work, `home-${path.basename(folder)}`);
    const { report, wallMs, peakRssBytes } = await indexed({ root: path.resolve(folder), home });
    rows.push(rowOfGrowth(path.basename(folder), report, { wallMs, peakRssBytes }));
    done += 1;
  }
  for (const file of given(options.finished)) {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    const { elapsed_ms: wallMs, peak_rss_bytes: peakRssBytes } = report;
    rows.push(rowOfGrowth(report.project, report, { wallMs, peakRssBytes }));
  }
  if (rows.length === 0) return;
  const head = [
    'TREE',
    'LINES',
    'FILES',
    'WALL',
    'LINES A SECOND',
    'MEMORY',
    'DISK',
    'BYTES A LINE',
  ];
  texts.push(table([head, ...rows]));
}

function rowOfGrowth(name, { lines_total, files_total, disk_bytes }, { wallMs, peakRssBytes }) {
  return [
    ...[
      name,
      lines_total,
      files_total,
      seconds(wallMs),
      Math.round((1_000 * lines_total) / wallMs),
    ],
    ...[megabytes(peakRssBytes), megabytes(disk_bytes), (disk_bytes / lines_total).toFixed(1)],
  ];
}

function say(what) {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what}\n`);
}
