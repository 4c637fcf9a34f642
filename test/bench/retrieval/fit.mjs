// Fits the map from a hit's features to `similarity` (src/pgc/search/similarity.ts) on the questions in sets/fit-*.json, and
// prints how well it holds on questions that a fit did not see (five folds, cut by question).
//
//   node test/bench/retrieval/fit.mjs [--home SIGMA_HOME] [--only fit-c,fit-py] [--json FILE]
//
// What is fitted are the hits that an answer would cite, of all shards together: the best by the map itself, which is
// therefore fitted again until it chooses what it was fitted on. A hit is right when it stands in a file of the answers;
// every hit of a question without an answer is wrong. None of these questions is reported on by run.mjs. Sentences of a manual are asked for (`known`) but not fitted: nobody asks
// so, and they would make the map too modest.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { fitLogistic, isotonic, isotonicValue, logisticValue } from './maps.mjs';
import { answersAt, reliability } from './metrics.mjs';
import { load, openProduct, Searches, topK } from './product.mjs';
import { fitSets, located, questionSet, unanswerable } from './sets.mjs';
import { treeOf } from './trees.mjs';

const folds = 5;
/** Fits and choices in turn; they agree long before. */
const turns = 8;
/** Of the questions that people ask, so many have no answer where they ask: an assumption. */
const unanswerableShare = 0.1;
/** Kinds of questions that nobody thought of. */
const byRule = new Set(['name']);

const { values: options } = parseArgs({
  options: {
    home: { type: 'string' },
    only: { type: 'string', default: fitSets.join(',') },
    json: { type: 'string' },
  },
});
const home = path.resolve(options.home ?? temporaryFolder('retrieval-fit'));
const { similarityOf, wordsModel: similarityModel } = await load('src/pgc/search/similarity.js');
const features = Object.keys(similarityModel).filter((name) => name !== 'intercept');

const all = [];
for (const name of options.only.split(',')) {
  const { root } = await treeOf(questionSet(name).tree);
  const set = located(questionSet(name), root);
  for (const each of set.lost) console.error(`the tree no longer holds ${each}`);
  const product = await openProduct(root, home);
  const searches = new Searches(product);
  const questions = [...set.questions, ...unanswerable('fit-unanswerable', [set.tree])];
  for (const question of questions.filter(({ kind }) => kind !== 'known'))
    all.push(...(await rowsOf(name, searches, question)));
}
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(all));

const { rows, model } = fitted();
const held = heldOut();
console.log(`${rows.length} hits, ${rows.filter(({ right }) => right).length} of them right`);
console.log(`committed ${JSON.stringify(similarityModel)}`);
console.log(`fitted    ${JSON.stringify(rounded(model))}`);
const steps = isotonic(
  rows.map((row) => ({ score: logisticValue(row, model, features), right: row.right })),
);
console.log(`isotonic steps over the fitted map, from and share: ${JSON.stringify(steps)}`);
show('committed', (row) => similarityOf(row));
show('fitted, held out', (row) => held.get(row).logistic);
show('isotonic over fitted, held out', (row) => held.get(row).isotonic);

/** One row a hit: features, what it is of, where, and whether it is right. */
async function rowsOf(set, searches, { id, kind = 'none', question, answers }) {
  return (await searches.hitsOf(question)).map(({ hit, place }) => ({
    set,
    id,
    kind,
    path: place.path,
    ...Object.fromEntries(features.map((name) => [name, hit[name]])),
    right: answersAt(place, answers, 'file').length > 0,
  }));
}

/** The map, and the hits that it would cite. */
function fitted() {
  let model = similarityModel;
  let rows = [];
  for (let turn = 0; turn < turns; turn += 1) {
    rows = cited((row) => logisticValue(row, model, features));
    model = fitLogistic(rows, features);
  }
  return { rows, model };
}

/**
 * The best hits of each question, those of other files first. How sure an answer is depends on its best source, which
 * counts as much as the others together.
 */
function cited(statedOf) {
  const ids = [...new Set(all.map(({ id }) => id))];
  const none = new Set(all.filter(({ kind }) => kind === 'none').map(({ id }) => id));
  const usual =
    (unanswerableShare / (1 - unanswerableShare)) * ((ids.length - none.size) / none.size);
  return ids.flatMap((id) => {
    const some = all.filter((row) => row.id === id);
    const sorted = some.sort((one, other) => statedOf(other) - statedOf(one));
    const isFirst = (row) => sorted.find(({ path }) => path === row.path) === row;
    const others = sorted.filter((row) => !isFirst(row));
    const chosen = [...sorted.filter(isFirst), ...others].slice(0, topK);
    const often = none.has(id) ? usual : 1;
    return chosen.map((row, at) => ({
      ...row,
      isBest: at === 0,
      weight: often * (at === 0 ? topK - 1 : 1),
    }));
  });
}

/** What maps that were fitted on the other questions say of each hit. */
function heldOut() {
  const ids = [...new Set(rows.map(({ id }) => id))];
  const foldOf = new Map(ids.map((id, at) => [id, at % folds]));
  const said = new Map();
  for (let fold = 0; fold < folds; fold += 1) {
    const others = rows.filter(({ id }) => foldOf.get(id) !== fold);
    const map = fitLogistic(others, features);
    const scored = (row) => logisticValue(row, map, features);
    const steps = isotonic(others.map((row) => ({ score: scored(row), right: row.right })));
    for (const row of rows.filter(({ id }) => foldOf.get(id) === fold))
      said.set(row, { logistic: scored(row), isotonic: isotonicValue(steps, scored(row)) });
  }
  return said;
}

function isByHand(kind) {
  return !byRule.has(kind) && kind !== 'none';
}

function show(title, statedOf) {
  const parts = [
    ['all', rows],
    ['by hand', rows.filter(({ kind }) => isByHand(kind))],
    ['by rule', rows.filter(({ kind }) => byRule.has(kind))],
    ['best of each by hand', rows.filter(({ kind, isBest }) => isBest && isByHand(kind))],
    ['without an answer', rows.filter(({ kind }) => kind === 'none')],
  ].filter(([, some]) => some.length > 0);
  const rated = parts.map(([name, some]) => [
    name,
    reliability(some.map((row) => ({ stated: statedOf(row), right: row.right }))),
  ]);
  const share = (value) => (Number.isNaN(value) ? '-' : value.toFixed(3));
  console.log(`\n${title}\n`);
  console.log(
    table([
      ['SIMILARITY', 'HITS', 'STATED', 'RIGHT'],
      ...rated[0][1].tenths.map(({ count, stated, right }, at) => [
        `${(at / 10).toFixed(1)}–${((at + 1) / 10).toFixed(1)}`,
        count,
        share(stated),
        share(right),
      ]),
    ]),
  );
  for (const [name, { count, error, brier }] of rated)
    console.log(
      `${name}: ${count} hits, expected calibration error ${share(error)}, Brier score ${share(brier)}`,
    );
}

function rounded(coefficients) {
  return Object.fromEntries(
    Object.entries(coefficients).map(([name, value]) => [name, Number(value.toFixed(2))]),
  );
}
