import type { Definitions } from './definitions.js';
import { joined } from './alternatives.js';
import { typesIn, type Definition } from './definition.js';
import { inside, type Evaluation, type Owner, type Type, type Value } from './values.js';

/** By what a definition without a type as written says what it is. */
type SaidRole = 'assigned' | 'returned' | 'value';

/** What is being found out of a definition. */
interface Asked {
  definition: Definition;
  what: string;
  self: Type | undefined;
}

/** What expressions say of a definition that has no type as written. */
export class Said {
  readonly #definitions: Definitions;
  readonly #evaluation: Evaluation;
  /** Each asked by the one before it. */
  readonly #asked: Asked[] = [];

  constructor(definitions: Definitions, evaluation: Evaluation) {
    this.#definitions = definitions;
    this.#evaluation = evaluation;
  }

  /** What several expressions say; of a language whose types are known, the first that says something. */
  by(definition: Definition, role: SaidRole, wanted: string, own: Owner): Value | undefined {
    if (this.#definitions.rules.isDynamic !== true)
      return this.first(definition, role, wanted, {
        self: own.self,
        receiver: role === 'assigned' ? undefined : own.receiver,
      });
    const context = inside(definition, own);
    const values = typesIn(definition, role).filter(({ name }) => name === wanted);
    return this.#unlessAsked(definition, `${role} ${wanted}`, own, () =>
      joined(
        values.map(({ text }) =>
          this.#evaluation.bounded(() => this.#evaluation.evaluate(text, context)),
        ),
      ),
    );
  }

  /** The first of several expressions that says something. */
  first(definition: Definition, role: SaidRole, wanted: string, own: Owner): Value | undefined {
    const context = inside(definition, own);
    return this.#unlessAsked(definition, `${role} ${wanted}`, own, () => {
      for (const { name, text } of typesIn(definition, role)) {
        const found =
          name === wanted
            ? this.#evaluation.bounded(() => this.#evaluation.evaluate(text, context))
            : undefined;
        if (found !== undefined) return found;
      }
      return undefined;
    });
  }

  /** What says what it is by itself, as functions do that call each other, says nothing: else each return doubles the work. */
  #unlessAsked(
    definition: Definition,
    what: string,
    { self }: Owner,
    work: () => Value | undefined,
  ): Value | undefined {
    const isAsked = this.#asked.some(
      (each) =>
        each.definition === definition &&
        each.what === what &&
        definitionIn(each.self) === definitionIn(self),
    );
    if (isAsked) return undefined;
    this.#asked.push({ definition, what, self });
    try {
      return work();
    } finally {
      this.#asked.pop();
    }
  }
}

function definitionIn(type: Type | undefined): Definition | undefined {
  return type?.kind === 'inside' ? type.definition : undefined;
}
