// One set of questions over one tree: what each way of searching finds, and what the product states of its sources.
import { performance } from 'node:perf_hooks';
import { mean, percentile } from '../kernel/figures.mjs';
import { heldSentences } from './held.mjs';
import { hitAt, judged, ndcgAt, reciprocalRank } from './metrics.mjs';
import { askProduct, placeOf, topK, verifiedAmong } from './product.mjs';
import { bm25OfFiles, bm25OfFunctions, ripgrep, textsBelow } from './text-search.mjs';

const warmUpQuestions = 10;

/**
 * Every question of a set, in every way: the product first, then without the parts that `ablations` name, then
 * what it is measured against. Each way is `{ name, level, rows, figures }`.
 */
export async function measureSet({ set, root, product, ablations }) {
  const texts = textsBelow(root);
  const files = bm25OfFiles(texts);
  const functions = bm25OfFunctions(texts, product.definitions);
  await warmUp(product, set.questions);
  const answers = new Map();
  const ours = [];
  for (const without of [[], ...ablations]) {
    const name = without.length === 0 ? 'sigma ask' : `- ${without.join(', ')}`;
    const rows = await searched(set.questions, async ({ id, question }) => {
      const answer = await askProduct(product, question, without);
      if (without.length === 0) answers.set(id, answer);
      return answer.evidence;
    });
    for (const row of rows) row.ranking = row.ranking.map((source) => placeOf(product, source));
    ours.push({ name, level: 'place', rows }, { name, level: 'file', rows });
  }
  const byFile = await searched(set.questions, ({ question }) => files.search(question, topK));
  const byFunction = await searched(set.questions, ({ question }) =>
    functions.search(question, topK),
  );
  const byWords = await searched(set.questions, ({ question }) => ripgrep(root, question, topK));
  return {
    ways: [
      ...ours,
      { name: 'BM25, functions', level: 'place', rows: byFunction },
      { name: 'BM25, functions', level: 'file', rows: byFunction },
      { name: 'BM25, files', level: 'file', rows: byFile },
      { name: 'rg', level: 'file', rows: byWords },
    ].map(judgedWay),
    sources: set.questions.map(({ id, answers: key }) =>
      sourcesOf(product, answers.get(id), { id, key }),
    ),
    sentences: [...answers].flatMap(([id, answer]) =>
      heldSentences(answer).map((each) => ({ id, ...each })),
    ),
  };
}

/** Questions of other words than the ones that are timed, so that none of their answers is known yet. */
async function warmUp(product, questions) {
  for (const { question } of questions.slice(0, warmUpQuestions))
    await askProduct(product, `${question} Tell me more.`);
}

async function searched(questions, search) {
  const rows = [];
  for (const question of questions) {
    const beganMs = performance.now();
    const ranking = await search(question);
    const { id, kind, answers } = question;
    rows.push({ id, kind, ranking, answers, ms: performance.now() - beganMs });
  }
  return rows;
}

/** `first`: the rank of the first right place, 0 without one. */
function judgedWay({ name, level, rows }) {
  const verdicts = rows.map(({ ranking, answers }) => judged(ranking, answers, level));
  const times = rows.map(({ ms }) => ms);
  return {
    name,
    level,
    rows: rows.map((row, at) => ({ ...row, first: verdicts[at].right.indexOf(true) + 1 })),
    figures: {
      recall_at_1: mean(verdicts.map((each) => hitAt(each, 1))),
      recall_at_5: mean(verdicts.map((each) => hitAt(each, topK))),
      mrr: mean(verdicts.map(reciprocalRank)),
      ndcg_at_5: mean(verdicts.map((each) => ndcgAt(each, topK))),
      median_ms: percentile(times, 50),
    },
  };
}

/** What the product cites for a question, and whether it is right. */
function sourcesOf(product, { evidence: sources }, { id, key }) {
  const places = sources.map((source) => placeOf(product, source));
  const byPlace = judged(places, key, 'place').right;
  const byFile = judged(places, key, 'file').right;
  return {
    id,
    sources: sources.map((source, at) => ({
      source,
      stated: source.similarity,
      place: byPlace[at],
      file: byFile[at],
    })),
  };
}

/** Questions without an answer: `{ id, sources }`, of which none is right. */
export async function askUnanswerable(product, questions) {
  const asked = [];
  for (const { id, question } of questions)
    asked.push(sourcesOf(product, await askProduct(product, question), { id, key: [] }));
  return asked;
}

/** `{ count, valid }` of the sources of some answers. */
export async function verifySources(product, asked) {
  const sources = asked.flatMap((each) => each.sources.map(({ source }) => source));
  return { count: sources.length, valid: await verifiedAmong(product, sources) };
}
