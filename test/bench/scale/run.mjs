// The whole Linux kernel: how long, how much memory and disk, beside cscope on the same tree in the same run; then
// what a small change costs; then three SIGKILLs in the middle of it, after which the index is the same.
//
//   npm run bench:scale -- [--repo DIR] [--work DIR] [--only peer,cold,small,killed] [--jobs N] [--write]
//
// Works on a copy of the tree, for it changes files. Without --repo: Debian's linux-source-6.1. Some 20 minutes.
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { megabytes, seconds, table } from '../kernel/figures.mjs';
import { cscopeVersion } from '../kernel/kernel-tree.mjs';
import { describeMachine } from '../kernel/machine.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { wholeKernel } from '../lookup/sources.mjs';
import { hashOf } from '../lookup/random.mjs';
import { watched } from './watched.mjs';

const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
const changedFiles = 100;
/** Where the run is killed: in the share of the files that are read, then of the shards that are written. */
const kills = [
  { phase: 'reading', share: 0.25 },
  { phase: 'reading', share: 0.7 },
  { phase: 'writing shards', share: 0.5 },
];
const bars = { wall: 4, memoryBytes: 4e9, disk: 1, unchangedMs: 10_000, subsystemMs: 15_000 };

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    work: { type: 'string' },
    only: { type: 'string', default: 'peer,cold,small,killed' },
    subsystem: { type: 'string', default: 'net' },
    jobs: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const sections = new Set(options.only.split(','));
const work = options.work ?? temporaryFolder('sigma-bench-scale');
const root = path.join(work, 'linux');
const home = path.join(work, 'home');
const jobs = options.jobs === undefined ? [] : ['--jobs', options.jobs];

say('copying the tree');
rmSync(root, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
cpSync(await wholeKernel(options.repo), root, { recursive: true });
const files = filesBelow(root);
const sourceBytes = files.reduce((sum, file) => sum + statSync(path.join(root, file)).size, 0);
const cFiles = files.filter((file) => /\.[ch]$/.test(file));

const lines = [];
const checks = [];
const peer = sections.has('peer') ? await runPeer() : undefined;
const cold = await index(home);
const built = digestOf(home);
report();
if (sections.has('killed')) await killed();
if (sections.has('small')) await small();
const { text: machine } = await describeMachine({ root, home });
const missed = checks.filter(({ holds }) => !holds);
const text = [
  machine,
  '',
  ...lines,
  '',
  ...checks.map(({ holds, name }) => `${holds ? 'ok    ' : 'MISSED'}  ${name}`),
].join('\n');
process.stdout.write(`${text}\n`);
if (options.write) {
  const head = '# The whole kernel\n\n`npm run bench:scale -- --write`.\n\n';
  writeFileSync(path.join(import.meta.dirname, 'results.md'), `${head}\`\`\`\n${text}\n\`\`\`\n`);
}
process.exitCode = missed.length === 0 ? 0 : 1;

async function runPeer() {
  await cscopeVersion();
  const folder = path.join(work, 'cscope');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'cscope.files'), cFiles.map((file) => `"${file}"\n`).join(''));
  say('cscope -bqk');
  const its = await watched(
    'cscope',
    ['-bqk', '-i', path.join(folder, 'cscope.files'), '-f', path.join(folder, 'cscope.out')],
    { cwd: root },
  );
  const diskBytes = sum(readdirSync(folder).map((name) => statSync(path.join(folder, name)).size));
  rmSync(folder, { recursive: true });
  return { ...its, diskBytes };
}

async function index(at, { onLine } = {}) {
  say(`sigma index, ${path.basename(at)}`);
  const its = await watched(process.execPath, [sigma, 'index', root, ...jobs, '--json'], {
    env: { SIGMA_HOME: at, SIGMA_LOG: 'error' },
    onLine,
  });
  if (its.signal !== null) return its;
  if (its.code !== 0)
    throw new Error(`sigma index ended with ${its.code}: ${its.stderr.slice(-500)}`);
  return { ...its, report: JSON.parse(its.stdout), diskBytes: bytesBelow(at) };
}

function report() {
  const { shards, files_total, lines_total, languages, left_out } = cold.report;
  const rows = [['', 'WALL', 'PEAK MEMORY', 'DISK']];
  if (peer !== undefined)
    rows.push([
      'cscope -bqk',
      seconds(peer.wallMs),
      megabytes(peer.peakRssBytes),
      megabytes(peer.diskBytes),
    ]);
  rows.push([
    'sigma index',
    seconds(cold.wallMs),
    megabytes(cold.peakRssBytes),
    megabytes(cold.diskBytes),
  ]);
  if (peer !== undefined) {
    const ratio = (ours, theirs) => (ours / theirs).toFixed(2);
    rows.push([
      'ratio',
      ratio(cold.wallMs, peer.wallMs),
      ratio(cold.peakRssBytes, peer.peakRssBytes),
      ratio(cold.diskBytes, peer.diskBytes),
    ]);
    check(
      `wall at most ${bars.wall} times cscope's: ${ratio(cold.wallMs, peer.wallMs)}`,
      cold.wallMs <= bars.wall * peer.wallMs,
    );
  }
  check(
    `memory of all processes at most 4 GB: ${megabytes(cold.peakRssBytes)}`,
    cold.peakRssBytes <= bars.memoryBytes,
  );
  const disk = cold.diskBytes / sourceBytes;
  check(
    `disk at most ${bars.disk} times the source: ${disk.toFixed(2)} of ${megabytes(sourceBytes)}`,
    disk <= bars.disk,
  );
  const counts = ['O1', 'O2', 'O3', 'O4', 'O5', 'O6', 'O7'].map(
    (name) => `${name} ${sum(shards.map(({ items }) => items[name] ?? 0))}`,
  );
  lines.push(
    table(rows),
    `${files_total} files, ${lines_total} lines in ${shards.length} shards; ${counts.join(', ')}`,
    `under error nodes: ${Object.entries(languages)
      .filter(([, { error_bytes }]) => error_bytes > 0)
      .map(([name, its]) => `${name} ${((100 * its.error_bytes) / its.bytes).toFixed(2)} %`)
      .join(
        ', ',
      )}; ${sum(Object.values(languages).map((each) => each.scanned))} files with long lists, by name and line only`,
    `left out: ${Object.entries(left_out)
      .map(([reason, count]) => `${count} ${reason}`)
      .join(', ')}`,
    '',
  );
}

async function killed() {
  const at = path.join(work, 'home-killed');
  rmSync(at, { recursive: true, force: true });
  const told = [];
  for (const { phase, share } of kills) {
    const its = await index(at, {
      onLine: (line, kill) => {
        const [, done, total] = new RegExp(`^${phase} (\\d+) of (\\d+)`).exec(line) ?? [];
        if (Number(done) >= share * Number(total)) kill();
      },
    });
    told.push(`${its.signal} after ${seconds(its.wallMs)} at ${phase} ${share * 100} %`);
  }
  const last = await index(at);
  const after = digestOf(at);
  lines.push(
    `killed: ${told.join('; ')}; finished in ${seconds(last.wallMs)} with ${last.report.files_mined} files still to mine`,
  );
  lines.push(
    `digest of the index: straight ${built.slice(0, 16)}, after the kills ${after.slice(0, 16)}`,
    '',
  );
  check(
    'killed three times and finished: the same index',
    after === built && told.every((each) => each.startsWith('SIGKILL')),
  );
  rmSync(at, { recursive: true, force: true });
}

async function small() {
  const order = cFiles
    .filter((file) => file.endsWith('.c'))
    .sort((a, b) => hashOf(1, a) - hashOf(1, b));
  const ofSubsystem = order.filter((file) => file.startsWith(`${options.subsystem}/`));
  const unchanged = await index(home);
  const subsystem = await changed(ofSubsystem.slice(0, changedFiles), 'one');
  const spread = await changed(order.slice(0, changedFiles), 'two');
  const row = (name, { wallMs, peakRssBytes, report }) => [
    name,
    seconds(wallMs),
    report.files_mined,
    megabytes(peakRssBytes),
  ];
  lines.push(
    table([
      ['AGAIN', 'WALL', 'MINED', 'PEAK MEMORY'],
      row('nothing changed', unchanged),
      row(`${changedFiles} files of ${options.subsystem}`, subsystem),
      row(`${changedFiles} files all over the tree`, spread),
    ]),
  );
  check(
    `nothing changed: at most 10 s: ${seconds(unchanged.wallMs)}`,
    unchanged.report.files_mined === 0 && unchanged.wallMs <= bars.unchangedMs,
  );
  check(
    `100 files of one subsystem: at most 15 s: ${seconds(subsystem.wallMs)}`,
    subsystem.report.files_mined === changedFiles && subsystem.wallMs <= bars.subsystemMs,
  );
  check(
    '100 files all over the tree are mined, no other',
    spread.report.files_mined === changedFiles,
  );
}

/** Each gets a function more. */
async function changed(which, mark) {
  which.forEach((file, at) =>
    appendFileSync(
      path.join(root, file),
      `\nint sigma_${mark}_${at}(int a)\n{\n\treturn a + ${at};\n}\n`,
    ),
  );
  return index(home);
}

/** Of everything that is served. */
function digestOf(at) {
  const [project] = readdirSync(path.join(at, 'pgc'));
  const folder = path.join(at, 'pgc', project, 'segments');
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort())
    hash.update(`${name}\0`).update(readFileSync(path.join(folder, name)));
  return hash.digest('hex');
}

function filesBelow(folder, below = '') {
  return readdirSync(path.join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const file = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) return filesBelow(folder, file);
    return entry.isFile() ? [file] : [];
  });
}

function bytesBelow(folder) {
  return sum(filesBelow(folder).map((file) => statSync(path.join(folder, file)).size));
}

function check(name, holds) {
  checks.push({ name, holds });
}

function sum(numbers) {
  return numbers.reduce((total, each) => total + each, 0);
}

function say(what) {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what}\n`);
}
