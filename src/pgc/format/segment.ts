import { VectorTable } from './vectors/vector-table.js';
import { between, boundsOf, lowerBound } from './bytes.js';
import { BoundCalls } from './bound-calls.js';
import { typeRoles, type FactsLanguage } from './facts.js';
import type { Field } from './fields.js';
import {
  openSections,
  segmentLayout,
  type Reading,
  type SectionName,
  type SectionsOf,
} from './container/segment-file.js';
import type { Section } from './container/section.js';
import { importColumn, SegmentParts, symbolColumn, typeColumn } from './segment-parts.js';
import { declarationFlag, exportedFlag, testFlag } from './segment-writer.js';
import type { CallTable } from './call-table.js';
import type { PackedTerms } from './term-index.js';
import type {
  CallRow,
  FileRow,
  ImportRow,
  ShardIndex,
  ShardInfo,
  SlotRow,
  SymbolOutline,
  SymbolPlace,
  SymbolRow,
  TypeRow,
} from './shard-index.js';

const blobBytes = 20;
const infoNames = [
  ...['agent', 'alias', 'project', 'root', 'scope', 'languages', 'files', 'lines', 'version'],
  ...['overlays', 'abbreviations', 'roles'],
] as (keyof ShardInfo)[];
const fileColumns = 3;

/** One shard, read from one file: typed views of its sections; strings are decoded on demand. */
export class Segment implements ShardIndex {
  readonly info: ShardInfo;

  readonly #parts: SegmentParts;
  #vectors?: VectorTable;

  /**
   * `its`: values of the manifest that replace those of the file, such as the tree's location and the shard's alias.
   */
  private constructor(
    sections: SectionsOf<SectionName>,
    its: Partial<ShardInfo>,
    readonly bound: BoundCalls | undefined,
  ) {
    this.info = infoIn(sections.info, its);
    const fileOf = (document: number): number => this.fileOf(document);
    this.#parts = new SegmentParts(sections, {
      ...{ files: () => this.fileCount, symbols: () => this.symbolCount, fileOf },
    });
  }

  /** Throws INDEX_CORRUPT, or INDEX_MISSING when there is no such file. */
  static async open(
    path: string,
    place: Partial<ShardInfo> = {},
    /** Path of what its calls are bound to; empty: they are not bound. */
    bound = '',
    reading: Reading = 'whole',
  ): Promise<Segment> {
    const calls = bound === '' ? undefined : await BoundCalls.open(bound, reading);
    const make = (sections: SectionsOf<SectionName>): Segment =>
      new Segment(sections, place, calls);
    return openSections(path, segmentLayout, make, reading);
  }

  get fileCount(): number {
    return this.#parts.numbers('fileRows').length / fileColumns;
  }

  get symbolCount(): number {
    return this.#parts.rows('symbolRows').length;
  }

  get items(): { O1: number; O3: number } {
    return this.itemsIn([[0, this.fileCount]]);
  }

  /** Of these files: from the first to before the second. */
  itemsIn(spans: readonly (readonly [number, number])[]): { O1: number; O3: number } {
    const isIn = (file: number): boolean =>
      spans.some(([first, end]) => first <= file && file < end);
    const [places, starts] = [
      this.#parts.rows('scannedPlaces'),
      this.#parts.numbers('importStarts'),
    ];
    const items = { O1: 0, O3: 0 };
    for (const [first, end] of spans) {
      const [from, to] = this.symbolSpan(first, end);
      items.O1 += to - from + (starts[end] ?? 0) - (starts[first] ?? 0);
      for (const where of ['inside', 'outside'] as const) {
        const [start, stop] = this.siteSpan('calls', where, first, end);
        items.O3 += stop - start;
      }
      for (let file = first; file < end; file += 1) items.O3 += this.#parts.slots.countIn(file);
    }
    for (let at = 0; at < places.length; at += 1) if (isIn(places.at(at, 0))) items.O1 += 1;
    return items;
  }

  get documentCount(): number {
    return this.fileCount + this.symbolCount;
  }

  pathOf(file: number): string {
    return this.#path(file);
  }

  file(file: number): FileRow {
    const rows = this.#parts.numbers('fileRows');
    return {
      path: this.#path(file),
      blob: this.#parts.blobs.toString('hex', file * blobBytes, (file + 1) * blobBytes),
      language: this.#parts.labels.at(rows[file * fileColumns + 1] ?? 0) as FactsLanguage,
      lines: rows[file * fileColumns + 2] ?? 0,
    };
  }

  fileAt(path: string): number | undefined {
    const filesByPath = this.#parts.numbers('filesByPath');
    const pathAt = (position: number): string => this.#path(filesByPath[position] ?? 0);
    const position = lowerBound(filesByPath.length, (each) => pathAt(each) < path);
    const file = filesByPath[position];
    return file !== undefined && this.#path(file) === path ? file : undefined;
  }

  symbolsOf(file: number): number[] {
    return range(this.#parts.numbers('fileSymbols'), file);
  }

  importsOf(file: number): ImportRow[] {
    const importRows = this.#parts.rows('importRows');
    const [importStarts, importNames] = [
      this.#parts.numbers('importStarts'),
      this.#parts.numbers('importNames'),
    ];
    return range(importStarts, file).map((row) => {
      const isLast = row + 1 === importRows.length;
      const end = isLast ? importNames.length : importRows.at(row + 1, importColumn.firstName);
      const names = importNames.subarray(importRows.at(row, importColumn.firstName), end);
      return {
        target: this.#parts.labels.at(importRows.at(row, importColumn.target)),
        names: Array.from(names, (name) => this.#parts.labels.at(name)),
        line: importRows.at(row, importColumn.line),
      };
    });
  }

  typesOf(file: number): TypeRow[] {
    return range(this.#parts.numbers('typeStarts'), file).map((row) => this.#type(row));
  }

  *ownTypesOf(file: number): Generator<TypeRow> {
    const owners = this.#parts.rows('typeRows');
    for (const row of range(this.#parts.numbers('typeStarts'), file)) {
      if (owners.at(row, typeColumn.owner) !== 0) return;
      yield this.#type(row);
    }
  }

  typesOfSymbol(symbol: number): TypeRow[] {
    const owners = this.#parts.rows('typeRows');
    const starts = this.#parts.numbers('typeStarts');
    const file = this.fileOf(symbol);
    const [from, end] = [starts[file] ?? 0, starts[file + 1] ?? 0];
    const ownerAt = (at: number): number => owners.at(from + at, typeColumn.owner);
    const rows = between(boundsOf(symbol + 1, end - from, ownerAt));
    return rows.map((at) => this.#type(from + at));
  }

  speaksOf(hashes: ReadonlySet<number>): boolean {
    return this.#parts.labels.hasWord(hashes);
  }

  expressionOf(id: number): string {
    return this.#tableOf(id).expressionOf(id);
  }

  /** Of the symbols of files: the first one, and one behind the last. */
  symbolSpan(first: number, end: number): [number, number] {
    const starts = this.#parts.numbers('fileSymbols');
    return [starts[first] ?? 0, starts[end] ?? this.symbolCount];
  }

  /** Of the calls or uses of files, inside their symbols or outside of all: the first one, and one behind the last. */
  siteSpan(
    table: 'calls' | 'uses',
    where: 'inside' | 'outside',
    first: number,
    end: number,
  ): [number, number] {
    const rows = this.#parts[table];
    return where === 'inside'
      ? rows.spanInside(...this.symbolSpan(first, end))
      : rows.spanOutside(first, end);
  }

  siteSpans(file: number): [number, number][] {
    return (['calls', 'uses'] as const).flatMap((table) =>
      (['inside', 'outside'] as const).map((where) => this.siteSpan(table, where, file, file + 1)),
    );
  }

  get callCount(): number {
    return this.#parts.calls.length;
  }

  get siteCount(): number {
    return this.#parts.calls.length + this.#parts.uses.length;
  }

  site(id: number): CallRow {
    return this.#tableOf(id).at(id);
  }

  uses(): Iterable<CallRow> {
    return this.#parts.uses.all();
  }

  usesOf(name: string): CallRow[] {
    return this.#hasName(name) ? this.#parts.uses.to(name) : [];
  }

  #tableOf(id: number): CallTable {
    return id < this.#parts.calls.length ? this.#parts.calls : this.#parts.uses;
  }

  calls(): Iterable<CallRow> {
    return this.#parts.calls.all();
  }

  get vectors(): VectorTable {
    return (this.#vectors ??= new VectorTable(this.#parts.vectorSymbols, this.#parts.vectorRows));
  }

  symbol(symbol: number): SymbolRow {
    const rows = this.#parts.rows('symbolRows');
    return {
      ...this.symbolPlace(symbol),
      signature: this.#parts.texts.at(rows.at(symbol, symbolColumn.signature)),
      doc: this.#parts.texts.at(rows.at(symbol, symbolColumn.doc)),
    };
  }

  symbolPlace(symbol: number): SymbolPlace {
    const rows = this.#parts.rows('symbolRows');
    const flags = rows.at(symbol, symbolColumn.flags);
    const line = rows.at(symbol, symbolColumn.line);
    return {
      name: this.#parts.names.at(rows.at(symbol, symbolColumn.name)),
      kind: this.#parts.kinds[rows.at(symbol, symbolColumn.kind)] ?? '',
      file: rows.at(symbol, symbolColumn.file),
      line_start: line,
      line_end: (line + rows.at(symbol, symbolColumn.rest)) >>> 0,
      container: this.#parts.labels.at(rows.at(symbol, symbolColumn.container)),
      exported: (flags & exportedFlag) !== 0,
      declaration: (flags & declarationFlag) !== 0,
    };
  }

  fileOf(document: number): number {
    return document < this.symbolCount
      ? this.#parts.rows('symbolRows').at(document, symbolColumn.file)
      : document - this.symbolCount;
  }

  outline(symbol: number): SymbolOutline {
    const rows = this.#parts.rows('symbolRows');
    const flags = rows.at(symbol, symbolColumn.flags);
    return {
      name: rows.at(symbol, symbolColumn.name),
      kind: this.#parts.kinds[rows.at(symbol, symbolColumn.kind)] ?? '',
      exported: (flags & exportedFlag) !== 0,
      declaration: (flags & declarationFlag) !== 0,
    };
  }

  isTest(symbol: number): boolean {
    return (this.#parts.rows('symbolRows').at(symbol, symbolColumn.flags) & testFlag) !== 0;
  }

  isDocumented(symbol: number): boolean {
    return !this.#parts.texts.isEmpty(this.#parts.rows('symbolRows').at(symbol, symbolColumn.doc));
  }

  names(): Iterable<string> {
    return this.#parts.names.all();
  }

  nameHashes(): Int32Array {
    return this.#parts.names.hashes();
  }

  nameAt(number: number): string {
    return this.#parts.names.at(number);
  }

  symbolsNamed(name: string): number[] {
    const id = this.#parts.names.position(name);
    return id === undefined ? [] : this.#symbolsOf(id);
  }

  *symbolsByName(): Generator<[name: string, symbols: number[]]> {
    for (const [id, symbols] of this.#symbolGroups()) yield [this.#parts.names.at(id), symbols];
  }

  callsFrom(symbol: number): CallRow[] {
    return this.#parts.calls.from(symbol);
  }

  callsOutside(): CallRow[] {
    return this.#parts.calls.outside();
  }

  callsTo(name: string): CallRow[] {
    return this.#hasName(name) ? this.#parts.calls.to(name) : [];
  }

  callsByName(): Iterable<[name: string, calls: CallRow[]]> {
    return this.#parts.calls.byName();
  }

  slotsOf(name: string): SlotRow[] {
    return this.#hasName(name) ? this.#parts.slots.of(name) : [];
  }

  slotsIn(file: number): SlotRow[] {
    return this.#parts.slots.inFile(file);
  }

  slots(isWanted: (name: string) => boolean = () => true): Iterable<SlotRow> {
    return this.#parts.slots.all(isWanted);
  }

  scannedNamed(name: string): { file: number; line: number }[] {
    const scannedPlaces = this.#parts.rows('scannedPlaces');
    return this.#parts.scanned.find(name).map((at) => ({
      file: scannedPlaces.at(at, 0),
      line: scannedPlaces.at(at, 1),
    }));
  }

  *symbolNames(): Generator<string> {
    yield* this.#parts.scanned.all();
    for (const [id] of this.#symbolGroups()) yield this.#parts.names.at(id);
  }

  defines(): string[] {
    const symbolRows = this.#parts.rows('symbolRows');
    const names: string[] = [];
    for (const [id, symbols] of this.#symbolGroups())
      if (symbols.some((symbol) => symbolRows.at(symbol, symbolColumn.flags) === exportedFlag))
        names.push(this.#parts.names.at(id));
    return names;
  }

  unresolved(): { name: string; sites: number }[] {
    const symbolRows = this.#parts.rows('symbolRows');
    const found: { name: string; sites: number }[] = [];
    for (const [id, sites] of this.#parts.calls.sites()) {
      const isDefined = this.#symbolsOf(id).some(
        (symbol) => (symbolRows.at(symbol, symbolColumn.flags) & declarationFlag) === 0,
      );
      if (!isDefined) found.push({ name: this.#parts.names.at(id), sites });
    }
    return found;
  }

  terms(): { term: string; documents: number }[] {
    return this.#parts.terms.terms();
  }

  get packedTerms(): PackedTerms {
    return this.#parts.terms;
  }

  documentFrequency(term: string): number {
    return this.#parts.terms.documentFrequency(term);
  }

  postings(term: string, visit: (document: number, field: Field, count: number) => void): void {
    this.#parts.terms.postings(term, visit);
  }

  length(document: number, field: Field): number {
    return this.#parts.terms.length(document, field);
  }

  lengthSum(field: Field): { sum: number; documents: number } {
    return this.#parts.terms.lengthSum(field);
  }

  averageLength(field: Field): number {
    return this.#parts.terms.averageLength(field);
  }

  #path(file: number): string {
    return this.#parts.labels.at(this.#parts.numbers('fileRows')[file * fileColumns] ?? 0);
  }

  #type(row: number): TypeRow {
    const [typeRows, { labels }] = [this.#parts.rows('typeRows'), this.#parts];
    return {
      symbol: typeRows.at(row, typeColumn.owner) - 1,
      role: typeRoles[typeRows.at(row, typeColumn.role)] ?? 'value',
      name: labels.at(typeRows.at(row, typeColumn.name)),
      type: labels.at(typeRows.at(row, typeColumn.type)),
    };
  }

  /** Nothing else is read for a name that the shard does not have. */
  #hasName(name: string): boolean {
    return this.#parts.names.position(name) !== undefined;
  }

  /** Definitions first. */
  #symbolsOf(id: number): number[] {
    const nameSymbols = this.#parts.rows('nameSymbols');
    const places = between(boundsOf(id, nameSymbols.length, (at) => this.#nameAt(at)));
    return places.map((at) => nameSymbols.at(at));
  }

  *#symbolGroups(): Generator<[name: number, symbols: number[]]> {
    const nameSymbols = this.#parts.rows('nameSymbols');
    for (let at = 0; at < nameSymbols.length;) {
      const symbols: number[] = [];
      const id = this.#nameAt(at);
      for (; at < nameSymbols.length && this.#nameAt(at) === id; at += 1)
        symbols.push(nameSymbols.at(at));
      yield [id, symbols];
    }
  }

  #nameAt(at: number): number {
    const [nameSymbols, symbolRows] = [
      this.#parts.rows('nameSymbols'),
      this.#parts.rows('symbolRows'),
    ];
    return symbolRows.at(nameSymbols.at(at), symbolColumn.name);
  }
}

/** With what is said in their place; the others are read when one is needed: a hundred shards are opened, and few are asked. */
function infoIn(section: Section, its: Partial<ShardInfo>): ShardInfo {
  let read: ShardInfo | undefined;
  const info = { ...its };
  for (const name of infoNames)
    if (!(name in its)) {
      const get = (): unknown => (read ??= section.json() as ShardInfo)[name];
      Object.defineProperty(info, name, { enumerable: true, get });
    }
  return info as ShardInfo;
}

function range(starts: Uint32Array, group: number): number[] {
  const first = starts[group] ?? 0;
  return between([first, starts[group + 1] ?? first]);
}
