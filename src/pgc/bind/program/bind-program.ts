import type { CallBinding } from '../../format/bound-calls.js';
import { parseExpression } from '../../format/expression.js';
import type { CallRow, ShardIndex } from '../../format/shard-index.js';
import { adopt } from './adopt.js';
import { alternativesOf } from './alternatives.js';
import { Definitions } from './definitions.js';
import { typesIn, type Definition } from './definition.js';
import { Evaluator } from './evaluator.js';
import {
  declaredImplementations,
  structuralImplementations,
  type Implementations,
} from './implementations.js';
import type { LanguageRules } from './rules.js';
import { virtualImplementations } from './virtual-methods.js';
import type { SourceText } from './source-text.js';
import { isFunction, isType, isValue, isVariable, type Value } from './values.js';

/** What one call site is bound to. */
export interface BoundCall {
  shard: number;
  call: number;
  binding: CallBinding;
  targets: readonly Definition[];
}

export interface BoundProgram {
  calls: Iterable<BoundCall>;
  implementations: Implementations;
}

/** Binds every call in the files of one language, over all shards. */
export function bindProgram(shards: readonly ShardIndex[], rules: LanguageRules): BoundProgram {
  const binder = new ProgramBinder(shards, rules);
  return { calls: binder.calls(), implementations: binder.implementations };
}

/** All that is known of the program of one language, to bind its sites with. */
export class ProgramBinder {
  readonly definitions: Definitions;
  readonly implementations: Implementations;
  readonly #evaluator: Evaluator;

  constructor(shards: readonly ShardIndex[], rules: LanguageRules) {
    this.definitions = new Definitions(shards, rules);
    this.#evaluator = new Evaluator(this.definitions);
    adopt(this.definitions, this.#evaluator);
    this.implementations = implementationsOf(this.definitions, this.#evaluator);
    this.#evaluator.noteBelow(this.implementations);
  }

  /** Of all sites, or of some. */
  calls(isWanted?: (shard: number, site: CallRow) => boolean): Iterable<BoundCall> {
    const { definitions, implementations } = this;
    const binder = { definitions, implementations, evaluator: this.#evaluator };
    return boundCalls(definitions.shards, binder, isWanted);
  }
}

function implementationsOf(definitions: Definitions, evaluator: Evaluator): Implementations {
  if (definitions.rules.namespaces === true) return virtualImplementations(definitions, evaluator);
  return definitions.rules.isStructural
    ? structuralImplementations(definitions, evaluator)
    : declaredImplementations(definitions, evaluator);
}

function* boundCalls(
  shards: readonly ShardIndex[],
  binder: Binder,
  isWanted?: (shard: number, site: CallRow) => boolean,
): Generator<BoundCall> {
  const { definitions } = binder;
  const textsOf = shards.map((): (typeof definitions.texts)[number][] => []);
  for (const text of definitions.texts) if (!text.isBare) textsOf[text.shard]?.push(text);
  const symbolOf = new Map(
    definitions.all.flatMap((each) =>
      each.symbol < 0 ? [] : [[`${each.shard} ${each.symbol}`, each]],
    ),
  );
  for (const [shard, index] of shards.entries()) {
    const known = new Map<string, Omit<BoundCall, 'shard' | 'call'>>();
    for (const [text, site] of sitesIn(index, textsOf[shard] ?? [])) {
      const { id, file, caller, kind } = site;
      if (isWanted?.(shard, site) === false) continue;
      const expression = index.expressionOf(id);
      const owner = symbolOf.get(`${shard} ${caller}`);
      const isMade = owner !== undefined && definitions.macros.has(owner.name);
      const scope = isMade || isOfItsOwn(owner, definitions) ? caller : -1;
      const key = `${file} ${scope} ${owner?.container} ${owner?.inside} ${kind} ${expression}`;
      let bound = known.get(key);
      if (bound === undefined)
        known.set(key, (bound = boundTo(binder, expression, text, owner, kind)));
      yield { shard, call: id, ...bound };
    }
  }
}

function* sitesIn<Text extends { file: number }>(
  index: ShardIndex,
  texts: readonly Text[],
): Generator<[text: Text, site: CallRow]> {
  for (const text of texts)
    for (const [first, end] of index.siteSpans(text.file))
      for (let site = first; site < end; site += 1) yield [text, index.site(site)];
}

/** Names mean something else in it than around it. */
function isOfItsOwn(owner: Definition | undefined, { rules, scopes }: Definitions): boolean {
  if (owner === undefined) return false;
  const isAround =
    rules.localItems === true && scopes.get(owner.file.scope)?.members.has(owner.name) === true;
  return isAround || owner.types.some(({ role, name }) => ownRoles.has(role) || name === 'const');
}

const ownRoles = new Set<string>(['bound', 'using', 'exported']);

interface Binder {
  definitions: Definitions;
  evaluator: Evaluator;
  implementations: Implementations;
}

function boundTo(
  { definitions, evaluator, implementations }: Binder,
  expression: string,
  text: SourceText,
  owner: Definition | undefined,
  kind: string,
): Omit<BoundCall, 'shard' | 'call'> {
  if (expression === '') return { binding: 'possible', targets: [] };
  const isUse = kind === 'value' || kind === 'type';
  const value = isUse
    ? evaluator.definitionsOf(expression, text, owner)
    : evaluator.evaluate(expression, text, owner);
  // There a type that is constructed is called as such.
  const how = definitions.rules.typesAreCalled === true && !isUse ? 'direct' : kind;
  const all = definitions.rules.isDynamic === true ? alternativesOf(value) : [value];
  const own = all.flatMap((each) =>
    isUse ? usedIn(each, kind) : targetsOf({ definitions, evaluator }, each, how),
  );
  const isThrough =
    definitions.rules.isDynamic === true &&
    !isUse &&
    !all.every((each) => isNamedIn(each, expression));
  const through = isThrough ? usedOnTheWay(evaluator.definitionsOf(expression, text, owner)) : [];
  const targets = [...new Set([...own, ...through])];
  // A module is no definition.
  const binding =
    isUse && value?.kind === 'scope'
      ? 'value'
      : surest([
          ...all.map((each) => bindingOf(each, how, definitions.rules)),
          ...(through.some(isFunction) ? (['exact'] as const) : []),
        ]);
  if (binding === 'outside' && !isUse && isAbroad(expression, value, text, definitions))
    return { binding: 'possible', targets };
  if (binding === 'exact' && own.length === 0 && !through.some(isFunction))
    return { binding: 'possible', targets };
  const isOpen =
    binding === 'exact' &&
    how !== 'construct' &&
    !isOfBase(expression) &&
    !all.every((each) => each?.kind === 'function' && each.isFixed === true) &&
    targets.some((each) => (isUse ? !isType(each) : isFunction(each)) && implementations.has(each));
  return { binding: isOpen ? 'dispatch' : binding, targets };
}

/** Of what may be called: an edge if there is one; nothing else is said while one of them is not known. */
function surest(bindings: readonly CallBinding[]): CallBinding {
  const order: CallBinding[] = ['dispatch', 'exact', 'possible', 'value', 'outside'];
  return order.find((each) => bindings.includes(each)) ?? 'possible';
}

/** A type of a library may have such a method by what the program says of it, unless it has one itself. */
function isAbroad(
  expression: string,
  value: Value | undefined,
  text: SourceText,
  definitions: Definitions,
): boolean {
  const last = parseExpression(expression).steps.at(-1);
  if (last?.kind !== 'member' || !definitions.isAbroad(last.name, text)) return false;
  const type = value?.kind === 'outside' ? value.of?.type : undefined;
  const its = type?.kind === 'language' ? definitions.rules.members?.[type.name] : undefined;
  return its?.results[last.name] === undefined && its?.made?.[last.name] === undefined;
}

/** A method of what the own type is based on: nothing runs in its place. */
function isOfBase(expression: string): boolean {
  if (!expression.includes('.$super.')) return false;
  const before = parseExpression(expression).steps.at(-2);
  return before?.kind === 'member' && before.name === '$super';
}

function bindingOf(value: Value | undefined, kind: string, rules: LanguageRules): CallBinding {
  switch (value?.kind) {
    case undefined:
    case 'scope':
      return 'possible';
    case 'outside':
      return 'outside';
    case 'function':
      if (value.isUnsure === true) return 'possible';
      return meantOf(value.definitions).some((each) => each.isAbstract) ? 'dispatch' : 'exact';
    case 'type':
      return value.type.kind === 'inside' ? 'exact' : 'outside';
    case 'value':
      if (value.constructors?.isUnsure === true) return 'possible';
      if (!isMade(value, kind, rules)) return 'value';
      // Nothing of the program constructs what is not of it.
      return rules.namespaces === true && value.type.kind !== 'inside' ? 'outside' : 'exact';
  }
}

/** A value that is constructed at this place; in a language with namespaces a type may be called like a function. */
function isMade(
  { constructors }: Value & { kind: 'value' },
  kind: string,
  { namespaces }: LanguageRules,
): boolean {
  return kind === 'construct' || (namespaces === true && constructors !== undefined);
}

/** Nothing else can hold it. */
function isNamedIn(value: Value | undefined, expression: string): boolean {
  return value?.kind === 'function' && expression.endsWith(value.definitions[0]?.name ?? '');
}

/** What holds what is called: a variable, or a method that is read like a field, which runs then. */
function usedOnTheWay(value: Value | undefined): Definition[] {
  return alternativesOf(value).flatMap((each) =>
    each?.kind === 'function'
      ? each.definitions.filter((one) => isVariable(one) || typesIn(one, 'value').length > 0)
      : [],
  );
}

/** A type and a value may share a name. */
function usedIn(value: Value | undefined, kind: string): readonly Definition[] {
  if (value?.kind !== 'function') return [];
  const meant = value.definitions.filter(kind === 'type' ? isType : isValue);
  return meantOf(meant.length > 0 ? meant : value.definitions);
}

/** A type that is constructed, and what runs then. */
function targetsOf(
  { definitions, evaluator }: Pick<Binder, 'definitions' | 'evaluator'>,
  value: Value | undefined,
  kind: string,
): readonly Definition[] {
  if (value?.kind === 'function')
    return value.isUnsure === true && value.isAnyOf !== true ? [] : meantOf(value.definitions);
  const isConstructed = value?.kind === 'value' && isMade(value, kind, definitions.rules);
  if ((value?.kind !== 'type' && !isConstructed) || value.type.kind !== 'inside') return [];
  const { type } = value;
  if (value.kind === 'value' && definitions.rules.constructorsAreTypes === true)
    // Another name of the type may stand there, so the site does not name what may be meant.
    return [type.definition, ...(value.constructors?.definitions ?? [])];
  const constructors = definitions.rules.constructors.flatMap((name) => {
    const found = evaluator.memberOf(type, name);
    return found?.kind === 'function' ? meantOf(found.definitions) : [];
  });
  return [type.definition, ...constructors];
}

/** Of overloads the one with a body: the others only say how it can be called. */
function meantOf(definitions: readonly Definition[]): readonly Definition[] {
  const whole = definitions.filter((each) => !each.isDeclaration);
  return definitions.length < 2 || whole.length === 0
    ? definitions
    : definitions.filter(
        (each) => !each.isDeclaration || !whole.some((other) => isSame(each, other)),
      );
}

function isSame(one: Definition, other: Definition): boolean {
  return one.file === other.file && one.container === other.container && one.name === other.name;
}
