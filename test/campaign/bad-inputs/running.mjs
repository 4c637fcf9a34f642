// What happens while an index is built: files change, others build it too, it is killed, the disk is full.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { run, temporaryFolder } from '../../bench/kernel/process.mjs';
import { smallDisk } from '../small-disk.mjs';

const changedFiles = 60;
const runsWhileChanging = 6;
const files = 2_500;
const kills = 8;
const firstKillMs = 500;
const killStepMs = 500;
/** Room for the table of the model, too. */
const diskMebibytes = 40;
/** Their index takes more than the least budget of disk. */
const largeFiles = 300;
const largeFunctions = 400;
/** What is left free of a full disk, in KiB: the run fails at another place each time. */
const leftKibibytes = [0, 2_048, 3_072, 4_096, 5_120, 6_144, 7_168, 8_192, 10_240];
const diskFullFiles = 150;

const writer = path.join(import.meta.dirname, 'changing-files.mjs');

/** `{ name, run }`, as in contents.mjs. */
export const situations = [
  { name: 'files that are rewritten while they are read', run: (at) => changing(at, 'rewrite') },
  { name: 'files that are truncated while they are read', run: (at) => changing(at, 'truncate') },
  { name: 'files that come and go while they are read', run: (at) => changing(at, 'replace') },
  { name: 'a file that grows while it is read', run: (at) => changing(at, 'grow') },
  { name: 'two runs at once', run: twoAtOnce },
  { name: `killed ${kills} times on the way`, run: killed },
  { name: 'the disk is full', run: diskFull },
  { name: 'budgets that are too small', run: budgets },
];

async function changing(at, how) {
  const folder = at.at('src/moving');
  const child = spawn(process.execPath, [writer, folder, String(changedFiles), how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const codes = [];
  for (let count = 0; count < runsWhileChanging; count += 1) {
    const ran = await at.index();
    codes.push(ran.code);
    at.steps.splice(-1, count === 0 ? 0 : 1);
    const checked = await at.index('--check');
    at.steps.pop();
    codes.push(checked.code);
  }
  at.claim(`${runsWhileChanging} runs and checks end with 0`, !codes.some(Boolean), codes.join());
  await at.answers('what stands still');
  child.kill('SIGTERM');
  await ended;
  const last = await at.index();
  at.claim('the run after that ends with 0', last.code === 0, last.output);
  await sameAsClean(at);
}

/** What a run leaves is what a run into an empty home leaves, byte by byte. */
async function sameAsClean(at) {
  const [served, kept] = [digests(at), at.home];
  at.home = temporaryFolder('sigma-bad-clean');
  const clean = await at.index();
  at.steps.pop();
  const isSame = clean.code === 0 && digests(at) === served;
  at.claim('the index is byte by byte that of a clean build', isSame, `${served}\n${digests(at)}`);
  at.home = kept;
}

function digests(at) {
  const digest = (name) => {
    const bytes = readFileSync(path.join(at.place, 'segments', name));
    return `${name} ${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}`;
  };
  return at.served().map(digest).join('\n');
}

function manyFiles(at, generation) {
  const text = (file) =>
    `/* Number ${file} of ${generation}. */\nint counted_${generation}_${file}(int a)\n{\n` +
    `\tif (a > ${file})\n\t\treturn sentinel_count(a);\n\treturn counted_${generation}_${(file * 7) % files}(a + 1);\n}\n`;
  for (let file = 0; file < files; file += 1)
    at.write({ [`many/${file % 50}/f${file}.c`]: text(file) });
}

async function twoAtOnce(at) {
  manyFiles(at, 'both');
  const first = at.index();
  for (; !existsSync(path.join(at.home, 'pgc')) || !existsSync(path.join(at.place, 'facts/LOCK'));)
    await wait(5);
  at.coded(await at.index(), 'INDEX_BUILDING');
  const ended = await first;
  at.claim('the first one ends with 0', ended.code === 0, ended.output);
  await at.answers('everything');
}

async function killed(at) {
  await at.index();
  manyFiles(at, 'killed');
  for (let count = 0; count < kills; count += 1) {
    const ms = firstKillMs + count * killStepMs;
    const words = ['index', at.root];
    const ran = await run(
      'sh',
      ['-c', killAfter(ms), 'sh', process.execPath, ...at.program(words)],
      {
        env: at.environment(),
        timeoutMs: 60_000,
      },
    );
    at.ran([`kill -9 after ${ms} ms:`, 'sigma', ...words], { ...ran, stdout: '', stderr: '' });
    await at.answers('the index before');
    at.steps.splice(-3);
  }
  const { code, output } = await at.index();
  at.claim('the next run ends with 0', code === 0, output);
  const reused = Number(/(\d+) reused/.exec(output)?.[1]);
  at.claim('and mines only what was not mined yet', reused > 1, output);
  await at.answers('everything');
  await sameAsClean(at);
}

const killAfter = (ms) =>
  `"$@" & pid=$!; sleep ${(ms / 1_000).toFixed(3)}; kill -9 $pid; wait $pid; exit $?`;

async function diskFull(at) {
  let disk;
  try {
    disk = smallDisk('sigma-bad-disk', diskMebibytes);
  } catch {
    at.skipped = 'a tmpfs may not be mounted here; it needs root';
    return;
  }
  at.home = path.join(disk.path, 'home');
  manyFiles(at, 'first');
  const first = await at.index();
  at.claim('there is an index', first.code === 0, first.output);
  const before = digests(at);
  manyFiles(at, 'second');
  largeTree(at, diskFullFiles);
  const codes = [];
  for (const left of leftKibibytes) {
    disk.fill();
    const ballast = path.join(disk.path, 'ballast');
    truncateSync(ballast, Math.max(0, statSync(ballast).size - left * 1024));
    const ran = await at.index();
    const isCoded = ran.code === 1 && /\(STORE_UNAVAILABLE\)/.test(ran.output);
    codes.push(isCoded ? 'coded' : ran.code === 0 ? 'done' : ran.output);
    if (isCoded)
      at.claim(
        `the old index is as it was (${left} KiB left)`,
        digests(at) === before,
        digests(at),
      );
    const kept = at.steps.length;
    await at.answers(`what is served, with ${left} KiB left,`);
    at.steps.splice(kept);
    if (ran.code === 0) break;
  }
  const isTold = codes.every((each) => each === 'coded' || each === 'done');
  at.claim('each run said STORE_UNAVAILABLE, or was done', isTold, codes.join('\n'));
  at.claim('some of them came to nothing', codes.includes('coded'), codes.join('\n'));
  disk.free();
  const { code, output } = await at.index();
  at.claim('with space the next run ends with 0', code === 0, output);
  await at.answers('everything');
  await sameAsClean(at);
}

async function budgets(at) {
  const first = await at.index();
  at.claim('there is an index', first.code === 0, first.output);
  const before = digests(at);
  at.coded(await at.index('--memory', '100m'), 'USAGE', 2);
  at.coded(await at.index('--disk', '1m'), 'USAGE', 2);
  at.coded(await at.index('--memory', 'much'), 'USAGE', 2);
  largeTree(at, largeFiles);
  at.coded(await at.index('--disk', '16m'), 'STORE_UNAVAILABLE');
  at.claim('the old index is as it was', digests(at) === before, digests(at));
  await at.answers('the old index');
  const { code, output, peakRssBytes } = await at.index('--memory', '512m');
  at.claim('without that the run ends with 0', code === 0, output);
  const peak = Math.round(peakRssBytes / 1024 / 1024);
  at.claim('in less memory than was allowed', peak <= 512, `${peak} MB`);
  await at.answers('everything');
}

function largeTree(at, count) {
  for (let file = 0; file < count; file += 1)
    at.write({ [`large/f${file}.c`]: manyFunctions(file) });
}

function manyFunctions(file) {
  const one = (at) =>
    `int large_${file}_${at}(int a)\n{\n\treturn sentinel_count(a + ${at});\n}\n\n`;
  return Array.from({ length: largeFunctions }, (_, at) => one(at)).join('');
}
