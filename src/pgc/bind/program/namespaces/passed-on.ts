import type { Definitions } from '../definitions.js';
import { typesIn, type Definition } from '../definition.js';
import type { SourceText } from '../source-text.js';
import {
  foreign,
  isNamespace,
  within,
  type Context,
  type Evaluation,
  type InsideType,
  type Type,
  type Value,
} from '../values.js';

/** What namespaces and types pass on under their own names: `using A::b`, `using namespace A`, `namespace a = b`. */
export class PassedOn {
  readonly #definitions: Definitions;
  readonly #evaluation: Evaluation;

  constructor(definitions: Definitions, evaluation: Evaluation) {
    this.#definitions = definitions;
    this.#evaluation = evaluation;
  }

  /** Namespaces whose names are visible in this one, as a text sees it. */
  usedIn(type: InsideType): readonly (Type | undefined)[] {
    return this.textsOf(type).flatMap((each) =>
      typesIn(each, 'using').map(({ type: used }) => {
        const found = this.#evaluation.resolve(used, { ...within(insideOf(each, type.from)) });
        return found?.kind === 'inside'
          ? insideOf(found.definition, type.from)
          : (found ?? foreign);
      }),
    );
  }

  /** All that opens a namespace, or says the same of everything, as far as a text sees it. */
  textsOf({ definition, from }: InsideType): readonly Definition[] {
    if (!isNamespace(definition)) return [definition];
    const { sight, root } = this.#definitions;
    if (definition === root)
      return from === undefined ? [] : [{ ...root, file: from, types: from.types }];
    const all = this.#definitions.saying(definition);
    return from === undefined ? all : all.filter((each) => sight.isSeen(each, from));
  }

  /** It takes a name from elsewhere. */
  says(type: InsideType, name: string): boolean {
    return this.textsOf(type).some((each) =>
      each.types.some((its) => its.role === 'exported' && its.name === name),
    );
  }

  /** `using A::b`, `namespace a = b`: `ask` asks what holds it. */
  passed(
    definitions: readonly Definition[],
    name: string,
    from: SourceText | undefined,
    ask: (type: Type) => Value | undefined,
  ): Value | undefined {
    for (const definition of definitions)
      for (const each of typesIn(definition, 'exported')) {
        if (each.name !== name) continue;
        const found = this.#evaluation.bounded(() =>
          this.#passedOn(definition, each.text, name, from, ask),
        );
        if (found !== undefined) return found;
      }
    return undefined;
  }

  #passedOn(
    definition: Definition,
    path: string,
    name: string,
    from: SourceText | undefined,
    ask: (type: Type) => Value | undefined,
  ): Value | undefined {
    const plain = path.replace(/<.*$/, '');
    const dot = plain.lastIndexOf('.');
    const context: Context = {
      file: from ?? definition.file,
      owner: definition,
      bindings: new Map(),
    };
    // Another name for a whole namespace or type.
    if (plain.slice(dot + 1) !== name) {
      const whole = this.#evaluation.resolve({ name: plain, args: [] }, context);
      return (
        whole && {
          kind: 'type',
          type: whole.kind === 'inside' ? insideOf(whole.definition, from) : whole,
        }
      );
    }
    const holder = this.#evaluation.resolve(
      { name: plain.slice(0, Math.max(dot, 0)), args: [] },
      context,
    );
    if (holder === undefined) return foreign;
    return ask(holder.kind === 'inside' ? insideOf(holder.definition, from) : holder);
  }
}

export function insideOf(definition: Definition, from: SourceText | undefined): InsideType {
  return {
    ...{ kind: 'inside', definition, args: [] },
    ...(isNamespace(definition) && { from }),
  };
}
