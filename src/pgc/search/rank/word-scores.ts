import type { Question } from '../question/question.js';
import { fieldOf, fields, type Field } from '../../format/fields.js';
import type { TermIndex } from '../../format/term-index.js';
import type { Weighing } from './weighing.js';

/** BM25F: S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. */
const k1 = 1.2;
/** Low: a long function is more often what a question is about than a short one with the same words. */
const b = 0.4;
const weightOf = fields.map((field) => (field === 'name' ? 3 : 1));
/** Every document of a file has its path. */
const groupFields = fields.filter((name) => name !== 'path').map((name) => fieldOf[name]);
/** A concept that carries less of the question than this cannot decide, but may stand in every document. */
const massShareMin = 0.01;

/** The groups (files) that documents are in, by number below `count`. */
export interface Groups {
  count: number;
  of: (document: number) => number;
  members: (group: number) => Iterable<number>;
}

/** How well one document answers, by its words. Scores are shares of what no document can exceed, 0 to 1. */
export interface Match {
  /** BM25F score. */
  attained: number;
  /** BM25 score of the file around it. */
  context: number;
  /** Concepts of the question that stand in it. */
  held: number;
}

/** Scores the documents of one index by the words of a question; owns the scratch memory, so one question at a time. */
export class WordScores {
  readonly #index: TermIndex;
  readonly #groups: Groups;
  readonly #average: number[];
  /** Of all that is searched together, during one search. */
  #lengths: readonly number[];
  readonly #score: Float32Array;
  readonly #frequency: Float32Array;
  readonly #held: Uint8Array;
  /** What BM25 divides by, by the length of each group; 0: not known yet. */
  readonly #groupNorm: Float32Array;
  readonly #groupLength: number;
  readonly #groupScore: Float32Array;
  readonly #groupFrequency: Float32Array;
  #found: number[] = [];
  #foundGroups: number[] = [];
  #total = 1;

  constructor(index: TermIndex, groups: Groups) {
    this.#index = index;
    this.#groups = groups;
    this.#average = fields.map((_, field) => index.averageLength(field as Field) || 1);
    this.#lengths = this.#average;
    this.#score = new Float32Array(index.documentCount);
    this.#frequency = new Float32Array(index.documentCount);
    this.#held = new Uint8Array(index.documentCount);
    this.#groupNorm = new Float32Array(groups.count);
    const words = groupFields.reduce<number>((sum, field) => sum + index.lengthSum(field).sum, 0);
    this.#groupLength = words / Math.max(groups.count, 1) || 1;
    this.#groupScore = new Float32Array(groups.count);
    this.#groupFrequency = new Float32Array(groups.count);
  }

  /** Documents that hold anything of the question, in no order. `lengths`: of the fields, if not those of this index. */
  read(
    question: Question,
    weighing: Weighing,
    lengths: readonly number[] = this.#average,
  ): readonly number[] {
    this.forget();
    this.#lengths = lengths;
    this.#total = weighing.total || 1;
    try {
      this.#add(question, weighing);
    } catch (error) {
      // What damage has interrupted must not count for the next question.
      this.#frequency.fill(0);
      this.#groupFrequency.fill(0);
      throw error;
    }
    return this.#found;
  }

  #add(question: Question, weighing: Weighing): void {
    question.concepts.forEach(({ variants }, at) => {
      const mass = weighing.masses[at] ?? 0;
      if (mass < massShareMin * weighing.total) return;
      const touched: number[] = [];
      const groups: number[] = [];
      for (const { term, trust } of variants)
        this.#index.postings(term, (document, field, count) => {
          if (this.#frequency[document] === 0) touched.push(document);
          const group = this.#groups.of(document);
          const inGroup = this.#groupFrequency[group] ?? 0;
          if (inGroup === 0) groups.push(group);
          // Every document of a file has its path.
          if (field !== fieldOf.path || inGroup === 0)
            this.#groupFrequency[group] = inGroup + trust * count;
          this.#frequency[document] =
            (this.#frequency[document] ?? 0) +
            trust * (weightOf[field] ?? 1) * this.#normed(document, field, count);
        });
      this.#settle(touched, mass);
      this.#settleGroups(groups, mass);
    });
  }

  /** Of a document after `read`. */
  attained(document: number): number {
    return Math.min(1, (this.#score[document] ?? 0) / this.#total);
  }

  match(document: number): Match {
    return {
      attained: this.attained(document),
      context: Math.min(1, (this.#groupScore[this.#groups.of(document)] ?? 0) / this.#total),
      held: this.#held[document] ?? 0,
    };
  }

  /** BM25 of one field alone, of a few documents: the lists of the question are read once more. */
  inField(
    field: Field,
    question: Question,
    weighing: Weighing,
    documents: readonly number[],
  ): ReadonlyMap<number, number> {
    const found = new Map(documents.map((document) => [document, 0]));
    const frequency = new Map<number, number>();
    question.concepts.forEach(({ variants }, at) => {
      const mass = weighing.masses[at] ?? 0;
      if (mass < massShareMin * weighing.total) return;
      frequency.clear();
      for (const { term, trust } of variants)
        this.#index.postings(term, (document, its, count) => {
          if (its !== field || !found.has(document)) return;
          const known = frequency.get(document) ?? 0;
          frequency.set(document, known + trust * this.#normed(document, field, count));
        });
      for (const [document, each] of frequency)
        found.set(document, (found.get(document) ?? 0) + (mass * each) / (k1 + each) / this.#total);
    });
    return found;
  }

  forget(): void {
    for (const document of this.#found) {
      this.#score[document] = 0;
      this.#held[document] = 0;
    }
    for (const group of this.#foundGroups) this.#groupScore[group] = 0;
    this.#found = [];
    this.#foundGroups = [];
  }

  #normed(document: number, field: Field, count: number): number {
    const share = this.#index.length(document, field) / (this.#lengths[field] || 1);
    return count / (1 - b + b * share);
  }

  #settleGroups(groups: readonly number[], mass: number): void {
    for (const group of groups) {
      const frequency = (this.#groupFrequency[group] ?? 0) / this.#normOf(group);
      if (this.#groupScore[group] === 0) this.#foundGroups.push(group);
      this.#groupScore[group] =
        (this.#groupScore[group] ?? 0) + (mass * frequency) / (k1 + frequency);
      this.#groupFrequency[group] = 0;
    }
  }

  #normOf(group: number): number {
    const known = this.#groupNorm[group] ?? 0;
    if (known > 0) return known;
    let length = 0;
    for (const document of this.#groups.members(group))
      for (const field of groupFields) length += this.#index.length(document, field);
    // Rounded, as the next time.
    return (this.#groupNorm[group] = Math.fround(1 - b + (b * length) / this.#groupLength));
  }

  #settle(touched: readonly number[], mass: number): void {
    for (const document of touched) {
      const frequency = this.#frequency[document] ?? 0;
      if (this.#score[document] === 0) this.#found.push(document);
      this.#score[document] = (this.#score[document] ?? 0) + (mass * frequency) / (k1 + frequency);
      this.#frequency[document] = 0;
      this.#held[document] = (this.#held[document] ?? 0) + 1;
    }
  }
}
