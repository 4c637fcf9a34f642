import type { CallBinding } from '../../format/bound-calls.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { nameHash } from '../../format/name-hash.js';
import { CNames } from './c-names.js';
import { CProgram, type Place } from './c-program.js';
import { CValues, type CValue, type Holder } from './c-values.js';
import { Flows, type Flow } from './flows.js';
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
  const flows = new Flows(program);
  const values = new CValues(program, new CNames(program));
  learnMacros(flows, values);
  const held = new HeldFunctions(values, flows.called);
  const uses = shards.map((_, shard) => {
    for (const slot of slotsOf(program, shard)) pass(values, held, slot);
    return usesOf(program, shard, values);
  });
  for (let size = -1; size !== held.tails.size;) {
    size = held.tails.size;
    for (const flow of flows.next(held.tails)) pass(values, held, flow);
    held.settle();
  }
  const places = new Places();
  return {
    calls: boundCalls(program, values, held, uses, places),
    implementations: new Map(
      [...held.all()].map(([holder, functions]) => [places.of(holder), [...functions]]),
    ),
  };
}

/** Macros in macros. */
const macroRounds = 4;

/** What the parameters of macros are, by what they are given. */
function learnMacros(flows: Flows, values: CValues): void {
  const given = [...flows.ofMacros()];
  for (let round = 0; round < macroRounds; round += 1) {
    let isNew = false;
    for (const { source, target, path } of given)
      if (values.give(target, values.evaluate(source, path)?.type, path)) isNew = true;
    if (!isNew) return;
  }
}

/** What the source holds, or is, is put into the target. */
function pass(values: CValues, held: HeldFunctions, { path, source, target }: Flow): void {
  const from = values.evaluate(source, path);
  const functions = from?.functions.filter(({ kind }) => kind === 'function') ?? [];
  if (from === undefined || from.holders.length + functions.length === 0) return;
  for (const holder of put(values, held, target, path)) {
    for (const each of from.holders) held.flow(each, holder);
    for (const each of functions) held.put(each, holder);
  }
}

/** Functions that are put somewhere, in order of the files: what one includes is looked up once. */
function slotsOf(program: CProgram, shard: number): Flow[] {
  const found: (Flow & { file: number })[] = [];
  for (const { callee, expression, file } of program.shards[shard]?.slots(program.isValue) ?? []) {
    const path = expression === '' ? '' : program.pathOf(shard, file);
    if (path !== '') found.push({ path, source: callee, target: expression, file });
  }
  return found.sort((one, other) => one.file - other.file);
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

/** What a call goes through. */
interface Use {
  call: number;
  value: CValue;
}

function usesOf(program: CProgram, shard: number, values: CValues): Use[] {
  const index = program.shards[shard] as ShardIndex;
  const found: { call: number; file: number; expression: string }[] = [];
  for (let call = 0; call < index.siteCount; call += 1) {
    const expression = index.expressionOf(call);
    if (expression === '') continue;
    const { kind, file } = index.site(call);
    if (kind === 'value' || kind === 'type' || program.pathOf(shard, file) === '') continue;
    found.push({ call, file, expression });
  }
  found.sort((one, other) => one.file - other.file);
  return found.flatMap(({ call, file, expression }) => {
    const value = values.evaluate(expression, program.pathOf(shard, file));
    return value === undefined ? [] : [{ call, value }];
  });
}

function* boundCalls(
  program: CProgram,
  values: CValues,
  held: HeldFunctions,
  uses: readonly (readonly Use[])[],
  places: Places,
): Generator<PointerCall> {
  const variables = new Map<number, Set<string>>();
  for (const [{ key, place }] of held.all())
    if (key.startsWith('v') && place.kind !== 'parameter') {
      const hash = nameHash(place.name);
      variables.set(hash, (variables.get(hash) ?? new Set()).add(place.name));
    }
  for (const [shard, its] of uses.entries()) {
    const all = [...its, ...plainUses(program, shard, values, variables)];
    for (const { call, value } of all.sort((one, other) => one.call - other.call)) {
      const bound = boundTo(value, held, places);
      if (bound !== undefined) yield { shard, call, ...bound };
    }
  }
}

/** Calls by the name of a variable that was set to a function; its own name, if it is one, is bound as any other. */
function plainUses(
  program: CProgram,
  shard: number,
  values: CValues,
  variables: ReadonlyMap<number, ReadonlySet<string>>,
): Use[] {
  const index = program.shards[shard] as ShardIndex;
  const names = new Set<string>();
  for (const hash of index.nameHashes())
    for (const name of variables.get(hash) ?? []) names.add(name);
  return [...names].flatMap((name) =>
    index.callsTo(name).flatMap(({ id, file }) => {
      const path = program.pathOf(shard, file);
      if (path === '' || index.expressionOf(id) !== '') return [];
      const value = values.evaluate(name, path);
      return value === undefined || value.functions.some(({ kind }) => kind === 'function')
        ? []
        : [{ call: id, value }];
    }),
  );
}

function boundTo(
  value: CValue,
  held: HeldFunctions,
  places: Places,
): Pick<PointerCall, 'binding' | 'targets'> | undefined {
  const functions = value.functions.filter(({ kind }) => kind === 'function');
  if (functions.length > 0) return { binding: 'exact', targets: functions };
  const holders = calledThrough(value, held);
  if (holders.length === 0) return undefined;
  return { binding: 'dispatch', targets: holders.map((each) => places.of(each)) };
}

/** A member is what is called, with any content; of a variable or a parameter it must be known. */
function calledThrough({ holders }: CValue, held: HeldFunctions): Holder[] {
  return holders.filter((each) =>
    each.place.kind === 'method' && each.key.startsWith('m') ? true : held.of(each).size > 0,
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
