import { StringColumn } from './bytes.js';
import { IdentifierTable, newBodyTermsOf, wordsOf } from './words.js';

/**
 * The index terms of one shard while it is written, numbered in order of arrival. All files of the shard share them,
 * so each name is split, and each term looked up, only once.
 */
export class ShardTerms {
  readonly #terms = new StringColumn();
  readonly #texts: string[] = [];
  /** By text: names, containers and paths, most of which repeat. */
  readonly #names = new Map<string, readonly number[]>();
  readonly #prose = new IdentifierTable((identifier) => this.ids(newBodyTermsOf(identifier)));

  get size(): number {
    return this.#terms.size;
  }

  /** In order of their numbers. */
  all(): string[] {
    return this.#terms.all();
  }

  id(term: string): number {
    const id = this.#terms.id(term);
    if (id === this.#texts.length) this.#texts.push(term);
    return id;
  }

  text(id: number): string {
    return this.#texts[id] ?? '';
  }

  ids(terms: readonly string[]): number[] {
    return terms.map((term) => this.id(term));
  }

  /** The term ids of `wordsOf(text)`, each once. */
  ofName(text: string): readonly number[] {
    let known = this.#names.get(text);
    if (known === undefined) this.#names.set(text, (known = this.ids(wordsOf(text))));
    return known;
  }

  /** Visits every occurrence of a term, except words that are in every sentence or signature. */
  eachOfProse(text: string, visit: (term: number) => void): void {
    this.#prose.each(text, 0, text.length, (terms) => {
      for (const term of terms) visit(term);
    });
  }
}
