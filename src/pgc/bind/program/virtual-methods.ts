import { derivedTypes } from './adopt.js';
import type { Definitions } from './definitions.js';
import { hasMark, type Definition } from './definition.js';
import type { Evaluator } from './evaluator.js';
import { basesOf, note, type Implementations } from './implementations.js';
import { isAlike } from './alike.js';
import { isFunction } from './values.js';

/** The methods that run in place of virtual ones: those of types based on theirs that take the same. */
export function virtualImplementations(
  definitions: Definitions,
  evaluator: Evaluator,
): Implementations {
  const found = new Map<Definition, Definition[]>();
  const virtual = new VirtualMethods(definitions, evaluator);
  for (const type of derivedTypes(definitions, evaluator)) {
    if (type.kind === 'module') continue;
    const own = definitions.methodsOf(type);
    for (const base of basesOf(type, evaluator)) {
      if (type.symbol >= 0) note(found, base, type);
      for (const [name, methods] of own) {
        const replaced = definitions.methodsOf(base).get(name);
        if (replaced === undefined || name === type.name) continue;
        for (const its of replaced.filter((each) => virtual.has(base, each)))
          for (const method of withBodies(methods))
            if (method !== its && areSame(method, its)) note(found, its, method);
      }
    }
  }
  return found;
}

/** What is only declared, where nothing is defined. */
function withBodies(methods: readonly Definition[]): readonly Definition[] {
  const functions = methods.filter((each) => isFunction(each) && !each.isAbstract);
  const whole = functions.filter(({ isDeclaration }) => !isDeclaration);
  return whole.length > 0 ? whole : functions;
}

function areSame(method: Definition, other: Definition): boolean {
  return hasMark(method, 'const') === hasMark(other, 'const') && isAlike(method, other);
}

/** Only the first of them says that it is one, and a definition outside of its type never does. */
class VirtualMethods {
  readonly #known = new Map<Definition, boolean>();

  constructor(
    readonly definitions: Definitions,
    readonly evaluator: Evaluator,
  ) {}

  has(type: Definition, method: Definition): boolean {
    if (!isFunction(method)) return false;
    const known = this.#known.get(method);
    if (known !== undefined) return known;
    const found = [type, ...basesOf(type, this.evaluator)].some((each) =>
      this.definitions
        .methodsOf(each)
        .get(method.key)
        ?.some((its) => isFunction(its) && isMarked(its) && areSame(method, its)),
    );
    this.#known.set(method, found);
    return found;
  }
}

function isMarked(method: Definition): boolean {
  return hasMark(method, 'virtual') || hasMark(method, 'pure');
}
