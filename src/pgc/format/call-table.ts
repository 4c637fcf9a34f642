import { between, boundsOf, lowerBound } from './bytes.js';
import { PackedRows } from './packed-rows.js';
import type { Section } from './container/section.js';
import { callKinds, unusedFlag } from './segment-writer.js';
import type { CallRow } from './shard-index.js';
import { type SortedNames } from './sorted-names.js';
import type { StringTable } from './string-table.js';

/** Columns of the tables, in this order. */
const callColumn = { name: 0, caller: 1, line: 2, receiver: 3, kind: 4 } as const;
/** Size of the cache of decoded names. */
const recentNames = 4_096;

/** The files of callers. */
export interface CallerPlaces {
  files: () => number;
  symbols: () => number;
  fileOf(symbol: number): number;
}

/** Sections of one table. */
export interface CallSections {
  rows: Section;
  expressions: Section;
  byName: Section;
  outside: Section;
  /** The id of its first row: those of another table come before. */
  firstId: number;
}

/** The calls of a segment, or its uses of names, by caller and by name. */
export class CallTable {
  readonly #rows: PackedRows;
  readonly #byName: PackedRows;
  readonly #expressions: PackedRows;
  readonly #firstId: number;
  /** First call outside all symbols of each file; then the end. */
  readonly #outside: Uint32Array;
  readonly #names: SortedNames;
  readonly #labels: StringTable;
  readonly #place: CallerPlaces;
  /** Recently decoded names, by id modulo the size of the cache. */
  readonly #recent: string[] = [];
  readonly #recentIds = new Int32Array(recentNames).fill(-1);

  constructor(
    sections: CallSections,
    names: SortedNames,
    labels: StringTable,
    place: CallerPlaces,
  ) {
    this.#rows = new PackedRows(sections.rows, Object.keys(callColumn).length);
    this.#expressions = new PackedRows(sections.expressions, 1);
    this.#byName = new PackedRows(sections.byName, 1);
    this.#outside = sections.outside.numbers();
    this.#firstId = sections.firstId;
    this.#names = names;
    this.#labels = labels;
    this.#place = place;
  }

  /** Calls inside a symbol; none for other ids. Calls outside all symbols come after the last symbol. */
  from(symbol: number): CallRow[] {
    if (symbol >= this.#place.symbols()) return [];
    const rows = this.#rows;
    const callerAt = (call: number): number => rows.at(call, callColumn.caller);
    const calls: CallRow[] = [];
    let call = lowerBound(rows.length, (at) => callerAt(at) < symbol);
    for (; call < rows.length && callerAt(call) === symbol; call += 1) calls.push(this.#call(call));
    return calls;
  }

  /** Calls outside all symbols, which come last in the table. */
  outside(): CallRow[] {
    const { length } = this.#rows;
    const first = this.#outside[0] ?? length;
    return between([first, length]).map((call) => this.#call(call));
  }

  get length(): number {
    return this.#rows.length;
  }

  /** Ids of the calls inside symbols from `first` to before `end`: the first one, and one behind the last. */
  spanInside(first: number, end: number): [number, number] {
    const rows = this.#rows;
    const start = (symbol: number): number =>
      this.#firstId + lowerBound(rows.length, (at) => rows.at(at, callColumn.caller) < symbol);
    return [start(first), start(end)];
  }

  /** The same of calls outside all symbols of files. */
  spanOutside(first: number, end: number): [number, number] {
    const start = (file: number): number =>
      this.#firstId + (this.#outside[file] ?? this.#rows.length);
    return [start(first), start(end)];
  }

  at(id: number): CallRow {
    return this.#call(id - this.#firstId);
  }

  expressionOf(id: number): string {
    return this.#labels.at(this.#expressions.at(id - this.#firstId, 0));
  }

  *all(): Generator<CallRow> {
    for (let call = 0; call < this.#rows.length; call += 1) yield this.#call(call);
  }

  to(name: string): CallRow[] {
    const id = this.#names.position(name);
    if (id === undefined) return [];
    const rows = this.#rows;
    const byName = this.#byName;
    const nameAt = (at: number): number => rows.at(byName.at(at), callColumn.name);
    const places = between(boundsOf(id, byName.length, nameAt));
    return places.map((at) => this.#call(byName.at(at), name));
  }

  /** All calls, grouped by name in order of the names. */
  *byName(): Generator<[name: string, calls: CallRow[]]> {
    let at = 0;
    for (const [id, sites] of this.sites()) {
      const name = this.#names.at(id);
      const first = at;
      at += sites;
      yield [name, between([first, at]).map((place) => this.#call(this.#byName.at(place), name))];
    }
  }

  /** For each called name id, in order, the number of its calls. */
  *sites(): Generator<[name: number, sites: number]> {
    const nameAt = (at: number): number => this.#rows.at(this.#byName.at(at), callColumn.name);
    for (let at = 0; at < this.#byName.length;) {
      const first = at;
      const name = nameAt(at);
      while (at < this.#byName.length && nameAt(at) === name) at += 1;
      yield [name, at - first];
    }
  }

  /** `callee`: the name if it is known already. */
  #call(call: number, callee?: string): CallRow {
    const rows = this.#rows;
    const caller = rows.at(call, callColumn.caller);
    const isInside = caller < this.#place.symbols();
    const kind = rows.at(call, callColumn.kind);
    return {
      id: this.#firstId + call,
      callee: callee ?? this.#callee(rows.at(call, callColumn.name)),
      caller: isInside ? caller : -1,
      file: isInside ? this.#place.fileOf(caller) : this.#fileOutside(call),
      line: rows.at(call, callColumn.line),
      kind: callKinds[kind & ~unusedFlag] ?? 'direct',
      unused: (kind & unusedFlag) !== 0,
      receiver: this.#labels.at(rows.at(call, callColumn.receiver)),
    };
  }

  #fileOutside(call: number): number {
    const starts = this.#outside;
    return lowerBound(this.#place.files(), (file) => (starts[file + 1] ?? 0) <= call);
  }

  /** Callees repeat soon, and decoding a name decodes those before it in its block. */
  #callee(id: number): string {
    const place = id % recentNames;
    if (this.#recentIds[place] !== id) {
      this.#recentIds[place] = id;
      this.#recent[place] = this.#names.at(id);
    }
    return this.#recent[place] ?? '';
  }
}
