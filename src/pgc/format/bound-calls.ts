import { between, boundsOf, bufferOf, lowerBound, NumberColumn, StringColumn } from './bytes.js';
import { PackedRows, packRows } from './packed-rows.js';
import { openSections, writeSections, type Reading, type SectionLayout } from './segment-file.js';
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
export const boundFormat = 12;

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

/** Table → number of columns. */
const tables = {
  ...{ callBindings: 1, edges: 2, edgesByTarget: 1, targets: Object.keys(targetColumn).length },
  ...{ targetsByName: 1, implementations: 2, implementationsBy: 1, farIncludes: 2 },
} as const satisfies Partial<Record<keyof BoundSections, number>>;
type TableName = keyof typeof tables;

/** Collects what the calls and uses of one shard are bound to. */
export class BoundCallsWriter {
  readonly #bindings: Uint8Array;
  readonly #texts = new StringColumn();
  readonly #targets = Object.keys(targetColumn).map(() => new NumberColumn());
  readonly #targetOf = new Map<string, number>();
  readonly #edges = new Pairs();
  readonly #implementations = new Pairs();
  readonly #farIncludes = new Pairs();

  /** `sites`: how many calls and uses the segment has. */
  constructor(sites: number) {
    this.#bindings = new Uint8Array(sites);
  }

  add(call: number, binding: CallBinding, targets: readonly BoundTarget[]): void {
    this.#bindings[call] = callBindings.indexOf(binding);
    for (const target of targets) this.#edges.push(call, this.#target(target));
  }

  implement(target: BoundTarget, by: BoundTarget): void {
    this.#implementations.push(this.#target(target), this.#target(by));
  }

  /** A header of another shard that files of this one reach; it is in the table also where it includes nothing. */
  include(header: string, targets: readonly string[]): void {
    const from = this.#texts.id(header);
    for (const each of [header, ...targets]) this.#farIncludes.push(from, this.#texts.id(each));
  }

  sections(): BoundSections {
    const edges = this.#edges.sorted();
    const implementations = this.#implementations.sorted();
    const all = this.#texts.all();
    const texts = packStrings(all);
    const nameOf = (target: number): string =>
      all[this.#targets[targetColumn.name]?.at(target) ?? 0] ?? '';
    const byName = Uint32Array.from({ length: this.#targetOf.size }, (_, target) => target).sort(
      (one, other) => compare(nameOf(one), nameOf(other)) || one - other,
    );
    return {
      callBindings: packRows([this.#bindings]),
      edges: packRows(edges),
      edgesByTarget: packRows([orderOf(edges[1])]),
      targets: packRows(this.#targets.map((column) => column.values())),
      targetsByName: packRows([byName]),
      implementations: packRows(implementations),
      implementationsBy: packRows([orderOf(implementations[1])]),
      farIncludes: packRows(this.#farIncludes.sorted()),
      textOffsets: texts.offsets,
      textBytes: texts.bytes,
    };
  }

  #target({ symbol, path, container, name, kind, line }: BoundTarget): number {
    const key = `${symbol}\0${path}\0${container}\0${name}\0${line}`;
    let target = this.#targetOf.get(key);
    if (target === undefined) {
      target = this.#targetOf.size;
      this.#targetOf.set(key, target);
      const texts = [path, container, name, kind].map((each) => this.#texts.id(each));
      [symbol + 1, ...texts, line].forEach((value, at) => this.#targets[at]?.push(value));
    }
    return target;
  }
}

/** Pairs of numbers, in two columns. */
class Pairs {
  readonly #first = new NumberColumn();
  readonly #second = new NumberColumn();

  push(first: number, second: number): void {
    this.#first.push(first);
    this.#second.push(second);
  }

  sorted(): [Uint32Array, Uint32Array] {
    const [first, second] = [this.#first.values(), this.#second.values()];
    const order = Uint32Array.from(first.keys()).sort(
      (one, other) =>
        (first[one] ?? 0) - (first[other] ?? 0) || (second[one] ?? 0) - (second[other] ?? 0),
    );
    return [order.map((at) => first[at] ?? 0), order.map((at) => second[at] ?? 0)];
  }
}

/** Rows in order of their values, equal ones as they come. */
function orderOf(values: Uint32Array): Uint32Array {
  return Uint32Array.from(values.keys()).sort(
    (one, other) => (values[one] ?? 0) - (values[other] ?? 0) || one - other,
  );
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
  readonly #sections: BoundSections;
  readonly #tables: Partial<Record<TableName, PackedRows>> = {};
  #texts?: StringTable;

  constructor(sections: BoundSections) {
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
    const bytes = bufferOf(this.#sections.textBytes);
    const named = [...paths].filter((path) => bytes.includes(path));
    if (named.length === 0) return;
    const wanted = new Set(named);
    const rows = this.#rows('targets');
    const known = new Map<number, boolean>();
    for (let id = 0; id < rows.length; id += 1) {
      const text = rows.at(id, targetColumn.path);
      let isIn = known.get(text);
      if (isIn === undefined) known.set(text, (isIn = wanted.has(this.#string(text))));
      if (isIn) yield id;
    }
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
    const { textOffsets: offsets } = this.#sections;
    this.#texts ??= new StringTable(offsets, bufferOf(this.#sections.textBytes));
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
