// How long an answer takes: in an open index, and as the first one of a fresh process, with its processor time and memory.
//
//   npm run bench:speed -- --repo DIR [--home SIGMA_HOME] [--indexed] [--count N] [--fresh N] [--json FILE]
//
// The questions are those of this folder and of test/bench/lattice, whole and sentence by sentence, so that none is asked
// twice: their words are what costs time, whatever the tree. With --indexed the index is taken as it is.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { megabytes, milliseconds, percentile, table } from '../kernel/figures.mjs';
import { run, temporaryFolder } from '../kernel/process.mjs';
import { questionsOf } from '../lattice/questions.mjs';
import { openProduct } from '../retrieval/product.mjs';
import { questionsIn, ways } from './asking.mjs';

const commandMsMax = 120_000;
const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
/** Processor time of a child: only a shell tells it. */
const timed = 'TIMEFORMAT="cpu %U %S"; time "$@" >/dev/null';

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    home: { type: 'string' },
    indexed: { type: 'boolean', default: false },
    count: { type: 'string', default: '200' },
    fresh: { type: 'string', default: '10' },
    json: { type: 'string' },
  },
});
if (options.repo === undefined) throw new Error('--repo is wanted');
const root = path.resolve(options.repo);
const home = path.resolve(options.home ?? temporaryFolder('speed'));
const questions = questionsToAsk().slice(0, Number(options.count));

const product = await openProduct(root, home, { isIndexed: options.indexed });
const warm = {};
for (const [way, ask] of Object.entries(ways)) {
  // The first answer reads what later ones find in memory.
  await ask(product, 'What is this?');
  warm[way] = [];
  for (const question of questions) {
    const [beganMs, before] = [performance.now(), process.cpuUsage()];
    await ask(product, question);
    const { user, system } = process.cpuUsage(before);
    warm[way].push({ ms: performance.now() - beganMs, cpuMs: (user + system) / 1_000 });
  }
}
const warmBytes = process.resourceUsage().maxRSS * 1024;
const lines = product.shards.reduce((sum, { index }) => sum + index.info.lines, 0);

const fresh = [];
for (const question of questions.slice(0, Number(options.fresh)))
  fresh.push(await freshly(question));

const shownMs = (all, percent) => milliseconds(percentile(all, percent));
const text = [
  `${path.basename(root)}: ${lines} lines, ${product.shards.length} shards, ${questions.length} questions`,
  table([
    ['open index', 'p50 ms', 'p99 ms', 'processor p50 ms', 'p99'],
    ...Object.entries(warm).map(([way, all]) => [
      way,
      ...['ms', 'cpuMs'].flatMap((what) => {
        const each = all.map((one) => one[what]);
        return [shownMs(each, 50), shownMs(each, 99)];
      }),
    ]),
  ]),
  `peak memory of that process ${megabytes(warmBytes)}`,
  table([
    ['first answer of a process', 'wall p50 ms', 'wall max', 'processor p50 ms', 'peak memory'],
    [
      'sigma ask',
      ...[50, 100].map((percent) =>
        shownMs(
          fresh.map(({ wallMs }) => wallMs),
          percent,
        ),
      ),
      shownMs(
        fresh.map(({ cpuMs }) => cpuMs),
        50,
      ),
      megabytes(Math.max(...fresh.map(({ peakRssBytes }) => peakRssBytes))),
    ],
  ]),
].join('\n\n');
process.stdout.write(`${text}\n`);
if (options.json !== undefined)
  writeFileSync(options.json, JSON.stringify({ warm, warmBytes, fresh }, undefined, 1));

async function freshly(question) {
  const args = ['ask', question, '--repo', root, '--json'];
  const env = { SIGMA_HOME: home, SIGMA_BUS: '', SIGMA_LOG: 'error' };
  const command = [process.execPath, sigma, ...args];
  const done = await run('bash', ['-c', timed, 'timed', ...command], {
    env,
    timeoutMs: commandMsMax,
  });
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)/.exec(done.stderr) ?? [];
  if (user === undefined) throw new Error(`sigma ask failed: ${done.stderr.slice(-300)}`);
  // Once more for the memory: of the shell above it is not that of the process.
  const { peakRssBytes } = await run(process.execPath, [sigma, ...args], {
    env,
    timeoutMs: commandMsMax,
  });
  return { wallMs: done.wallMs, cpuMs: (Number(user) + Number(system)) * 1_000, peakRssBytes };
}

/** Whole questions, then their sentences; each once. */
function questionsToAsk() {
  const whole = [
    ...questionsOf('dev').map(({ question }) => question),
    ...questionsIn('questions.jsonl').map(({ question }) => question),
  ];
  const sentences = whole.flatMap((each) => each.match(/[^.?!]{20,}[.?!]/g) ?? []);
  return [...new Set([...whole, ...sentences.map((each) => each.trim())])];
}
