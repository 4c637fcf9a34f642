import type { Question } from './question/question.js';
import type { ShardIndex } from '../format/shard-index.js';
import { Asides, placePrior, wantsAsides } from './prior.js';
import { featuresOf, type Featured } from './rank/features.js';
import { scoreOf } from './rank/weights.js';
import { weigh, type Weighing } from './rank/weighing.js';
import { WordScores, type Match } from './rank/word-scores.js';
import { Ranking } from './ranking.js';
import { hasRole, saidRoleAt } from '../source/role.js';

/** Hits that a search returns at most. */
export const hitsMax = 200;
/** The best by their words, which the ranking looks at. */
const candidatesMax = 300;
/** For a document of a file or folder that the question names. */
export const onPathBonus = 0.3;
/** Asides come behind the code, unless they are asked for. */
const asidePenalty = 0.5;

export interface Hit extends NamedMatch {
  document: number;
  /** Symbol id; undefined for what lies outside all symbols of a file. */
  symbol: number | undefined;
  file: number;
  /** Orders the hits of one search; means nothing by itself. */
  score: number;
  /** What the ranking knows of it (`featureNames`); absent of what a plan has put among the hits. */
  row?: Float32Array;
}

/** Hits below this share of the best one's similarity are not worth a citation. */
export const tellingShare = 0.01;

interface SearchOptions {
  limit: number;
  /** Of all that is searched together; by default of this index alone. */
  weighing?: Weighing;
  /** Of what is searched; none: any. */
  roles?: readonly string[];
}

/** Search over the symbols of one shard; one search at a time. */
export class Retriever {
  readonly #index: ShardIndex;
  readonly #words: WordScores;
  readonly #asides: Asides;

  constructor(index: ShardIndex) {
    this.#index = index;
    const files = {
      count: index.fileCount,
      of: (document: number) => index.fileOf(document),
      members: (file: number) => [...index.symbolsOf(file), index.symbolCount + file],
    };
    this.#words = new WordScores(index, files);
    const { fileCount } = index;
    this.#asides = new Asides(index.info, { fileCount, path: (file) => index.file(file).path });
  }

  /** Best first. */
  search(question: Question, options: SearchOptions): Hit[] {
    const weighing = options.weighing ?? weigh([this.#index], question);
    const exact = this.#exactSymbols(question, weighing);
    const isAsideWanted = wantsAsides(question);
    const hits = this.#featured(question, weighing, exact, options.roles)
      .map(({ document, row }) => ({
        document,
        row,
        score:
          scoreOf(row, question.isBrief) +
          this.#bonus(document, question) -
          (this.#prior(document, isAsideWanted) < 1 ? asidePenalty : 0),
      }))
      .sort((one, other) => other.score - one.score || one.document - other.document)
      .slice(0, Math.min(options.limit, hitsMax))
      .map(({ document, row, score }): Hit => {
        const { attained, context, held } = this.#words.match(document);
        return {
          document,
          file: this.#index.fileOf(document),
          symbol: document < this.#index.symbolCount ? document : undefined,
          attained,
          context,
          held,
          row,
          exact: exact.get(document) ?? 0,
          score,
        };
      });
    this.#words.forget();
    return hits;
  }

  /** The best documents by their words and calls, with what the ranking knows of each. */
  featured(question: Question, weighing: Weighing): Featured[] {
    return this.#featured(question, weighing, this.#exactSymbols(question, weighing));
  }

  #featured(
    question: Question,
    weighing: Weighing,
    exact: ReadonlyMap<number, number>,
    roles: readonly string[] = [],
  ): Featured[] {
    const isIn = this.#filterBy(roles);
    const isAsideWanted = wantsAsides(question);
    const ranked = new Ranking<{ document: number; score: number }>(candidatesMax);
    const offer = (document: number): void => {
      const most = this.#words.attained(document) + (exact.get(document) ?? 0) + onPathBonus;
      if (!ranked.admits(most) || !isIn(document)) return;
      const plain = most - onPathBonus + this.#bonus(document, question);
      const score = plain * this.#prior(document, isAsideWanted);
      if (ranked.admits(score)) ranked.offer({ document, score });
    };
    for (const document of this.#words.read(question, weighing, weighing.lengths)) offer(document);
    for (const document of exact.keys()) offer(document);
    const best = ranked.best().map(({ document }) => document);
    const featured = featuresOf(this.#index, this.#words, question, weighing, best, exact);
    return featured.filter(({ document }) => isIn(document));
  }

  #bonus(document: number, { paths }: Question): number {
    const path = paths.length === 0 ? '' : this.#pathOf(document);
    return paths.some((named) => isPathOf(path, named)) ? onPathBonus : 0;
  }

  #prior(document: number, isAsideWanted: boolean): number {
    const isTest = document < this.#index.symbolCount && this.#index.isTest(document);
    return isTest
      ? placePrior('test', isAsideWanted)
      : this.#asides.prior(this.#index.fileOf(document), isAsideWanted);
  }

  #pathOf(document: number): string {
    return this.#index.file(this.#index.fileOf(document)).path;
  }

  #filterBy(roles: readonly string[]): (document: number) => boolean {
    const index = this.#index;
    /** By file, what is a test in it apart from the rest. */
    const known = new Map<number, boolean>();
    return (document) => {
      if (roles.length === 0) return true;
      const file = index.fileOf(document);
      const isTest = document < index.symbolCount && index.isTest(document);
      const part = 2 * file + (isTest ? 1 : 0);
      const is =
        known.get(part) ??
        hasRole({ role: saidRoleAt(index, file, isTest ? document : -1) }, roles);
      known.set(part, is);
      return is;
    };
  }

  /** Symbols that the question names, with how much of the question their name is. */
  #exactSymbols(question: Question, weighing: Weighing): Map<number, number> {
    const shares = namedShares(question, weighing);
    const found = new Map<number, number>();
    for (const [name, share] of shares)
      for (const symbol of this.#index.symbolsNamed(name)) found.set(symbol, share);
    return found;
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
