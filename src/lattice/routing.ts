import { isPathOf } from '../pgc/retrieve.js';
import type { Question } from '../pgc/question.js';
import type { Card } from '../pgc/shapes.js';
import { CardNames } from './card-names.js';

/** Shards that are asked in order to find out where a question enters. */
export const probesDefault = 3;

/**
 * CORI's constants: J. Callan, "Distributed Information Retrieval", 2000. A collection's belief in a term
 * is b + (1 - b) · T · I, with T = df / (df + 50 + 150 · size / mean size) and I the inverse number of
 * collections that have the term.
 */
const defaultBelief = 0.4;
const halfway = 50;
const sizePenalty = 150;
const identifierEvidence = 2;
const pathEvidence = 1.5;
const scopeEvidence = 0.35;
const wordEvidence = 0.35;
/** A word is at home where this share of the documents that have it are, if they are enough to tell. */
const homeShare = 0.9;
const homeDocumentsMin = 20;

export interface Ranked {
  agent: string;
  score: number;
  /** Names and paths of the question that this shard surely holds; empty when only words speak for it. */
  evidence: string[];
  /** Words of the question that are at home in this shard and nearly nowhere else. */
  words: string[];
}

/** Cards by how likely their shard answers, prepared once per set of cards. */
export class Router {
  readonly #scopeWords: Set<string>[];
  readonly #meanDocuments: number;

  constructor(
    readonly cards: readonly Card[],
    wordsOf: (text: string) => string[],
    readonly names = new CardNames(cards),
  ) {
    this.#scopeWords = cards.map((card) => new Set(wordsOf([card.alias, ...card.scope].join(' '))));
    const documents = cards.reduce((sum, card) => sum + card.documents, 0);
    this.#meanDocuments = Math.max(1, documents / Math.max(1, cards.length));
  }

  /** Best first; ties in the order of the agents' names. */
  rank(question: Question): Ranked[] {
    // By concept and card: documents that have it, as far as its variants are to be trusted.
    const having = question.concepts.map(({ variants }) => {
      const found = variants.map(({ term, trust }) =>
        this.names.documentsWith(term).map((documents) => trust * documents),
      );
      return this.cards.map((_, at) => sumOf(found.map((each) => each[at] ?? 0)));
    });
    const homes = question.concepts.map((concept, at) => this.#home(concept, having[at] ?? []));
    const holders = new Map(question.identifiers.map((name) => [name, this.#holders(name)]));
    return this.cards
      .map((card, at) => this.#score({ question, having, homes, holders }, card, at))
      .sort((one, other) => other.score - one.score || (one.agent < other.agent ? -1 : 1));
  }

  /** The only card whose shard a word belongs to, by position; -1: it belongs to several, or to nobody. */
  #home({ isName, weight }: Question['concepts'][number], having: readonly number[]): number {
    if (isName || weight < 1) return -1;
    const density = having.map((each, at) => each / Math.max(1, this.cards[at]?.documents ?? 0));
    const [total, dense] = [sumOf(having), sumOf(density)];
    if (total < homeDocumentsMin) return -1;
    return having.findIndex(
      (each, at) => each >= homeShare * total && (density[at] ?? 0) >= homeShare * dense,
    );
  }

  /** Positions of the cards that define a name; who only has a stand-in does not, as long as another one does. */
  #holders(name: string): ReadonlySet<number> {
    const { real, standIns } = this.names.holdersOf(name);
    return new Set(real.length > 0 ? real : standIns);
  }

  #score({ question, having: all, homes, holders }: Asked, card: Card, at: number): Ranked {
    let belief = 0;
    let total = 0;
    question.concepts.forEach((concept, position) => {
      const spread = (all[position] ?? []).filter((each) => each > 0).length;
      const rarity =
        Math.log((this.cards.length + 0.5) / Math.max(0.5, spread)) /
        Math.log(this.cards.length + 1);
      const having = all[position]?.[at] ?? 0;
      let inScope = 0;
      for (const { term, trust } of concept.variants) {
        if (this.#scopeWords[at]?.has(term) === true) inScope = Math.max(inScope, trust);
      }
      const size = card.documents / this.#meanDocuments;
      const presence = having / (having + halfway + sizePenalty * size);
      belief +=
        concept.weight *
        (presence * (defaultBelief + (1 - defaultBelief) * rarity) + scopeEvidence * inScope);
      total += concept.weight;
    });
    const names = question.identifiers.filter((name) => holders.get(name)?.has(at) === true);
    const paths = question.paths.filter((path) => card.scope.some((scope) => covers(scope, path)));
    const words = question.concepts.filter((_, concept) => homes[concept] === at);
    return {
      agent: card.agent,
      score:
        (total === 0 ? 0 : belief / total) +
        wordEvidence * words.length +
        identifierEvidence * names.length +
        pathEvidence * paths.length,
      evidence: [...names, ...paths],
      words: words.map((each) => each.word),
    };
  }
}

/** A question, and what the cards say of its parts. */
interface Asked {
  question: Question;
  having: readonly (readonly number[])[];
  homes: readonly number[];
  holders: ReadonlyMap<string, ReadonlySet<number>>;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** A scope names folders or files; a path in a question may be the tail of the real one. */
function covers(scope: string, path: string): boolean {
  return isPathOf(path, scope) || isPathOf(scope, path);
}
