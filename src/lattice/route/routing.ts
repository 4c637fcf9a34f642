import { isPathOf } from '../../pgc/search/retrieve.js';
import type { Question } from '../../pgc/search/question/question.js';
import type { Card } from '../../pgc/shapes.js';
import { CardNames } from '../topology/card-names.js';

/** Shards that are asked for each question; where they are small, as many more as have no more documents than so many usual ones. */
export const probesDefault = 12;
const usualDocuments = 25_000;
/** Of small shards. */
const probesMax = 64;

/**
 * CORI's belief of a collection in a term: J. Callan, "Distributed Information Retrieval", 2000. It is b + (1 - b) · T · I, with
 * T = df / (df + a + c · size / mean size) and I the inverse number of collections that have the term. His a of 50 and c of 150 are
 * for collections of some 25 000 documents: in smaller ones a few documents are as much.
 */
const defaultBelief = 0.4;
const halfway = 50 / usualDocuments;
const sizePenalty = 150 / usualDocuments;
const identifierEvidence = 2;
const pathEvidence = 1.5;
const scopeEvidence = 0.35;
const wordEvidence = 0.35;
/** A word belongs to a shard with this share of its documents, if there are enough of them. */
const homeShare = 0.9;
const homeDocumentsMin = 20;

/** A word that is a file or folder name in more shards belongs to none of them. */
const placeHoldersMax = 3;
/** Share of the documents with the word that must be in those shards. */
const placeShare = 0.6;
/** A word in a larger share of all documents is too common. */
const rareShare = 2e-4;
/** Limit of numbers in a question that are looked up as names. */
const numbersMax = 16;

export interface Ranked {
  agent: string;
  score: number;
  /** Names and paths of the question that this shard holds; empty: only words match. */
  evidence: string[];
  /** Words of the question that belong to this shard and hardly occur elsewhere. */
  words: string[];
}

/** Cards by how likely their shard answers, prepared once per set of cards. */
export class Router {
  readonly #scopeWords: Set<string>[];
  readonly #meanDocuments: number;
  readonly #documents: ReadonlyMap<string, number>;

  constructor(
    readonly cards: readonly Card[],
    readonly wordsOf: (text: string) => string[],
    readonly names = new CardNames(cards),
  ) {
    this.#scopeWords = cards.map((card) => new Set(wordsOf([card.alias, ...card.scope].join(' '))));
    const documents = cards.reduce((sum, card) => sum + card.documents, 0);
    this.#documents = new Map(cards.map((card) => [card.agent, card.documents]));
    this.#meanDocuments = Math.max(1, documents / Math.max(1, cards.length));
  }

  /** Best first; ties in the order of the agents' names. */
  rank(question: Question): Ranked[] {
    // By concept and card: documents with it, weighted by the trust in each variant.
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

  /** Those that are asked, best first. */
  probed(question: Question): Ranked[] {
    let documents = 0;
    return this.rank(question).filter(({ agent }, at) => {
      documents += this.#documents.get(agent) ?? 0;
      return at < probesDefault || (at < probesMax && documents <= probesDefault * usualDocuments);
    });
  }

  /** Position of the only card whose shard a word belongs to; -1: several or none. */
  #home({ isName, weight }: Question['concepts'][number], having: readonly number[]): number {
    if (isName || weight < 1) return -1;
    const density = having.map((each, at) => each / Math.max(1, this.cards[at]?.documents ?? 0));
    const [total, dense] = [sumOf(having), sumOf(density)];
    if (total < homeDocumentsMin) return -1;
    return having.findIndex(
      (each, at) => each >= homeShare * total && (density[at] ?? 0) >= homeShare * dense,
    );
  }

  /** Positions of the cards that define a name; those with a stand-in only when no card has a real definition. */
  #holders(name: string): ReadonlySet<number> {
    const { real, standIns } = this.names.holdersOf(name);
    return new Set(real.length > 0 ? real : standIns);
  }

  /** Words of the question that are file or folder names in a few shards, by position of the card. */
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

  /** Whether a word occurs mostly in these shards: `light` may name a file and still be a common word. */
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
      const presence =
        having / (having + halfway * this.#meanDocuments + sizePenalty * card.documents);
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

/** A question with the matches of its parts in the cards. */
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
