// Learns what each feature of the ranking is worth from questions with known answers, and says what it is worth on code bases
// that it was not learned from.
//
//   npm run learn:ranking -- [--sources DIR] [--home SIGMA_HOME] [--data DIR [--trees DIR]] [--rows FILE] [--write]
//
// Questions of sentences: train.jsonl, and of questions.jsonl the half `tune`. Brief ones: the half `tune` of ../public, whose README.md
// says what `--data` and `--trees` name. `hold` is never read. `--rows`: where what the ranking knows of the hits is kept for
// the next time. --write puts the weights into the product.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { mean, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { ndcgOf } from '../public/ndcg.mjs';
import { repositoriesIn, tasksOf } from '../public/tasks.mjs';
import { load, openProduct } from '../retrieval/product.mjs';
import { eachCodeBase, questionsIn } from './asking.mjs';
import { dot, fitLists, ridge } from './listwise.mjs';
import { isHit } from './score.mjs';

const { featureNames } = await load('src/pgc/search/rank/features.js');
const { scoreOf, weightsOf } = await load('src/pgc/search/rank/weights.js');
const { analyse } = await load('src/pgc/search/question/question.js');
const { saidRole } = await load('src/pgc/source/role.js');

/**
 * The best hit of a question has this score on average: penalties and similarities of the product are of that scale. Of brief
 * questions it is right more often.
 */
const bestScore = { usual: 1.5, brief: 1.9 };
/** Hits of a question that are learned from: the best as the product ranks them. */
const hitsMax = 450;
const folds = 8;
const figureNames = { usual: ['essential@10', 'essential@20'], brief: ['NDCG@10'] };
/** Who asks in sentences does not know names: what a name is worth is given, not learned. */
const given = { usual: { exact: 0.5 }, brief: {} };
const usedBy = {
  usual: featureNames.filter((name) => !/^(?:exact|scope|file_name|folders)$/.test(name)),
  brief: [
    ...['words', 'exact', 'file', 'meaning_near'],
    ...['scope', 'file_name', 'folders', 'file_meaning'],
  ],
};

const { values: options } = parseArgs({
  options: {
    sources: { type: 'string' },
    home: { type: 'string' },
    data: { type: 'string' },
    trees: { type: 'string' },
    rows: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const home = path.resolve(options.home ?? temporaryFolder('learn'));
const asked = await askedLists();
const learned = {};
for (const kind of ['usual', 'brief']) {
  const lists = asked.filter((each) => each.kind === kind);
  if (lists.length > 0) learned[kind] = report(kind, lists);
}
if (options.write) write();

/** What the ranking knows of the hits of each question, and what of them is right. */
async function askedLists() {
  const { rows } = options;
  if (rows !== undefined && existsSync(rows))
    return readFileSync(rows, 'utf8').trim().split('\n').map(JSON.parse);
  const lists = [
    ...(await usualLists()),
    ...(options.data === undefined ? [] : await briefLists()),
  ];
  if (rows !== undefined)
    writeFileSync(rows, lists.map((each) => `${JSON.stringify(each)}\n`).join(''));
  return lists;
}

async function usualLists() {
  const lists = [];
  const questions = [
    ...questionsIn('train.jsonl'),
    ...questionsIn('questions.jsonl', { half: 'tune' }),
  ];
  const { sources } = options;
  await eachCodeBase(questions, { sources, home }, (product, its) => {
    for (const { repo, question, keys } of its) {
      const essential = keys.filter((each) => each.essential);
      const hits = hitsOf(product, question);
      const rights = essential.map((key) => numbersOf(hits, ({ place }) => isHit(key, [place])));
      lists.push({ kind: 'usual', repo, wanted: essential.length, ...listOf(hits, rights) });
    }
  });
  return lists;
}

async function briefLists() {
  const lists = [];
  const { data, trees: sources } = options;
  for (const repository of repositoriesIn(data).filter(({ half }) => half === 'tune')) {
    const { folder, below, tasks } = await tasksOf(repository, { data, sources });
    const product = await openProduct(folder, home);
    for (const { query, targets } of tasks.filter((each) => analyse(each.query).isBrief)) {
      const hits = hitsOf(product, query);
      const places = hits.map(({ place, whole }) => ({
        path: path.join(below, place.path),
        lines: whole,
      }));
      const rights = targets.map((target) =>
        numbersOf(places, (place) => ndcgOf([place], [target]) > 0),
      );
      lists.push({
        kind: 'brief',
        repo: repository.name,
        targets,
        places,
        ...listOf(hits, rights),
      });
    }
  }
  return lists;
}

function listOf(hits, rights) {
  const rows = hits.map(({ row }) => row.map((each) => Number(each.toFixed(5))));
  return { rows, rights: rights.filter(({ length }) => length > 0) };
}

function numbersOf(all, isWanted) {
  return all.flatMap((each, at) => (isWanted(each) ? [at] : []));
}

function hitsOf({ shards }, text) {
  const question = analyse(text);
  return shards
    .flatMap(({ index, search }) =>
      search.featured(question).flatMap(({ document, row }) => {
        const { path: file } = index.file(index.fileOf(document));
        if (saidRole(index.info, file) !== '') return [];
        const score = scoreOf(row, question.isBrief);
        return [{ row: [...row], score, ...placeOf(index, document, file) }];
      }),
    )
    .sort((one, other) => other.score - one.score)
    .slice(0, hitsMax);
}

/** Where it is, and all its lines: a type is seen by its head, not by all that it holds. */
function placeOf(index, document, file) {
  if (document >= index.symbolCount) return { place: { path: file } };
  const { name, kind, line_start: from, line_end } = index.symbolPlace(document);
  const to = /^(?:function|method)$/.test(kind) ? line_end : Math.min(line_end, from + 2);
  return { place: { path: file, symbols: [name], lines: [from, to] }, whole: [from, line_end] };
}

function report(kind, lists) {
  const used = usedBy[kind].map((name) => featureNames.indexOf(name));
  const weights = scaled(kind, lists, used);
  const committed = featureNames.map((name) => weightsOf(kind === 'brief')[name] ?? 0);
  const without = used.map((at) => [
    featureNames[at],
    weights[at].toFixed(3),
    ...heldOut(
      kind,
      lists,
      used.filter((each) => each !== at),
    ),
  ]);
  const text = table([
    [`${kind}: ${lists.length}`, 'weight', ...figureNames[kind]],
    ['committed', '', ...figuresOf(kind, lists, () => committed)],
    ['learned', '', ...figuresOf(kind, lists, () => weights)],
    ['learned from other code bases', '', ...heldOut(kind, lists, used)],
    ...without.map(([name, ...its]) => [`the same without ${name}`, ...its]),
  ]);
  process.stdout.write(`${text}\n\n`);
  return weights;
}

/** Each code base is ranked by weights that it had no part in. */
function heldOut(kind, lists, used) {
  const repos = [...new Set(lists.map(({ repo }) => repo))].sort();
  const foldOf = (repo) => repos.indexOf(repo) % folds;
  const models = Array.from({ length: folds }, (_, fold) =>
    scaled(
      kind,
      lists.filter(({ repo }) => foldOf(repo) !== fold),
      used,
    ),
  );
  return figuresOf(kind, lists, ({ repo }) => models[foldOf(repo)]);
}

function scaled(kind, lists, used) {
  const weights = fitLists(lists, used, ridge[kind]);
  const best = lists
    .filter(({ rows }) => rows.length > 0)
    .map(({ rows }) => Math.max(...rows.map((row) => dot(row, weights))));
  const scale = bestScore[kind] / mean(best);
  return weights.map((each, at) => given[kind][featureNames[at]] ?? each * scale);
}

function figuresOf(kind, lists, weightsFor) {
  const figures = lists.map((list) => {
    const weights = weightsFor(list);
    const scores = list.rows.map((row) => dot(row, weights));
    const order = scores.map((_, at) => at).sort((a, b) => scores[b] - scores[a] || a - b);
    return kind === 'brief'
      ? [ndcgOf(inTurn(order, list.places), list.targets)]
      : sharesOf(order, list);
  });
  return figureNames[kind].map((_, at) => mean(figures.map((each) => each[at])).toFixed(3));
}

function sharesOf(order, { rights, wanted }) {
  return [10, 20].map((count) => {
    const first = new Set(order.slice(0, count));
    return rights.filter((hits) => hits.some((hit) => first.has(hit))).length / Math.max(1, wanted);
  });
}

/** The best of each file, as an answer to a brief question has them. */
function inTurn(order, places) {
  const seen = new Set();
  const places_ = order.map((at) => places[at]);
  const isFirst = places_.map(({ path: file }) => !seen.has(file) && seen.add(file));
  return [...places_.filter((_, at) => isFirst[at]), ...places_.filter((_, at) => !isFirst[at])];
}

function write() {
  const file = path.resolve(import.meta.dirname, '../../../src/pgc/search/rank/weights.ts');
  const text = Object.entries(learned).reduce(
    (whole, [kind, weights]) => {
      const rows = featureNames
        .map((name, at) => [name, Number(weights[at].toFixed(3))])
        .filter(([, weight]) => weight !== 0)
        .map(([name, weight]) => `    ${name}: ${weight},`);
      const place = new RegExp(String.raw`(\n  ${kind}: \{\n)(?:    \w+: -?[\d.]+,\n)*(  \},)`);
      return whole.replace(place, `$1${rows.join('\n')}\n$2`);
    },
    readFileSync(file, 'utf8'),
  );
  writeFileSync(file, text);
}
