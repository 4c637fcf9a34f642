// Measures the bus against nats-server, against ZeroMQ and LevelDB alone, in one run on one machine.
//
//   npm run bench:bus -- [--quick] [--only requests,posts] [--bytes 64,1024] [--requests 10000000]
//                        [--json FILE] [--write]
//
// --quick: short runs, to see that it works. --only: some of the sections below. --bytes: other bodies than a
// section has. --requests: how many `memory` serves, to see whether a process grows. --write: puts the tables into
// results.md. The sides take turns, so that what else the machine does hits all of them. A figure never makes it fail.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { compare } from './compare.mjs';
import { comparisons } from './comparisons.mjs';
import { fairnessTables } from './fairness.mjs';
import { memoryTables } from './memory.mjs';
import { profileTables } from './profile.mjs';
import { ensureNatsServer } from './sides.mjs';

const busyWindows = [64, 512];

const measures = {
  requests: () => measure(comparisons.requests),
  sizes: () => measure(comparisons.sizes),
  curve: () => measure(comparisons.curve),
  posts: () => measure(comparisons.posts),
  network: async () => {
    for (const each of ['network', 'networkPosts', 'networkAgents'])
      await measure(comparisons[each]);
  },
  profile: () =>
    measureOurs(
      'where the time of a request goes',
      'Sigma Bus over ipc, µs of CPU a request in the main threads, by part of the program.',
      profileTables,
    ),
  fairness: () =>
    measureOurs(
      'fairness',
      'Requests of one client, with a worker of its own, while others use the same broker. A flood keeps as many requests open as a session may, a peer that does not read asks for as many ten times a second; both have a worker of their own.',
      fairnessTables,
    ),
  memory: () =>
    measureOurs(
      'memory',
      'Sigma Bus over ipc: garbage a request, and the resident size of each process after so many requests.',
      memoryTables,
    ),
};

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(measures).join(',') },
    bytes: { type: 'string' },
    requests: { type: 'string', default: '1000000' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const effort = options.quick
  ? { runs: 5, ms: 300, warmMs: 500, profileMs: 2_000 }
  : { runs: 7, ms: 1_500, warmMs: 3_000, profileMs: 8_000 };
const requests = Number(options.requests);
const bodies = options.bytes?.split(',').map(Number);
const chosen = options.only.split(',');
const unknown = chosen.filter((name) => measures[name] === undefined);
if (unknown.length > 0)
  throw new Error(
    `no section ${unknown.join(', ')}; there are ${Object.keys(measures).join(', ')}`,
  );

const sections = [];
const rows = [];
section('machine', '', machine());
for (const name of chosen) await measures[name]();
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`);
if (options.write) writeFileSync(path.join(import.meta.dirname, 'results.md'), results());

/** Against others. */
async function measure(comparison) {
  for (const bytes of bodies ?? comparison.bodies) {
    const found = await compare(comparison, { bytes, effort });
    const title = `${comparison.what}, ${bytes} bytes`;
    section(title, comparison.note, `${found.figures}\n\n${found.ratios}`);
    rows.push(...found.rows);
  }
}

/** The bus alone. */
async function measureOurs(what, note, tables) {
  for (const bytes of bodies ?? [1_024]) {
    const folder = temporaryFolder('sigma-bench');
    const text = await tables(folder, { bytes, windows: busyWindows, effort, requests });
    section(`${what}, ${bytes} bytes`, note, text);
  }
}

function machine() {
  const [processor] = cpus();
  return table([
    ['date', new Date().toISOString()],
    ['processor', `${processor?.model.trim() ?? ''}, ${cpus().length} cores`],
    ['kernel', release()],
    ['node', process.version],
    ['peer', ensureNatsServer()],
    ['runs', `${effort.runs} of ${effort.ms} ms for each figure; median, (min..max)`],
    [
      'load',
      loadavg()
        .map((each) => each.toFixed(2))
        .join(' '),
    ],
  ]);
}

function section(title, note, text) {
  const head = `## ${title}\n${note && `\n${note}\n`}`;
  sections.push(`${head}\n\`\`\`\n${text}\n\`\`\`\n`);
  process.stdout.write(`\n${head}\n${text}\n`);
}

function results() {
  return `# The bus, measured\n\nWritten by \`npm run bench:bus -- --write\`; run it on your own machine.\n\n${sections.join('\n')}`;
}
