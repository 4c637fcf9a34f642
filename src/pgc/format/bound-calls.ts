import { bufferOf, lowerBound, NumberColumn, StringColumn } from './bytes.js';
import { PackedRows, packRows } from './packed-rows.js';
import { openSections, writeSections, type SectionLayout } from './segment-file.js';
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
export const boundFormat = 10;

const names = [
  'callBindings', // column: by call of the segment
  'edges', // columns: call, target; in order of the calls
  'edgesByTarget', // column: edges in order of their targets
  'targets', // columns: symbol + 1, path, container, name, kind, line
  'implementations', // columns: target, target that implements it; in their order
  'textOffsets', // column
  'textBytes',
] as const;
const layout: SectionLayout<(typeof names)[number]> = {
  magic: 'SIGMABND',
  format: boundFormat,
  names,
};
const targetColumn = { symbol: 0, path: 1, container: 2, name: 3, kind: 4, line: 5 } as const;

/** Collects what the calls and uses of one shard are bound to. */
export class BoundCallsWriter {
  readonly #bindings: number[];
  readonly #texts = new StringColumn();
  readonly #targets = Object.keys(targetColumn).map(() => new NumberColumn());
  readonly #targetOf = new Map<string, number>();
  readonly #edges: [call: number, target: number][] = [];
  readonly #implementations: [target: number, by: number][] = [];

  /** `sites`: how many calls and uses the segment has. */
  constructor(sites: number) {
    this.#bindings = Array.from({ length: sites }, () => 0);
  }

  add(call: number, binding: CallBinding, targets: readonly BoundTarget[]): void {
    this.#bindings[call] = callBindings.indexOf(binding);
    for (const target of targets) this.#edges.push([call, this.#target(target)]);
  }

  implement(target: BoundTarget, by: BoundTarget): void {
    this.#implementations.push([this.#target(target), this.#target(by)]);
  }

  sections(): Record<(typeof names)[number], Uint8Array> {
    const edges = this.#edges.sort(byBoth);
    const byTarget = [...edges.keys()].sort(
      (one, other) => (edges[one]?.[1] ?? 0) - (edges[other]?.[1] ?? 0) || one - other,
    );
    const texts = packStrings(this.#texts.all());
    return {
      callBindings: packRows([this.#bindings]),
      edges: packRows(columnsOf(edges)),
      edgesByTarget: packRows([byTarget]),
      targets: packRows(this.#targets.map((column) => column.values())),
      implementations: packRows(columnsOf(this.#implementations.sort(byBoth))),
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

/** Throws STORE_UNAVAILABLE. */
export async function writeBoundCalls(
  path: string,
  sections: ReturnType<BoundCallsWriter['sections']>,
): Promise<void> {
  await writeSections(path, layout, sections);
}

/** What the calls of one shard are bound to. */
export class BoundCalls {
  readonly #bindings: PackedRows;
  readonly #edges: PackedRows;
  readonly #byTarget: PackedRows;
  readonly #targets: PackedRows;
  readonly #implementations: PackedRows;
  readonly #texts: StringTable;

  constructor(sections: Record<(typeof names)[number], Uint8Array>) {
    this.#bindings = new PackedRows(sections.callBindings, 1);
    this.#edges = new PackedRows(sections.edges, 2);
    this.#byTarget = new PackedRows(sections.edgesByTarget, 1);
    this.#targets = new PackedRows(sections.targets, Object.keys(targetColumn).length);
    this.#implementations = new PackedRows(sections.implementations, 2);
    this.#texts = new StringTable(sections.textOffsets, bufferOf(sections.textBytes));
  }

  /** Throws INDEX_CORRUPT, or INDEX_MISSING when there is no such file. */
  static async open(path: string): Promise<BoundCalls> {
    return openSections(path, layout, (sections) => new BoundCalls(sections));
  }

  bindingOf(call: number): CallBinding {
    return callBindings[this.#bindings.at(call)] ?? 'unbound';
  }

  /** Ids of targets. */
  targetsOf(call: number): number[] {
    return grouped(this.#edges, call).map((edge) => this.#edges.at(edge, 1));
  }

  /** Calls and uses that are bound to a target itself. */
  callsOf(target: number): number[] {
    const targetAt = (at: number): number => this.#edges.at(this.#byTarget.at(at), 1);
    const first = lowerBound(this.#byTarget.length, (at) => targetAt(at) < target);
    const calls: number[] = [];
    for (let at = first; at < this.#byTarget.length && targetAt(at) === target; at += 1)
      calls.push(this.#edges.at(this.#byTarget.at(at), 0));
    return calls;
  }

  /** All of them. */
  *implementations(): Generator<[target: number, by: number]> {
    for (let row = 0; row < this.#implementations.length; row += 1)
      yield [this.#implementations.at(row, 0), this.#implementations.at(row, 1)];
  }

  /** What may be run where a method is called that others replace. */
  implementing(target: number): number[] {
    return grouped(this.#implementations, target).map((row) => this.#implementations.at(row, 1));
  }

  get targetCount(): number {
    return this.#targets.length;
  }

  target(id: number): BoundTarget {
    const text = (column: number): string => this.#texts.at(this.#targets.at(id, column));
    return {
      symbol: this.#targets.at(id, targetColumn.symbol) - 1,
      path: text(targetColumn.path),
      container: text(targetColumn.container),
      name: text(targetColumn.name),
      kind: text(targetColumn.kind),
      line: this.#targets.at(id, targetColumn.line),
    };
  }
}

/** Rows whose first column has this value. */
function grouped(rows: PackedRows, value: number): number[] {
  const found: number[] = [];
  let row = lowerBound(rows.length, (at) => rows.at(at) < value);
  for (; row < rows.length && rows.at(row) === value; row += 1) found.push(row);
  return found;
}

function byBoth(one: [number, number], other: [number, number]): number {
  return one[0] - other[0] || one[1] - other[1];
}

function columnsOf(pairs: readonly [number, number][]): number[][] {
  return [pairs.map(([first]) => first), pairs.map(([, second]) => second)];
}
