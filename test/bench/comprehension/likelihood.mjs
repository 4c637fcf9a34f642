// How likely do the first ten sources of an answer hold one of the functions that a right answer must name? Fits the likelihood
// of the product, and says how far it can be trusted.
//
//   npm run learn:likelihood -- [--sources DIR] [--home SIGMA_HOME] [--write]
//
// Fitted on train.jsonl, on the half `tune` of questions.jsonl, and on absent-train.jsonl, which no code answers. Those with an answer
// are long; so that length does not tell them apart, each is asked a second time cut to its first clauses, and some a third time in a
// few words (train-short.jsonl); together they count as one. Reported on the half `hold` and on absent.jsonl, of which nothing was fitted.
// --write puts the weights into the product, and the tables into results-likelihood.md.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { fitLogistic, logisticValue } from '../retrieval/maps.mjs';
import { load } from '../retrieval/product.mjs';
import { checkAbsent, eachCodeBase, placesOfHit, questionsIn } from './asking.mjs';
import { areaOf, binsOf, errorOf, lineOf, withInterval, writtenInto } from './calibration.mjs';
import { isHit } from './score.mjs';

const { analyse } = await load('src/pgc/search/question/question.js');
const { signNames, signsOf } = await load('src/pgc/search/likelihood.js');
const { topKDefault } = await load('src/pgc/answer/searched.js');
const { overlayNames } = await load('src/pgc/shapes.js');
const hitsMax = 40;
/** Of a question that is cut. */
const clauseWords = 15;
/** Code bases that are left out together, to see what the fit is worth on others. */
const folds = 7;
const thresholds = [0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

const { values: options } = parseArgs({
  options: {
    sources: { type: 'string' },
    home: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const home = path.resolve(options.home ?? temporaryFolder('likelihood'));
const rows = [];
await eachCodeBase(questions(), { sources: options.sources, home }, async (product, its, root) => {
  checkAbsent(product, its, root);
  for (const { id, form, repo, question, keys = [], set } of its) {
    const all = [];
    for (const { index, overlays, search } of product.shards) {
      const made = overlayNames.filter((name) => overlays.state(name) !== 'missing');
      const asked = analyse(question);
      const { found, weighing } = await search.find(asked, new Set(made), hitsMax);
      const { concepts, isBrief } = asked;
      const sizes = { concepts: concepts.length, symbols: index.symbolCount, isBrief };
      const hits = found.filter(({ kind }) => kind === 'symbol');
      all.push({ index, hits, signs: signsOf(hits, weighing, sizes) });
    }
    const ranked = all
      .flatMap(({ index, hits }) => hits.map((hit) => ({ index, hit })))
      .sort((one, other) => other.hit.score - one.hit.score);
    const places = ranked.slice(0, topKDefault).map(({ index, hit }) => placesOfHit(index, hit));
    const right = keys.some((key) => places.some((each) => isHit(key, each)));
    // The shard with the best hit speaks for all.
    const { signs } = all.find(({ index }) => index === ranked[0]?.index) ?? all[0];
    rows.push({ id, form, repo, set, isReal: keys.length > 0, right, ...signs });
  }
});

const fitted = weighed(rows.filter(({ set }) => set === 'fitted'));
const model = fitLogistic(fitted, signNames);
const others = rows.filter(({ set }) => set !== 'fitted');
const text = [
  JSON.stringify(model),
  report('left out: each code base by a fit on others', heldOut(fitted)),
  report(
    'not fitted on: hold, absent.jsonl',
    inMixture(others).map((row) => ({ ...row, said: logisticValue(row, model, signNames) })),
  ),
].join('\n\n');
process.stdout.write(`${text}\n`);
if (options.write) {
  const file = path.resolve(import.meta.dirname, '../../../src/pgc/search/likelihood.ts');
  writeFileSync(file, writtenInto(readFileSync(file, 'utf8'), model));
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(
    path.join(import.meta.dirname, 'results-likelihood.md'),
    `# How sure an answer is\n\n${day}, ${rows.length} questions.\n\n\`\`\`\n${text}\n\`\`\`\n`,
  );
}

function questions() {
  const train = questionsIn('train.jsonl');
  const [tune, hold] = ['tune', 'hold'].map((half) => questionsIn('questions.jsonl', { half }));
  const byId = new Map(train.map((each) => [each.id, each]));
  const short = questionsIn('train-short.jsonl');
  const real = [...train, ...tune];
  const of = (all, set, form) => all.map((each) => ({ ...each, set, form }));
  return [
    ...of(real, 'fitted', 'whole'),
    ...of(real.map(cut), 'fitted', 'cut'),
    ...of(
      short.map((each) => ({ ...byId.get(each.of), question: each.question })),
      'fitted',
      'short',
    ),
    ...of(questionsIn('absent-train.jsonl'), 'fitted', 'absent'),
    ...of(hold, 'hold', 'whole'),
    ...of(questionsIn('absent.jsonl'), 'absent', 'absent'),
  ];
}

/** Its first clauses. */
function cut(each) {
  const clauses = each.question.match(/[^.?:;,]+[.?:;,]*/g) ?? [];
  let question = '';
  for (const clause of clauses)
    if (question.trim().split(/\s+/).length < clauseWords) question += clause;
  return { ...each, question: question.trim() };
}

/** The forms of one question count as one together. */
function weighed(all) {
  const counts = new Map();
  for (const { id } of all) counts.set(id, (counts.get(id) ?? 0) + 1);
  return all.map((row) => ({ ...row, weight: 1 / counts.get(row.id) }));
}

/** With as many that have no answer as there are among the fitted: how likely an answer is right depends on that. */
function inMixture(all) {
  const odds = (its) => {
    const mass = (isReal) =>
      its.filter((row) => row.isReal === isReal).reduce((sum, { weight = 1 }) => sum + weight, 0);
    return mass(false) / mass(true);
  };
  const share = odds(fitted) / odds(all);
  return all.map((row) => ({ ...row, weight: row.isReal ? 1 : share }));
}

function heldOut(all) {
  const repos = [...new Set(all.map(({ repo }) => repo))].sort();
  return Array.from({ length: folds }, (_, fold) => {
    const isOut = ({ repo }) => repos.indexOf(repo) % folds === fold;
    const its = fitLogistic(
      all.filter((row) => !isOut(row)),
      signNames,
    );
    return all.filter(isOut).map((row) => ({ ...row, said: logisticValue(row, its, signNames) }));
  }).flat();
}

function report(title, all) {
  const pairs = all.map((row) => ({ ...row, right: Number(row.right) }));
  const reals = all.map((row) => ({ ...row, right: Number(row.isReal) }));
  const forms = [...new Set(all.map(({ form }) => form))];
  const below = (rows_, each) =>
    `${rows_.filter(({ said }) => said < each).length} of ${rows_.length}`;
  const above = (each) => {
    const its = all.filter(({ said }) => said >= each);
    return `${its.filter(({ right }) => right).length} of ${its.length}`;
  };
  return [
    `${title}: ${all.length} answers`,
    `area under the curve: holds what was asked for or not ${withInterval(pairs, areaOf)}, has an answer or not ${withInterval(reals, areaOf)}`,
    `expected calibration error ${withInterval(pairs, errorOf)}`,
    table([['said', 'right', 'answers'], ...binsOf(pairs).map(lineOf)]),
    table([
      [
        'threshold',
        ...forms.map((form) => `${form}, below`),
        'right answers below',
        'right, of those above',
      ],
      ...thresholds.map((each) => [
        each.toFixed(2),
        ...forms.map((form) =>
          below(
            all.filter((row) => row.form === form),
            each,
          ),
        ),
        below(
          all.filter(({ right }) => right),
          each,
        ),
        above(each),
      ]),
    ]),
  ].join('\n\n');
}
