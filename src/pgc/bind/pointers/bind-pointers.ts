import type { CallBinding } from '../../format/bound-calls.js';
import { unknown } from '../../format/expression.js';
import type { CallRow, ShardIndex } from '../../format/shard-index.js';
import { CNames } from './c-names.js';
import { CProgram, isC, type Flow, type Place } from './c-program.js';
import { CValues, type CValue, type Holder } from './c-values.js';
import { HeldFunctions } from './held-functions.js';

/** What one call site is bound to. */
export interface PointerCall {
  shard: number;
  call: number;
  binding: CallBinding;
  targets: readonly Place[];
}

export interface BoundPointers {
  calls: Iterable<PointerCall>;
  /** By member, variable or parameter: the functions that it may hold. */
  implementations: ReadonlyMap<Place, readonly Place[]>;
}

/**
 * Binds the calls of C that go through pointers, over all shards: by structure and member, never by the name of a member
 * alone. Calls by name are not bound here, nor is what no type tells.
 */
export function bindPointers(shards: readonly ShardIndex[]): BoundPointers {
  const program = new CProgram(shards);
  const slots = slotsOf(shards);
  const values = new CValues(program, new CNames(program, wantedNames(program, shards, slots)));
  learnMacros(program, values);
  const held = new HeldFunctions(values);
  for (const { path, callee, expression } of slots)
    pass(values, held, { path, source: callee, target: expression });
  for (const flow of program.flows()) pass(values, held, flow);
  held.settle();
  const places = new Places();
  return {
    calls: boundCalls(shards, values, held, places),
    implementations: new Map(
      [...held.all()].map(([holder, functions]) => [places.of(holder), [...functions]]),
    ),
  };
}

/** Macros in macros. */
const macroRounds = 4;

/** What the parameters of macros are, by what they are given. */
function learnMacros(program: CProgram, values: CValues): void {
  const given: Flow[] = [];
  for (const flow of program.flows()) {
    const [, called] = /^(\w+)@\.\d+$/.exec(flow.target) ?? [];
    if (called !== undefined && values.names.isMacro(called)) given.push(flow);
  }
  for (let round = 0; round < macroRounds; round += 1) {
    let isNew = false;
    for (const { source, target, path } of given)
      if (values.give(target, values.evaluate(source, path)?.type, path)) isNew = true;
    if (!isNew) return;
  }
}

/** What the source holds, or is, is put into the target. */
function pass(values: CValues, held: HeldFunctions, { path, source, target }: Flow): void {
  const holders = put(values, held, target, path);
  if (holders.length === 0) return;
  const from = values.evaluate(source, path);
  for (const holder of holders) {
    for (const each of from?.holders ?? []) held.flow(each, holder);
    for (const each of from?.functions ?? []) if (each.kind === 'function') held.put(each, holder);
  }
}

interface Slot {
  path: string;
  callee: string;
  expression: string;
}

/** In order of the files: what one includes is looked up once. */
function slotsOf(shards: readonly ShardIndex[]): Slot[] {
  const slots: (Slot & { shard: number; file: number })[] = [];
  for (const [shard, index] of shards.entries())
    for (const { callee, expression, file } of index.slots())
      if (expression !== '')
        slots.push({ shard, file, callee, expression, path: index.file(file).path });
  return slots.sort((one, other) => one.shard - other.shard || one.file - other.file);
}

/** Names at the roots of expressions, and those that are put somewhere. */
function wantedNames(
  program: CProgram,
  shards: readonly ShardIndex[],
  slots: readonly Slot[],
): Set<string> {
  const wanted = new Set<string>();
  const root = (expression: string): void => {
    const [name] = /^[^.@([{!]+/.exec(expression) ?? [];
    if (name !== undefined && name !== unknown) wanted.add(name);
    for (const [, macro = ''] of expression.matchAll(/\$macro<([^,>]+)/g)) wanted.add(macro);
  };
  for (const types of program.types)
    for (const type of types.values())
      if (type.startsWith('=')) root(type.slice(1));
      else if (type.includes('$macro')) root(type);
  for (const { callee, expression } of slots) {
    wanted.add(callee);
    root(expression);
  }
  for (const { source, target } of program.flows()) {
    root(source);
    root(target);
  }
  for (const index of shards)
    for (let call = 0; call < index.siteCount; call += 1) root(index.expressionOf(call));
  return wanted;
}

/** What an expression is kept in; a parameter of what is called through a pointer is one of each function that it holds. */
function put(
  values: CValues,
  held: HeldFunctions,
  expression: string,
  path: string,
): readonly Holder[] {
  const holders = values.evaluate(expression, path)?.holders ?? [];
  const [called, number] = expression.split(/@\.(?=\d+$)/);
  if (number === undefined || called === undefined) return holders;
  for (const [at, of] of (values.evaluate(called, path)?.holders ?? []).entries()) {
    const holder = holders[at];
    if (holder !== undefined) held.parameter(holder, Number(number), of);
  }
  return holders;
}

function* boundCalls(
  shards: readonly ShardIndex[],
  values: CValues,
  held: HeldFunctions,
  places: Places,
): Generator<PointerCall> {
  const variables = new Set<string>();
  for (const [{ key, place }] of held.all()) if (key.startsWith('v')) variables.add(place.name);
  for (const [shard, index] of shards.entries())
    for (const call of index.calls()) {
      const expression =
        index.expressionOf(call.id) || (variables.has(call.callee) ? call.callee : '');
      if (expression === '' || !isC(index, call.file)) continue;
      const bound = boundTo(values, held, places, {
        expression,
        call,
        path: index.file(call.file).path,
      });
      if (bound !== undefined) yield { shard, call: call.id, ...bound };
    }
}

interface Use {
  expression: string;
  path: string;
  call: CallRow;
}

function boundTo(
  values: CValues,
  held: HeldFunctions,
  places: Places,
  { expression, path, call }: Use,
): Pick<PointerCall, 'binding' | 'targets'> | undefined {
  const value = values.evaluate(expression, path);
  if (value === undefined) return undefined;
  // A variable that was set to a function; its own name is bound as any other.
  const functions = value.functions.filter(({ kind }) => kind === 'function');
  if (functions.length > 0)
    return expression === call.callee ? undefined : { binding: 'exact', targets: functions };
  const holders = calledThrough(value, held);
  if (holders.length === 0) return undefined;
  return { binding: 'dispatch', targets: holders.map((each) => places.of(each)) };
}

/** A member is what is called, with any content; of a variable or a parameter it must be known. */
function calledThrough({ holders }: CValue, held: HeldFunctions): Holder[] {
  return holders.filter(({ place, key }) =>
    place.kind === 'method' && key.startsWith('m') ? true : held.of({ key, place }).size > 0,
  );
}

/** One place for each holder. */
class Places {
  readonly #known = new Map<string, Place>();

  of({ key, place }: Holder): Place {
    let known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, (known = place));
    return known;
  }
}
