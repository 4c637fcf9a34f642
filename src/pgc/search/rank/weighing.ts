import { fields, type Field } from '../../format/fields.js';
import type { TermIndex } from '../../format/term-index.js';
import type { WordCounts } from '../../shapes.js';
import type { Question } from '../question/question.js';

/** The weights of a question's concepts in the searched indexes. */
export interface Weighing {
  /** idf times weight, per concept of the question. */
  masses: number[];
  total: number;
  /** Share of the concepts, by their weight, that stand in any index; low for a question about something else. */
  known: number;
  /** By field: the mean length of what the first index has; undefined: its own. */
  lengths?: readonly number[];
}

/** As they stand in all that is searched together, so that scores of several indexes can be compared. */
export function weigh(indexes: readonly TermIndex[], question: Question): Weighing {
  return weighed(question, { ...countsIn(indexes, question), lengths: [] });
}

/** Rare concepts carry a question; those that stand nowhere count most and keep the similarity honest. */
export function weighed({ concepts }: Question, counts: WordCounts): Weighing {
  const { documents, lengths } = counts;
  const having = (at: number): number => counts.having[at] ?? 0;
  const masses = concepts.map(({ weight }, at) => weight * inverseFrequency(documents, having(at)));
  const total = masses.reduce((sum, each) => sum + each, 0);
  const weights = concepts.reduce((sum, { weight }) => sum + weight, 0);
  const unknown = concepts.reduce(
    (sum, { weight }, at) => (having(at) === 0 ? sum + weight : sum),
    0,
  );
  const known = weights === 0 ? 0 : 1 - unknown / weights;
  return { masses, total, known, ...(lengths.length === fields.length && { lengths }) };
}

/** `lengths`: of the first index, in which the symbols are. */
export function countsIn(
  indexes: readonly TermIndex[],
  { concepts }: Question,
): WordCounts & { lengths: number[] } {
  const [first] = indexes;
  return {
    documents: indexes.reduce((sum, index) => sum + index.documentCount, 0),
    having: concepts.map(({ variants }) => {
      let documents = 0;
      for (const { term, trust } of variants)
        for (const index of indexes) documents += trust * index.documentFrequency(term);
      return documents;
    }),
    lengths: fields.map((_, field) => first?.averageLength(field as Field) ?? 0),
  };
}

/** Of several as of one; a length counts by the documents that it is the mean of. */
export function together(all: readonly WordCounts[]): WordCounts {
  const documents = all.reduce((sum, each) => sum + each.documents, 0);
  const sumOf = (list: (each: WordCounts) => readonly number[], at: number): number =>
    all.reduce((sum, each) => sum + (list(each)[at] ?? 0), 0);
  // One that reads the question otherwise says nothing of the concepts that it lacks.
  const concepts = Math.max(0, ...all.map(({ having }) => having.length));
  return {
    documents,
    having: Array.from({ length: concepts }, (_, at) => sumOf(({ having }) => having, at)),
    lengths: fields.map(
      (_, field) =>
        sumOf((each) => each.lengths.map((length) => length * each.documents), field) /
        Math.max(1, documents),
    ),
  };
}

export function inverseFrequency(documents: number, having: number): number {
  const bounded = Math.min(having, documents);
  return Math.log(1 + (documents - bounded + 0.5) / (bounded + 0.5));
}
