import type { Question } from '../question/question.js';
import { fieldOf } from '../../format/fields.js';
import type { ShardIndex } from '../../format/shard-index.js';
import type { Weighing } from './weighing.js';
import { Neighbours, type Neighbour } from './neighbours.js';
import { Meaning } from './meaning.js';
import { NameShares } from './name-shares.js';
import type { WordScores } from './word-scores.js';

/** What the ranking knows of a hit, in the order of its columns. Scores are shares of what no document can exceed. */
export const featureNames = [
  'words', // BM25F over all fields
  'in_body', // the same of what stands inside the symbol
  'exact', // share of the question that is its very name
  'file', // BM25 of its file
  'called', // `words` of the best that calls it
  'near', // `words` of its three best neighbours together
  'walk', // share of a walk over calls from the best hits, log
  'lines', // log
  'callees', // log
  'is_method',
  'meaning', // how near its vector is, in standard deviations over the shard
  'meaning_near', // the mean of those that it calls or that call it
  'scope', // how much of the name of its class the question says
  'file_name', // of that of its file
  'folders', // and of those of its folders
  'file_meaning', // `meaning` of what is nearest in its file
  'file_symbols', // log
] as const;
export type FeatureName = (typeof featureNames)[number];

/** Best hits that a walk over the calls begins at. */
const seedsMax = 50;
/** Documents that only the walk finds. */
const walkedMax = 100;
/** Documents that only their meaning finds. */
const meantMax = 60;
/** Below all shares of a walk. */
const walkFloor = 1e-6;
/** Neighbours that count. */
const nearMax = 3;

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
  const meaning = new Meaning(index, question);
  const known = new Set(best);
  const walked = [...walk]
    .filter(([document]) => !known.has(document))
    .sort(([one, a], [other, b]) => b - a || one - other)
    .slice(0, walkedMax)
    .map(([document]) => document);
  const documents = [...new Set([...best, ...walked, ...meaning.nearest(meantMax)])];
  const inBody = words.inField(fieldOf.body, question, weighing, documents);
  const names = new NameShares(question);
  const ofFiles = new Map<number, readonly number[]>();
  const fileRow = (file: number): readonly number[] => {
    let row = ofFiles.get(file);
    if (row === undefined) ofFiles.set(file, (row = rowOfFile(index, file, names, meaning)));
    return row;
  };
  const rowOf = (document: number): Float32Array => {
    const isText = document >= index.symbolCount;
    const place = isText ? undefined : index.symbolPlace(document);
    const { attained, context } = words.match(document);
    const callees = graph.callees(document);
    const callers = graph.callers(document);
    const worth = ({ share, document }: Neighbour): number => share * words.attained(document);
    let called = 0;
    for (const each of callers) called = Math.max(called, worth(each));
    return Float32Array.from([
      attained,
      inBody.get(document) ?? 0,
      exact.get(document) ?? 0,
      context,
      called,
      ofBest(callees, callers, worth),
      Math.log1p((walk.get(document) ?? 0) / walkFloor),
      Math.log1p(place === undefined ? 0 : place.line_end - place.line_start),
      Math.log1p(callees.length),
      place?.kind === 'method' ? 1 : 0,
      meaning.of(document),
      meaning.mean(callees, callers),
      names.of(place?.container ?? ''),
      ...fileRow(index.fileOf(document)),
    ]);
  };
  return documents.map((document) => ({ document, row: rowOf(document) }));
}

/** What the best are worth together. */
function ofBest(
  some: readonly Neighbour[],
  others: readonly Neighbour[],
  worth: (each: Neighbour) => number,
): number {
  const best: number[] = [];
  for (const all of [some, others])
    for (const each of all) {
      const value = worth(each);
      const at = best.findIndex((known) => known < value);
      if (at >= 0) best.splice(at, 0, value);
      else best.push(value);
      best.length = Math.min(best.length, nearMax);
    }
  return best.reduce((sum, each) => sum + each, 0);
}

/** What the members of a file have in common. */
function rowOfFile(
  index: ShardIndex,
  file: number,
  names: NameShares,
  meaning: Meaning,
): readonly number[] {
  const { path } = index.file(file);
  const at = path.lastIndexOf('/') + 1;
  const symbols = index.symbolsOf(file);
  return [
    names.of(path.slice(at).replace(/\.\w+$/, '')),
    names.of(path.slice(0, at)),
    meaning.best(symbols),
    Math.log1p(symbols.length),
  ];
}
