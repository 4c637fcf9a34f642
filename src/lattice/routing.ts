import { isPathOf } from '../pgc/search/retrieve.js';
import type { Question } from '../pgc/search/question/question.js';
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

/** A word that more shards have a folder or a file for is at home in none of them. */
const placeHoldersMax = 3;
/** And this share of the documents that have it must be there. */
const placeShare = 0.6;
/** A word of which more of all documents speak is an everyday one. */
const rareShare = 2e-4;
/** Numbers of a question that are looked for among them. */
const numbersMax = 16;

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
    readonly wordsOf: (text: string) => string[],
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
    const places = this.#places(question);
    const holders = new Map(question.identifiers.map((name) => [name, this.#holders(name)]));
    return this.cards
      .map((card, at) => this.#score({ question, having, homes, holders, places }, card, at))
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

  /** Words of the question that a few shards have a folder or a file for, by the position of the card. */
  #places({ text, concepts }: Question): ReadonlyMap<number, string[]> {
    const found = new Map<number, string[]>();
    const said = concepts.filter(
      ({ weight, role, isName }) => weight >= 1 && role !== 'act' && !isName,
    );
    // What models and chips are called is often a number, which no index holds as a word.
    const numbers = text.match(/\b\d{3,8}\b/g)?.slice(0, numbersMax) ?? [];
    const words = new Set([...said.map(({ word }) => word.toLowerCase()), ...numbers]);
    for (const word of words) {
      const having = this.names.placesOf(word);
      if (having.length > placeHoldersMax || !this.#isOf(word, having)) continue;
      for (const at of having) found.set(at, [...(found.get(at) ?? []), word]);
    }
    return found;
  }

  /** Whether a word is spoken of there and hardly elsewhere: `light` names a file, and is said of everything. */
  #isOf(word: string, places: readonly number[]): boolean {
    const [term = word] = this.wordsOf(word);
    const documents = this.names.documentsWith(term);
    const all = sumOf(documents);
    if (all === 0) return /\d/.test(word);
    if (all > rareShare * this.#meanDocuments * this.cards.length) return false;
    return sumOf(places.map((at) => documents[at] ?? 0)) >= placeShare * all;
  }

  #score({ question, having: all, homes, holders, places }: Asked, card: Card, at: number): Ranked {
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
    const athome = question.concepts.filter((_, concept) => homes[concept] === at);
    const words = [...new Set([...athome.map((each) => each.word), ...(places.get(at) ?? [])])];
    return {
      agent: card.agent,
      score:
        (total === 0 ? 0 : belief / total) +
        wordEvidence * words.length +
        identifierEvidence * names.length +
        pathEvidence * paths.length,
      evidence: [...names, ...paths],
      words,
    };
  }
}

/** A question, and what the cards say of its parts. */
interface Asked {
  question: Question;
  having: readonly (readonly number[])[];
  homes: readonly number[];
  holders: ReadonlyMap<string, ReadonlySet<number>>;
  places: ReadonlyMap<number, string[]>;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** A scope names folders or files; a path in a question may be the tail of the real one. */
function covers(scope: string, path: string): boolean {
  return isPathOf(path, scope) || isPathOf(scope, path);
}
