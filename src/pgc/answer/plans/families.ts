import type { ShardIndex } from '../../format/shard-index.js';
import { saidRole } from '../../source/role.js';

/** What implements an interface or a base, or stands in one field of structures. */
export interface Family {
  /** The type that it belongs to. */
  sort: string;
  /** The type, and of a method its name. */
  name: string;
  /** What they implement; sources alone. */
  bases: readonly number[];
  /** What speaks for it: its bases, or of a method that most of the types replace, the method. */
  speaking: readonly number[];
  /** Sources alone. */
  members: readonly number[];
  /** Of types that replace one single method: these methods say what a member does. */
  methods: readonly number[] | undefined;
}

/** What more than these implement is a convention of the code base, and no choice among a few. */
const membersMax = 64;
/** Of one shard. */
const familiesMax = 20_000;

const isCallable = /^(?:function|method)$/;
const isHolder = /^(?:constant|variable)$/;

const known = new WeakMap<ShardIndex, readonly Family[]>();

/** An index never changes, so its families are found once. */
export function familiesOf(index: ShardIndex): readonly Family[] {
  let families = known.get(index);
  if (families === undefined) {
    const isSource = sourcesOf(index);
    const sorts = new Map<string, Sort>();
    gatherBound(index, sorts);
    gatherSlots(index, sorts);
    families = [...sorts.values()]
      .flatMap((sort) => familiesIn(sort, isSource))
      .slice(0, familiesMax);
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
  const sources = (symbols: Iterable<number>): number[] => [...symbols].filter(isSource);
  const methods = Array.from(sort.methods, ([name, { bases, members }]): Family => {
    const its = sources(bases);
    return {
      ...{ sort: sort.name, name: `${sort.name}.${name}`, speaking: its, bases: its },
      ...{ members: sources(members), methods: undefined },
    };
  });
  const [only] = methods;
  const bases = sources(sort.bases);
  const whole: Family = {
    ...{ sort: sort.name, name: sort.name, speaking: bases, bases, members: sources(sort.types) },
    methods: methods.length === 1 && (only?.members.length ?? 0) > 1 ? only?.members : undefined,
  };
  const isOfAll = ({ members }: Family): boolean =>
    whole.members.length > 1 && members.length * 2 > whole.members.length;
  return [
    whole,
    ...methods.map((each) =>
      isOfAll(each) ? { ...whole, name: each.name, speaking: each.speaking } : each,
    ),
  ].filter(({ members }) => members.length > 1 && members.length <= membersMax);
}

function sourcesOf(index: ShardIndex): (symbol: number) => boolean {
  const files = new Map<number, boolean>();
  return (symbol) => {
    const file = index.fileOf(symbol);
    let is = files.get(file);
    if (is === undefined)
      files.set(file, (is = saidRole(index.info, index.file(file).path) === ''));
    return is && !index.isTest(symbol);
  };
}

/** `a::B` and `a.B` are `B`. */
export function lastName(container: string): string {
  return container.split(/\.|::/).at(-1) ?? container;
}
