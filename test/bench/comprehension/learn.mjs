// Learns what each feature of the ranking is worth from questions with known answers, and how likely a hit of a given rank
// belongs to the answer.
//
//   npm run learn:ranking -- [--sources DIR] [--home SIGMA_HOME] [--write] [--only weights|similarity]
//
// The questions: train.jsonl, and of questions.jsonl the half `tune`; `hold` is only reported on. Coordinate ascent (D. Metzler,
// W. Croft, "Linear feature-based models for information retrieval", 2007) on the share of essential functions among the first
// ten, and half as much among the first twenty. The same questions give the same weights. --write puts them into the product.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { mean, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { load } from '../retrieval/product.mjs';
import { eachCodeBase, questionsIn } from './asking.mjs';
import { isHit } from './score.mjs';

const { featureNames } = await load('src/pgc/search/rank/features.js');
const { weightsOf } = await load('src/pgc/search/rank/weights.js');
const { analyse } = await load('src/pgc/search/question/question.js');
const { saidRole } = await load('src/pgc/source/role.js');

const rounds = 2;
const shakes = 6;
const seed = 1;
/** First step of a weight that is zero, for features that are logarithms or flags; others: `stepOfShares`. */
const steps = {
  lines: 0.02,
  callees: 0.02,
  walk: 0.01,
};
const stepOfFlags = 0.05;
const stepOfShares = 0.2;
const start = { words: 1, is_function: 0.05, exact: 0.5 };

const { values: options } = parseArgs({
  options: {
    sources: { type: 'string' },
    home: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const home = path.resolve(options.home ?? temporaryFolder('learn'));
const questions = [
  ...questionsIn('train.jsonl').map((each) => ({ ...each, half: 'train' })),
  ...questionsIn('questions.jsonl'),
];
const asked = [];
await eachCodeBase(questions, { sources: options.sources, home }, (product, its) => {
  for (const each of its) asked.push({ ...each, hits: hitsOf(product, each) });
});

const learned = asked.filter(({ half }) => half !== 'hold');
const weights = ascend(learned);
const lines = [
  ['', 'questions', 'essential@10', 'essential@20'],
  ...['train', 'tune', 'hold'].flatMap((half) => {
    const all = asked.filter((each) => each.half === half);
    return [
      [`${half}, shipped`, ...figuresOf(all, columnsOf(weightsOf()))],
      [`${half}, learned`, ...figuresOf(all, weights)],
    ];
  }),
];
process.stdout.write(`${table(lines)}\n\nwithout one of them, on what was learned from:\n\n`);
const ablations = featureNames
  .map((name, at) => ({ name, at }))
  .filter(({ at }) => weights[at] !== 0)
  .map(({ name, at }) => [
    name,
    weights[at].toFixed(3),
    ...figuresOf(
      learned,
      weights.map((each, other) => (other === at ? 0 : each)),
    ),
  ]);
process.stdout.write(
  `${table([['feature', 'weight', 'questions', 'essential@10', 'essential@20'], ...ablations])}\n`,
);
if (options.write) write(weights);

/** What the ranking knows of each hit, and which keys it hits. */
function hitsOf({ shards }, { question, keys }) {
  return shards.flatMap(({ index, search }) =>
    search.featured(analyse(question)).flatMap(({ document, row }) => {
      const { path: file } = index.file(index.fileOf(document));
      if (saidRole(index.info, file) !== '') return [];
      const place = placeOf(index, document, file);
      const its = keys.flatMap((key, at) => (place && isHit(key, [place]) ? [at] : []));
      return [{ row: Float64Array.from(row), keys: its }];
    }),
  );
}

/** A type is seen by its head, not by all that it holds. */
function placeOf(index, document, file) {
  if (document >= index.symbolCount) return undefined;
  const { name, kind, line_start: from, line_end } = index.symbolPlace(document);
  const to = /^(?:function|method)$/.test(kind) ? line_end : Math.min(line_end, from + 2);
  return { path: file, symbols: [name], lines: [from, to] };
}

function shareIn({ hits, keys }, columns, n) {
  const scored = hits.map((hit, at) => {
    let score = 0;
    for (const [column, weight] of columns.used) score += weight * hit.row[column];
    return { hit, at, score };
  });
  const best = scored.sort((a, b) => b.score - a.score || a.at - b.at);
  const share = (count) => {
    const seen = new Set(best.slice(0, count).flatMap(({ hit }) => hit.keys));
    const essential = keys.map((key, at) => ({ key, at })).filter(({ key }) => key.essential);
    return essential.filter(({ at }) => seen.has(at)).length / Math.max(1, essential.length);
  };
  return n.map(share);
}

function used(columns) {
  return { used: columns.map((weight, at) => [at, weight]).filter(([, weight]) => weight !== 0) };
}

function goalOf(questions_, columns) {
  const shares = questions_.map((each) => shareIn(each, used(columns), [10, 20]));
  return mean(shares.map(([ten]) => ten)) + 0.5 * mean(shares.map(([, twenty]) => twenty));
}

function figuresOf(questions_, columns) {
  const shares = questions_.map((each) => shareIn(each, used(columns), [10, 20]));
  return [
    questions_.length,
    mean(shares.map(([ten]) => ten)).toFixed(3),
    mean(shares.map(([, twenty]) => twenty)).toFixed(3),
  ];
}

function columnsOf(known) {
  return featureNames.map((name) => known[name] ?? 0);
}

/** Iterated local search: what was reached is shaken and climbed again, and the best of all is kept. */
function ascend(questions_) {
  const random = randomFrom(seed);
  let best = climb(questions_, columnsOf(start), random);
  for (let again = 0; again < shakes; again += 1) {
    const shaken = best.columns.map((weight, at) => weight + (random() - 0.5) * stepOf(at));
    const reached = climb(questions_, shaken, random);
    if (reached.goal > best.goal) best = reached;
    process.stderr.write(`${reached.goal.toFixed(4)}, best ${best.goal.toFixed(4)}\n`);
  }
  return best.columns.map((weight) => Number(weight.toFixed(3)));
}

function climb(questions_, from, random) {
  let columns = from;
  let goal = goalOf(questions_, columns);
  for (let round = 0; round < rounds; round += 1) {
    const order = featureNames
      .map((_, at) => ({ at, place: random() }))
      .sort((one, other) => one.place - other.place);
    for (const { at } of order) {
      const step = stepOf(at);
      for (const each of [step, -step, step / 3, -step / 3]) {
        for (;;) {
          const moved = columns.map((weight, other) => (other === at ? weight + each : weight));
          const reached = goalOf(questions_, moved);
          if (reached <= goal + 1e-4) break;
          columns = moved;
          goal = reached;
        }
      }
    }
  }
  return { columns, goal };
}

function stepOf(at) {
  const name = featureNames[at] ?? '';
  return steps[name] ?? (name.startsWith('is_') ? stepOfFlags : stepOfShares);
}

/** A linear congruential generator (Numerical Recipes). */
function randomFrom(first) {
  let state = first;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function write(columns) {
  const file = path.resolve(import.meta.dirname, '../../../src/pgc/search/rank/weights.ts');
  const rows = featureNames
    .map((name, at) => [name, columns[at]])
    .filter(([, weight]) => weight !== 0)
    .map(([name, weight]) => `  ${name}: ${weight},`);
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replace(/(= \{\n)(?:  \w+: -?[\d.]+,\n)*(\};)/, `$1${rows.join('\n')}\n$2`),
  );
}
