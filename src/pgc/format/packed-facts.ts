import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ByteColumn, VarintReader } from './bytes.js';
import {
  typeRoles,
  type CallFact,
  type FileFacts,
  type ImportFact,
  type ItemFact,
  type SymbolFact,
  type TypeFact,
  type WordCounts,
} from './facts.js';

/** Limit for the unpacked facts of one text, which has at most 32 MiB. */
const factsBytesMax = 256 * 1024 * 1024;
/** Higher levels hardly make facts smaller, and take longer than mining some files. */
const level = 4;
/** The least that zlib takes. */
const chunkBytesMin = 64;

/** Compressed: the facts of a code base take a fifth of its text. */
export function encodeFacts(facts: FileFacts): Buffer {
  const packed = packFacts(facts);
  // Room for all of it at once.
  return deflateRawSync(packed, { level, chunkSize: Math.max(chunkBytesMin, packed.length) });
}

/** Throws for damaged bytes. Words of a document come back in order of their numbers. */
export function decodeFacts(bytes: Uint8Array): FileFacts {
  return unpackFacts(inflateRawSync(bytes, { maxOutputLength: factsBytesMax }));
}

/** Above every count of a word; `word * countFactor + count` is still an exact integer. */
const countFactor = 2 ** 20;
const insertedMax = 40;

/**
 * Facts by columns, which compress a third smaller than rows and decode faster. Strings that repeat in a file (names,
 * kinds, callees) are written once. Beyond that only what a compressor cannot see is encoded by hand: numbers that
 * ascend, the symbol's name inside its signature, and the order of a document's words, which has no meaning: they come
 * back ascending.
 *
 *     numbers: varints; mostly ascending ones as differences
 *     a string: its length in bytes, and UTF-8
 *     a string that may repeat: 0 and the string the first time; then its number, from one
 */
export function packFacts(facts: FileFacts): Buffer {
  const out = new FactsWriter();
  const { symbols, calls, uses, imports, documents, items } = facts;
  out.again(facts.language);
  const { lines, bytes, error_bytes, generated } = facts;
  for (const number of [lines, bytes, error_bytes, generated ? 1 : 0]) out.number(number);
  packSymbols(out, symbols);
  packCalls(out, calls);
  packCalls(out, uses);
  out.number(imports.length);
  for (const { target, names, line } of imports) {
    out.again(target);
    out.number(line);
    out.number(names.length);
    for (const name of names) out.again(name);
  }
  packTypes(out, facts.types);
  out.number(facts.words.length);
  for (const word of facts.words) out.text(word);
  out.number(documents.length);
  for (const document of documents) packDocument(out, document);
  packItems(out, items);
  out.number(facts.scanned_names.length);
  for (const name of facts.scanned_names) out.text(name);
  out.ascending(facts.scanned_lines);
  return out.bytes();
}

/** Reads `packFacts`. Throws RangeError for truncated bytes. */
export function unpackFacts(bytes: Uint8Array): FileFacts {
  const from = new FactsReader(bytes);
  const language = from.again();
  const head = from.list(4, () => from.number());
  const [lines = 0, size = 0, error_bytes = 0, generated = 0] = head;
  const symbols = unpackSymbols(from);
  const calls = unpackCalls(from);
  const uses = unpackCalls(from);
  const imports = from.list(from.number(), (): ImportFact => ({
    target: from.again(),
    line: from.number(),
    names: from.list(from.number(), () => from.again()),
  }));
  const types = unpackTypes(from);
  const words = from.list(from.number(), () => from.text());
  const documents = from.list(from.number(), () => unpackDocument(from));
  const items = unpackItems(from);
  const scanned_names = from.list(from.number(), () => from.text());
  const scanned_lines = from.ascending(scanned_names.length);
  return {
    ...{
      language,
      lines,
      bytes: size,
      error_bytes,
      generated: generated === 1,
      symbols,
      calls,
      uses,
      imports,
      types,
      words,
      documents,
    },
    ...{ items, scanned_names, scanned_lines },
  };
}

function packSymbols(out: FactsWriter, symbols: readonly SymbolFact[]): void {
  out.number(symbols.length);
  for (const { kind } of symbols) out.again(kind);
  for (const { exported, declaration, test } of symbols)
    out.number((exported ? 1 : 0) | (declaration ? 2 : 0) | (test === true ? 4 : 0));
  out.ascending(symbols.map(({ line_start }) => line_start));
  for (const { line_start, line_end } of symbols) out.difference(line_end - line_start);
  for (const { container } of symbols) out.again(container);
  for (const { name } of symbols) out.again(name);
  for (const { name, signature } of symbols) {
    const at = name === '' ? -1 : signature.indexOf(name);
    out.number(at + 1);
    out.text(at < 0 ? signature : signature.slice(0, at) + signature.slice(at + name.length));
  }
  for (const { doc } of symbols) out.text(doc);
}

function unpackSymbols(from: FactsReader): SymbolFact[] {
  const count = from.number();
  const kinds = from.list(count, () => from.again());
  const flags = from.list(count, () => from.number());
  const starts = from.ascending(count);
  const ends = starts.map((start) => start + from.difference());
  const containers = from.list(count, () => from.again());
  const names = from.list(count, () => from.again());
  const signatures = names.map((name) => {
    const at = from.number() - 1;
    const rest = from.text();
    return at < 0 ? rest : rest.slice(0, at) + name + rest.slice(at);
  });
  return names.map((name, at): SymbolFact => ({
    name,
    kind: kinds[at] ?? '',
    line_start: starts[at] ?? 0,
    line_end: ends[at] ?? 0,
    signature: signatures[at] ?? '',
    container: containers[at] ?? '',
    exported: ((flags[at] ?? 0) & 1) !== 0,
    doc: from.text(),
    declaration: ((flags[at] ?? 0) & 2) !== 0,
    ...(((flags[at] ?? 0) & 4) !== 0 && { test: true }),
  }));
}

function packCalls(out: FactsWriter, calls: readonly CallFact[]): void {
  out.number(calls.length);
  for (const { callee } of calls) out.again(callee);
  for (const { receiver } of calls) out.again(receiver);
  for (const { expression } of calls) out.again(expression);
  for (const { kind } of calls) out.again(kind);
  for (const { unused } of calls) out.number(unused ? 1 : 0);
  out.ascending(calls.map(({ line }) => line));
  out.ascending(calls.map(({ caller }) => caller));
}

function unpackCalls(from: FactsReader): CallFact[] {
  const count = from.number();
  const callees = from.list(count, () => from.again());
  const receivers = from.list(count, () => from.again());
  const expressions = from.list(count, () => from.again());
  const kinds = from.list(count, () => from.again());
  const unused = from.list(count, () => from.number());
  const lines = from.ascending(count);
  const callers = from.ascending(count);
  return callees.map((callee, at): CallFact => ({
    callee,
    line: lines[at] ?? 0,
    caller: callers[at] ?? 0,
    kind: kinds[at] ?? '',
    receiver: receivers[at] ?? '',
    expression: expressions[at] ?? '',
    unused: unused[at] === 1,
  }));
}

function packTypes(out: FactsWriter, types: readonly TypeFact[]): void {
  out.number(types.length);
  out.ascending(types.map(({ owner }) => owner));
  for (const { role } of types) out.number(typeRoles.indexOf(role));
  for (const { name } of types) out.again(name);
  for (const { type } of types) out.again(type);
}

function unpackTypes(from: FactsReader): TypeFact[] {
  const owners = from.ascending(from.number());
  const roles = owners.map(() => typeRoles[from.number()] ?? 'value');
  const names = owners.map(() => from.again());
  return owners.map((owner, at): TypeFact => ({
    ...{ owner, role: roles[at] ?? 'value', name: names[at] ?? '', type: from.again() },
  }));
}

/** For each word: gap << 1 | whether it occurs more than once, and then the count. */
function packDocument(out: FactsWriter, { word, count }: WordCounts): void {
  const both = new Float64Array(word.length);
  for (let at = 0; at < both.length; at += 1)
    both[at] = (word[at] ?? 0) * countFactor + (count[at] ?? 0);
  sort(both);
  out.number(both.length);
  let next = 0;
  for (let at = 0; at < both.length; at += 1) {
    const each = both[at] ?? 0;
    const wordId = Math.floor(each / countFactor);
    const times = each - wordId * countFactor;
    out.number((wordId - next) * 2 + (times === 1 ? 0 : 1));
    if (times !== 1) out.number(times);
    next = wordId + 1;
  }
}

/** Insertion sort is several times faster for most documents, which are short and almost in order. */
function sort(numbers: Float64Array): void {
  if (numbers.length > insertedMax) {
    numbers.sort();
    return;
  }
  for (let at = 1; at < numbers.length; at += 1) {
    const each = numbers[at] ?? 0;
    let to = at;
    for (; to > 0 && (numbers[to - 1] ?? 0) > each; to -= 1) numbers[to] = numbers[to - 1] ?? 0;
    numbers[to] = each;
  }
}

function unpackDocument(from: FactsReader): WordCounts {
  const length = from.number();
  const [word, count] = [new Array<number>(), new Array<number>()];
  let next = 0;
  for (let at = 0; at < length; at += 1) {
    const head = from.number();
    word.push(next + (head >>> 1));
    count.push((head & 1) === 0 ? 1 : from.number());
    next += (head >>> 1) + 1;
  }
  return { word, count };
}

function packItems(out: FactsWriter, items: readonly ItemFact[]): void {
  out.number(items.length);
  for (const { overlay, rule, severity, cwe } of items) {
    out.number(overlay);
    for (const each of [rule, severity, cwe]) out.again(each);
  }
  out.ascending(items.map(({ line_start }) => line_start));
  for (const { line_start, line_end } of items) out.difference(line_end - line_start);
  for (const { subject } of items) out.again(subject);
  for (const { text } of items) out.text(text);
}

function unpackItems(from: FactsReader): ItemFact[] {
  const heads = from.list(from.number(), () => ({
    ...{ overlay: from.number(), rule: from.again(), severity: from.again(), cwe: from.again() },
  }));
  const starts = from.ascending(heads.length);
  const ends = starts.map((start) => start + from.difference());
  const subjects = heads.map(() => from.again());
  return heads.map(({ overlay, rule, severity, cwe }, at): ItemFact => ({
    ...{ overlay, rule, line_start: starts[at] ?? 0, line_end: ends[at] ?? 0 },
    ...{ text: from.text(), subject: subjects[at] ?? '', severity, cwe },
  }));
}

class FactsWriter {
  readonly #bytes = new ByteColumn(1 << 14);
  readonly #known = new Map<string, number>();

  number(value: number): void {
    this.#bytes.pushVarint(value);
  }

  /** Of either sign, below 2^31. */
  difference(value: number): void {
    this.#bytes.pushVarint(((value << 1) ^ (value >> 31)) >>> 0);
  }

  /** Mostly ascending numbers. */
  ascending(values: readonly number[]): void {
    let last = 0;
    for (const value of values) {
      this.difference(value - last);
      last = value;
    }
  }

  text(text: string): void {
    this.#bytes.pushText(text);
  }

  again(text: string): void {
    const known = this.#known.get(text);
    if (known !== undefined) return this.number(known);
    this.#known.set(text, this.#known.size + 1);
    this.number(0);
    this.text(text);
  }

  bytes(): Buffer {
    return this.#bytes.values();
  }
}

class FactsReader {
  readonly #reader: VarintReader;
  readonly #bytes: Buffer;
  readonly #known: string[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#reader = new VarintReader(this.#bytes, 0, this.#bytes.length);
  }

  number(): number {
    if (this.#reader.isAtEnd) throw cutShort();
    const value = this.#reader.next();
    // A truncated number reads as if followed by zeros.
    if (this.#reader.at > this.#reader.end) throw cutShort();
    return value;
  }

  difference(): number {
    const value = this.number();
    return (value >>> 1) ^ -(value & 1);
  }

  ascending(length: number): number[] {
    let last = 0;
    return this.list(length, () => (last += this.difference()));
  }

  text(): string {
    const length = this.number();
    const from = this.#reader.at;
    this.#reader.at += length;
    return this.#bytes.toString('utf8', from, from + length);
  }

  again(): string {
    const number = this.number();
    if (number > 0) return this.#known[number - 1] ?? '';
    const text = this.text();
    this.#known.push(text);
    return text;
  }

  list<Each>(length: number, read: () => Each): Each[] {
    const all: Each[] = [];
    for (let at = 0; at < length; at += 1) all.push(read());
    return all;
  }
}

function cutShort(): RangeError {
  return new RangeError('facts are cut short');
}
