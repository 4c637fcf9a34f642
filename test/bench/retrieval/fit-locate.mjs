// Learns the weights of `sigma locate` (src/pgc/search/locate/features.ts) from messages of commits and the files that they change.
//
//   node test/bench/retrieval/fit-locate.mjs --repo DIR [--home SIGMA_HOME] [--pairs FILE] [--count 20000]
//
// Without `--pairs` (lines of `{ "title", "description", "paths" }`) the history of the repository is read. Of it those
// messages count that read like a report (reports.mjs). The likelihood of the right files in a softmax over the candidates,
// held near the committed weights, none below zero; every fifth message is not fitted and tells how well it went. What
// is known of a file only when it is read (`passage`) or its functions are ranked is not fitted here.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { mean, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { indexed, load } from './product.mjs';
import { asReports, historyOf, reportsIn } from './reports.mjs';

const candidatesMax = 120;
/** What words of texts gain: shards add it up, and do not tell these apart. */
const ofTexts = [
  ...['title_names', 'title_text', 'prose_names', 'prose_text', 'prose_cover'],
  ...['log_names', 'log_text', 'frame_words'],
];
const heldOutOf = 5;
const nearness = 0.03;
const steps = 400;
/** Sums of the same numbers in another order. */
const roundingMax = 1e-6;

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    home: { type: 'string' },
    pairs: { type: 'string' },
    count: { type: 'string', default: '20000' },
  },
});
if (options.repo === undefined) throw new Error('--repo is wanted');
const { openTree } = await load('src/pgc/search/locate/locate.js');
const { Seeking } = await load('src/pgc/search/locate/seeking.js');
const { parseReport } = await load('src/pgc/search/locate/report.js');
const { featureNames, weights } = await load('src/pgc/search/locate/features.js');

const root = path.resolve(options.repo);
const home = path.resolve(options.home ?? temporaryFolder('fit-locate'));
await indexed(root, home);
const { index, ports, modules } = await openTree(root, home);
const known = new Set(index.shards.flatMap(({ words }) => [...words.paths()]));
const commits =
  options.pairs === undefined
    ? historyOf(root, Number(options.count))
    : reportsIn(options.pairs).slice(0, Number(options.count));

const late = new Set(['functions', 'passage', 'string', 'device']);
const standings = new Set(['source', 'header', 'aside']);
const features = featureNames.filter((name) => !standings.has(name) && !late.has(name));
const committed = features.map((name) => weights[name]);
const reports = [];
for (const each of asReports(commits, (file) => known.has(file)))
  reports.push(...(await rowsOf(each)));
const isHeldOut = (_, at) => at % heldOutOf === 0;
const fitted = reports.filter((row, at) => !isHeldOut(row, at));
const held = reports.filter(isHeldOut);
if (fitted.length < heldOutOf) throw new Error(`only ${reports.length} messages read like reports`);
const learned = learnedFrom(fitted);
console.log(`${commits.length} commits, ${reports.length} of them read like reports`);
console.log(
  table([
    ['FEATURE', 'COMMITTED', 'LEARNED'],
    ...features.map((name, at) => [name, committed[at].toFixed(3), learned[at].toFixed(3)]),
  ]),
);
console.log(
  table([
    ['HELD OUT', 'R@1', 'R@10', 'MRR'],
    ['committed', ...figuresOf(committed)],
    ['learned', ...figuresOf(learned)],
  ]),
);

/** The features of each candidate, sources only; nothing where no right file is among them. */
async function rowsOf({ title, description, paths }) {
  let report;
  try {
    report = parseReport({ title, description });
  } catch {
    return [];
  }
  const seeking = new Seeking(index, modules, report, late);
  const answers = new Map();
  for (const [shard, port] of ports.entries())
    answers.set(shard, await port.rankFiles(seeking.requestFor(shard, candidatesMax, false)));
  const { best, columns } = seeking.rank(answers, candidatesMax);
  const some = best.filter(({ file }) => index.standings[file] === 1);
  const right = some.map((each) => paths.includes(each.path));
  if (!right.includes(true)) return [];
  const files = some.map(({ file }) => file);
  const texts = new Map();
  // What weighs nothing is not looked for: its column is empty.
  for (const name of ofTexts)
    if (weights[name] !== 0) texts.set(name, await textValues(report, name, files));
  const values = files.map((file) =>
    features.map((name) => texts.get(name)?.get(file) ?? columns.at(name, file)),
  );
  some.forEach(({ path: its, score }, at) => {
    const sum = weights.source + dot(values[at], committed);
    if (Math.abs(sum - score) > roundingMax)
      throw new Error(`${its}: its features add up to ${sum}, its score is ${score}`);
  });
  return [{ right, values }];
}

/** By file: what shards say when no other feature counts, by its weight. */
async function textValues(report, name, files) {
  const others = new Set(featureNames.filter((each) => each !== name));
  const seeking = new Seeking(index, modules, report, others);
  const values = new Map();
  for (const shard of new Set(files.map((file) => index.shardOf(file)))) {
    const base = index.baseOf(shard);
    const request = seeking.requestFor(shard, candidatesMax, false);
    // A shard answers with its best files only: these.
    for (const file of files)
      if (index.shardOf(file) === shard) request.given[file - base] = Number.MAX_VALUE;
    for (const { file, words } of (await ports[shard].rankFiles(request)).files)
      values.set(base + file, words / weights[name]);
  }
  return values;
}

/** Gradient descent, each weight with a step of its own (Adam: D. Kingma, J. Ba, 2015). */
function learnedFrom(rows) {
  const scale = features.map((_, at) =>
    Math.sqrt(mean(rows.flatMap(({ values }) => values.map((each) => each[at] ** 2))) + 1e-6),
  );
  let current = [...committed];
  const momentum = features.map(() => 0);
  const energy = features.map(() => 0);
  for (let step = 1; step <= steps; step += 1) {
    const gradient = features.map(
      (_, at) => 2 * nearness * (current[at] - committed[at]) * scale[at] ** 2,
    );
    for (const row of rows) addGradient(row, current, gradient, 1 / rows.length);
    current = current.map((weight, at) => {
      const slope = gradient[at] / scale[at];
      momentum[at] = 0.9 * momentum[at] + 0.1 * slope;
      energy[at] = 0.999 * energy[at] + 0.001 * slope ** 2;
      const size =
        momentum[at] / (1 - 0.9 ** step) / (Math.sqrt(energy[at] / (1 - 0.999 ** step)) + 1e-9);
      return Math.max(0, weight - (0.02 * size) / scale[at]);
    });
  }
  return current;
}

function addGradient({ right, values }, current, gradient, share) {
  const scores = values.map((each) => dot(each, current));
  const highest = Math.max(...scores);
  const odds = scores.map((score) => Math.exp(score - highest));
  const all = odds.reduce((sum, each) => sum + each, 0);
  const rightOnes = odds.reduce((sum, each, at) => sum + (right[at] ? each : 0), 0);
  values.forEach((each, at) => {
    const pull = odds[at] / all - (right[at] ? odds[at] / rightOnes : 0);
    each.forEach((value, feature) => (gradient[feature] += share * pull * value));
  });
}

function figuresOf(model) {
  const ranks = held.map(({ right, values }) => {
    const scored = values.map((each, at) => ({ score: dot(each, model), right: right[at] }));
    return scored.sort((one, other) => other.score - one.score).findIndex((each) => each.right);
  });
  return [
    mean(ranks.map((rank) => Number(rank === 0))),
    mean(ranks.map((rank) => Number(rank < 10))),
    mean(ranks.map((rank) => (rank < 10 ? 1 / (rank + 1) : 0))),
  ].map((figure) => figure.toFixed(3));
}

function dot(one, other) {
  return one.reduce((sum, value, at) => sum + value * other[at], 0);
}
