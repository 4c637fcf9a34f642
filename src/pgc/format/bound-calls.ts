import { between, boundsOf, lowerBound, NumberColumn, StringColumn } from './bytes.js';
import { PackedRows, packRows } from './packed-rows.js';
import {
  openSections,
  writeSections,
  type Reading,
  type SectionLayout,
  type SectionsOf,
} from './container/segment-file.js';
import { orderOf, Pairs } from './pairs.js';
import { packStrings, StringTable } from './string-table.js';

/**
 * What the binder found out about a call: `exact`: one definition, by type or scope · `dispatch`: a method of an
 * interface or base, and what implements it · `value`: a function that a variable or field holds · `outside`: a library or
 * the language · `possible`: nothing proves what is called · `unbound`: of a language that is not bound this way.
 */
export const callBindings = [
  'unbound',
  'possible',
  'exact',
  'dispatch',
  'value',
  'outside',
] as const;
export type CallBinding = (typeof callBindings)[number];

/** A definition that a call is bound to, in this shard or another. */
export interface BoundTarget {
  /** Of this shard; -1: it is in another. */
  symbol: number;
  path: string;
  container: string;
  name: string;
  kind: string;
  /** Of which of several functions of this name, told apart by their arguments; 0: there is one. */
  line: number;
}

/** Raised whenever the layout changes, or the binder would bind something else. */
export const boundFormat = 13;

const names = [
  'callBindings', // column: by call of the segment
  'edges', // columns: call, target; in order of the calls
  'edgesByTarget', // column: edges in order of their targets
  'targets', // columns: symbol + 1, path, container, name, kind, line
  'targetsByName', // column: targets in order of their names
  'implementations', // columns: target, target that implements it; in their order
  'implementationsBy', // column: rows of `implementations` in order of what implements
  'farIncludes', // columns: header of another shard, file that it includes
  'textOffsets', // column
  'textBytes',
] as const;
const layout: SectionLayout<(typeof names)[number]> = {
  magic: 'SIGMABND',
  format: boundFormat,
  names,
};
type BoundSections = Record<(typeof names)[number], Uint8Array>;
const targetColumn = { symbol: 0, path: 1, container: 2, name: 3, kind: 4, line: 5 } as const;

/** For more paths, each target is looked at. */
const pathsSearchedMax = 8;

/** Table → number of columns. */
const tables = {
  ...{ callBindings: 1, edges: 2, edgesByTarget: 1, targets: Object.keys(targetColumn).length },
  ...{ targetsByName: 1, implementations: 2, implementationsBy: 1, farIncludes: 2 },
} as const satisfies Partial<Record<keyof BoundSections, number>>;
type TableName = keyof typeof tables;

/**
 * Collects what the calls and uses of one shard are bound to. The bytes depend on what is said alone, not on the order in which
 * it is said: targets are numbered by the first site that is bound to them.
 */
export class BoundCallsWriter {
  readonly #bindings: Uint8Array;
  readonly #targets: BoundTarget[] = [];
  readonly #targetOf = new Map<string, number>();
  readonly #edges = new Pairs();
  readonly #implementations = new Pairs();
  readonly #farIncludes: [header: string, targets: readonly string[]][] = [];

  /** `sites`: how many calls and uses the segment has. */
  constructor(sites: number) {
    this.#bindings = new Uint8Array(sites);
  }

  add(call: number, binding: CallBinding, targets: readonly BoundTarget[]): void {
    this.addIds(
      call,
      binding,
      targets.map((each) => this.id(each)),
    );
  }

  /** `targets`: as `id` gave them. */
  addIds(call: number, binding: CallBinding, targets: readonly number[]): void {
    this.#bindings[call] = callBindings.indexOf(binding);
    for (const each of targets) this.#edges.push(call, each);
  }

  implement(target: BoundTarget, by: BoundTarget): void {
    this.implementIds(this.id(target), this.id(by));
  }

  /** As `id` gave them. */
  implementIds(target: number, by: number): void {
    this.#implementations.push(target, by);
  }

  /** A header of another shard that files of this one reach; it is in the table also where it includes nothing. */
  include(header: string, targets: readonly string[]): void {
    this.#farIncludes.push([header, targets]);
  }

  /** By which a target is meant here. */
  id(target: BoundTarget): number {
    const { symbol, path, container, name, kind, line } = target;
    // A type and a value of one text may share a name.
    const key = `${symbol}\0${path}\0${container}\0${name}\0${kind}\0${line}`;
    let id = this.#targetOf.get(key);
    if (id === undefined) {
      id = this.#targets.length;
      this.#targetOf.set(key, id);
      this.#targets.push(target);
    }
    return id;
  }

  sections(): BoundSections {
    const numbers = new Int32Array(this.#targets.length).fill(-1);
    const order = this.#numbered(numbers);
    const renumbered = (pairs: Pairs, isFirst: boolean): [Uint32Array, Uint32Array] =>
      pairs.sorted(
        (id) => (isFirst ? (numbers[id] ?? 0) : id),
        (id) => numbers[id] ?? 0,
      );
    const edges = renumbered(this.#edges, false);
    const implementations = renumbered(this.#implementations, true);
    const texts = new StringColumn();
    const columns = Object.keys(targetColumn).map(() => new NumberColumn());
    for (const { symbol, path, container, name, kind, line } of order) {
      const its = [path, container, name, kind].map((each) => texts.id(each));
      [symbol + 1, ...its, line].forEach((value, at) => columns[at]?.push(value));
    }
    const farIncludes = new Pairs();
    for (const [header, targets] of this.#farIncludes.sort(([a], [b]) => compare(a, b))) {
      const from = texts.id(header);
      for (const each of [header, ...[...targets].sort(compare)])
        farIncludes.push(from, texts.id(each));
    }
    const nameOf = (target: number): string => order[target]?.name ?? '';
    const byName = Uint32Array.from(order.keys()).sort(
      (one, other) => compare(nameOf(one), nameOf(other)) || one - other,
    );
    const packed = packStrings(texts.all());
    return {
      callBindings: packRows([this.#bindings]),
      edges: packRows(edges),
      edgesByTarget: packRows([orderOf(edges[1])]),
      targets: packRows(columns.map((column) => column.values())),
      targetsByName: packRows([byName]),
      implementations: packRows(implementations),
      implementationsBy: packRows([orderOf(implementations[1])]),
      farIncludes: packRows(farIncludes.sorted()),
      textOffsets: packed.offsets,
      textBytes: packed.bytes,
    };
  }

  /** All targets in order of their numbers, which it fills in; those of one site by what they are. */
  #numbered(numbers: Int32Array): BoundTarget[] {
    const order: BoundTarget[] = [];
    const take = (ids: number[]): void => {
      const open = [...new Set(ids)].filter((id) => numbers[id] === -1);
      if (open.length > 1) open.sort((one, other) => this.#compare(one, other));
      for (const id of open) numbers[id] = order.push(this.#targets[id] as BoundTarget) - 1;
    };
    const [calls, targets] = this.#edges.sorted();
    let open: number[] = [];
    for (let at = 0; at < calls.length; at += 1) {
      if (at > 0 && calls[at] !== calls[at - 1]) {
        if (open.length > 0) take(open);
        open = [];
      }
      const id = targets[at] ?? 0;
      if (numbers[id] === -1) open.push(id);
    }
    take(open);
    take(Array.from(this.#targets.keys()));
    return order;
  }

  #compare(one: number, other: number): number {
    const [its, others] = [this.#targets[one], this.#targets[other]];
    if (its === undefined || others === undefined) return 0;
    return (
      compare(its.path, others.path) ||
      compare(its.container, others.container) ||
      compare(its.name, others.name) ||
      compare(its.kind, others.kind) ||
      its.line - others.line ||
      its.symbol - others.symbol
    );
  }
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Throws STORE_UNAVAILABLE. */
export async function writeBoundCalls(
  path: string,
  sections: ReturnType<BoundCallsWriter['sections']>,
): Promise<void> {
  await writeSections(path, layout, sections);
}

/** What the calls of one shard are bound to. */
export class BoundCalls {
  readonly #sections: SectionsOf<keyof BoundSections>;
  readonly #tables: Partial<Record<TableName, PackedRows>> = {};
  #texts?: StringTable;
  /** There are few. */
  readonly #kinds = new Map<number, string>();

  constructor(sections: SectionsOf<keyof BoundSections>) {
    this.#sections = sections;
  }

  /** Throws INDEX_CORRUPT, or INDEX_MISSING when there is no such file. */
  static async open(path: string, reading: Reading = 'whole'): Promise<BoundCalls> {
    return openSections(path, layout, (sections) => new BoundCalls(sections), reading);
  }

  bindingOf(call: number): CallBinding {
    return callBindings[this.#rows('callBindings').at(call)] ?? 'unbound';
  }

  /** Ids of targets. */
  targetsOf(call: number): number[] {
    const edges = this.#rows('edges');
    return grouped(edges, call).map((edge) => edges.at(edge, 1));
  }

  /** Of all calls and uses, in their order. */
  *edges(): Generator<[site: number, target: number]> {
    const rows = this.#rows('edges');
    for (let row = 0; row < rows.length; row += 1) yield [rows.at(row, 0), rows.at(row, 1)];
  }

  /** The bound ones of the sites from `first` to before `end`, in their order. */
  *boundIn(
    first: number,
    end: number,
  ): Generator<{ site: number; binding: CallBinding; targets: number[] }> {
    const edges = this.#rows('edges');
    let edge = lowerBound(edges.length, (at) => edges.at(at) < first);
    for (let site = first; site < end; site += 1) {
      const targets: number[] = [];
      for (; edge < edges.length && edges.at(edge) === site; edge += 1)
        targets.push(edges.at(edge, 1));
      const binding = this.bindingOf(site);
      if (binding !== 'unbound') yield { site, binding, targets };
    }
  }

  /** Calls and uses that are bound to a target itself. */
  callsOf(target: number): number[] {
    return this.#firsts('edges', 'edgesByTarget', target);
  }

  /** Whether a call or a use is bound to a target itself. */
  isCalled(target: number): boolean {
    const [rows, byTarget] = [this.#rows('edges'), this.#rows('edgesByTarget')];
    const targetAt = (at: number): number => rows.at(byTarget.at(at), 1);
    const at = lowerBound(byTarget.length, (each) => targetAt(each) < target);
    return at < byTarget.length && targetAt(at) === target;
  }

  /** Ids of what is called so. */
  targetsNamed(name: string): number[] {
    const byName = this.#rows('targetsByName');
    const nameAt = (at: number): string => this.#text(byName.at(at), targetColumn.name);
    const found: number[] = [];
    let at = lowerBound(byName.length, (each) => nameAt(each) < name);
    for (; at < byName.length && nameAt(at) === name; at += 1) found.push(byName.at(at));
    return found;
  }

  /** Ids of all that is in texts of these paths. */
  *targetsIn(paths: ReadonlySet<string>): Generator<number> {
    const wanted = this.#among(paths);
    if (wanted.size === 0) return;
    const rows = this.#rows('targets');
    const known = new Map<number, boolean>();
    for (let id = 0; id < rows.length; id += 1) {
      const text = rows.at(id, targetColumn.path);
      let isIn = known.get(text);
      if (isIn === undefined) known.set(text, (isIn = wanted.has(this.#string(text))));
      if (isIn) yield id;
    }
  }

  /** Those that may be there: few are searched for in all texts. */
  #among(paths: ReadonlySet<string>): ReadonlySet<string> {
    if (paths.size > pathsSearchedMax) return paths;
    const bytes = this.#sections.textBytes.whole();
    return new Set([...paths].filter((path) => bytes.includes(path)));
  }

  /** All of them. */
  *implementations(): Generator<[target: number, by: number]> {
    const rows = this.#rows('implementations');
    for (let row = 0; row < rows.length; row += 1) yield [rows.at(row, 0), rows.at(row, 1)];
  }

  /** What may be run where a method is called that others replace. */
  implementing(target: number): number[] {
    const rows = this.#rows('implementations');
    return grouped(rows, target).map((row) => rows.at(row, 1));
  }

  /** In whose place this one may be run. */
  replacedBy(by: number): number[] {
    return this.#firsts('implementations', 'implementationsBy', by);
  }

  get targetCount(): number {
    return this.#rows('targets').length;
  }

  target(id: number): BoundTarget {
    const targets = this.#rows('targets');
    return {
      symbol: targets.at(id, targetColumn.symbol) - 1,
      path: this.#text(id, targetColumn.path),
      container: this.#text(id, targetColumn.container),
      name: this.#text(id, targetColumn.name),
      kind: this.#text(id, targetColumn.kind),
      line: targets.at(id, targetColumn.line),
    };
  }

  /** As `target(id).kind`, without its other texts: asked of each call that is followed. */
  kindOf(id: number): string {
    const text = this.#rows('targets').at(id, targetColumn.kind);
    let kind = this.#kinds.get(text);
    if (kind === undefined) this.#kinds.set(text, (kind = this.#string(text)));
    return kind;
  }

  /** Headers of other shards that files of this one reach, with what they include. */
  farHeaders(): ReadonlyMap<string, readonly string[]> {
    const rows = this.#rows('farIncludes');
    const found = new Map<string, string[]>();
    for (let row = 0; row < rows.length; row += 1) {
      const [header, target] = [this.#string(rows.at(row, 0)), this.#string(rows.at(row, 1))];
      const known = found.get(header) ?? [];
      if (target !== header) known.push(target);
      found.set(header, known);
    }
    return found;
  }

  /** Of the pairs with this second number, the first ones. */
  #firsts(table: 'edges' | 'implementations', order: TableName, second: number): number[] {
    const [rows, bySecond] = [this.#rows(table), this.#rows(order)];
    const secondAt = (at: number): number => rows.at(bySecond.at(at), 1);
    const places = between(boundsOf(second, bySecond.length, secondAt));
    return places.map((at) => rows.at(bySecond.at(at), 0));
  }

  #text(target: number, column: number): string {
    return this.#string(this.#rows('targets').at(target, column));
  }

  #string(id: number): string {
    const { textOffsets, textBytes } = this.#sections;
    this.#texts ??= new StringTable(textOffsets, textBytes);
    return this.#texts.at(id);
  }

  #rows(name: TableName): PackedRows {
    return (this.#tables[name] ??= new PackedRows(this.#sections[name], tables[name]));
  }
}

/** Rows whose first column has this value. */
function grouped(rows: PackedRows, value: number): number[] {
  const found: number[] = [];
  let row = lowerBound(rows.length, (at) => rows.at(at) < value);
  for (; row < rows.length && rows.at(row) === value; row += 1) found.push(row);
  return found;
}
