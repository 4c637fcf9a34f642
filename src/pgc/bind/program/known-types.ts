import type { TypeText } from '../../format/expression.js';
import type { Definition } from './definition.js';
import type { SourceText } from './source-text.js';
import type { Context, Type } from './values.js';

/** Places of which types are kept. */
const placesMax = 1_000_000;

type ByOwner = Map<Definition | undefined, Type | undefined>;

/**
 * What types mean where they are written. In a language with namespaces each is asked of all that is around it, and what a
 * call means asks for those of many functions.
 */
export class KnownTypes {
  #types = new WeakMap<TypeText, Map<SourceText, ByOwner>>();
  #places = 0;

  constructor(readonly isKept: boolean) {}

  /** Undefined: what it means there depends on more than the place. */
  of(text: TypeText, { file, bindings, isHeader }: Context): ByOwner | undefined {
    if (!this.isKept || bindings.size > 0 || isHeader === true) return undefined;
    if (this.#places >= placesMax) {
      this.#types = new WeakMap();
      this.#places = 0;
    }
    let byFile = this.#types.get(text);
    if (byFile === undefined) this.#types.set(text, (byFile = new Map()));
    let known = byFile.get(file);
    if (known === undefined) {
      byFile.set(file, (known = new Map()));
      this.#places += 1;
    }
    return known;
  }
}
