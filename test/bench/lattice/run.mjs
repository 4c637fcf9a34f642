// Is the lattice right about the whole kernel, and how fast? Its answers beside cscope, ctags and the text.
//
//   npm run bench:lattice -- [--only topology,trace,questions,hosting,watch] [--repo DIR] [--home SIGMA_HOME]
//                            [--seed N] [--count N] [--cache DIR] [--over process,bus] [--set reported|new|dev] [--whole]
//                            [--json FILE] [--write]
//
// Without --repo, all of Debian's linux-source-6.1. An index that is in --home is taken as it is, else built there.
// What ctags and cscope need minutes for is kept in --cache. --write puts the tables into results.md. --set new
// asks the second set of reported questions, --set dev (or --dev) those for development. Only `watch` changes files: those of a clone of this
// repository, with --whole those of a copy of the whole tree.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir, loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from '../kernel/machine.mjs';
import { Peers, wholeKernel } from '../lookup/sources.mjs';
import { Oracle } from './oracle.mjs';
import { inProcess, planOf, running } from './product.mjs';
import { measureHosting } from './hosting.mjs';
import { measureQuestions } from './questions.mjs';
import { measureTopology } from './topology.mjs';
import { measureTraces } from './traces.mjs';
import { measureWatch } from './watch.mjs';

/** `over`: measured once with each way of asking; the others start what they measure themselves. */
const sections = {
  topology: { title: 'Topology: calls that cross shards', measure: measureTopology },
  trace: { title: 'Traces: chains of calls', measure: measureTraces, over: true },
  questions: { title: 'Questions over many shards', measure: measureQuestions, over: true },
  hosting: { title: 'Hosting', measure: measureHosting, isAlone: true },
  watch: { title: 'Changes while it runs', measure: measureWatch, isAlone: true },
};
const resultsFile = path.join(import.meta.dirname, 'results.md');
const ways = { process: inProcess, bus: running };

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    home: { type: 'string' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '500' },
    cache: { type: 'string', default: '/tmp/sigma-bench-lookup' },
    only: { type: 'string', default: Object.keys(sections).join(',') },
    over: { type: 'string', default: Object.keys(ways).join(',') },
    dev: { type: 'boolean', default: false },
    set: { type: 'string', default: 'reported' },
    whole: { type: 'boolean', default: false },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

const wanted = options.only.split(',');
const home = path.resolve(options.home ?? process.env.SIGMA_HOME ?? path.join(homedir(), '.sigma'));
const root = await wholeKernel(options.repo);
const at = { root, home };
const machine = await describeMachine(at);
const seed = Number(options.seed);
const set = options.dev ? 'dev' : options.set;
const report = { seed, machine: machine.figures, sections: {} };
const shown = [];
show('Machine', `${machine.text}\nseed    ${seed}`);
const peers = new Peers({ root, cache: options.cache });
let oracle;
for (const name of wanted) {
  const section = sections[name];
  if (section === undefined) throw new Error(`there is no section ${name}`);
  process.stderr.write(`${name} …\n`);
  if (section.isAlone)
    keep(name, section.title, await section.measure({ ...at, seed, isWhole: options.whole }));
  else await beside(name, section);
}
oracle?.close();
report.machine.load_average_at_end = loadavg();
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);

/** A section that holds answers against the oracle. */
async function beside(name, { title, measure, over }) {
  oracle ??= await Oracle.open(peers, root);
  const how = over ? options.over.split(',') : ['process'];
  for (const way of how) {
    const its = await ways[way](at, async (product) =>
      measure({
        ...{ product, oracle, plan: await planOf(at), seed },
        ...{ count: Number(options.count), set },
      }),
    );
    const which = name === 'questions' && set !== 'reported' ? ` (set ${set})` : '';
    const label = way === 'bus' ? ', over the bus' : ', in one process';
    keep(over ? `${name}_${way}` : name, over ? `${title}${which}${label}` : title, its);
  }
}

function keep(name, title, { figures, text }) {
  report.sections[name] = figures;
  const when = new Date().toISOString().slice(0, 10);
  show(title, `${text}\n${when}, load at the end ${loadavg()[0].toFixed(1)}`);
}

function show(title, text) {
  shown.push({ title, text });
  process.stdout.write(`\n${title}\n\n${text}\n`);
  // After each part: what took an hour is not lost when the next one fails.
  if (options.write) writeFileSync(resultsFile, results());
}

/** What was not measured this time stays as it was. */
function results() {
  const titles = [...shown.map(({ title }) => title)];
  const kept = partsOf(resultsFile).filter(({ title }) => !titles.includes(title));
  const parts = [...shown, ...kept].sort((one, other) => placeOf(one) - placeOf(other));
  const body = parts.map(
    ({ title, text }) => `## ${title}\n\n\`\`\`\n${figuresOf(text)}\n\`\`\`\n`,
  );
  return `# The lattice over the whole kernel, measured\n\nWritten by \`npm run bench:lattice -- --write\`, part by part.\n\n${body.join('\n')}`;
}

/** Without the examples, which are indented below what they are of, or below a name that stands alone. */
function figuresOf(text) {
  const lines = text.split('\n');
  return lines.filter((line) => !/^ {4}|^[\w-]+$/.test(line) || /^ +\d+ /.test(line)).join('\n');
}

function partsOf(file) {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const parts = text.matchAll(/^## (.+)\n\n```\n([^]*?)\n```$/gm);
  return [...parts].map(([, title, its]) => ({ title, text: its }));
}

function placeOf({ title }) {
  return Object.values(sections).findIndex((each) => title.startsWith(each.title));
}
