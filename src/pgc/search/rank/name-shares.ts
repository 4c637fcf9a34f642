import { identifiersOf, wordsOf } from '../../format/words.js';
import type { Question } from '../question/question.js';

/** How much of a name a question says: `retry_queue.go` is half of what is asked about a queue, and hardly of one about a file. */
export class NameShares {
  /** By term of the question: how far it stands for what is asked. */
  readonly #trusts = new Map<string, number>();
  readonly #known = new Map<string, number>();

  constructor({ concepts }: Question) {
    for (const { variants, weight } of concepts)
      for (const { term, trust } of variants) {
        const known = this.#trusts.get(term) ?? 0;
        this.#trusts.set(term, Math.max(known, trust * Math.min(1, weight)));
      }
  }

  /** The share of its parts, 0 to 1. */
  of(name: string): number {
    let share = this.#known.get(name);
    if (share === undefined) this.#known.set(name, (share = this.#shareOf(name)));
    return share;
  }

  #shareOf(name: string): number {
    const terms = new Set(identifiersOf(name).flatMap(partsIn));
    let said = 0;
    for (const term of terms) said += this.#trusts.get(term) ?? 0;
    return said / Math.max(1, terms.size);
  }
}

/** Without the compound, which no sentence says. */
function partsIn(identifier: string): string[] {
  const words = wordsOf(identifier);
  return words.length > 1 ? words.slice(1) : words;
}
