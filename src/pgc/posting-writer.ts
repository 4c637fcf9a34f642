import { ByteColumn, NumberColumn } from './bytes.js';
import { fields, type Field } from './shard-index.js';

/** `gap << fieldBits | mask` must fit into 32 bits. */
export const fieldBits = fields.length;
export const documentsMax = 2 ** (32 - fieldBits) - 1;

interface TermPostings {
  documents: number;
  last: number;
  bytes: ByteColumn;
}

/**
 * Inverts documents that come in ascending order: per term a list of gaps, each with a mask of the fields
 * that hold the term and a count per field. Bytes at once, so that millions of postings stay small.
 */
/** A longer field is as long as this; beyond it length says nothing more. */
const lengthMax = 0xffff;

export class PostingWriter {
  readonly #ids = new Map<string, number>();
  readonly #terms: TermPostings[] = [];
  readonly #lengths = new NumberColumn();
  /** Counts of the current document: `fields.length` per term. */
  #counts = new Uint32Array(1_024 * fields.length);
  #touched: number[] = [];
  #documentLengths = new Array<number>(fields.length).fill(0);
  #document = 0;

  get documents(): number {
    return this.#document;
  }

  term(text: string): number {
    let id = this.#ids.get(text);
    if (id === undefined) {
      id = this.#terms.length;
      this.#ids.set(text, id);
      this.#terms.push({ documents: 0, last: 0, bytes: new ByteColumn(4) });
    }
    return id;
  }

  count(term: number, field: Field, times: number): void {
    if (times === 0) return;
    this.#widenTo(term);
    const row = term * fields.length;
    if (this.#counts.subarray(row, row + fields.length).every((each) => each === 0)) {
      this.#touched.push(term);
    }
    this.#counts[row + field] = (this.#counts[row + field] ?? 0) + times;
    this.#documentLengths[field] = (this.#documentLengths[field] ?? 0) + times;
  }

  /** Closes the current document; the next `count` belongs to the one after. */
  endDocument(): void {
    for (const term of this.#touched) this.#write(term);
    this.#touched = [];
    for (const length of this.#documentLengths) this.#lengths.push(length);
    this.#documentLengths.fill(0);
    this.#document += 1;
  }

  /** Terms in JavaScript's order of strings. */
  finish(): {
    terms: string[];
    documents: Uint32Array;
    starts: Uint32Array;
    postings: Buffer;
    lengths: Uint16Array;
  } {
    const terms = [...this.#ids.keys()].sort();
    const documents = new Uint32Array(terms.length);
    const starts = new Uint32Array(terms.length + 1);
    const all = this.#terms.reduce((sum, each) => sum + each.bytes.length, 0);
    const postings = new ByteColumn(Math.max(all, 1));
    terms.forEach((text, index) => {
      const each = this.#terms[this.term(text)];
      if (each === undefined) return;
      documents[index] = each.documents;
      postings.append(each.bytes.values());
      starts[index + 1] = postings.length;
    });
    return {
      terms,
      documents,
      starts,
      postings: postings.values(),
      lengths: Uint16Array.from(this.#lengths.values(), (each) => Math.min(each, lengthMax)),
    };
  }

  #write(term: number): void {
    const each = this.#terms[term];
    if (each === undefined) return;
    const row = term * fields.length;
    const counts = this.#counts.subarray(row, row + fields.length);
    let mask = 0;
    counts.forEach((count, field) => {
      if (count > 0) mask |= 1 << field;
    });
    const gap = this.#document - each.last;
    each.bytes.pushVarint(((gap << fieldBits) | mask) >>> 0);
    for (const count of counts) if (count > 0) each.bytes.pushVarint(count);
    each.last = this.#document;
    each.documents += 1;
    counts.fill(0);
  }

  #widenTo(term: number): void {
    const needed = (term + 1) * fields.length;
    if (needed <= this.#counts.length) return;
    const wider = new Uint32Array(Math.max(needed, this.#counts.length * 2));
    wider.set(this.#counts);
    this.#counts = wider;
  }
}
