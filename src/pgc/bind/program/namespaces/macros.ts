import { parseExpression, parseType } from '../../../format/expression.js';
import type { Definitions } from '../definitions.js';
import { typesIn, type Definition } from '../definition.js';
import type { SourceText } from '../source-text.js';
import {
  unbound,
  type Context,
  type Evaluation,
  type FunctionValue,
  type InsideType,
  type Type,
  type Value,
} from '../values.js';

/** Definitions of one macro that a text may mean. */
const variantsMax = 4;
/** Macros that are made of each other. */
const depthMax = 8;

/** What stands where a macro is written; a miner says it of the macro by the names of what is `returned`. */
export class Macros {
  readonly #definitions: Definitions;
  readonly #evaluation: Evaluation;
  readonly #bases = new Map<Definition, readonly InsideType[]>();

  constructor(definitions: Definitions, evaluation: Evaluation) {
    this.#definitions = definitions;
    this.#evaluation = evaluation;
  }

  /** What a text sees under a name. */
  named(name: string, file: SourceText): FunctionValue | undefined {
    const seen = this.#seen(name, file);
    if (seen.length === 0) return undefined;
    return {
      kind: 'function',
      definitions: seen,
      ...(seen.length > variantsMax && { isUnsure: true }),
    };
  }

  #seen(name: string, file: SourceText): readonly Definition[] {
    const { macros, sight } = this.#definitions;
    return (macros.get(name) ?? []).filter((each) => sight.isSeen(each, file));
  }

  /** What a call of a macro comes to, where all of its definitions say the same. */
  valueOf(variants: readonly Definition[], depth = 0): Value | undefined {
    const [first, ...others] = variants;
    if (first === undefined || depth >= depthMax) return undefined;
    const [said, ...more] = saidBy(first, '');
    const isAgreed = others.every((each) => saidBy(each, '')[0] === said);
    if (!isAgreed || more.length > 0) return undefined;
    if (said !== undefined)
      return this.#evaluation.bounded(() => this.#evaluation.evaluate(said, within(first)));
    const [made] = others.length === 0 ? saidBy(first, 'made') : [];
    const { root } = parseExpression(made ?? '');
    return typeof root === 'string'
      ? this.valueOf(this.#seen(root, first.file), depth + 1)
      : undefined;
  }

  /** What the class is based on whose method a macro opens: `TEST_CASE(Fixture, name) { … }`. */
  basesAround(owner: Definition): readonly InsideType[] {
    let bases = this.#bases.get(owner);
    if (bases === undefined) {
      // What is given to the macro is looked up in the same place.
      this.#bases.set(owner, []);
      this.#bases.set(owner, (bases = this.#basesOf(owner)));
    }
    return bases;
  }

  #basesOf(owner: Definition): readonly InsideType[] {
    const variants = this.#seen(owner.name, owner.file);
    const isKnown = this.#definitions.rules.standard?.fixtures?.has(owner.name) === true;
    if (variants.length === 0 && !isKnown) return [];
    const context = { file: owner.file, owner, bindings: unbound };
    const given = typesIn(owner, 'parameter').map(({ type }) =>
      this.#evaluation.resolve(type, context),
    );
    const found = variants.length === 0 ? given.slice(0, 1) : this.#opened(variants, given, 0);
    return found.flatMap((each) => (each?.kind === 'inside' ? [each] : []));
  }

  #opened(
    variants: readonly Definition[],
    given: readonly (Type | undefined)[],
    depth: number,
  ): readonly (Type | undefined)[] {
    if (depth >= depthMax || variants.length > variantsMax) return [];
    return variants.flatMap((macro) => {
      const names = typesIn(macro, 'bound').map(({ name }) => name);
      const bindings = new Map(names.map((name, at) => [name, given[at]]));
      const context = { ...within(macro), bindings };
      const bases = saidBy(macro, 'base').map((text) => {
        const value = this.#evaluation.evaluate(text, context);
        return value?.kind === 'value' ? value.type : undefined;
      });
      const inner = saidBy(macro, 'made').flatMap((text) => {
        const { root, given: its } = parseExpression(text);
        if (typeof root !== 'string') return [];
        const types = (its?.arguments ?? []).map((each) =>
          this.#evaluation.resolve(parseType(each), context),
        );
        return this.#opened(this.#seen(root, macro.file), types, depth + 1);
      });
      return [...bases, ...inner];
    });
  }
}

function within(macro: Definition): Context {
  return { file: macro.file, owner: macro, bindings: unbound };
}

function saidBy(macro: Definition, wanted: string): string[] {
  return typesIn(macro, 'returned').flatMap(({ name, text }) => (name === wanted ? [text] : []));
}
