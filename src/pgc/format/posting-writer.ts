import { ByteColumn, bytesOf, groupBy, NumberColumn } from './bytes.js';
import { fields, type Field } from './fields.js';
import { ShardTerms } from './shard-terms.js';
import { packSorted, sortByBytes } from './sorted-names.js';

/** Bits below the gap: one for each field, and one for "all counts are 1", the usual case. */
export const fieldBits = fields.length + 1;
export const onceBit = 1 << fields.length;
/** `gap << fieldBits | bits` must fit into 32 bits. */
export const documentsMax = 2 ** (32 - fieldBits) - 1;
/** Posting lists between two known starts; each list contains its length. */
export const blockLists = 16;
/** The sections of every searchable file. */
export const termSections = [
  'termBlocks', // u32: sorted terms; see `packSorted`
  'termBytes', // front-coded
  'postingStarts', // u32: of every 16th list
  'postings', // varints, per term: documents, bytes where there are several, then postings; see `PostingWriter`
  'lengths', // u8: five per document; 255: one of the long ones
  'longLengths', // u32: position in `lengths`, length of at most 65 535; in their order
  'lengthSums', // f64: of each field the sum of its lengths, and the documents in which it is not empty
] as const;
export type TermSection = (typeof termSections)[number];
/** Longer fields count as this long: beyond it, length has no meaning for ranking. */
const lengthMax = 0xffff;
export const shortLengthMax = 0xff;
/** Shortest run of consecutive documents that is written as a number. */
const runMin = 2;

/**
 * Inverts documents that come in ascending order. Postings are collected in columns and sorted by term once (Witten,
 * Moffat, Bell, 1999, 5.2), because a list for each term would be millions of small objects.
 *
 * A posting: `gap << 6 | all counts are 1 | field mask`, then the count of each field unless all are 1. A mask without
 * fields is a run: the number of consecutive documents that follow, with the fields of the posting before and counts
 * of 1. All functions of a file share the words of its path, for instance.
 */
export class PostingWriter {
  readonly #postingTerms = new NumberColumn();
  readonly #postingDocuments = new NumberColumn();
  /** By posting: where its counts begin, which are a byte of bits, then varints. */
  readonly #postingStarts = new NumberColumn();
  readonly #counted = new ByteColumn(1 << 16);
  readonly #lengths = new NumberColumn();
  /** Counts of the current document: `fields.length` per term. */
  #counts = new Uint32Array(1_024 * fields.length);
  /** By term: 1 + the last document that contains it. */
  #seen = new Uint32Array(1_024);
  #touched: number[] = [];
  readonly #documentLengths = new Array<number>(fields.length).fill(0);
  #document = 0;

  /** `terms`: shared with the other writers of the shard. */
  constructor(readonly terms = new ShardTerms()) {}

  term(text: string): number {
    return this.terms.id(text);
  }

  count(term: number, field: Field, times: number): void {
    if (times === 0) return;
    if (term >= this.#seen.length) this.#widenTo(term);
    if (this.#seen[term] !== this.#document + 1) {
      this.#seen[term] = this.#document + 1;
      this.#touched.push(term);
    }
    const at = term * fields.length + field;
    this.#counts[at] = (this.#counts[at] ?? 0) + times;
    this.#documentLengths[field] = (this.#documentLengths[field] ?? 0) + times;
  }

  /** Visits the terms of the current document, with how often each stands in it. */
  eachTerm(visit: (term: number, count: number) => void): void {
    for (const term of this.#touched) {
      let count = 0;
      for (let field = 0; field < fields.length; field += 1)
        count += this.#counts[term * fields.length + field] ?? 0;
      visit(term, count);
    }
  }

  /** Closes the current document; the next `count` belongs to the next one. */
  endDocument(): void {
    for (const term of this.#touched) this.#write(term);
    this.#touched = [];
    for (const length of this.#documentLengths) this.#lengths.push(length);
    this.#documentLengths.fill(0);
    this.#document += 1;
  }

  /**
   * The sections for `PackedTerms`. Lists are in order of the terms: number of documents, length in bytes if there are
   * several, postings. `postingStarts`: the start of every `blockLists`th list.
   */
  finish(): Record<TermSection, Uint8Array> {
    const grouped = groupBy(this.#postingTerms.values(), this.terms.size);
    const isOurs = (id: number): boolean =>
      (grouped.starts[id] ?? 0) < (grouped.starts[id + 1] ?? 0);
    const terms = sortByBytes(this.terms.all().filter((_, id) => isOurs(id)));
    const starts = new Uint32Array(Math.ceil(terms.length / blockLists));
    const postings = new ByteColumn(Math.max(this.#counted.length * 2, 1));
    const list = new ByteColumn(1_024);
    this.#postingStarts.push(this.#counted.length);
    terms.forEach((text, at) => {
      if (at % blockLists === 0) starts[at / blockLists] = postings.length;
      const id = this.term(text);
      const members = grouped.members.subarray(grouped.starts[id], grouped.starts[id + 1]);
      list.length = 0;
      this.#list(members, list);
      postings.pushVarint(members.length);
      // Most terms occur in one document; such a list needs no length.
      if (members.length > 1) postings.pushVarint(list.length);
      postings.append(list.values());
    });
    const table = packSorted(terms);
    return {
      termBlocks: bytesOf(table.blocks),
      termBytes: table.bytes,
      postingStarts: bytesOf(starts),
      postings: postings.values(),
      ...packLengths(this.#lengths.values()),
    };
  }

  #list(members: Uint32Array, list: ByteColumn): void {
    const counted = this.#counted.values();
    let last = 0;
    let before = 0;
    let run = 0;
    const endRun = (): void => {
      if (run > runMin) list.pushVarint((run << fieldBits) >>> 0);
      else for (let each = 0; each < run; each += 1) list.pushVarint((1 << fieldBits) | before);
      run = 0;
    };
    for (const posting of members) {
      const start = this.#postingStarts.at(posting);
      const end = this.#postingStarts.at(posting + 1);
      const document = this.#postingDocuments.at(posting);
      const bits = counted[start] ?? 0;
      const gap = document - last;
      last = document;
      if (gap === 1 && bits === before && (bits & onceBit) !== 0) {
        run += 1;
        continue;
      }
      endRun();
      before = bits;
      list.pushVarint(((gap << fieldBits) | bits) >>> 0);
      for (let at = start + 1; at < end; at += 1) list.push(counted[at] ?? 0);
    }
    endRun();
  }

  #write(term: number): void {
    const row = term * fields.length;
    let bits = onceBit;
    for (let field = 0; field < fields.length; field += 1) {
      const count = this.#counts[row + field] ?? 0;
      if (count > 0) bits |= 1 << field;
      if (count > 1) bits &= ~onceBit;
    }
    this.#postingTerms.push(term);
    this.#postingDocuments.push(this.#document);
    this.#postingStarts.push(this.#counted.length);
    this.#counted.push(bits);
    for (let at = row; at < row + fields.length; at += 1) {
      const count = this.#counts[at] ?? 0;
      if (count > 0 && (bits & onceBit) === 0) this.#counted.pushVarint(count);
      this.#counts[at] = 0;
    }
  }

  #widenTo(term: number): void {
    const terms = Math.max(term + 1, this.#seen.length * 2);
    const [counts, seen] = [new Uint32Array(terms * fields.length), new Uint32Array(terms)];
    counts.set(this.#counts);
    seen.set(this.#seen);
    [this.#counts, this.#seen] = [counts, seen];
  }
}

function packLengths(
  all: Uint32Array,
): Record<'lengths' | 'longLengths' | 'lengthSums', Uint8Array> {
  const long = new NumberColumn();
  const lengths = new Uint8Array(all.length);
  const sums = new Float64Array(fields.length * 2);
  all.forEach((full, at) => {
    const length = Math.min(full, lengthMax);
    const field = (at % fields.length) * 2;
    sums[field] = (sums[field] ?? 0) + length;
    if (length > 0) sums[field + 1] = (sums[field + 1] ?? 0) + 1;
    lengths[at] = Math.min(length, shortLengthMax);
    if (length < shortLengthMax) return;
    long.push(at);
    long.push(length);
  });
  return { lengths, longLengths: bytesOf(long.values()), lengthSums: bytesOf(sums) };
}
