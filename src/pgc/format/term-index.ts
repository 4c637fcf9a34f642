import { lowerBound, VarintReader } from './bytes.js';
import {
  blockLists,
  fieldBits,
  onceBit,
  shortLengthMax,
  type TermSection,
} from './posting-writer.js';
import { fields, type Field } from './fields.js';
import { blockBits, type Section } from './container/section.js';
import { SortedNames } from './sorted-names.js';

/** Documents with fields, found by their terms. Document ids are dense. */
export interface TermIndex {
  readonly documentCount: number;
  documentFrequency(term: string): number;
  /** Calls `visit` for each document with the term, in ascending order, once for each field. */
  postings(term: string, visit: (document: number, field: Field, count: number) => void): void;
  length(document: number, field: Field): number;
  /** Of a field, over the documents in which it is not empty. */
  lengthSum(field: Field): { sum: number; documents: number };
  averageLength(field: Field): number;
}

const fieldMask = onceBit - 1;
/** What stands before the postings of a list takes no more bytes; nor does a list of one document. */
const headBytesMax = 64;

/** Reads the sections of `PostingWriter`; nothing is decoded in advance. */
export class PackedTerms implements TermIndex {
  readonly documentCount: number;
  readonly #terms: SortedNames;
  readonly #starts: Uint32Array;
  readonly #postings: Section;
  readonly #lengths: Section;
  /** The same, where no check is to be paid for. */
  readonly #shortLengths: Uint8Array;
  readonly #longLengths: Uint32Array;
  /** By field: the sum of its lengths, and documents in which it is not empty. */
  readonly #sums: Float64Array;

  constructor(sections: Readonly<Record<TermSection, Section>>) {
    this.#terms = new SortedNames(sections.termBlocks.numbers(), sections.termBytes);
    this.#starts = sections.postingStarts.numbers();
    this.#postings = sections.postings;
    this.#lengths = sections.lengths;
    this.#shortLengths = sections.lengths.bytes;
    this.#longLengths = sections.longLengths.numbers();
    const { buffer, byteOffset } = sections.lengthSums.whole();
    this.#sums = new Float64Array(buffer, byteOffset, fields.length * 2);
    this.documentCount = this.#lengths.length / fields.length;
  }

  /** All terms with document frequencies, sorted; `left`: 1 for each document that does not count. */
  terms(left?: Uint8Array): { term: string; documents: number }[] {
    const postings = this.#postings.whole();
    const reader = new VarintReader(postings, 0, postings.length);
    return Array.from(this.#terms.all(), (term) => {
      if (left !== undefined) return { term, documents: countWithout(reader, left) };
      const documents = reader.next();
      reader.at = endOf(reader, documents);
      return { term, documents };
    });
  }

  documentFrequency(term: string): number {
    return this.#list(term)?.next() ?? 0;
  }

  postings(term: string, visit: (document: number, field: Field, count: number) => void): void {
    const reader = this.#list(term);
    if (reader === undefined) return;
    visitList(reader, visit);
  }

  length(document: number, field: Field): number {
    const at = document * fields.length + field;
    if (this.#lengths.there[at >>> blockBits] === 0) this.#lengths.need(at, at + 1);
    const length = this.#shortLengths[at] ?? 0;
    return length < shortLengthMax ? length : this.#longLength(at);
  }

  averageLength(field: Field): number {
    const { sum, documents } = this.lengthSum(field);
    return sum / Math.max(documents, 1);
  }

  lengthSum(field: Field): { sum: number; documents: number } {
    return { sum: this.#sums[field * 2] ?? 0, documents: this.#sums[field * 2 + 1] ?? 0 };
  }

  /** A reader that starts at the number of documents. */
  #list(term: string): VarintReader | undefined {
    const id = this.#terms.position(term);
    if (id === undefined) return undefined;
    const start = this.#starts[Math.floor(id / blockLists)] ?? 0;
    const postings = this.#postings;
    const reader = new VarintReader(postings.bytes, start, postings.length);
    postings.need(start, start + headBytesMax);
    for (let at = id % blockLists; at > 0; at -= 1) {
      reader.at = endOf(reader, reader.next());
      postings.need(reader.at, reader.at + headBytesMax);
    }
    const first = reader.at;
    postings.need(first, endOf(reader, reader.next()));
    reader.at = first;
    return reader;
  }

  #longLength(at: number): number {
    const long = this.#longLengths;
    const pair = lowerBound(long.length >>> 1, (each) => (long[each * 2] ?? 0) < at);
    return long[pair * 2 + 1] ?? 0;
  }
}

/** The end of a list, given a reader just after its number of documents. */
function endOf(reader: VarintReader, documents: number): number {
  if (documents > 1) {
    const bytes = reader.next();
    return reader.at + bytes;
  }
  if (documents === 0) return reader.at;
  const head = reader.next();
  if ((head & onceBit) === 0)
    for (let mask = head & fieldMask; mask > 0; mask &= mask - 1) reader.next();
  return reader.at;
}

/** Documents of a list, given a reader at its beginning and left at its end. */
function countWithout(reader: VarintReader, left: Uint8Array): number {
  const documents = reader.next();
  if (documents > 1) reader.next();
  let count = documents;
  let document = 0;
  for (let read = 0; read < documents; read += 1) {
    const head = reader.next();
    if ((head & fieldMask) === 0) {
      const run = head >>> fieldBits;
      for (let each = 0; each < run; each += 1) count -= left[(document += 1)] ?? 0;
      read += run - 1;
      continue;
    }
    document += head >>> fieldBits;
    count -= left[document] ?? 0;
    if ((head & onceBit) === 0)
      for (let mask = head & fieldMask; mask > 0; mask &= mask - 1) reader.next();
  }
  return count;
}

/** Given a reader at the beginning of a list. */
function visitList(
  reader: VarintReader,
  visit: (document: number, field: Field, count: number) => void,
): void {
  const documents = reader.next();
  if (documents > 1) reader.next();
  let document = 0;
  let mask = 0;
  for (let read = 0; read < documents; read += 1) {
    const head = reader.next();
    if ((head & fieldMask) === 0) {
      const run = head >>> fieldBits;
      for (let each = 0; each < run; each += 1) {
        document += 1;
        for (let field = 0; field < fields.length; field += 1)
          if ((mask & (1 << field)) !== 0) visit(document, field as Field, 1);
      }
      read += run - 1;
      continue;
    }
    mask = head & fieldMask;
    const isOnce = (head & onceBit) !== 0;
    document += head >>> fieldBits;
    for (let field = 0; field < fields.length; field += 1) {
      if ((mask & (1 << field)) === 0) continue;
      visit(document, field as Field, isOnce ? 1 : reader.next());
    }
  }
}
