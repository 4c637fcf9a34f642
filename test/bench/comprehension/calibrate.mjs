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
import { eachCodeBase, placesOfHit, questionsIn } from './asking.mjs';
import { binsOf, errorOf, lineOf, withInterval, writtenInto } from './calibration.mjs';
import { isHit } from './score.mjs';

const { analyse } = await load('src/pgc/search/question/question.js');
const features = ['score'];
const hitsMax = 20;

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
      const right = keys.some((key) => isHit(key, placesOfHit(index, hit)));
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
  const text = `expected error ${withInterval(pairs, errorOf)}`;
  process.stdout.write(
    `${text}\n${table([['said', 'right', 'hits'], ...binsOf(pairs).map(lineOf)])}\n`,
  );
}
if (options.write) {
  const file = path.resolve(import.meta.dirname, '../../../src/pgc/search/similarity.ts');
  writeFileSync(file, writtenInto(readFileSync(file, 'utf8'), model));
}
