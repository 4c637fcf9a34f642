import type { BoundCalls } from '../bound-calls.js';
import type { Field } from '../fields.js';
import { nameHash } from '../name-hash.js';
import type { Segment } from '../segment.js';
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
} from '../shard-index.js';
import type { VectorTable } from '../vectors/vector-table.js';
import { JoinedNames, mergedByName } from './joined-names.js';
import { JoinedTerms } from './joined-terms.js';
import { JoinedNumbers, type Source } from './joined-numbers.js';
import { joinedVectors } from './joined-vectors.js';

/**
 * A shard that lies in several segments: the numbers of files, symbols and sites, and all answers, are those that one
 * segment of the same files would give.
 */
export class JoinedIndex implements ShardIndex {
  readonly #segments: readonly Segment[];
  readonly #numbers: JoinedNumbers;
  #terms?: JoinedTerms;
  #names?: JoinedNames;
  #vectors?: VectorTable;

  constructor(
    sources: readonly Source[],
    readonly info: ShardInfo,
    readonly bound: BoundCalls | undefined,
  ) {
    this.#numbers = new JoinedNumbers(sources);
    this.#segments = this.#numbers.segments;
  }

  get fileCount(): number {
    return this.#numbers.files.length;
  }

  get symbolCount(): number {
    return this.#numbers.symbols.length;
  }

  get items(): { O1: number; O3: number } {
    const sum = { O1: 0, O3: 0 };
    for (const [source, segment] of this.#segments.entries()) {
      const runs = this.#numbers.files.all().filter((run) => run.source === source);
      const { O1, O3 } = segment.itemsIn(
        runs.map(({ first, length }) => [first, first + length] as const),
      );
      sum.O1 += O1;
      sum.O3 += O3;
    }
    return sum;
  }

  get documentCount(): number {
    return this.fileCount + this.symbolCount;
  }

  file(file: number): FileRow {
    const [segment, id] = this.#numbers.fileIn(file);
    return segment.file(id);
  }

  fileAt(path: string): number | undefined {
    for (const [source, segment] of this.#segments.entries()) {
      const file = segment.fileAt(path);
      const joined = file === undefined ? undefined : this.#numbers.files.of(source, file);
      if (joined !== undefined) return joined;
    }
    return undefined;
  }

  symbolsOf(file: number): number[] {
    const place = this.#numbers.files.at(file);
    if (place === undefined) return [];
    const all = this.#segments[place.source]?.symbolsOf(place.id) ?? [];
    return all.flatMap((symbol) => this.#numbers.symbols.of(place.source, symbol) ?? []);
  }

  importsOf(file: number): ImportRow[] {
    const [segment, id] = this.#numbers.fileIn(file);
    return segment.importsOf(id);
  }

  typesOf(file: number): TypeRow[] {
    const place = this.#numbers.files.at(file);
    if (place === undefined) return [];
    const all = this.#segments[place.source]?.typesOf(place.id) ?? [];
    return all.map((row) => ({ ...row, symbol: this.#numbers.ownerOf(place.source, row.symbol) }));
  }

  typesOfSymbol(symbol: number): TypeRow[] {
    const [segment, id] = this.#numbers.symbolIn(symbol);
    return segment.typesOfSymbol(id).map((row) => ({ ...row, symbol }));
  }

  speaksOf(hashes: ReadonlySet<number>): boolean {
    return this.#segments.some((segment) => segment.speaksOf(hashes));
  }

  ownTypesOf(file: number): Iterable<TypeRow> {
    const [segment, id] = this.#numbers.fileIn(file);
    return segment.ownTypesOf(id);
  }

  expressionOf(site: number): string {
    const [segment, id] = this.#numbers.siteIn(site);
    return segment.expressionOf(id);
  }

  site(site: number): CallRow {
    const { source, id } = this.#numbers.sitePlace(site);
    return this.#numbers.row(source, (this.#segments[source] as Segment).site(id)) as CallRow;
  }

  siteSpans(file: number): [number, number][] {
    const place = this.#numbers.files.at(file);
    if (place === undefined) return [];
    const spans = this.#segments[place.source]?.siteSpans(place.id) ?? [];
    return spans.map(([first, end]) => {
      if (first === end) return [0, 0];
      const start = this.#numbers.siteOf(place.source, first);
      return [start, start + end - first];
    });
  }

  get callCount(): number {
    return this.#numbers.sites.calls.length;
  }

  get siteCount(): number {
    const { calls, uses } = this.#numbers.sites;
    return calls.length + uses.length;
  }

  *calls(): Generator<CallRow> {
    for (let id = 0; id < this.#numbers.sites.calls.length; id += 1) yield this.site(id);
  }

  *uses(): Generator<CallRow> {
    for (let id = this.#numbers.sites.calls.length; id < this.siteCount; id += 1)
      yield this.site(id);
  }

  usesOf(name: string): CallRow[] {
    return this.#numbers.rows((segment) => segment.usesOf(name)).sort(inText);
  }

  get vectors(): VectorTable {
    return (this.#vectors ??= joinedVectors(this.#numbers));
  }

  symbol(symbol: number): SymbolRow {
    const [segment, id] = this.#numbers.symbolIn(symbol);
    return { ...segment.symbol(id), file: this.fileOf(symbol) };
  }

  symbolPlace(symbol: number): SymbolPlace {
    const [segment, id] = this.#numbers.symbolIn(symbol);
    return { ...segment.symbolPlace(id), file: this.fileOf(symbol) };
  }

  fileOf(document: number): number {
    if (document >= this.symbolCount) return document - this.symbolCount;
    const place = this.#numbers.symbols.at(document);
    const file = place && this.#segments[place.source]?.fileOf(place.id);
    return (file === undefined ? undefined : this.#numbers.files.of(place?.source ?? 0, file)) ?? 0;
  }

  /** Few ask for the number of the name, and it costs the names of all segments. */
  outline(symbol: number): SymbolOutline {
    const { source = 0, id = 0 } = this.#numbers.symbols.at(symbol) ?? {};
    const { kind, exported, declaration, name } = (this.#segments[source] as Segment).outline(id);
    const numberOf = (): number => this.#joinedNames.of(source, name);
    return {
      ...{ kind, exported, declaration },
      get name() {
        return numberOf();
      },
    };
  }

  isTest(symbol: number): boolean {
    const [segment, id] = this.#numbers.symbolIn(symbol);
    return segment.isTest(id);
  }

  isDocumented(symbol: number): boolean {
    const [segment, id] = this.#numbers.symbolIn(symbol);
    return segment.isDocumented(id);
  }

  names(): Iterable<string> {
    return this.#joinedNames.all;
  }

  nameHashes(): Int32Array {
    return Int32Array.from(this.#joinedNames.all, (name) => nameHash(name));
  }

  nameAt(number: number): string {
    return this.#joinedNames.all[number] ?? '';
  }

  symbolsNamed(name: string): number[] {
    return this.#definitionsFirst(
      this.#segments.map((segment, source) =>
        this.#numbers.symbolsOf(source, segment.symbolsNamed(name)),
      ),
    );
  }

  *symbolsByName(): Generator<[name: string, symbols: number[]]> {
    for (const [name, lists] of mergedByName(this.#segments, (each) => each.symbolsByName())) {
      const symbols = this.#definitionsFirst(
        lists.map(([source, its]) => this.#numbers.symbolsOf(source, its)),
      );
      if (symbols.length > 0) yield [name, symbols];
    }
  }

  callsFrom(symbol: number): CallRow[] {
    const place = this.#numbers.symbols.at(symbol);
    if (place === undefined) return [];
    const all = this.#segments[place.source]?.callsFrom(place.id) ?? [];
    return all.flatMap((row) => this.#numbers.row(place.source, row) ?? []);
  }

  callsOutside(): CallRow[] {
    return this.#numbers
      .rows((segment) => segment.callsOutside())
      .sort((one, other) => one.id - other.id);
  }

  callsTo(name: string): CallRow[] {
    return this.#numbers.rows((segment) => segment.callsTo(name)).sort(inText);
  }

  *callsByName(): Generator<[name: string, calls: CallRow[]]> {
    for (const [name, lists] of mergedByName(this.#segments, (each) => each.callsByName())) {
      const calls = lists.flatMap(([source, rows]) =>
        rows.flatMap((row) => this.#numbers.row(source, row) ?? []),
      );
      if (calls.length > 0) yield [name, calls.sort(inText)];
    }
  }

  slotsOf(name: string): SlotRow[] {
    return this.#numbers.rows((segment) => segment.slotsOf(name)).sort(byFile);
  }

  slotsIn(file: number): SlotRow[] {
    const place = this.#numbers.files.at(file);
    if (place === undefined) return [];
    const all = this.#segments[place.source]?.slotsIn(place.id) ?? [];
    return all.flatMap((row) => this.#numbers.row(place.source, row) ?? []);
  }

  *slots(isWanted?: (name: string) => boolean): Generator<SlotRow> {
    const named = (segment: Segment): Iterable<[string, SlotRow[]]> =>
      grouped(segment.slots(isWanted));
    for (const [, lists] of mergedByName(this.#segments, named))
      yield* lists
        .flatMap(([source, rows]) => rows.flatMap((row) => this.#numbers.row(source, row) ?? []))
        .sort(byFile);
  }

  scannedNamed(name: string): { file: number; line: number }[] {
    const all = this.#segments.flatMap((segment, source) =>
      segment.scannedNamed(name).flatMap(({ file, line }) => {
        const joined = this.#numbers.files.of(source, file);
        return joined === undefined ? [] : [{ file: joined, line }];
      }),
    );
    return all.sort(byFile);
  }

  *symbolNames(): Generator<string> {
    for (const segment of this.#segments)
      for (const name of segment.symbolNames())
        if (this.scannedNamed(name).length > 0 || this.symbolsNamed(name).length > 0) yield name;
  }

  defines(): string[] {
    const names: string[] = [];
    for (const [name, symbols] of this.symbolsByName()) {
      const isDefined = symbols.some((symbol) => {
        const [segment, id] = this.#numbers.symbolIn(symbol);
        const { exported, declaration } = segment.outline(id);
        return exported && !declaration && !segment.isTest(id);
      });
      if (isDefined) names.push(name);
    }
    return names;
  }

  unresolved(): { name: string; sites: number }[] {
    const found: { name: string; sites: number }[] = [];
    for (const [name, calls] of this.callsByName()) {
      const isDefined = this.symbolsNamed(name).some((symbol) => !this.#isDeclaration(symbol));
      if (!isDefined) found.push({ name, sites: calls.length });
    }
    return found;
  }

  terms(): { term: string; documents: number }[] {
    return this.#joinedTerms.terms();
  }

  documentFrequency(term: string): number {
    return this.#joinedTerms.documentFrequency(term);
  }

  postings(term: string, visit: (document: number, field: Field, count: number) => void): void {
    this.#joinedTerms.postings(term, visit);
  }

  length(document: number, field: Field): number {
    return this.#joinedTerms.length(document, field);
  }

  lengthSum(field: Field): { sum: number; documents: number } {
    return this.#joinedTerms.lengthSum(field);
  }

  averageLength(field: Field): number {
    return this.#joinedTerms.averageLength(field);
  }

  get #joinedTerms(): JoinedTerms {
    return (this.#terms ??= new JoinedTerms(
      this.#segments.map((segment, source) => ({
        terms: segment.packedTerms,
        isWhole: this.#numbers.files.isWhole(source, segment.fileCount),
        joined: (document) => this.#numbers.document(source, document),
      })),
      this.documentCount,
      (document) => this.#numbers.documentPlace(document),
    ));
  }

  get #joinedNames(): JoinedNames {
    return (this.#names ??= new JoinedNames(this.#segments));
  }

  #isDeclaration(symbol: number): boolean {
    const [segment, id] = this.#numbers.symbolIn(symbol);
    return segment.outline(id).declaration;
  }

  #definitionsFirst(lists: readonly (readonly number[])[]): number[] {
    const rank = (symbol: number): number => (this.#isDeclaration(symbol) ? 1 : 0);
    const [only, ...others] = lists.filter((each) => each.length > 0);
    if (others.length === 0) return [...(only ?? [])];
    return lists.flat().sort((one, other) => rank(one) - rank(other) || one - other);
  }
}

function inText(one: CallRow, other: CallRow): number {
  return one.file - other.file || one.line - other.line || one.id - other.id;
}

function byFile(one: { file: number }, other: { file: number }): number {
  return one.file - other.file;
}

/** Rows that follow each other, by their name. */
function* grouped(rows: Iterable<SlotRow>): Generator<[name: string, rows: SlotRow[]]> {
  let group: SlotRow[] = [];
  for (const row of rows) {
    const [first] = group;
    if (first !== undefined && first.callee !== row.callee) {
      yield [first.callee, group];
      group = [];
    }
    group.push(row);
  }
  const [first] = group;
  if (first !== undefined) yield [first.callee, group];
}
