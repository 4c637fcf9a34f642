import type { Question } from '../question/question.js';
import type { TermIndex } from '../../format/term-index.js';

/** The weights of a question's concepts in the searched indexes. */
export interface Weighing {
  /** idf times weight, per concept of the question. */
  masses: number[];
  total: number;
  /** Share of the concepts, by their weight, that stand in any index; low for a question about something else. */
  known: number;
  /** Positions of those that do. */
  having: number[];
}

/**
 * Over all that is searched together, so that scores of several indexes can be compared. Rare concepts carry a
 * question; those that stand nowhere count most and keep the similarity honest.
 */
export function weigh(indexes: readonly TermIndex[], question: Question): Weighing {
  const all = indexes.reduce((sum, index) => sum + index.documentCount, 0);
  const having: number[] = [];
  const masses = question.concepts.map((concept, at) => {
    let documents = 0;
    for (const { term, trust } of concept.variants)
      for (const index of indexes) documents += trust * index.documentFrequency(term);
    const mass = concept.weight * inverseFrequency(all, documents);
    if (documents > 0) having.push(at);
    return mass;
  });
  const total = masses.reduce((sum, each) => sum + each, 0);
  return { masses, total, known: knownShare(question, having), having };
}

/** The share of a question's concepts, by their weight, that these positions are. */
export function knownShare({ concepts }: Question, having: Iterable<number>): number {
  const all = concepts.reduce((sum, { weight }) => sum + weight, 0);
  const known = new Set(having);
  const unknown = concepts.reduce((sum, { weight }, at) => (known.has(at) ? sum : sum + weight), 0);
  return all === 0 ? 0 : 1 - unknown / all;
}

export function inverseFrequency(documents: number, having: number): number {
  const bounded = Math.min(having, documents);
  return Math.log(1 + (documents - bounded + 0.5) / (bounded + 0.5));
}
