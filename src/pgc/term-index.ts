import { bufferOf, numbersOf, shortsOf, SortedNames, VarintReader } from './bytes.js';
import { blockLists, fieldBits, onceBit, type TermSection } from './posting-writer.js';
import { fields, type Field } from './shard-index.js';

/** Documents with fields, found by their terms. Ids are dense. */
export interface TermIndex {
  readonly documentCount: number;
  documentFrequency(term: string): number;
  /** Calls `visit` for each document that has the term, in ascending order, once per field it stands in. */
  postings(term: string, visit: (document: number, field: Field, count: number) => void): void;
  length(document: number, field: Field): number;
  /** Over the documents that have the field at all. */
  averageLength(field: Field): number;
}

/** Where the postings of one term stand, in bytes. */
interface PostingList {
  documents: number;
  start: number;
  end: number;
}

/** A term index as it stands in a file: nothing is decoded before it is asked for. */
export class PackedTerms implements TermIndex {
  readonly documentCount: number;
  readonly #terms: SortedNames;
  readonly #starts: Uint32Array;
  readonly #postings: Uint8Array;
  readonly #lengths: Uint16Array;
  #averages: number[] | undefined;

  /** Of any file that has these sections. */
  constructor(sections: Record<TermSection, Uint8Array>) {
    this.#terms = new SortedNames(numbersOf(sections.termBlocks), bufferOf(sections.termBytes));
    this.#starts = numbersOf(sections.postingStarts);
    this.#postings = sections.postings;
    this.#lengths = shortsOf(sections.lengths);
    this.documentCount = this.#lengths.length / fields.length;
  }

  /** All terms with document frequencies, sorted. */
  terms(): { term: string; documents: number }[] {
    const reader = new VarintReader(this.#postings, 0, this.#postings.length);
    return Array.from(this.#terms.all(), (term) => {
      const { documents, end } = listHead(reader);
      reader.at = end;
      return { term, documents };
    });
  }

  documentFrequency(term: string): number {
    return this.#list(term)?.documents ?? 0;
  }

  postings(term: string, visit: (document: number, field: Field, count: number) => void): void {
    const list = this.#list(term);
    if (list === undefined) return;
    const reader = new VarintReader(this.#postings, list.start, list.end);
    let document = 0;
    while (!reader.isAtEnd) {
      const head = reader.next();
      const isOnce = (head & onceBit) !== 0;
      document += head >>> fieldBits;
      for (let field = 0; field < fields.length; field += 1) {
        if ((head & (1 << field)) === 0) continue;
        visit(document, field as Field, isOnce ? 1 : reader.next());
      }
    }
  }

  length(document: number, field: Field): number {
    return this.#lengths[document * fields.length + field] ?? 0;
  }

  averageLength(field: Field): number {
    return (this.#averages ??= this.#averageLengths())[field] ?? 0;
  }

  #list(term: string): PostingList | undefined {
    const id = this.#terms.position(term);
    if (id === undefined) return undefined;
    const start = this.#starts[Math.floor(id / blockLists)] ?? 0;
    const reader = new VarintReader(this.#postings, start, this.#postings.length);
    let list = listHead(reader);
    for (let at = id % blockLists; at > 0; at -= 1) {
      reader.at = list.end;
      list = listHead(reader);
    }
    return list;
  }

  #averageLengths(): number[] {
    const lengths = this.#lengths;
    return fields.map((_, field) => {
      let sum = 0;
      let having = 0;
      for (let at = field; at < lengths.length; at += fields.length) {
        const length = lengths[at] ?? 0;
        sum += length;
        if (length > 0) having += 1;
      }
      return sum / Math.max(having, 1);
    });
  }
}

function listHead(reader: VarintReader): PostingList {
  const bytes = reader.next();
  const documents = reader.next();
  return { documents, start: reader.at, end: reader.at + bytes };
}
