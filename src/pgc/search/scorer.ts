import type { Question } from './question/question.js';
import { isEveryday } from './prior.js';
import { fieldOf, fields, type Field, type FieldName } from '../format/fields.js';
import type { TermIndex } from '../format/term-index.js';

/** BM25F: S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. */
const k1 = 1.2;
const b = 0.75;
const fieldWeights: Record<FieldName, number> = {
  name: 3,
  path: 1.5,
  signature: 1.5,
  doc: 2,
  body: 1,
};
const weightOf = fields.map((field) => fieldWeights[field]);

/** How far a document that only mentions a named symbol covers the name. */
const mentionTrust = 0.4;
/** What a word covers that stands among the statements: it is used there, and need not be what they are about. */
const bodyTrust = 0.6;
/** A concept that carries less of the question than this cannot decide, but may stand in every document. */
const massShareMin = 0.01;
/** How much one everyday word counts as the whole name of a symbol: `ask` is not what "who asks" is about. */
const everydayNameWeight = 0.8;

/** The weights of a question's concepts in the searched indexes. */
export interface Weighing {
  /** idf times weight, per concept of the question. */
  masses: number[];
  total: number;
  /** Share of the mass whose concepts stand in any index; low for a question about something else. */
  known: number;
}

/**
 * Over all that is searched together, so that scores of several indexes can be compared. Rare concepts carry a
 * question; those that stand nowhere count most and keep the similarity honest.
 */
export function weigh(indexes: readonly TermIndex[], question: Question): Weighing {
  const all = indexes.reduce((sum, index) => sum + index.documentCount, 0);
  let unknown = 0;
  const masses = question.concepts.map((concept) => {
    let documents = 0;
    for (const { term, trust } of concept.variants)
      for (const index of indexes) documents += trust * index.documentFrequency(term);
    const mass = concept.weight * inverseFrequency(all, documents);
    if (documents === 0) unknown += mass;
    return mass;
  });
  const total = masses.reduce((sum, each) => sum + each, 0);
  return { masses, total, known: total === 0 ? 0 : 1 - unknown / total };
}

export function inverseFrequency(documents: number, having: number): number {
  const bounded = Math.min(having, documents);
  return Math.log(1 + (documents - bounded + 0.5) / (bounded + 0.5));
}

/** Share of a score that does not depend on how many of the question's concepts stand together. */
const scatteredShare = 0.25;

/** What was attained counts the more, the more of the question stands together. */
export function together(attained: number, coverage: number): number {
  return attained * (scatteredShare + (1 - scatteredShare) * coverage);
}

/** How well one document answers, by its words. */
export interface Match {
  /** BM25F score over the score that no document can exceed, 0 to 1. */
  attained: number;
  /** Share of the question's idf mass whose concepts stand in the document, 0 to 1. */
  coverage: number;
  /** BM25 score of the file around it, over the score that no file can exceed, 0 to 1. */
  context: number;
}

/** The groups (files) that documents are in, by number below `count`. */
export interface Groups {
  count: number;
  of: (document: number) => number;
}

/** No groups: there is no context. */
export const nowhere: Groups = { count: 0, of: () => 0 };

/** Scores the documents of one index; owns the scratch memory, so one question at a time. */
export class Scorer {
  readonly #index: TermIndex;
  readonly #average: number[];
  readonly #score: Float32Array;
  readonly #covered: Float32Array;
  readonly #frequency: Float32Array;
  readonly #trust: Float32Array;
  readonly #groups: Groups;
  readonly #groupNorm: Float32Array;
  readonly #groupScore: Float32Array;
  readonly #groupFrequency: Float32Array;
  #found: number[] = [];
  #foundGroups: number[] = [];
  #total = 1;

  constructor(index: TermIndex, groups: Groups) {
    this.#index = index;
    this.#groups = groups;
    this.#groupNorm = groupNorms(index, groups);
    this.#groupScore = new Float32Array(groups.count);
    this.#groupFrequency = new Float32Array(groups.count);
    this.#average = fields.map((_, field) => index.averageLength(field as Field) || 1);
    this.#score = new Float32Array(index.documentCount);
    this.#covered = new Float32Array(index.documentCount);
    this.#frequency = new Float32Array(index.documentCount);
    this.#trust = new Float32Array(index.documentCount);
  }

  /** Documents that hold anything of the question, in no order. */
  read(question: Question, weighing: Weighing): readonly number[] {
    this.forget();
    this.#total = weighing.total || 1;
    question.concepts.forEach((concept, at) => {
      const mass = weighing.masses[at] ?? 0;
      if (mass < massShareMin * weighing.total) return;
      const isWord = !concept.isName && isEveryday(concept.word);
      const touched: number[] = [];
      const groups: number[] = [];
      for (const { term, trust } of concept.variants) {
        this.#index.postings(term, (document, field, count) => {
          if (this.#trust[document] === 0) touched.push(document);
          const group = this.#groups.of(document);
          const inGroup = this.#groupFrequency[group] ?? 0;
          if (inGroup === 0) groups.push(group);
          // Every document of a file has its path.
          if (field !== fieldOf.path || inGroup === 0)
            this.#groupFrequency[group] = inGroup + trust * count;
          const average = this.#average[field] ?? 1;
          const length = this.#index.length(document, field);
          const norm = 1 - b + (b * length) / average;
          const weight =
            isWord && field === fieldOf.name && length === 1
              ? everydayNameWeight
              : (weightOf[field] ?? 1);
          this.#frequency[document] =
            (this.#frequency[document] ?? 0) + (trust * weight * count) / norm;
          const certainty =
            concept.isName && field !== fieldOf.name
              ? trust * mentionTrust
              : field === fieldOf.body
                ? trust * bodyTrust
                : trust;
          if ((this.#trust[document] ?? 0) < certainty) this.#trust[document] = certainty;
        });
      }
      this.#settle(touched, mass);
      this.#settleGroups(groups, mass);
    });
    return this.#found;
  }

  match(document: number): Match {
    return {
      attained: Math.min(1, (this.#score[document] ?? 0) / this.#total),
      coverage: Math.min(1, (this.#covered[document] ?? 0) / this.#total),
      context: Math.min(1, (this.#groupScore[this.#groups.of(document)] ?? 0) / this.#total),
    };
  }

  /** What a match is worth, without one: common words stand in most documents. */
  plain(document: number, contextWeight: number): number {
    const total = this.#total;
    const attained = Math.min(1, (this.#score[document] ?? 0) / total);
    const coverage = Math.min(1, (this.#covered[document] ?? 0) / total);
    const around = this.#groupScore[this.#groups.of(document)] ?? 0;
    return together(attained, coverage) + contextWeight * Math.min(1, around / total);
  }

  forget(): void {
    for (const document of this.#found) {
      this.#score[document] = 0;
      this.#covered[document] = 0;
    }
    for (const group of this.#foundGroups) this.#groupScore[group] = 0;
    this.#found = [];
    this.#foundGroups = [];
  }

  #settleGroups(groups: readonly number[], mass: number): void {
    for (const group of groups) {
      const frequency = (this.#groupFrequency[group] ?? 0) / (this.#groupNorm[group] ?? 1);
      if (this.#groupScore[group] === 0) this.#foundGroups.push(group);
      this.#groupScore[group] =
        (this.#groupScore[group] ?? 0) + (mass * frequency) / (k1 + frequency);
      this.#groupFrequency[group] = 0;
    }
  }

  #settle(touched: readonly number[], mass: number): void {
    for (const document of touched) {
      const frequency = this.#frequency[document] ?? 0;
      const trust = this.#trust[document] ?? 0;
      if (this.#score[document] === 0) this.#found.push(document);
      this.#score[document] = (this.#score[document] ?? 0) + (mass * frequency) / (k1 + frequency);
      this.#covered[document] = (this.#covered[document] ?? 0) + mass * trust;
      this.#frequency[document] = 0;
      this.#trust[document] = 0;
    }
  }
}

/** What BM25 divides by, by the length of each group. */
function groupNorms(index: TermIndex, groups: Groups): Float32Array {
  const lengths = new Float32Array(groups.count);
  for (let document = 0; document < index.documentCount; document += 1) {
    const group = groups.of(document);
    for (let field = 0; field < fields.length; field += 1)
      if (field !== fieldOf.path)
        lengths[group] = (lengths[group] ?? 0) + index.length(document, field as Field);
  }
  const average = lengths.reduce((sum, each) => sum + each, 0) / Math.max(groups.count, 1) || 1;
  return lengths.map((length) => 1 - b + (b * length) / average);
}
