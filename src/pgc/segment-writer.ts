import { BusError } from '../errors/bus-error.js';
import {
  bytesOf,
  groupBy,
  NumberColumn,
  packSorted,
  packStrings,
  sortByBytes,
  StringColumn,
  type Grouped,
} from './bytes.js';
import { isCFamily, type FileFacts, type SymbolFact, type WordCounts } from './facts.js';
import { bodyTermsOf, eachIdentifier, wordsOf } from './miners/words.js';
import { documentsMax, PostingWriter } from './posting-writer.js';
import type { Sections } from './segment-file.js';
import { fieldOf, type Field, type FileRow, type ShardInfo } from './shard-index.js';

export const callKinds = ['direct', 'member', 'construct'] as const;
export const exportedFlag = 1;
export const declarationFlag = 2;
/** Beside the kind of a call. */
export const unusedFlag = 128;

/** Sections in the making: the rows of `segment-file.ts`, as columns that grow. */
export class SegmentWriter {
  readonly #texts = new StringColumn();
  readonly #names = new StringColumn();
  readonly #postings = new PostingWriter();
  /** By identifier, as it stands in signatures and documentation: most of them come again and again. */
  readonly #proseTerms = new Map<string, readonly number[]>();
  readonly #paths: string[] = [];
  readonly #blobs: Buffer[] = [];
  readonly #fileRows = new NumberColumn();
  readonly #fileSymbols = new NumberColumn();
  readonly #importStarts = new NumberColumn();
  readonly #importRows = new NumberColumn();
  readonly #importNames = new NumberColumn();
  /** Name ids of the order in which they came; replaced by sorted ids at the end. */
  readonly #symbolNames = new NumberColumn();
  readonly #symbolRows = new NumberColumn();
  readonly #symbolFlags: number[] = [];
  readonly #callNames = new NumberColumn();
  readonly #callCallers = new NumberColumn();
  readonly #callRows = new NumberColumn();
  readonly #callKinds: number[] = [];
  readonly #slotNames = new NumberColumn();
  readonly #slotRows = new NumberColumn();
  readonly #scanned: { name: string; file: number; line: number }[] = [];
  /** What lies outside all symbols, until all symbols are known: their documents come last. */
  readonly #rests: { path: number[]; words: number[]; counts: number[] }[] = [];

  /** Files come in order of their paths. Throws TOO_LARGE beyond the documents that postings can number. */
  add(file: FileRow, facts: FileFacts): void {
    const index = this.#paths.length;
    this.#paths.push(file.path);
    this.#blobs.push(Buffer.from(file.blob, 'hex'));
    this.#fileSymbols.push(this.#symbolFlags.length);
    this.#importStarts.push(this.#importRows.length / 4);
    for (const number of [this.#texts.id(file.path), this.#texts.id(file.language), file.lines]) {
      this.#fileRows.push(number);
    }
    this.#addImports(facts);
    const idOf = this.#addSymbols(index, file, facts);
    this.#addCalls(index, facts, idOf);
    facts.scanned_names.forEach((name, at) =>
      this.#scanned.push({ name, file: index, line: facts.scanned_lines[at] ?? 0 }),
    );
    if (this.#symbolFlags.length + this.#paths.length > documentsMax) {
      throw new BusError('TOO_LARGE', {
        what: 'a shard',
        bytes: this.#symbolFlags.length,
        limit: documentsMax,
      });
    }
  }

  /** O1: symbols, scanned names and imports. O3: call sites, and functions that structures of operations hold. */
  get items(): { O1: number; O3: number } {
    return {
      O1: this.#symbolFlags.length + this.#scanned.length + this.#importRows.length / 4,
      O3: this.#callKinds.length + this.#slotNames.length,
    };
  }

  finish(info: ShardInfo): Sections {
    this.#addRests();
    this.#fileSymbols.push(this.#symbolFlags.length);
    this.#importStarts.push(this.#importRows.length / 4);
    const names = this.#names.all();
    const sorted = sortByBytes([...names]);
    const rank = new Map(sorted.map((name, at) => [name, at]));
    const sortedId = Uint32Array.from(names, (name) => rank.get(name) ?? 0);
    const symbolNames = this.#symbolNames.values().map((id) => sortedId[id] ?? 0);
    const callNames = this.#callNames.values().map((id) => sortedId[id] ?? 0);
    const search = this.#postings.finish();
    const calls = this.#callColumns(callNames);
    const symbolsByName = this.#definitionsFirst(groupBy(symbolNames, sorted.length));
    const callsByName = groupBy(
      Uint32Array.from(calls.order, (call) => callNames[call] ?? 0),
      sorted.length,
    );
    sortByPlace(callsByName, calls.rows);
    const scanned = this.#scannedColumns();
    const nameTable = packSorted(sorted);
    const textTable = packStrings(this.#texts.all());
    const paths = Uint32Array.from(this.#paths.keys());
    paths.sort((a, b) => compare(this.#paths[a] ?? '', this.#paths[b] ?? ''));
    return {
      info: Buffer.from(JSON.stringify(info)),
      fileRows: bytesOf(this.#fileRows.values()),
      fileBlobs: Buffer.concat(this.#blobs),
      fileSymbols: bytesOf(this.#fileSymbols.values()),
      filesByPath: bytesOf(paths),
      importStarts: bytesOf(this.#importStarts.values()),
      importRows: bytesOf(this.#importRows.values()),
      importNames: bytesOf(this.#importNames.values()),
      symbolRows: bytesOf(interleave(symbolNames, this.#symbolRows.values(), 7)),
      symbolFlags: Uint8Array.from(this.#symbolFlags),
      callRows: bytesOf(calls.rows),
      callKinds: calls.kinds,
      callStarts: bytesOf(calls.starts),
      nameBlocks: bytesOf(nameTable.blocks),
      nameBytes: nameTable.bytes,
      nameSymbols: bytesOf(symbolsByName.members),
      nameCalls: bytesOf(callsByName.members),
      slotRows: bytesOf(this.#slotsByName(sortedId)),
      ...search,
      scannedBlocks: bytesOf(scanned.names.blocks),
      scannedNames: scanned.names.bytes,
      scannedPlaces: bytesOf(scanned.places),
      textOffsets: bytesOf(textTable.offsets),
      textBytes: textTable.bytes,
    };
  }

  #addImports(facts: FileFacts): void {
    for (const each of facts.imports) {
      const first = this.#importNames.length;
      for (const name of each.names) this.#importNames.push(this.#texts.id(name));
      for (const number of [
        this.#texts.id(each.target),
        each.line,
        first,
        this.#importNames.length,
      ]) {
        this.#importRows.push(number);
      }
    }
  }

  /** Returns the shard's id of each symbol of the facts; ids follow the order of the text. */
  #addSymbols(file: number, row: FileRow, facts: FileFacts): number[] {
    const base = this.#symbolFlags.length;
    const order = facts.symbols.map((_, index) => index);
    order.sort((a, b) => (facts.symbols[a]?.line_start ?? 0) - (facts.symbols[b]?.line_start ?? 0));
    const idOf: number[] = [];
    order.forEach((index, position) => {
      idOf[index] = base + position;
    });
    const words = facts.words.map((word) => this.#postings.term(word));
    const pathTerms = this.#termsOf(wordsOf(row.path));
    const isHeader = isCFamily(row.language) && /\.h\w*$/.test(row.path);
    for (const index of order) {
      const symbol = facts.symbols[index];
      if (symbol === undefined) continue;
      this.#addSymbol(file, symbol, isHeader);
      this.#countTerms(pathTerms, fieldOf.path);
      // What stands around it is as good as a folder.
      if (symbol.container !== '')
        this.#countTerms(this.#termsOf(wordsOf(symbol.container)), fieldOf.path);
      this.#countTerms(this.#termsOf(wordsOf(symbol.name)), fieldOf.name);
      this.#countProse(symbol.signature, fieldOf.signature);
      this.#countProse(symbol.doc, fieldOf.doc);
      this.#countBody(words, facts.documents[index]);
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
    // Whoever includes a header sees its static functions too.
    const exported = symbol.exported || isHeader;
    this.#symbolFlags.push(
      (exported ? exportedFlag : 0) | (symbol.declaration ? declarationFlag : 0),
    );
    this.#symbolNames.push(this.#names.id(symbol.name));
    for (const number of [
      this.#texts.id(symbol.kind),
      file,
      symbol.line_start,
      symbol.line_end,
      this.#texts.id(symbol.signature),
      this.#texts.id(symbol.container),
      this.#texts.id(symbol.doc),
    ]) {
      this.#symbolRows.push(number);
    }
  }

  #addCalls(file: number, facts: FileFacts, idOf: readonly number[]): void {
    for (const call of facts.calls) {
      const caller = call.caller === 0 ? 0 : (idOf[call.caller - 1] ?? -1) + 1;
      if (call.kind === 'slot') {
        this.#slotNames.push(this.#names.id(call.callee));
        const row = [caller, file, call.line, this.#texts.id(call.receiver)];
        for (const number of row) this.#slotRows.push(number);
        continue;
      }
      this.#callNames.push(this.#names.id(call.callee));
      this.#callCallers.push(caller);
      const kind = Math.max(callKinds.indexOf(call.kind as 'direct'), 0);
      this.#callKinds.push(kind | (call.unused ? unusedFlag : 0));
      for (const number of [file, call.line, this.#texts.id(call.receiver)]) {
        this.#callRows.push(number);
      }
    }
  }

  /** Calls grouped by caller in order of the text; those at file level come last. */
  #callColumns(names: Uint32Array): {
    rows: Uint32Array;
    kinds: Uint8Array;
    starts: Uint32Array;
    order: Uint32Array;
  } {
    const symbols = this.#symbolFlags.length;
    const groups = this.#callCallers
      .values()
      .map((caller) => (caller === 0 ? symbols : caller - 1));
    const { starts, members: order } = groupBy(groups, symbols + 1);
    for (let caller = 0; caller < symbols; caller += 1) {
      order
        .subarray(starts[caller], starts[caller + 1])
        .sort((a, b) => this.#lineOf(a) - this.#lineOf(b) || a - b);
    }
    const rows = new Uint32Array(order.length * 5);
    const kinds = new Uint8Array(order.length);
    order.forEach((call, at) => {
      rows[at * 5] = names[call] ?? 0;
      rows[at * 5 + 1] = this.#callCallers.at(call);
      rows.set(this.#callRows.values().subarray(call * 3, call * 3 + 3), at * 5 + 2);
      kinds[at] = this.#callKinds[call] ?? 0;
    });
    return { rows, kinds, starts: starts.subarray(0, symbols + 1), order };
  }

  /** In the order of their names, within a name in that of the text. */
  #slotsByName(sortedId: Uint32Array): Uint32Array {
    const names = this.#slotNames.values().map((id) => sortedId[id] ?? 0);
    const { members } = groupBy(names, sortedId.length);
    const rows = new Uint32Array(members.length * 5);
    members.forEach((slot, at) => {
      rows[at * 5] = names[slot] ?? 0;
      rows.set(this.#slotRows.values().subarray(slot * 4, slot * 4 + 4), at * 5 + 1);
    });
    return rows;
  }

  /** By name; one name keeps the order of the files and their lines. */
  #scannedColumns(): { names: ReturnType<typeof packSorted>; places: Uint32Array } {
    const distinct = new StringColumn();
    const ids = Uint32Array.from(this.#scanned, ({ name }) => distinct.id(name));
    const { starts, members } = groupBy(ids, distinct.size);
    const names: string[] = [];
    const places = new NumberColumn();
    for (const name of sortByBytes(distinct.all())) {
      const id = distinct.id(name);
      for (const member of members.subarray(starts[id], starts[id + 1])) {
        const { file = 0, line = 0 } = this.#scanned[member] ?? {};
        names.push(name);
        places.push(file);
        places.push(line);
      }
    }
    return { names: packSorted(names), places: places.values() };
  }

  #lineOf(call: number): number {
    return this.#callRows.at(call * 3 + 1);
  }

  #definitionsFirst(grouped: Grouped): Grouped {
    const rank = (symbol: number): number => (this.#symbolFlags[symbol] ?? 0) & declarationFlag;
    for (let name = 0; name + 1 < grouped.starts.length; name += 1) {
      grouped.members
        .subarray(grouped.starts[name], grouped.starts[name + 1])
        .sort((a, b) => rank(a) - rank(b) || a - b);
    }
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

  #termsOf(words: readonly string[]): number[] {
    return words.map((word) => this.#postings.term(word));
  }

  #countTerms(terms: readonly number[], field: Field): void {
    for (const term of terms) this.#postings.count(term, field, 1);
  }

  /** Every occurrence, without the words that stand in every sentence and every signature. */
  #countProse(text: string, field: Field): void {
    eachIdentifier(text, 0, text.length, (identifier) => {
      let terms = this.#proseTerms.get(identifier);
      if (terms === undefined) {
        terms = this.#termsOf(bodyTermsOf(identifier));
        this.#proseTerms.set(identifier, terms);
      }
      this.#countTerms(terms, field);
    });
  }

  #countBody(words: readonly number[], document: WordCounts | undefined): void {
    document?.word.forEach((word, at) => {
      const term = words[word];
      if (term !== undefined) this.#postings.count(term, fieldOf.body, document.count[at] ?? 0);
    });
  }
}

/** Call ids of each name in order of file and line: file-level calls would otherwise stand at the end. */
function sortByPlace(grouped: Grouped, rows: Uint32Array): void {
  const fileOf = (call: number): number => rows[call * 5 + 2] ?? 0;
  const lineOf = (call: number): number => rows[call * 5 + 3] ?? 0;
  for (let name = 0; name + 1 < grouped.starts.length; name += 1) {
    grouped.members
      .subarray(grouped.starts[name], grouped.starts[name + 1])
      .sort((a, b) => fileOf(a) - fileOf(b) || lineOf(a) - lineOf(b) || a - b);
  }
}

function interleave(first: Uint32Array, others: Uint32Array, width: number): Uint32Array {
  const rows = new Uint32Array(first.length + others.length);
  first.forEach((value, row) => {
    rows[row * (width + 1)] = value;
    rows.set(others.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  });
  return rows;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
