// Lookups in the whole kernel: are they right, fast and honest?
//
//   npm run bench:lookup -- [--repo DIR] [--home SIGMA_HOME] [--seed N] [--count N] [--cache DIR]
//                           [--only definitions,calls,speed,citations] [--json FILE] [--write]
//
// Without --repo, all of Debian's linux-source-6.1. An index that is in --home is taken as it is, else built there.
// What ctags and cscope need minutes for is kept in --cache. --write puts the tables into results.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { homedir, loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from '../kernel/machine.mjs';
import { measureCitations } from './measure-citations.mjs';
import { measureCalls } from './measure-calls.mjs';
import { measureDefinitions } from './measure-definitions.mjs';
import { measureSpeed } from './measure-speed.mjs';
import { openProduct } from './product.mjs';
import { Rulings } from './rulings.mjs';
import { ensureIndex, Peers, wholeKernel } from './sources.mjs';

const sections = {
  definitions: ['Right: definitions beside universal-ctags', measureDefinitions],
  calls: ['Right: callers beside cscope', measureCalls],
  speed: ['Fast', measureSpeed],
  citations: ['Honest: verify', measureCitations],
};

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    home: { type: 'string' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '500' },
    cache: { type: 'string', default: '/tmp/sigma-bench-lookup' },
    only: { type: 'string', default: Object.keys(sections).join(',') },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

const home = path.resolve(options.home ?? process.env.SIGMA_HOME ?? path.join(homedir(), '.sigma'));
const root = await wholeKernel(options.repo);
await ensureIndex({ root, home });
const peers = new Peers({ root, cache: options.cache });
const bench = {
  ...{ root, home, peers, rulings: new Rulings() },
  seed: Number(options.seed),
  count: Number(options.count),
  product: await openProduct({ root, home }),
};
const machine = await describeMachine({ root, home });
const report = { seed: bench.seed, machine: machine.figures, sections: {} };
const shown = [];
show('Machine', `${machine.text}\nctags   ${await peers.ctagsVersion()}\nseed    ${bench.seed}`);
for (const name of options.only.split(',')) {
  process.stderr.write(`${name} …\n`);
  const [title, measure] = sections[name];
  const { figures, text } = await measure(bench);
  report.sections[name] = figures;
  show(title, text);
}
report.machine.load_average_at_end = loadavg();
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
if (options.write) writeFileSync(path.join(import.meta.dirname, 'results.md'), results());

function show(title, text) {
  shown.push({ title, text });
  process.stdout.write(`\n${title}\n\n${text}\n`);
}

function results() {
  const command = `npm run bench:lookup -- ${process.argv.slice(2).join(' ')}`;
  const body = shown.map(({ title, text }) => `## ${title}\n\n\`\`\`\n${text}\n\`\`\`\n`);
  const reasons = readFileSync(path.join(import.meta.dirname, 'reasons.md'), 'utf8');
  const head = `# Lookups in the whole kernel, measured\n\nWritten by \`${command}\`.\n`;
  return `${head}\n${body.join('\n')}\n${reasons}`;
}
