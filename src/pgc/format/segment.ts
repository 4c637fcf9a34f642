import { between, boundsOf, bufferOf, lowerBound, numbersOf } from './bytes.js';
import { openSections, segmentLayout, type SectionName, type Sections } from './segment-file.js';
import { BoundCalls } from './bound-calls.js';
import { CallTable, type CallerPlaces, type CallSections } from './call-table.js';
import { SlotTable } from './slot-table.js';
import { declarationFlag, exportedFlag } from './segment-writer.js';
import { typeRoles, type FactsLanguage } from './facts.js';
import type {
  CallRow,
  FileRow,
  ImportRow,
  ShardIndex,
  ShardInfo,
  SymbolOutline,
  SymbolPlace,
  SymbolRow,
  TypeRow,
} from './shard-index.js';
import type { Field } from './fields.js';
import { PackedRows } from './packed-rows.js';
import { SortedNames } from './sorted-names.js';
import { StringTable } from './string-table.js';
import { PackedTerms } from './term-index.js';

const blobBytes = 20;
/** Columns of the tables, in this order. */
const symbolColumn = {
  ...{ name: 0, kind: 1, flags: 2, file: 3, line: 4, rest: 5, signature: 6, container: 7, doc: 8 },
} as const;
const typeColumn = { owner: 0, role: 1, name: 2, type: 3 } as const;
const importColumn = { target: 0, line: 1, firstName: 2 } as const;

/** One shard, read from one file: typed views of one buffer; strings are decoded on demand. */
export class Segment implements ShardIndex {
  readonly info: ShardInfo;
  readonly symbolCount: number;
  readonly fileCount: number;
  readonly documentCount: number;
  readonly bytes: number;

  readonly #blobs: Buffer;
  readonly #numbers: Record<NumberSection, Uint32Array>;
  readonly #rows: Record<RowSection, PackedRows>;
  readonly #scanned: SortedNames;
  readonly #names: SortedNames;
  readonly #calls: CallTable;
  readonly #uses: CallTable;
  readonly #slots: SlotTable;
  readonly #terms: PackedTerms;
  readonly #labels: StringTable;
  readonly #texts: StringTable;
  readonly #kinds: readonly string[];

  /**
   * `its`: values of the manifest that replace those of the file, such as the tree's location and the shard's alias.
   */
  private constructor(
    sections: Sections,
    its: Partial<ShardInfo>,
    readonly bound: BoundCalls | undefined,
  ) {
    const info = JSON.parse(Buffer.from(sections.info).toString()) as ShardInfo;
    this.info = { ...info, ...its };
    this.#numbers = Object.fromEntries(
      numberSections.map((name) => [name, numbersOf(sections[name])]),
    ) as Record<NumberSection, Uint32Array>;
    this.#rows = Object.fromEntries(
      Object.entries(rowSections).map(([name, width]) => [
        name,
        new PackedRows(sections[name as RowSection], width),
      ]),
    ) as Record<RowSection, PackedRows>;
    this.#kinds = JSON.parse(Buffer.from(sections.kinds).toString()) as string[];
    this.#scanned = new SortedNames(this.#numbers.scannedBlocks, bufferOf(sections.scannedNames));
    this.#blobs = bufferOf(sections.fileBlobs);
    this.#names = new SortedNames(this.#numbers.nameBlocks, bufferOf(sections.nameBytes));
    this.#terms = new PackedTerms(sections);
    this.#labels = new StringTable(sections.labelOffsets, bufferOf(sections.labelBytes));
    this.#texts = new StringTable(sections.textOffsets, bufferOf(sections.textBytes));
    this.fileCount = sections.fileBlobs.length / blobBytes;
    this.symbolCount = this.#rows.symbolRows.length;
    this.documentCount = this.fileCount + this.symbolCount;
    const place: CallerPlaces = {
      ...{ files: this.fileCount, symbols: this.symbolCount, fileOf: (id) => this.fileOf(id) },
    };
    this.#calls = new CallTable(callsIn(sections), this.#names, this.#labels, place);
    const uses = usesIn(sections, this.#calls.length);
    this.#uses = new CallTable(uses, this.#names, this.#labels, place);
    this.#slots = new SlotTable(sections.slotRows, this.#names, this.#labels);
    this.bytes = sections.info.buffer.byteLength;
  }

  /** Throws INDEX_CORRUPT, or INDEX_MISSING when there is no such file. */
  static async open(
    path: string,
    place: Partial<ShardInfo> = {},
    /** Path of what its calls are bound to; empty: they are not bound. */
    bound = '',
  ): Promise<Segment> {
    const calls = bound === '' ? undefined : await BoundCalls.open(bound);
    return openSections(path, segmentLayout, (sections) => new Segment(sections, place, calls));
  }

  file(file: number): FileRow {
    const rows = this.#numbers.fileRows;
    return {
      path: this.#path(file),
      blob: this.#blobs.toString('hex', file * blobBytes, (file + 1) * blobBytes),
      language: this.#texts.at(rows[file * 3 + 1] ?? 0) as FactsLanguage,
      lines: rows[file * 3 + 2] ?? 0,
    };
  }

  fileAt(path: string): number | undefined {
    const { filesByPath } = this.#numbers;
    const pathAt = (position: number): string => this.#path(filesByPath[position] ?? 0);
    const position = lowerBound(filesByPath.length, (each) => pathAt(each) < path);
    const file = filesByPath[position];
    return file !== undefined && this.#path(file) === path ? file : undefined;
  }

  symbolsOf(file: number): number[] {
    return range(this.#numbers.fileSymbols, file);
  }

  importsOf(file: number): ImportRow[] {
    const { importRows } = this.#rows;
    const { importStarts, importNames } = this.#numbers;
    return range(importStarts, file).map((row) => {
      const isLast = row + 1 === importRows.length;
      const end = isLast ? importNames.length : importRows.at(row + 1, importColumn.firstName);
      const names = importNames.subarray(importRows.at(row, importColumn.firstName), end);
      return {
        target: this.#texts.at(importRows.at(row, importColumn.target)),
        names: Array.from(names, (name) => this.#texts.at(name)),
        line: importRows.at(row, importColumn.line),
      };
    });
  }

  typesOf(file: number): TypeRow[] {
    const { typeRows } = this.#rows;
    return range(this.#numbers.typeStarts, file).map((row) => ({
      symbol: typeRows.at(row, typeColumn.owner) - 1,
      role: typeRoles[typeRows.at(row, typeColumn.role)] ?? 'value',
      name: this.#labels.at(typeRows.at(row, typeColumn.name)),
      type: this.#labels.at(typeRows.at(row, typeColumn.type)),
    }));
  }

  expressionOf(id: number): string {
    return this.#tableOf(id).expressionOf(id);
  }

  get siteCount(): number {
    return this.#calls.length + this.#uses.length;
  }

  site(id: number): CallRow {
    return this.#tableOf(id).at(id);
  }

  uses(): Iterable<CallRow> {
    return this.#uses.all();
  }

  usesOf(name: string): CallRow[] {
    return this.#uses.to(name);
  }

  #tableOf(id: number): CallTable {
    return id < this.#calls.length ? this.#calls : this.#uses;
  }

  calls(): Iterable<CallRow> {
    return this.#calls.all();
  }

  symbol(symbol: number): SymbolRow {
    const rows = this.#rows.symbolRows;
    return {
      ...this.symbolPlace(symbol),
      signature: this.#texts.at(rows.at(symbol, symbolColumn.signature)),
      doc: this.#texts.at(rows.at(symbol, symbolColumn.doc)),
    };
  }

  symbolPlace(symbol: number): SymbolPlace {
    const rows = this.#rows.symbolRows;
    const flags = rows.at(symbol, symbolColumn.flags);
    const line = rows.at(symbol, symbolColumn.line);
    return {
      name: this.#names.at(rows.at(symbol, symbolColumn.name)),
      kind: this.#kinds[rows.at(symbol, symbolColumn.kind)] ?? '',
      file: rows.at(symbol, symbolColumn.file),
      line_start: line,
      line_end: (line + rows.at(symbol, symbolColumn.rest)) >>> 0,
      container: this.#labels.at(rows.at(symbol, symbolColumn.container)),
      exported: (flags & exportedFlag) !== 0,
      declaration: (flags & declarationFlag) !== 0,
    };
  }

  fileOf(document: number): number {
    return document < this.symbolCount
      ? this.#rows.symbolRows.at(document, symbolColumn.file)
      : document - this.symbolCount;
  }

  outline(symbol: number): SymbolOutline {
    const rows = this.#rows.symbolRows;
    const flags = rows.at(symbol, symbolColumn.flags);
    return {
      name: rows.at(symbol, symbolColumn.name),
      kind: this.#kinds[rows.at(symbol, symbolColumn.kind)] ?? '',
      exported: (flags & exportedFlag) !== 0,
      declaration: (flags & declarationFlag) !== 0,
      documented: !this.#texts.isEmpty(rows.at(symbol, symbolColumn.doc)),
    };
  }

  names(): Iterable<string> {
    return this.#names.all();
  }

  nameAt(number: number): string {
    return this.#names.at(number);
  }

  symbolsNamed(name: string): number[] {
    const id = this.#names.position(name);
    return id === undefined ? [] : this.#symbolsOf(id);
  }

  *symbolsByName(): Generator<[name: string, symbols: number[]]> {
    for (const [id, symbols] of this.#symbolGroups()) yield [this.#names.at(id), symbols];
  }

  callsFrom(symbol: number): CallRow[] {
    return this.#calls.from(symbol);
  }

  callsOutside(): CallRow[] {
    return this.#calls.outside();
  }

  callsTo(name: string): CallRow[] {
    return this.#calls.to(name);
  }

  callsByName(): Iterable<[name: string, calls: CallRow[]]> {
    return this.#calls.byName();
  }

  slotsOf(name: string): CallRow[] {
    return this.#slots.of(name);
  }

  /** In order of the names. */
  slots(): Iterable<CallRow> {
    return this.#slots.all();
  }

  scannedNamed(name: string): { file: number; line: number }[] {
    const { scannedPlaces } = this.#rows;
    return this.#scanned.find(name).map((at) => ({
      file: scannedPlaces.at(at, 0),
      line: scannedPlaces.at(at, 1),
    }));
  }

  *symbolNames(): Generator<string> {
    yield* this.#scanned.all();
    for (const [id] of this.#symbolGroups()) yield this.#names.at(id);
  }

  defines(): string[] {
    const { symbolRows } = this.#rows;
    const names: string[] = [];
    for (const [id, symbols] of this.#symbolGroups())
      if (symbols.some((symbol) => symbolRows.at(symbol, symbolColumn.flags) === exportedFlag))
        names.push(this.#names.at(id));
    return names;
  }

  unresolved(): { name: string; sites: number }[] {
    const { symbolRows } = this.#rows;
    const found: { name: string; sites: number }[] = [];
    for (const [id, sites] of this.#calls.sites()) {
      const isDefined = this.#symbolsOf(id).some(
        (symbol) => (symbolRows.at(symbol, symbolColumn.flags) & declarationFlag) === 0,
      );
      if (!isDefined) found.push({ name: this.#names.at(id), sites });
    }
    return found;
  }

  terms(): { term: string; documents: number }[] {
    return this.#terms.terms();
  }

  documentFrequency(term: string): number {
    return this.#terms.documentFrequency(term);
  }

  postings(term: string, visit: (document: number, field: Field, count: number) => void): void {
    this.#terms.postings(term, visit);
  }

  length(document: number, field: Field): number {
    return this.#terms.length(document, field);
  }

  averageLength(field: Field): number {
    return this.#terms.averageLength(field);
  }

  /** Nothing is held open; the memory is freed with the last reference. */
  close(): void {
    return;
  }

  #path(file: number): string {
    return this.#texts.at(this.#numbers.fileRows[file * 3] ?? 0);
  }

  /** Definitions first. */
  #symbolsOf(id: number): number[] {
    const { nameSymbols } = this.#rows;
    const places = between(boundsOf(id, nameSymbols.length, (at) => this.#nameAt(at)));
    return places.map((at) => nameSymbols.at(at));
  }

  *#symbolGroups(): Generator<[name: number, symbols: number[]]> {
    const { nameSymbols } = this.#rows;
    for (let at = 0; at < nameSymbols.length;) {
      const symbols: number[] = [];
      const id = this.#nameAt(at);
      for (; at < nameSymbols.length && this.#nameAt(at) === id; at += 1)
        symbols.push(nameSymbols.at(at));
      yield [id, symbols];
    }
  }

  #nameAt(at: number): number {
    const { nameSymbols, symbolRows } = this.#rows;
    return symbolRows.at(nameSymbols.at(at), symbolColumn.name);
  }
}

const numberSections = [
  'fileRows',
  'fileSymbols',
  'filesByPath',
  'importStarts',
  'importNames',
  'typeStarts',
  'nameBlocks',
  'scannedBlocks',
] as const satisfies readonly SectionName[];
type NumberSection = (typeof numberSections)[number];

/** Section → number of columns. */
const rowSections = {
  importRows: Object.keys(importColumn).length,
  symbolRows: Object.keys(symbolColumn).length,
  nameSymbols: 1,
  scannedPlaces: 2,
  typeRows: Object.keys(typeColumn).length,
} as const satisfies Partial<Record<SectionName, number>>;
type RowSection = keyof typeof rowSections;

function callsIn({ callRows, callExpressions, nameCalls, outsideCalls }: Sections): CallSections {
  return {
    ...{ rows: callRows, expressions: callExpressions, byName: nameCalls },
    ...{ outside: outsideCalls, firstId: 0 },
  };
}

/** Their ids follow those of the calls. */
function usesIn(
  { useRows, useExpressions, nameUses, outsideUses }: Sections,
  firstId: number,
): CallSections {
  return {
    ...{ rows: useRows, expressions: useExpressions, byName: nameUses },
    ...{ outside: outsideUses, firstId },
  };
}

function range(starts: Uint32Array, group: number): number[] {
  const first = starts[group] ?? 0;
  return between([first, starts[group + 1] ?? first]);
}
