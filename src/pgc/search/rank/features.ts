import type { Question } from '../question/question.js';
import { fields } from '../../format/fields.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { wordsOf } from '../../format/words.js';
import { siteCount } from '../../bind/index-cache.js';
import type { Weighing } from './weighing.js';
import { Neighbours } from './neighbours.js';
import type { WordScores } from './word-scores.js';

/** What the ranking knows of a hit, in the order of its columns. Scores are shares of what no document can exceed. */
export const featureNames = [
  'words', // BM25F over all fields
  'lead', // the same, as a share of the best one's
  ...fields.map((field) => `in_${field}`), // BM25 of one field
  'coverage', // of the question, by idf
  'coverage_calls', // together with what it calls
  'matched', // share of the question's concepts, however frequent
  'rarest', // mass of the heaviest concept in it
  'exact', // share of the question that is its very name
  'name_mass', // of the question's concepts that stand in its name
  'name_share', // of its name that the question speaks of
  'file', // BM25 of its file
  'file_rank', // of its file among all, log
  'file_hits', // of its file among the best hits, log
  'calls', // `words` of the best that it calls
  'called', // `words` of the best that calls it
  'near', // `words` of its three best neighbours together
  'walk', // share of a walk over calls from the best hits, log
  'lines', // log
  'sites', // calls of its name, log
  'callees', // log
  'is_function',
  'is_type',
  'is_data',
  'is_exported',
  'is_text', // what lies outside all symbols of a file
] as const;
export type FeatureName = (typeof featureNames)[number];

/** Best hits that a walk over the calls begins at, and that files are counted among. */
const seedsMax = 50;
/** Documents that only the walk finds. */
const walkedMax = 100;
/** Below all shares of a walk. */
const walkFloor = 1e-6;
const unrankedFile = 10_000;

export interface Featured {
  document: number;
  row: Float32Array;
}

/** The rows of the best documents by their words, and of what a walk over the calls finds beside them. `best`: best first. */
export function featuresOf(
  index: ShardIndex,
  words: WordScores,
  question: Question,
  weighing: Weighing,
  best: readonly number[],
  exact: ReadonlyMap<number, number>,
): Featured[] {
  const graph = new Neighbours(index, best);
  const seeds = best.slice(0, seedsMax);
  const walk = graph.walk(new Map(seeds.map((each) => [each, words.attained(each) ** 2])));
  const known = new Set(best);
  const walked = [...walk]
    .filter(([document]) => !known.has(document))
    .sort(([one, a], [other, b]) => b - a || one - other)
    .slice(0, walkedMax)
    .map(([document]) => document);
  const documents = [...best, ...walked];
  const details = words.details(question, weighing, [...new Set([...documents, ...documents.flatMap((each) => graph.callees(each).map(({ document }) => document))])]);
  const fileRanks = ranksOf(documents.map((each) => [index.fileOf(each), words.match(each).context]));
  const fileHits = new Map<number, number>();
  for (const each of seeds) {
    const file = index.fileOf(each);
    fileHits.set(file, (fileHits.get(file) ?? 0) + 1);
  }
  const total = weighing.total || 1;
  const massOf = (at: number): number => (weighing.masses[at] ?? 0) / total;
  const termsOf = new Map<string, number>();
  question.concepts.forEach(({ variants }, at) => {
    for (const { term, trust } of variants) if (trust > 0.5 && !termsOf.has(term)) termsOf.set(term, at);
  });
  const first = Math.max(Number.EPSILON, ...seeds.slice(0, 1).map((each) => words.attained(each)));
  const rowOf = (document: number): Float32Array => {
    const isText = document >= index.symbolCount;
    const place = isText ? undefined : index.symbolPlace(document);
    const file = index.fileOf(document);
    const { attained, coverage, context } = words.match(document);
    const { byField = [], concepts = [] } = details.get(document) ?? {};
    const callees = graph.callees(document);
    const together = new Set(concepts);
    for (const each of callees)
      for (const at of details.get(each.document)?.concepts ?? []) together.add(at);
    const calls = callees.map((each) => each.share * words.attained(each.document));
    const called = graph.callers(document).map((each) => each.share * words.attained(each.document));
    const near = [...calls, ...called].sort((one, other) => other - one).slice(0, 3);
    const name = place === undefined ? [] : wordsOf(place.name);
    const named = new Set(name.flatMap((term) => termsOf.get(term) ?? []));
    const spoken = name.filter((term) => termsOf.has(term)).length;
    const kind = place?.kind ?? '';
    return Float32Array.from([
      attained,
      attained / first,
      ...fields.map((_, field) => byField[field] ?? 0),
      coverage,
      sum([...together].map(massOf)),
      concepts.length / Math.max(1, question.concepts.length),
      Math.max(0, ...concepts.map(massOf)),
      exact.get(document) ?? 0,
      sum([...named].map(massOf)),
      name.length === 0 ? 0 : spoken / name.length,
      context,
      Math.log1p(fileRanks.get(file) ?? unrankedFile),
      Math.log1p(fileHits.get(file) ?? 0),
      Math.max(0, ...calls),
      Math.max(0, ...called),
      sum(near),
      Math.log(walkFloor + (walk.get(document) ?? 0)),
      Math.log1p(place === undefined ? 0 : place.line_end - place.line_start),
      Math.log1p(place === undefined ? 0 : siteCount(index, place.name)),
      Math.log1p(callees.length),
      isFunction(kind) ? 1 : 0,
      isType(kind) ? 1 : 0,
      isData(kind) ? 1 : 0,
      place?.exported === true ? 1 : 0,
      isText ? 1 : 0,
    ]);
  };
  return documents.map((document) => ({ document, row: rowOf(document) }));
}

const isFunction = (kind: string): boolean => kind === 'function' || kind === 'method';
const isType = (kind: string): boolean => /^(?:class|interface|struct|union|enum|type)$/.test(kind);
const isData = (kind: string): boolean => kind === 'variable' || kind === 'constant';

/** The position of each key by its best value. */
function ranksOf(values: readonly (readonly [number, number])[]): Map<number, number> {
  const best = new Map<number, number>();
  for (const [key, value] of values) best.set(key, Math.max(value, best.get(key) ?? 0));
  const order = [...best].sort(([one, a], [other, b]) => b - a || one - other);
  return new Map(order.map(([key], at) => [key, at]));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, each) => all + each, 0);
}
