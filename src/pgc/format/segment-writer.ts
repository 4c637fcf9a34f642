import { BusError } from '../../errors/bus-error.js';
import {
  bytesOf,
  groupBy,
  lowerBound,
  NumberColumn,
  sortGroups,
  StringColumn,
  type Grouped,
} from './bytes.js';
import {
  isCFamily,
  isFunction,
  typeRoles,
  type CallFact,
  type FileFacts,
  type SymbolFact,
  type WordCounts,
} from './facts.js';
import { packRows } from './packed-rows.js';
import { documentsMax, PostingWriter } from './posting-writer.js';
import type { Sections } from './container/segment-file.js';
import type { FileRow, ShardInfo } from './shard-index.js';
import { fieldOf, type Field } from './fields.js';
import { ShardTerms } from './shard-terms.js';
import { packSorted, sortByBytes } from './sorted-names.js';
import { packStrings } from './string-table.js';
import { FunctionVectors } from './vectors/function-vectors.js';

export const callKinds = ['direct', 'member', 'construct', 'value', 'type'] as const;
export const exportedFlag = 1;
export const declarationFlag = 2;
export const testFlag = 4;
/** Flag added to the kind of a call. */
export const unusedFlag = 8;
const callColumns = ['name', 'caller', 'file', 'line', 'receiver', 'kind', 'expression'] as const;

/** Builds the sections of a segment in growing columns. */
export class SegmentWriter {
  readonly #kinds = new StringColumn();
  readonly #labels = new StringColumn();
  readonly #texts = new StringColumn();
  readonly #names = new StringColumn();
  readonly #terms: ShardTerms;
  readonly #postings: PostingWriter;
  readonly #paths: string[] = [];
  readonly #blobs: Buffer[] = [];
  readonly #fileRows = new NumberColumn();
  readonly #fileSymbols = new NumberColumn();
  readonly #importStarts = new NumberColumn();
  readonly #imports = columns('target', 'line', 'firstName');
  readonly #importNames = new NumberColumn();
  /** Name ids in order of arrival; `write` replaces them by ids in order of the names. */
  readonly #symbols = columns(
    ...([
      'name',
      'kind',
      'flags',
      'file',
      'line',
      'rest',
      'signature',
      'container',
      'doc',
    ] as const),
  );
  /** `caller`: 1 + symbol; 0 outside all symbols. */
  readonly #calls = columns(...callColumns);
  readonly #uses = columns(...callColumns);
  readonly #typeStarts = new NumberColumn();
  /** `owner`: 1 + symbol; 0: the file. */
  readonly #types = columns('owner', 'role', 'name', 'type');
  readonly #slots = columns('name', 'caller', 'file', 'line', 'receiver', 'expression');
  readonly #scanned: { name: string; file: number; line: number }[] = [];
  /** Texts outside all symbols; their documents come after those of all symbols. */
  readonly #rests: { path: readonly number[]; words: number[]; counts: number[] }[] = [];

  readonly #vectors: FunctionVectors;

  constructor(terms = new ShardTerms()) {
    this.#vectors = new FunctionVectors(terms);
    this.#terms = terms;
    this.#postings = new PostingWriter(terms);
  }

  /**
   * Call in order of the paths. `words`: term ids of the facts' words. Throws TOO_LARGE with more documents than
   * postings can number.
   */
  add(file: FileRow, facts: FileFacts, words = this.#terms.ids(facts.words)): void {
    const index = this.#paths.length;
    this.#paths.push(file.path);
    this.#blobs.push(Buffer.from(file.blob, 'hex'));
    this.#fileSymbols.push(this.#symbolCount);
    this.#importStarts.push(this.#imports.line.length);
    for (const number of [this.#labels.id(file.path), this.#labels.id(file.language), file.lines]) {
      this.#fileRows.push(number);
    }
    this.#addImports(facts);
    const idOf = this.#addSymbols(index, file, facts, words);
    this.#addCalls(index, facts, idOf);
    this.#addTypes(facts, idOf);
    facts.scanned_names.forEach((name, at) =>
      this.#scanned.push({ name, file: index, line: facts.scanned_lines[at] ?? 0 }),
    );
    if (this.#symbolCount + this.#paths.length > documentsMax) {
      throw new BusError('TOO_LARGE', {
        what: 'a shard',
        unit: 'symbols',
        bytes: this.#symbolCount,
        limit: documentsMax,
      });
    }
  }

  get #symbolCount(): number {
    return this.#symbols.name.length;
  }

  /** O1: symbols, scanned names and imports. O3: call sites and functions in structures of operations. */
  get items(): { O1: number; O3: number } {
    return {
      O1: this.#symbolCount + this.#scanned.length + this.#imports.line.length,
      O3: this.#calls.name.length + this.#slots.name.length,
    };
  }

  finish(info: ShardInfo): Sections {
    this.#addRests();
    this.#fileSymbols.push(this.#symbolCount);
    this.#importStarts.push(this.#imports.line.length);
    this.#typeStarts.push(this.#types.role.length);
    const names = this.#names.all();
    const sorted = sortByBytes([...names]);
    const rank = new Map(sorted.map((name, at) => [name, at]));
    const sortedId = Uint32Array.from(names, (name) => rank.get(name) ?? 0);
    const inOrder = (ids: NumberColumn): Uint32Array => ids.values().map((id) => sortedId[id] ?? 0);
    const symbolNames = inOrder(this.#symbols.name);
    const calls = this.#callTable(this.#calls, inOrder(this.#calls.name), sorted.length);
    const uses = this.#callTable(this.#uses, inOrder(this.#uses.name), sorted.length);
    const scanned = this.#scannedColumns();
    const nameTable = packSorted(sorted);
    const labels = packStrings(this.#labels.all());
    const texts = packStrings(this.#texts.all());
    const paths = Uint32Array.from(this.#paths.keys());
    paths.sort((a, b) => compare(this.#paths[a] ?? '', this.#paths[b] ?? ''));
    const { name: _, ...ofSymbols } = this.#symbols;
    return {
      info: Buffer.from(JSON.stringify(info)),
      kinds: Buffer.from(JSON.stringify(this.#kinds.all())),
      fileRows: bytesOf(this.#fileRows.values()),
      fileBlobs: Buffer.concat(this.#blobs),
      fileSymbols: bytesOf(this.#fileSymbols.values()),
      filesByPath: bytesOf(paths),
      importStarts: bytesOf(this.#importStarts.values()),
      importRows: packRows(valuesOf(this.#imports)),
      importNames: bytesOf(this.#importNames.values()),
      symbolRows: packRows([symbolNames, ...valuesOf(ofSymbols)]),
      callRows: calls.rows,
      callExpressions: calls.expressions,
      useRows: uses.rows,
      useExpressions: uses.expressions,
      typeStarts: bytesOf(this.#typeStarts.values()),
      typeRows: packRows(valuesOf(this.#types)),
      outsideCalls: calls.outside,
      outsideUses: uses.outside,
      nameBlocks: bytesOf(nameTable.blocks),
      nameBytes: nameTable.bytes,
      nameSymbols: packRows([this.#definitionsFirst(groupBy(symbolNames, sorted.length)).members]),
      nameCalls: calls.byName,
      nameUses: uses.byName,
      slotRows: packRows(this.#slotsByName(inOrder(this.#slots.name), sorted.length)),
      ...this.#postings.finish(),
      ...this.#vectors.finish(),
      scannedBlocks: bytesOf(scanned.names.blocks),
      scannedNames: scanned.names.bytes,
      scannedPlaces: packRows([scanned.files, scanned.lines]),
      labelOffsets: labels.offsets,
      labelBytes: labels.bytes,
      textOffsets: texts.offsets,
      textBytes: texts.bytes,
    };
  }

  #addImports(facts: FileFacts): void {
    for (const each of facts.imports) {
      this.#imports.firstName.push(this.#importNames.length);
      for (const name of each.names) this.#importNames.push(this.#labels.id(name));
      this.#imports.target.push(this.#labels.id(each.target));
      this.#imports.line.push(each.line);
    }
  }

  /** Returns the shard's id of each symbol of the facts; ids follow the order of the text. */
  #addSymbols(file: number, row: FileRow, facts: FileFacts, words: readonly number[]): number[] {
    const base = this.#symbolCount;
    const order = facts.symbols.map((_, index) => index);
    order.sort((a, b) => (facts.symbols[a]?.line_start ?? 0) - (facts.symbols[b]?.line_start ?? 0));
    const idOf: number[] = [];
    order.forEach((index, position) => {
      idOf[index] = base + position;
    });
    const pathTerms = this.#terms.ofName(row.path);
    const isHeader = isCFamily(row.language) && /\.h\w*$/.test(row.path);
    for (const index of order) {
      const symbol = facts.symbols[index];
      if (symbol === undefined) continue;
      this.#addSymbol(file, symbol, isHeader);
      this.#countTerms(pathTerms, fieldOf.path);
      // The container's name counts like a folder's.
      if (symbol.container !== '')
        this.#countTerms(this.#terms.ofName(symbol.container), fieldOf.path);
      this.#countTerms(this.#terms.ofName(symbol.name), fieldOf.name);
      this.#countProse(symbol.signature, fieldOf.signature);
      this.#countProse(symbol.doc, fieldOf.doc);
      this.#countBody(words, facts.documents[index]);
      if (isFunction(symbol.kind) && !symbol.declaration) {
        this.#postings.eachTerm((term, count) => this.#vectors.count(term, count));
        this.#vectors.end(this.#symbolCount - 1);
      }
      this.#postings.endDocument();
    }
    const rest = facts.documents[facts.symbols.length];
    this.#rests.push({
      path: pathTerms,
      words: (rest?.word ?? []).map((word) => words[word] ?? 0),
      counts: [...(rest?.count ?? [])],
    });
    return idOf;
  }

  #addSymbol(file: number, symbol: SymbolFact, isHeader: boolean): void {
    // A file that includes a header sees its static functions, too.
    const exported = symbol.exported || isHeader;
    const { name, kind, flags, file: files, line, rest, signature, container, doc } = this.#symbols;
    name.push(this.#names.id(symbol.name));
    kind.push(this.#kinds.id(symbol.kind));
    flags.push(
      (exported ? exportedFlag : 0) |
        (symbol.declaration ? declarationFlag : 0) |
        (symbol.test === true ? testFlag : 0),
    );
    files.push(file);
    line.push(symbol.line_start);
    rest.push(symbol.line_end - symbol.line_start);
    signature.push(this.#texts.id(symbol.signature));
    container.push(this.#labels.id(symbol.container));
    doc.push(this.#texts.id(symbol.doc));
  }

  #addCalls(file: number, facts: FileFacts, idOf: readonly number[]): void {
    for (const call of facts.calls)
      this.#addCall(call.kind === 'slot' ? this.#slots : this.#calls, { call, file, idOf });
    for (const call of facts.uses) this.#addCall(this.#uses, { call, file, idOf });
  }

  #addCall(
    rows: SlotColumns | CallColumns,
    { call, file, idOf }: { call: CallFact; file: number; idOf: readonly number[] },
  ): void {
    rows.name.push(this.#names.id(call.callee));
    rows.caller.push(call.caller === 0 ? 0 : (idOf[call.caller - 1] ?? -1) + 1);
    rows.file.push(file);
    rows.line.push(call.line);
    rows.receiver.push(this.#labels.id(call.receiver));
    rows.expression.push(this.#labels.id(call.expression));
    if (!('kind' in rows)) return;
    const kind = Math.max(callKinds.indexOf(call.kind as 'direct'), 0);
    rows.kind.push(kind | (call.unused ? unusedFlag : 0));
  }

  #addTypes(facts: FileFacts, idOf: readonly number[]): void {
    this.#typeStarts.push(this.#types.role.length);
    const types = facts.types.map((type) => ({
      ...type,
      owner: type.owner === 0 ? 0 : (idOf[type.owner - 1] ?? -1) + 1,
    }));
    // What is said of one symbol is found by a search.
    types.sort((one, other) => one.owner - other.owner);
    for (const { owner, role, name, type } of types) {
      this.#types.owner.push(owner);
      this.#types.role.push(typeRoles.indexOf(role));
      this.#types.name.push(this.#labels.id(name));
      this.#types.type.push(this.#labels.id(type));
    }
  }

  /** In order of their callers, then of the text; those at file level come last. */
  #callTable(
    { caller: callers, file, line, receiver, kind, expression }: CallColumns,
    name: Uint32Array,
    nameCount: number,
  ): Record<'rows' | 'expressions' | 'outside' | 'byName', Uint8Array> {
    const symbols = this.#symbolCount;
    const groups = callers.values().map((caller) => (caller === 0 ? symbols : caller - 1));
    const { starts, members: order } = groupBy(groups, symbols + 1);
    const byCaller = { starts: starts.subarray(0, symbols + 1), members: order };
    sortGroups(byCaller, (a, b) => line.at(a) - line.at(b) || a - b);
    const inOrder = (values: Uint32Array): Uint32Array => order.map((call) => values[call] ?? 0);
    const places = {
      ...{ name: inOrder(name), caller: inOrder(groups) },
      ...{ file: inOrder(file.values()), line: inOrder(line.values()) },
    };
    const byName = groupBy(places.name, nameCount);
    sortByPlace(byName, places);
    return {
      rows: packRows([
        ...[places.name, places.caller, places.line],
        ...[inOrder(receiver.values()), inOrder(kind.values())],
      ]),
      expressions: packRows([inOrder(expression.values())]),
      outside: bytesOf(this.#outsideStarts(places)),
      byName: packRows([byName.members]),
    };
  }

  #outsideStarts({ caller, file }: Record<'caller' | 'file', Uint32Array>): Uint32Array {
    let at = lowerBound(caller.length, (call) => (caller[call] ?? 0) < this.#symbolCount);
    return Uint32Array.from({ length: this.#paths.length + 1 }, (_, each) => {
      while (at < file.length && (file[at] ?? 0) < each) at += 1;
      return at;
    });
  }

  /** In order of the names, then of the text. */
  #slotsByName(name: Uint32Array, nameCount: number): Uint32Array[] {
    const { members } = groupBy(name, nameCount);
    const { name: _, ...others } = this.#slots;
    return [name, ...valuesOf(others)].map((values) => members.map((slot) => values[slot] ?? 0));
  }

  /** In order of the names, then of files and lines. */
  #scannedColumns(): {
    names: ReturnType<typeof packSorted>;
    files: Uint32Array;
    lines: Uint32Array;
  } {
    const distinct = new StringColumn();
    const ids = Uint32Array.from(this.#scanned, ({ name }) => distinct.id(name));
    const { starts, members } = groupBy(ids, distinct.size);
    const names: string[] = [];
    const places = columns('file', 'line');
    for (const name of sortByBytes(distinct.all())) {
      const id = distinct.id(name);
      for (const member of members.subarray(starts[id], starts[id + 1])) {
        const { file = 0, line = 0 } = this.#scanned[member] ?? {};
        names.push(name);
        places.file.push(file);
        places.line.push(line);
      }
    }
    const [files, lines] = [places.file.values(), places.line.values()];
    return { names: packSorted(names), files, lines };
  }

  #definitionsFirst(grouped: Grouped): Grouped {
    const rank = (symbol: number): number => this.#symbols.flags.at(symbol) & declarationFlag;
    sortGroups(grouped, (a, b) => rank(a) - rank(b) || a - b);
    return grouped;
  }

  #addRests(): void {
    for (const { path, words, counts } of this.#rests) {
      this.#countTerms(path, fieldOf.path);
      words.forEach((term, at) => this.#postings.count(term, fieldOf.body, counts[at] ?? 0));
      this.#postings.endDocument();
    }
    this.#rests.length = 0;
  }

  #countTerms(terms: readonly number[], field: Field): void {
    for (const term of terms) this.#postings.count(term, field, 1);
  }

  #countProse(text: string, field: Field): void {
    this.#terms.eachOfProse(text, (term) => this.#postings.count(term, field, 1));
  }

  #countBody(words: readonly number[], document: WordCounts | undefined): void {
    document?.word.forEach((word, at) => {
      const term = words[word];
      if (term !== undefined) this.#postings.count(term, fieldOf.body, document.count[at] ?? 0);
    });
  }
}

/** Orders the calls of each name by file and line; else calls at file level would come last. */
function sortByPlace(grouped: Grouped, { file, line }: Record<'file' | 'line', Uint32Array>): void {
  const fileOf = (call: number): number => file[call] ?? 0;
  const lineOf = (call: number): number => line[call] ?? 0;
  sortGroups(grouped, (a, b) => fileOf(a) - fileOf(b) || lineOf(a) - lineOf(b) || a - b);
}

type CallColumns = Record<(typeof callColumns)[number], NumberColumn>;
type SlotColumns = Omit<CallColumns, 'kind'>;

function columns<Name extends string>(...names: Name[]): Record<Name, NumberColumn> {
  return Object.fromEntries(names.map((name) => [name, new NumberColumn()])) as Record<
    Name,
    NumberColumn
  >;
}

function valuesOf(named: Record<string, NumberColumn>): Uint32Array[] {
  return Object.values(named).map((column) => column.values());
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
