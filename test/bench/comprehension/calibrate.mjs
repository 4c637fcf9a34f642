// How likely does a hit belong to the answer? Fits the similarity of the product, and says how far it can be trusted.
//
//   npm run learn:similarity -- [--sources DIR] [--home SIGMA_HOME] [--write]
//
// Fitted on train.jsonl, on the half `tune` of questions.jsonl and on half of absent.jsonl, whose hits are all wrong; reported on
// the half `hold` and the other half. A hit is right when it is one of the functions that a right answer names. --write puts
// the weights into the product.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { fitLogistic, logisticValue } from '../retrieval/maps.mjs';
import { load } from '../retrieval/product.mjs';
import { eachCodeBase, questionsIn } from './asking.mjs';
import { isHit } from './score.mjs';

const { analyse } = await load('src/pgc/search/question/question.js');
const features = ['score'];
const hitsMax = 20;
const bins = 10;
const samples = 1000;

const { values: options } = parseArgs({
  options: {
    sources: { type: 'string' },
    home: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const home = path.resolve(options.home ?? temporaryFolder('calibrate'));
const questions = [
  ...questionsIn('train.jsonl').map((each) => ({ ...each, isFitted: true })),
  ...questionsIn('questions.jsonl').map((each) => ({ ...each, isFitted: each.half === 'tune' })),
  ...questionsIn('absent.jsonl').map((each, at) => ({ ...each, keys: [], isFitted: at % 2 === 0 })),
];
const rows = [];
await eachCodeBase(questions, { sources: options.sources, home }, async ({ shards }, its) => {
  for (const { id, question, keys, isFitted } of its) {
    const hits = [];
    for (const { index, search } of shards) {
      const { found } = await search.find(analyse(question), new Set(['O1', 'O3']), hitsMax);
      for (const hit of found.filter(({ kind }) => kind === 'symbol')) hits.push({ index, hit });
    }
    hits.sort((one, other) => other.hit.score - one.hit.score);
    for (const { index, hit } of hits.slice(0, hitsMax)) {
      const right = keys.some((key) => isHit(key, placesOf(index, hit)));
      const values = Object.fromEntries(features.map((name) => [name, hit[name]]));
      rows.push({ id, isFitted, right, ...values });
    }
  }
});

const model = fitLogistic(
  rows.filter(({ isFitted }) => isFitted),
  features,
);
process.stdout.write(`${JSON.stringify(model)}\n`);
for (const isFitted of [true, false]) {
  const of = rows.filter((row) => row.isFitted === isFitted);
  const pairs = of.map((row) => ({
    id: row.id,
    said: logisticValue(row, model, features),
    right: Number(row.right),
  }));
  process.stdout.write(`\n${isFitted ? 'fitted on' : 'not fitted on'}: ${pairs.length} hits\n`);
  const [low, high] = interval(pairs);
  const text = `expected error ${errorOf(pairs).toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)})`;
  process.stdout.write(
    `${text}\n${table([['said', 'right', 'hits'], ...binsOf(pairs).map(lineOf)])}\n`,
  );
}
if (options.write) {
  const file = path.resolve(import.meta.dirname, '../../../src/pgc/search/similarity.ts');
  const lines = Object.entries(model).map(([name, weight]) => `  ${name}: ${weight.toFixed(2)},`);
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replace(/(= \{\n)(?:  \w+: -?[\d.]+,\n)+(\};)/, `$1${lines.join('\n')}\n$2`),
  );
}

function placesOf(index, { symbol, file }) {
  if (symbol === undefined) return [];
  const { name, kind, line_start: from, line_end } = index.symbolPlace(symbol);
  const to = /^(?:function|method)$/.test(kind) ? line_end : Math.min(line_end, from + 2);
  return [{ path: index.file(file).path, symbols: [name], lines: [from, to] }];
}

/** Of equal mass. */
function binsOf(pairs) {
  const sorted = pairs.toSorted((one, other) => one.said - other.said);
  return Array.from({ length: bins }, (_, at) =>
    sorted.slice((at * sorted.length) / bins, ((at + 1) * sorted.length) / bins),
  ).filter((bin) => bin.length > 0);
}

function shareOf(bin, what) {
  return bin.reduce((sum, each) => sum + each[what], 0) / bin.length;
}

function lineOf(bin) {
  return [shareOf(bin, 'said').toFixed(2), shareOf(bin, 'right').toFixed(2), bin.length];
}

/** Expected calibration error over bins of equal mass. */
function errorOf(pairs) {
  return binsOf(pairs).reduce(
    (sum, bin) =>
      sum + (bin.length / pairs.length) * Math.abs(shareOf(bin, 'said') - shareOf(bin, 'right')),
    0,
  );
}

/** Bootstrap over questions: the hits of one are not independent. */
function interval(pairs) {
  const byId = new Map();
  for (const pair of pairs) byId.set(pair.id, [...(byId.get(pair.id) ?? []), pair]);
  const byQuestion = [...byId.values()];
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const errors = Array.from({ length: samples }, () =>
    errorOf(byQuestion.flatMap(() => byQuestion[Math.floor(random() * byQuestion.length)] ?? [])),
  ).sort((one, other) => one - other);
  return [errors[Math.floor(0.025 * samples)], errors[Math.floor(0.975 * samples)]];
}
