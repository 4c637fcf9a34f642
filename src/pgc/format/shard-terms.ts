import { StringColumn } from './bytes.js';
import { bodyTermsOf, eachIdentifier, wordsOf } from './words.js';

/**
 * The index terms of one shard in the making, numbered in the order they came. All that is written of a shard shares
 * them: a name is cut into its terms, and a term is looked up, once and not for each file that is written.
 */
export class ShardTerms {
  readonly #terms = new StringColumn();
  /** By text: names, containers and paths; most come again and again. */
  readonly #names = new Map<string, readonly number[]>();
  readonly #prose = new Map<string, readonly number[]>();

  get size(): number {
    return this.#terms.size;
  }

  /** In the order of their numbers. */
  all(): string[] {
    return this.#terms.all();
  }

  id(term: string): number {
    return this.#terms.id(term);
  }

  ids(terms: readonly string[]): number[] {
    return terms.map((term) => this.#terms.id(term));
  }

  /** `wordsOf` it, each once. */
  ofName(text: string): readonly number[] {
    let known = this.#names.get(text);
    if (known === undefined) this.#names.set(text, (known = this.ids(wordsOf(text))));
    return known;
  }

  /** Every occurrence, without the words that stand in every sentence and every signature. */
  eachOfProse(text: string, visit: (term: number) => void): void {
    eachIdentifier(text, 0, text.length, (identifier) => {
      let known = this.#prose.get(identifier);
      if (known === undefined)
        this.#prose.set(identifier, (known = this.ids(bodyTermsOf(identifier))));
      for (const term of known) visit(term);
    });
  }
}
