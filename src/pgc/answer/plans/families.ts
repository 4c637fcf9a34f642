import type { ShardIndex, SymbolPlace } from '../../format/shard-index.js';
import { saidRole } from '../../source/role.js';

/** Things of one sort: what implements an interface or a base, stands in one field of structures, or is named alike in one folder. */
export interface Family {
  /** What the family is called where nothing of it is defined here: the structure and its field. */
  name: string;
  /** What they implement; sources alone. */
  bases: readonly number[];
  /** Sources alone. */
  members: readonly number[];
  /** Of types that replace one single method: these methods say what a member does. */
  methods: readonly number[] | undefined;
  /** By their names: nothing proves that they are of one sort. */
  isNamed: boolean;
}

/** What more than these implement is a convention of the code base, and no choice among a few. */
const membersMax = 64;
/** Fewer, or more, that are named alike are so by chance. */
const [namedMin, namedMax] = [3, 12];
/** Of one shard. */
const familiesMax = 20_000;

const isCallable = /^(?:function|method)$/;
const isHolder = /^(?:constant|variable)$/;
const isType = /^(?:class|struct)$/;

const known = new WeakMap<ShardIndex, readonly Family[]>();

/** An index never changes, so its families are found once. */
export function familiesOf(index: ShardIndex): readonly Family[] {
  let families = known.get(index);
  if (families === undefined) {
    const isSource = sourcesOf(index);
    const sorts = new Map<string, Sort>();
    gatherBound(index, sorts);
    gatherSlots(index, sorts);
    const proven = [...sorts.values()].flatMap((sort) => familiesIn(sort, isSource));
    families = [...proven, ...namedAlike(index, isSource)].slice(0, familiesMax);
    known.set(index, families);
  }
  return families;
}

/** What one type, or one structure of functions, has. */
interface Sort {
  name: string;
  bases: Set<number>;
  types: Set<number>;
  /** By the name of the method or field. */
  methods: Map<string, { bases: Set<number>; members: Set<number> }>;
}

function sortOf(sorts: Map<string, Sort>, key: string, name: string): Sort {
  let sort = sorts.get(key);
  if (sort === undefined)
    sorts.set(key, (sort = { name, bases: new Set(), types: new Set(), methods: new Map() }));
  return sort;
}

function methodOf({ methods }: Sort, name: string): { bases: Set<number>; members: Set<number> } {
  let method = methods.get(name);
  if (method === undefined)
    methods.set(name, (method = { bases: new Set<number>(), members: new Set<number>() }));
  return method;
}

function gatherBound({ bound }: ShardIndex, sorts: Map<string, Sort>): void {
  for (const [target, by] of bound?.implementations() ?? []) {
    const replaced = bound?.target(target);
    const member = bound?.target(by).symbol ?? -1;
    if (replaced === undefined || member < 0) continue;
    const isMethod = isCallable.test(replaced.kind);
    const type = isMethod ? lastName(replaced.container) : replaced.name;
    const sort = sortOf(sorts, `${replaced.path} ${type}`, type);
    const method = isMethod ? methodOf(sort, replaced.name) : undefined;
    if (replaced.symbol >= 0) (method ?? sort).bases.add(replaced.symbol);
    (method?.members ?? sort.types).add(member);
  }
}

/** In C: the functions in one field, and what holds them. */
function gatherSlots(index: ShardIndex, sorts: Map<string, Sort>): void {
  for (const slot of index.slots()) {
    const [, structure = '', field = ''] = /^(\w+)\.(\w+)$/.exec(slot.receiver) ?? [];
    if (structure === '') continue;
    const sort = sortOf(sorts, `struct ${structure}`, structure);
    if (slot.caller >= 0 && isHolder.test(index.symbolPlace(slot.caller).kind))
      sort.types.add(slot.caller);
    for (const held of index.symbolsNamed(slot.callee))
      if (!index.symbolPlace(held).declaration) methodOf(sort, field).members.add(held);
  }
}

function familiesIn(sort: Sort, isSource: (symbol: number) => boolean): Family[] {
  const types = [...sort.types].filter(isSource);
  const methods = Array.from(sort.methods, ([name, { bases, members }]): Family => {
    const its = { name: `${sort.name}.${name}`, bases: [...bases].filter(isSource) };
    return { ...its, members: [...members].filter(isSource), methods: undefined, isNamed: false };
  });
  const [only] = methods;
  const whole: Family = {
    ...{ name: sort.name, bases: [...sort.bases].filter(isSource), members: types },
    methods: methods.length === 1 && (only?.members.length ?? 0) > 1 ? only?.members : undefined,
    isNamed: false,
  };
  return [whole, ...methods].filter(
    ({ members }) => members.length > 1 && members.length <= membersMax,
  );
}

/** Where there are no interfaces, what does the same in several ways bears names with the same beginning or end. */
function namedAlike(index: ShardIndex, isSource: (symbol: number) => boolean): Family[] {
  const alike = new Map<string, Map<string, number>>();
  for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
    const place = index.symbolPlace(symbol);
    const sort = nameSort(place);
    if (sort === '' || !isSource(symbol)) continue;
    const words = wordsInOrder(place.name);
    if (words.length < 2) continue;
    const folder = index.file(place.file).path.replace(/[^/]*$/, '');
    for (const key of [`${words[0]} …`, `… ${words.at(-1)}`]) {
      const group = `${key} ${folder} ${sort}`;
      const members = alike.get(group) ?? new Map<string, number>();
      alike.set(group, members.set(place.name, symbol));
    }
  }
  return [...alike.values()]
    .filter(({ size }) => size >= namedMin && size <= namedMax)
    .map((members) => ({
      ...{ name: '', bases: [], members: [...members.values()] },
      ...{ methods: undefined, isNamed: true },
    }));
}

function nameSort({ kind, declaration }: SymbolPlace): string {
  if (declaration) return '';
  if (isCallable.test(kind)) return 'function';
  return isType.test(kind) ? 'type' : '';
}

function sourcesOf(index: ShardIndex): (symbol: number) => boolean {
  const files = new Map<number, boolean>();
  return (symbol) => {
    const file = index.fileOf(symbol);
    let is = files.get(file);
    if (is === undefined)
      files.set(file, (is = saidRole(index.info, index.file(file).path) === ''));
    return is;
  };
}

function wordsInOrder(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** `a::B` and `a.B` are `B`. */
export function lastName(container: string): string {
  return container.split(/\.|::/).at(-1) ?? container;
}
