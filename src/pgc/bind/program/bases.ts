import type { Definitions } from './definitions.js';
import { typesIn, type Definition } from './definition.js';
import { isAlike } from './alike.js';
import type { Candidate } from './overloads.js';
import {
  isFunction,
  isNamespace,
  valueOf,
  within,
  type Evaluation,
  type InsideType,
  type Type,
  type Value,
} from './values.js';

/** Types in the line of what one is based on. */
const lineMax = 200;

/** What types are based on, and the ways along it. */
export class Bases {
  readonly #definitions: Definitions;
  readonly #evaluation: Evaluation;
  /** Of a namespace: the namespaces that it uses. */
  readonly #usedIn: (type: InsideType) => readonly (Type | undefined)[];
  /** What types are based on by what other texts say. */
  readonly #added = new Map<Definition, Type[]>();
  readonly #bases = new Map<Definition, readonly (Type | undefined)[]>();
  /** The types that are based on one. */
  below: ReadonlyMap<Definition, readonly Definition[]> = new Map();

  constructor(
    definitions: Definitions,
    evaluation: Evaluation,
    usedIn: (type: InsideType) => readonly (Type | undefined)[],
  ) {
    this.#definitions = definitions;
    this.#evaluation = evaluation;
    this.#usedIn = usedIn;
  }

  /** Notes that another text says what a type is based on. */
  add(definition: Definition, base: Type): void {
    const known = this.#added.get(definition);
    if (known === undefined) this.#added.set(definition, [base]);
    else known.push(base);
  }

  hasAdded(definition: Definition): boolean {
    return this.#added.has(definition);
  }

  underlying(type: InsideType): Type | undefined {
    const [written] = typesIn(type.definition, 'is');
    return written && this.#evaluation.resolve(written.type, within(type));
  }

  of(type: InsideType): readonly (Type | undefined)[] {
    const { definition } = type;
    if (this.#definitions.rules.overloads === undefined) return this.#basesIn(type);
    if (isNamespace(definition)) return this.#usedIn(type);
    if (type.args.length > 0) return this.#basesIn(type);
    const known = this.#bases.get(definition);
    if (known !== undefined) return known;
    // Types may be based on each other.
    this.#bases.set(definition, []);
    const found = this.#basesIn(type);
    this.#bases.set(definition, found);
    return found;
  }

  #basesIn(type: InsideType): readonly (Type | undefined)[] {
    const context = { ...within(type), isHeader: true };
    const written = typesIn(type.definition, 'base').map((base) =>
      this.#evaluation.resolve(base.type, context),
    );
    return [...written, ...(this.#added.get(type.definition) ?? [])];
  }

  /** Of itself, else of the nearest type that it is based on; each type is asked once. */
  nearest(
    start: InsideType,
    look: (type: InsideType) => Value | undefined,
    lookElsewhere: (type: Type | undefined) => Value | undefined = () => undefined,
  ): Value | undefined {
    if (this.#definitions.rules.isDynamic === true) return this.#inLine(start, look, lookElsewhere);
    const asked = new Set<Definition>();
    let level: (Type | undefined)[] = [start];
    while (level.length > 0) {
      const next: (Type | undefined)[] = [];
      for (const type of level) {
        if (type?.kind === 'inside' && asked.has(type.definition)) continue;
        if (type?.kind === 'inside') asked.add(type.definition);
        const found = type?.kind === 'inside' ? look(type) : lookElsewhere(type);
        if (found?.kind === 'function' && type !== start) return { ...found, receiver: start };
        if (found !== undefined) return found;
        if (type?.kind === 'inside') next.push(...this.of(type));
      }
      level = next;
    }
    return undefined;
  }

  /** Each type before those that it is based on, these in their order. */
  #inLine(
    start: InsideType,
    look: (type: InsideType) => Value | undefined,
    lookElsewhere: (type: Type | undefined) => Value | undefined,
  ): Value | undefined {
    for (const type of this.#lineOf(start)) {
      const found = type?.kind === 'inside' ? look(type) : lookElsewhere(type);
      if (found?.kind === 'function' && type !== start) return { ...found, receiver: start };
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #lineOf(start: InsideType): (Type | undefined)[] {
    const line: (Type | undefined)[] = [];
    const visit = (type: Type | undefined, above: readonly Definition[]): void => {
      if (line.length >= lineMax) return;
      line.push(type);
      if (type?.kind !== 'inside' || above.includes(type.definition)) return;
      for (const base of this.of(type)) visit(base, [...above, type.definition]);
    };
    visit(start, []);
    const last = new Map(
      line.map((type, at) => [type?.kind === 'inside' ? type.definition : at, at]),
    );
    return line.filter((type, at) => type?.kind !== 'inside' || last.get(type.definition) === at);
  }

  /** The method of an interface that a function stands for. */
  soleMethod(start: InsideType): Candidate | undefined {
    const [sole, ...others] = this.openMethods(start);
    return others.length === 0 ? sole : undefined;
  }

  /** The methods of an interface that no type of its line gives a body; those that every type has count where there are no others. */
  openMethods(start: InsideType): readonly Candidate[] {
    const all: Candidate[] = [];
    for (const self of this.#interfacesOf(start))
      for (const definition of [...this.#definitions.methodsOf(self.definition).values()].flat()) {
        const isOwn = isFunction(definition) && definition.file === self.definition.file;
        const isReplaced = ({ definition: nearer }: Candidate): boolean =>
          nearer.name === definition.name && isAlike(nearer, definition);
        if (isOwn && !all.some(isReplaced)) all.push({ definition, self });
      }
    const open = all.filter(({ definition }) => definition.isAbstract);
    const { overloads, standard } = this.#definitions.rules;
    const isOfAll = ({ definition: { name } }: Candidate): boolean =>
      standard?.gives?.(overloads?.everything ?? '', name) !== undefined;
    const own = open.filter((each) => !isOfAll(each));
    return own.length > 0 ? own : open;
  }

  /** All that it is based on is of the program. */
  isWhole(start: InsideType): boolean {
    return this.#interfacesOf(start).every((each) =>
      this.of(each).every((base) => base?.kind === 'inside'),
    );
  }

  /** Itself, and what it is based on, the nearest first. */
  #interfacesOf(start: InsideType): InsideType[] {
    const found = [start];
    for (const each of found)
      for (const base of this.of(each)) {
        const isNew =
          base?.kind === 'inside' && !found.some((it) => it.definition === base.definition);
        if (isNew && found.length < lineMax) found.push(base);
      }
    return found;
  }

  /** What a type is based on: where there are several, the first that has a member. */
  superOf(type: InsideType): Value | undefined {
    const bases = this.of(type);
    if (bases.length < 2 || this.#definitions.rules.isDynamic !== true) return valueOf(bases[0]);
    const args = bases.map((each) => ({ label: '', type: each }));
    return { kind: 'value', type: { kind: 'language', name: '$first', args } };
  }
}
