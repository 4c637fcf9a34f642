// Measures Sigma Bus on five folders of Linux 6.1 and holds what it says against the source.
//
//   npm run bench:kernel -- [--only index,up,questions,verify,callers,latency] [--json FILE] [--kernel DIR] [--home DIR]
//
// Without --kernel, Debian's linux-source-6.1 (and cscope) is fetched by apt when missing, and the needed folders
// are unpacked into a cache folder. Without --home, all state is in a temporary folder. Exits with 1 when a checked
// fact does not hold, with 2 on wrong usage; a time never fails it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CSource } from './c-source.mjs';
import { kernelTree } from './kernel-tree.mjs';
import { describeMachine } from './machine.mjs';
import { measureCallers } from './measure-callers.mjs';
import { ensureIndex, measureIndex } from './measure-index.mjs';
import { measureLatency } from './measure-latency.mjs';
import { measureQuestions } from './measure-questions.mjs';
import { measureUp } from './measure-up.mjs';
import { measureVerify } from './measure-verify.mjs';
import { runSigma, startLattice, temporaryFolder } from './process.mjs';

const sections = {
  index: measureIndex,
  up: measureUp,
  questions: measureQuestions,
  verify: measureVerify,
  callers: measureCallers,
  latency: measureLatency,
};
const upMsMax = 180_000;
const detailMax = 400;

const options = parseOptions();
const home = options.home ?? temporaryFolder('sigma-kernel');
const checks = [];
let running;

try {
  process.exitCode = await measure();
} catch (error) {
  process.stderr.write(`bench:kernel: ${error.message}\n`);
  process.exitCode = 1;
}

async function measure() {
  const root = await kernelTree(options.kernel);
  mkdirSync(home, { recursive: true });
  if ((await runSigma(['status', '--json'], { home })).code === 0)
    throw new Error(`a lattice is already running on ${home}`);
  const bench = { root, home, source: new CSource(root), check, lattice: () => lattice(root) };
  const report = { sections: {} };
  try {
    const machine = await describeMachine(bench);
    report.machine = machine.figures;
    show('machine', machine.text);
    for (const name of options.only) await section(name, bench, report);
  } finally {
    await running?.stop();
  }
  report.machine.load_average_at_end = loadavg();
  report.checks = checks;
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  const failed = checks.filter(({ holds }) => !holds);
  const lines = failed.map(({ name, detail }) => `  FAILED ${name}: ${detail}`);
  show(
    'checks',
    [`${checks.length - failed.length} of ${checks.length} hold`, ...lines].join('\n'),
  );
  return failed.length === 0 ? 0 : 1;
}

/** A section that cannot be measured is a failed check; the others still are. */
async function section(name, bench, report) {
  process.stderr.write(`${name} …\n`);
  try {
    const { figures, text } = await sections[name](bench);
    report.sections[name] = figures;
    show(name, text);
  } catch (error) {
    check(`${name}: can be measured`, false, String(error.stack ?? error));
  }
}

/** The running lattice; started, and indexed before, by whoever needs it first. */
async function lattice(root) {
  if (running !== undefined) return running;
  await ensureIndex({ root, home });
  running = await startLattice(root, { home, timeoutMs: upMsMax });
  return running;
}

function check(name, holds, detail = '') {
  checks.push({ name, holds, detail: holds ? '' : String(detail).trim().slice(0, detailMax) });
  return holds;
}

function show(title, text) {
  process.stdout.write(`\n== ${title} ==\n${text}\n`);
}

function parseOptions() {
  const names = Object.keys(sections);
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string' },
        json: { type: 'string' },
        kernel: { type: 'string' },
        home: { type: 'string' },
      },
    });
    const wanted = values.only?.split(',') ?? names;
    const unknown = wanted.filter((name) => !names.includes(name));
    if (unknown.length > 0)
      throw new Error(`there is no section ${unknown.join(', ')}; use ${names.join(', ')}`);
    return {
      ...values,
      only: names.filter((name) => wanted.includes(name)),
      ...(values.home === undefined ? {} : { home: path.resolve(values.home) }),
    };
  } catch (error) {
    process.stderr.write(`bench:kernel: ${error.message}\n`);
    process.exit(2);
  }
}
