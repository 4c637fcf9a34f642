import { type Definitions } from './definitions.js';
import { typesIn, type Definition } from './definition.js';
import type { Evaluator } from './evaluator.js';
import type { Type } from './values.js';

/**
 * Gives types what other texts say of them: methods that are defined outside of the text of their type, and what it is
 * based on.
 */
export function adopt(definitions: Definitions, evaluator: Evaluator): void {
  for (const scope of [...definitions.scopes.values()])
    for (const [container, members] of [...scope.members]) {
      if (scope.names.get(container)?.some(isType) === true) continue;
      const isPlaced = definitions.rules.namespaces === true;
      if (isPlaced && scope.types.has(container)) continue;
      for (const method of [...members.values()].flat()) {
        const type = evaluator.typeIn(container, method.file);
        if (type?.kind !== 'inside') continue;
        definitions.addMember(type.definition, method);
        if (isPlaced) method.inside = type.definition.key;
      }
    }
  for (const text of definitions.texts)
    for (const { role, name, type } of text.types) {
      if (role !== 'base') continue;
      const derived = ofHeld(evaluator.typeIn(name, text));
      const base = ofHeld(evaluator.typeIn(type, text));
      if (derived?.kind === 'inside' && base !== undefined)
        evaluator.addBase(derived.definition, base);
      else if (definitions.rules.localItems === true && base?.kind === 'inside')
        for (const method of definitions.methodsOf(base.definition).keys())
          definitions.noteAbroad(method, base.definition);
    }
}

/** The type of which a function or a type itself has the members. */
function ofHeld(type: Type | undefined): Type | undefined {
  const held = type?.kind === 'language' ? type.held : undefined;
  const [definition] = held?.kind === 'function' ? held.definitions : [];
  if (definition !== undefined) return { kind: 'inside', definition, args: [] };
  return held?.kind === 'type' ? held.type : type;
}

/** Types that something says are based on others. */
export function derivedTypes(definitions: Definitions, evaluator: Evaluator): Definition[] {
  return definitions.all.filter(
    (each) => isType(each) && (typesIn(each, 'base').length > 0 || evaluator.hasAddedBases(each)),
  );
}

function isType({ kind }: Definition): boolean {
  return !/^(?:function|method|variable|constant|macro|module)$/.test(kind);
}
