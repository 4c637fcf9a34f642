// How long a process needs that has just begun: to open an index, and for its first answers.
//
//   npm run bench:open -- --home SIGMA_HOME --repo DIR [--repo DIR …] [--runs N] [--json FILE]
//
// The trees are indexed in --home. Cold: nothing of the index is in memory; the program and the tree may be. On a
// machine that is shared, compare the times of the processor.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { placeOf } from '../../../dist/src/pgc/plan/manifest.js';

const { values: options } = parseArgs({
  options: {
    home: { type: 'string' },
    repo: { type: 'string', multiple: true },
    runs: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const here = import.meta.dirname;
const sigma = path.join(here, '../../../services/cli/sigma.mjs');
const folder = mkdtempSync(path.join(tmpdir(), 'sigma-bench-open-'));
const usageFile = path.join(folder, 'usage.json');
const questionFile = path.join(folder, 'questions.json');
const subjects = 'memory error queue file lock buffer thread option name size'.split(' ');
const verbs = 'allocate free open read write check find wait parse send'.split(' ');
const questions = verbs.flatMap((verb) =>
  subjects.map((each) => `where does it ${verb} a ${each}?`),
);
writeFileSync(questionFile, JSON.stringify(questions));
const report = path.join(folder, 'report.txt');
writeFileSync(
  report,
  'Crash while a file is read\n\nThe buffer is freed twice when a write fails.\n',
);

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** Of the files of an index, none stays in the cache of the system. */
function forget(place) {
  const each = [
    '-type',
    'f',
    '-exec',
    'dd',
    'if={}',
    'iflag=nocache',
    'count=0',
    'status=none',
    ';',
  ];
  spawnSync('sync');
  spawnSync('find', [place.segments, place.cards, place.manifest, ...each]);
}

function command(args) {
  const env = { ...process.env, SIGMA_HOME: options.home, SIGMA_USAGE: usageFile };
  const startMs = performance.now();
  const usage = ['--import', path.join(here, 'usage.mjs')];
  const { status, stderr } = spawnSync(process.execPath, [...usage, sigma, ...args], { env });
  const ms = performance.now() - startMs;
  if (status !== 0) throw new Error(`sigma ${args.join(' ')}: ${stderr}`);
  return { ms, ...JSON.parse(readFileSync(usageFile, 'utf8')) };
}

function oneProcess(repo) {
  const args = [path.join(here, 'one-process.mjs'), repo, options.home, questionFile];
  const { status, stdout, stderr } = spawnSync(process.execPath, args);
  if (status !== 0) throw new Error(String(stderr));
  return JSON.parse(String(stdout));
}

const runs = Number(options.runs);
const rows = [];
function row(what, state, all) {
  const of = (name) => Math.round(median(all.map((each) => each[name])));
  rows.push({ what, state, ms: of('ms'), cpuMs: of('cpuMs'), rssMiB: of('rssMiB') });
  const { ms, cpuMs, rssMiB } = rows.at(-1);
  const numbers = [ms, cpuMs, rssMiB].map((each) => String(each).padStart(8)).join('');
  process.stdout.write(`${what.padEnd(34)}${state.padEnd(6)}${numbers}\n`);
}
const repeated = (work, before = () => {}) =>
  Array.from({ length: runs }, () => {
    before();
    return work();
  });

process.stdout.write(`${''.padEnd(40)} WALL ms  CPU ms RSS MiB\n`);
row(
  'sigma --version',
  'warm',
  repeated(() => command(['--version'])),
);
for (const repo of options.repo) {
  const name = path.basename(repo);
  const place = placeOf(path.resolve(repo), options.home);
  const commands = {
    ask: ['ask', 'how is memory allocated for a buffer', '--repo', repo],
    locate: ['locate', report, '--repo', repo],
    callers: ['callers', 'main', '--repo', repo],
  };
  for (const [state, before] of [
    ['cold', () => forget(place)],
    ['warm', () => {}],
  ])
    for (const [what, args] of Object.entries(commands))
      row(
        `${name}: ${what}`,
        state,
        repeated(() => command(args), before),
      );
  const warm = repeated(() => oneProcess(repo));
  for (const part of ['open', 'first', 'second'])
    row(
      `${name}: one process, ${part}`,
      'warm',
      warm.map((each) => each[part]),
    );
  process.stdout.write(
    `${name}: MiB before ${median(warm.map(({ before }) => before))}, after ${questions.length} questions ` +
      `${median(warm.map(({ all }) => all.rssMiB))}\n`,
  );
}
rmSync(folder, { recursive: true });
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify({ rows }, null, 1));
