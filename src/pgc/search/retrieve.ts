import type { Question } from './question/question.js';
import type { ShardIndex } from '../format/shard-index.js';
import { Ranking } from './ranking.js';
import { priorOf, wantsAsides } from './prior.js';
import { nowhere, Scorer, together, weigh, type Match, type Weighing } from './scorer.js';

/** Hits that a search returns at most. */
export const hitsMax = 200;
/** Weight of the score of the file around a document. */
const contextWeight = 0.3;
/** For a document of a file or folder that the question names. */
export const onPathBonus = 0.3;

export interface Hit extends NamedMatch {
  document: number;
  /** Symbol id; undefined for what lies outside all symbols of a file. */
  symbol: number | undefined;
  file: number;
  /** Orders the hits of one search; means nothing by itself. */
  score: number;
  /** What hits are compared by: the score without what only the question's paths add. */
  standing: number;
}

/** Hits below this share of the best one's similarity are not worth a citation. */
export const tellingShare = 0.01;

interface SearchOptions {
  limit: number;
  /** Of all that is searched together; by default of this index alone. */
  weighing?: Weighing;
  /** Documents that are returned as well, even if no word matches. */
  also?: readonly number[];
  /** Files in which is searched; absent: all. */
  isWanted?: ((path: string) => boolean) | undefined;
}

/** Fielded search over the symbols of one shard; one search at a time. */
export class Retriever {
  readonly #index: ShardIndex;
  readonly #scorer: Scorer;

  /** `hasContext`: what a file is about counts for what stands in it. */
  constructor(index: ShardIndex, hasContext = true) {
    this.#index = index;
    const files = { count: index.fileCount, of: (document: number) => index.fileOf(document) };
    this.#scorer = new Scorer(index, hasContext ? files : nowhere);
  }

  /** Best first. Exact names of the question come before everything else. */
  search(question: Question, options: SearchOptions): Hit[] {
    const weighing = options.weighing ?? weigh([this.#index], question);
    const exact = this.#exactSymbols(question, weighing);
    const isWanted = this.#filterBy(options.isWanted);
    const found = [...this.#scorer.read(question, weighing), ...exact.keys()].filter(isWanted);
    const limit = Math.min(options.limit, hitsMax);
    const also = (options.also ?? []).filter(isWanted);
    const hits = this.#best(question, found, exact, limit, also);
    this.#scorer.forget();
    return hits;
  }

  #filterBy(isWanted: SearchOptions['isWanted']): (document: number) => boolean {
    if (isWanted === undefined) return () => true;
    const known = new Map<number, boolean>();
    return (document) => {
      const file = this.#index.fileOf(document);
      const is = known.get(file) ?? isWanted(this.#index.file(file).path);
      known.set(file, is);
      return is;
    };
  }

  #match(document: number, exact: ReadonlyMap<number, number>): NamedMatch {
    return { ...this.#scorer.match(document), exact: exact.get(document) ?? 0 };
  }

  /** Symbols that the question names, with how much of the question their name is. */
  #exactSymbols(question: Question, weighing: Weighing): Map<number, number> {
    const shares = namedShares(question, weighing);
    const found = new Map<number, number>();
    for (const [name, share] of shares)
      for (const symbol of this.#index.symbolsNamed(name)) found.set(symbol, share);
    return found;
  }

  #best(
    question: Question,
    found: readonly number[],
    exact: ReadonlyMap<number, number>,
    limit: number,
    also: readonly number[],
  ): Hit[] {
    const ranked = new Ranking<RankedMatch>(limit);
    const pathShare = question.paths.length > 0 ? onPathBonus : 0;
    const isAsideWanted = wantsAsides(question);
    const rated = (document: number, match: NamedMatch, plain: number): RankedMatch => {
      const { path } = this.#index.file(this.#index.fileOf(document));
      const bonus = question.paths.some((named) => isPathOf(path, named)) ? onPathBonus : 0;
      const prior = priorOf(this.#index, document, isAsideWanted);
      return {
        ...{ ...match, document, prior },
        ...{ standing: prior * plain, score: prior * (plain + bonus) },
      };
    };
    for (const document of found) {
      // Rows are read only for documents that may still enter the ranking; most do not, so no match is made of them.
      const plain = this.#scorer.plain(document, contextWeight) + (exact.get(document) ?? 0);
      if (!ranked.admits(plain + pathShare)) continue;
      ranked.offer(rated(document, this.#match(document, exact), plain));
    }
    const best = ranked.best();
    const known = new Set(best.map(({ document }) => document));
    for (const document of also) {
      if (known.has(document)) continue;
      const match = this.#match(document, exact);
      best.push(rated(document, match, plainScore(match)));
    }
    return best.map((each) => ({
      ...settled(each, each.prior),
      symbol: each.document < this.#index.symbolCount ? each.document : undefined,
      file: this.#index.fileOf(each.document),
    }));
  }
}

/** Of each identifier of the question: the share of the question's mass that it is. */
export function namedShares(question: Question, { masses, total }: Weighing): Map<string, number> {
  const shares = new Map<string, number>();
  question.concepts.forEach(({ word, isName }, at) => {
    if (isName && total > 0) shares.set(word, (masses[at] ?? 0) / total);
  });
  for (const name of question.identifiers) if (!shares.has(name)) shares.set(name, 0.5);
  return shares;
}

/** `mm/cma.c` is named by `mm/cma.c`, `cma.c` and `mm`. */
export function isPathOf(path: string, named: string): boolean {
  return (
    path === named || path.endsWith(`/${named}`) || path.startsWith(`${named.replace(/\/$/, '')}/`)
  );
}

export interface NamedMatch extends Match {
  /** Share of the question's mass that is this very thing's name. */
  exact: number;
}

interface RankedMatch extends NamedMatch {
  document: number;
  score: number;
  prior: number;
  standing: number;
}

/** One that stands alone in covering the question is better than one that repeats a word of it. */
export function plainScore(match: NamedMatch): number {
  return together(match.attained, match.coverage) + match.exact + contextWeight * match.context;
}

/** Coverage is reduced by the prior of its place, except for hits that the question names. */
export function settled<Any extends NamedMatch>(match: Any, prior: number): Any {
  return match.exact > 0 ? match : { ...match, coverage: match.coverage * prior };
}
