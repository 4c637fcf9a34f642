// Learns the weights of `sigma locate` (src/pgc/locate/features.ts) from messages of commits and the files that they change.
//
//   node test/bench/retrieval/fit-locate.mjs --repo DIR [--home SIGMA_HOME] [--pairs FILE] [--count 20000]
//
// Without `--pairs` (lines of `{ "title", "description", "paths" }`) the history of the repository is read. Of it those
// messages count that read like a report (reports.mjs). The likelihood of the right files in a softmax over the candidates,
// held near the committed weights, none below zero; every fifth message is not fitted and tells how well it went. What
// is known of a file only when it is read (`passage`, `rerank`) is not fitted here.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { mean, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { indexed, load } from './product.mjs';
import { asReports, historyOf, reportsIn } from './reports.mjs';

const candidatesMax = 120;
const heldOutOf = 5;
const nearness = 0.03;
const steps = 400;

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    home: { type: 'string' },
    pairs: { type: 'string' },
    count: { type: 'string', default: '20000' },
  },
});
if (options.repo === undefined) throw new Error('--repo is wanted');
const { openWords } = await load('src/pgc/locate/word-index.js');
const { candidatesOf, sourcesOf } = await load('src/pgc/locate/candidates.js');
const { ModuleFiles } = await load('src/pgc/locate/named.js');
const { parseReport } = await load('src/pgc/locate/report.js');
const { featureNames, weights } = await load('src/pgc/locate/features.js');

const root = path.resolve(options.repo);
const home = path.resolve(options.home ?? temporaryFolder('fit-locate'));
await indexed(root, home);
const { index } = await openWords(root, home);
const parts = { sources: sourcesOf(index), modules: new ModuleFiles(index) };
const known = new Set(index.shards.flatMap((shard) => [...shard.paths()]));
const commits =
  options.pairs === undefined
    ? historyOf(root, Number(options.count))
    : reportsIn(options.pairs).slice(0, Number(options.count));

const late = new Set(['passage', 'string', 'device', 'rerank']);
const features = featureNames.filter((name) => name !== 'source' && !late.has(name));
const reports = asReports(commits, (each) => known.has(each)).flatMap(rowsOf);
const isHeldOut = (_, at) => at % heldOutOf === 0;
const fitted = reports.filter((row, at) => !isHeldOut(row, at));
const held = reports.filter(isHeldOut);
if (fitted.length < heldOutOf) throw new Error(`only ${reports.length} messages read like reports`);
const committed = features.map((name) => weights[name]);
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
function rowsOf({ title, description, paths }) {
  let report;
  try {
    report = parseReport({ title, description });
  } catch {
    return [];
  }
  const limit = { limit: candidatesMax, without: new Set() };
  const { best, columns } = candidatesOf(index, parts, report, limit);
  const some = best.filter(({ file }) => parts.sources[file] === 1);
  const right = some.map((each) => paths.includes(each.path));
  if (!right.includes(true)) return [];
  const values = some.map(({ file }) => features.map((name) => columns.at(name, file)));
  return [{ right, values }];
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
