import { isPathOf } from '../pgc/retrieve.js';
import type { Question } from '../pgc/question.js';
import type { Card } from '../pgc/shapes.js';

/** Shards that are asked in order to find out where a question enters. */
export const probesDefault = 3;
export const probesMax = 5;

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

export interface Ranked {
  agent: string;
  score: number;
  /** Names and paths of the question that this shard surely holds; empty when only words speak for it. */
  evidence: string[];
}

/** Cards by how likely their shard answers, prepared once per set of cards. */
export class Router {
  readonly #terms: Map<string, number>[];
  readonly #defines: Set<string>[];
  readonly #scopeWords: Set<string>[];
  readonly #meanDocuments: number;

  constructor(
    readonly cards: readonly Card[],
    wordsOf: (text: string) => string[],
  ) {
    this.#terms = cards.map(
      (card) => new Map(card.terms.map((each) => [each.term, each.documents])),
    );
    this.#defines = cards.map((card) => new Set(card.defines));
    this.#scopeWords = cards.map((card) => new Set(wordsOf([card.alias, ...card.scope].join(' '))));
    const documents = cards.reduce((sum, card) => sum + card.documents, 0);
    this.#meanDocuments = Math.max(1, documents / Math.max(1, cards.length));
  }

  /** Best first; ties in the order of the agents' names. */
  rank(question: Question): Ranked[] {
    const spread = question.concepts.map((concept) =>
      this.#terms.reduce(
        (sum, terms) => sum + (concept.variants.some((each) => terms.has(each.term)) ? 1 : 0),
        0,
      ),
    );
    return this.cards
      .map((card, at) => this.#score(question, spread, card, at))
      .sort((one, other) => other.score - one.score || (one.agent < other.agent ? -1 : 1));
  }

  #score(question: Question, spread: number[], card: Card, at: number): Ranked {
    let belief = 0;
    let total = 0;
    question.concepts.forEach((concept, position) => {
      const rarity =
        Math.log((this.cards.length + 0.5) / Math.max(0.5, spread[position] ?? 0)) /
        Math.log(this.cards.length + 1);
      let having = 0;
      let inScope = 0;
      for (const { term, trust } of concept.variants) {
        having += trust * (this.#terms[at]?.get(term) ?? 0);
        if (this.#scopeWords[at]?.has(term) === true) inScope = Math.max(inScope, trust);
      }
      const size = card.documents / this.#meanDocuments;
      const presence = having / (having + halfway + sizePenalty * size);
      belief +=
        concept.weight *
        (presence * (defaultBelief + (1 - defaultBelief) * rarity) + scopeEvidence * inScope);
      total += concept.weight;
    });
    const names = question.identifiers.filter((name) => this.#defines[at]?.has(name) === true);
    const paths = question.paths.filter((path) => card.scope.some((scope) => covers(scope, path)));
    return {
      agent: card.agent,
      score:
        (total === 0 ? 0 : belief / total) +
        identifierEvidence * names.length +
        pathEvidence * paths.length,
      evidence: [...names, ...paths],
    };
  }
}

/** A scope names folders or files; a path in a question may be the tail of the real one. */
function covers(scope: string, path: string): boolean {
  return isPathOf(path, scope) || isPathOf(scope, path);
}
