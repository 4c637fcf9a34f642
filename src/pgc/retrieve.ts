import type { Question } from './question.js';
import { fields, type Field, type FieldName, type ShardIndex } from './shard-index.js';
import { Ranking } from './ranking.js';
import { isEveryday, priorOf, wantsAsides } from './prior.js';
import { similarityOf, type Features } from './similarity.js';

/** Hits that a search may return; nobody reads further. */
export const hitsMax = 200;

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
const nameField = fields.indexOf('name') as Field;
const docField = fields.indexOf('doc') as Field;

/** How far a document that only mentions a named symbol covers the name. */
const mentionTrust = 0.4;
/** A concept that carries less of the question than this cannot decide, but may stand in every document. */
const massShareMin = 0.01;
/** How much one everyday word counts as the whole name of a symbol: `ask` is not what "who asks" is about. */
const everydayNameWeight = 0.8;
/** Share of a score that does not depend on how many of the question's concepts stand together. */
const scatteredShare = 0.25;
/** For a document of a file or folder that the question names. */
const onPathBonus = 0.3;

export interface Hit extends Features {
  document: number;
  /** Symbol id; undefined for what lies outside all symbols of a file. */
  symbol: number | undefined;
  file: number;
  /** Orders the hits of one search; means nothing by itself. */
  score: number;
  similarity: number;
}

/** Below this share of the question's idf mass a hit shares words with the question, not its subject. */
const coverageMin = 0.25;

/** Whether a best hit answers at all; otherwise the answer is NOT_FOUND. */
export function isRelevant(hit: Pick<Features, 'exact' | 'coverage'>): boolean {
  return hit.exact > 0 || hit.coverage >= coverageMin;
}

/** Hits below this share of the best one's similarity are not worth a citation. */
export const tellingShare = 0.1;

export interface SearchOptions {
  limit: number;
  /** The document whose doc field does not count: its text is the question (calibration only). */
  withoutDocOf?: number;
}

/** What the question's concepts are worth in this shard. */
export interface Weighing {
  /** idf times weight, per concept of the question. */
  masses: number[];
  total: number;
}

/** Rare concepts carry a question; those that stand nowhere count most and keep the similarity honest. */
export function weigh(index: ShardIndex, question: Question): Weighing {
  const masses = question.concepts.map((concept) => {
    let documents = 0;
    for (const { term, trust } of concept.variants)
      documents += trust * index.documentFrequency(term);
    return concept.weight * inverseFrequency(index.documentCount, documents);
  });
  return { masses, total: masses.reduce((sum, each) => sum + each, 0) };
}

export function inverseFrequency(documents: number, having: number): number {
  const bounded = Math.min(having, documents);
  return Math.log(1 + (documents - bounded + 0.5) / (bounded + 0.5));
}

/** Fielded search over one shard; owns the scratch memory, so one search at a time. */
export class Retriever {
  readonly #index: ShardIndex;
  readonly #average: number[];
  readonly #score: Float32Array;
  readonly #covered: Float32Array;
  readonly #frequency: Float32Array;
  readonly #trust: Float32Array;

  constructor(index: ShardIndex) {
    this.#index = index;
    this.#average = fields.map((_, field) => index.averageLength(field as Field) || 1);
    this.#score = new Float32Array(index.documentCount);
    this.#covered = new Float32Array(index.documentCount);
    this.#frequency = new Float32Array(index.documentCount);
    this.#trust = new Float32Array(index.documentCount);
  }

  /** Best first. Exact names of the question come before everything else. */
  search(question: Question, options: SearchOptions): Hit[] {
    const weighing = weigh(this.#index, question);
    const found = this.#accumulate(question, weighing, options.withoutDocOf);
    const exact = this.#exactSymbols(question);
    for (const document of exact) found.push(document);
    const hits = this.#best(question, weighing, found, exact, Math.min(options.limit, hitsMax));
    this.#forget();
    return hits;
  }

  /** How relevant given documents are, found by a search or not. */
  similarities(question: Question, documents: Iterable<number>): Map<number, number> {
    const weighing = weigh(this.#index, question);
    const found = this.#accumulate(question, weighing, undefined);
    const exact = this.#exactSymbols(question);
    for (const document of exact) found.push(document);
    const isAsideWanted = wantsAsides(question);
    const score = (match: Match, document: number): number =>
      priorOf(this.#index, document, isAsideWanted) * plainScore(match);
    let best = 0;
    for (const document of found) {
      const match = this.#match(document, weighing, exact);
      if (plainScore(match) > best) best = Math.max(best, score(match, document));
    }
    const result = new Map<number, number>();
    for (const document of documents) {
      const match = this.#match(document, weighing, exact);
      const prior = priorOf(this.#index, document, isAsideWanted);
      const lead = leadOf(score(match, document), best);
      result.set(document, similarityOf({ ...settled(match, prior), lead }));
    }
    this.#forget();
    return result;
  }

  #forget(): void {
    this.#score.fill(0);
    this.#covered.fill(0);
  }

  #match(document: number, weighing: Weighing, exact: Set<number>): Match {
    const total = weighing.total || 1;
    return {
      attained: Math.min(1, (this.#score[document] ?? 0) / total),
      coverage: Math.min(1, (this.#covered[document] ?? 0) / total),
      exact: exact.has(document) ? 1 : 0,
    };
  }

  #accumulate(question: Question, weighing: Weighing, withoutDocOf: number | undefined): number[] {
    const found: number[] = [];
    question.concepts.forEach((concept, at) => {
      const mass = weighing.masses[at] ?? 0;
      if (mass < massShareMin * weighing.total) return;
      const isWord = !concept.isName && isEveryday(concept.word);
      const touched: number[] = [];
      for (const { term, trust } of concept.variants) {
        this.#index.postings(term, (document, field, count) => {
          if (document === withoutDocOf && field === docField) return;
          if (this.#trust[document] === 0) touched.push(document);
          const average = this.#average[field] ?? 1;
          const length = this.#index.length(document, field);
          const norm = 1 - b + (b * length) / average;
          const weight =
            isWord && field === nameField && length === 1
              ? everydayNameWeight
              : (weightOf[field] ?? 1);
          this.#frequency[document] =
            (this.#frequency[document] ?? 0) + (trust * weight * count) / norm;
          const certainty = concept.isName && field !== nameField ? trust * mentionTrust : trust;
          if ((this.#trust[document] ?? 0) < certainty) this.#trust[document] = certainty;
        });
      }
      for (const document of touched) {
        const frequency = this.#frequency[document] ?? 0;
        if (this.#score[document] === 0) found.push(document);
        this.#score[document] =
          (this.#score[document] ?? 0) + (mass * frequency) / (k1 + frequency);
        this.#covered[document] =
          (this.#covered[document] ?? 0) + mass * (this.#trust[document] ?? 0);
        this.#frequency[document] = 0;
        this.#trust[document] = 0;
      }
    });
    return found;
  }

  #exactSymbols(question: Question): Set<number> {
    return new Set(question.identifiers.flatMap((name) => this.#index.symbolsNamed(name)));
  }

  #best(
    question: Question,
    weighing: Weighing,
    found: number[],
    exact: Set<number>,
    limit: number,
  ): Hit[] {
    const ranked = new Ranking<Match & { document: number; score: number; prior: number }>(limit);
    const pathShare = question.paths.length > 0 ? onPathBonus : 0;
    const isAsideWanted = wantsAsides(question);
    let highest = 0;
    for (const document of found) {
      const match = this.#match(document, weighing, exact);
      const plain = plainScore(match);
      // Rows are read only for documents that may still enter the ranking.
      if (!ranked.admits(plain + pathShare)) continue;
      const { path } = this.#index.file(this.#fileOf(document));
      const bonus = question.paths.some((named) => isPathOf(path, named)) ? onPathBonus : 0;
      const prior = priorOf(this.#index, document, isAsideWanted);
      highest = Math.max(highest, prior * plain);
      ranked.offer({ ...match, document, prior, score: prior * (plain + bonus) });
    }
    return ranked.best().map((each) => {
      const lead = leadOf(each.prior * plainScore(each), highest);
      const match = settled(each, each.prior);
      return {
        ...each,
        ...match,
        lead,
        symbol: each.document < this.#index.symbolCount ? each.document : undefined,
        file: this.#fileOf(each.document),
        similarity: similarityOf({ ...match, lead }),
      };
    });
  }

  #fileOf(document: number): number {
    const { symbolCount } = this.#index;
    return document < symbolCount ? this.#index.symbol(document).file : document - symbolCount;
  }
}

/** `mm/cma.c` is named by `mm/cma.c`, `cma.c` and `mm`. */
export function isPathOf(path: string, named: string): boolean {
  return (
    path === named || path.endsWith(`/${named}`) || path.startsWith(`${named.replace(/\/$/, '')}/`)
  );
}

/** One that stands alone in covering the question is better than one that repeats a word of it. */
function plainScore(match: Match): number {
  const together = scatteredShare + (1 - scatteredShare) * match.coverage;
  return match.attained * together + match.exact;
}

/** What is found where nothing is explained covers less; what the question names is meant all the same. */
function settled(match: Match, prior: number): Match {
  return match.exact > 0 ? match : { ...match, coverage: match.coverage * prior };
}

function leadOf(score: number, best: number): number {
  return best === 0 ? 0 : Math.min(1, score / best);
}

interface Match extends Omit<Features, 'lead'> {
  /** BM25F score over the score that no document can exceed, 0 to 1. */
  attained: number;
}
