import { fields, type Field } from '../fields.js';
import type { PackedTerms, TermIndex } from '../term-index.js';

/** One source of documents. */
export interface TermSource {
  terms: PackedTerms;
  /** The number of a document here; undefined: it is hidden. */
  joined: (document: number) => number | undefined;
  /** None of its documents is hidden. */
  isWhole: boolean;
}

/** The terms of documents that come from several sources. */
export class JoinedTerms implements TermIndex {
  readonly documentCount: number;
  readonly #sources: readonly TermSource[];
  /** Where a document comes from. */
  readonly #placeOf: (document: number) => { source: number; id: number } | undefined;
  #sums: { sum: number; documents: number }[] | undefined;

  constructor(
    sources: readonly TermSource[],
    documentCount: number,
    placeOf: (document: number) => { source: number; id: number } | undefined,
  ) {
    this.#sources = sources;
    this.documentCount = documentCount;
    this.#placeOf = placeOf;
  }

  /** All terms that a document has, with document frequencies, sorted. */
  terms(): { term: string; documents: number }[] {
    const counts = new Map<string, number>();
    for (const source of this.#sources) {
      for (const { term, documents } of source.terms.terms(hiddenIn(source)))
        if (documents > 0) counts.set(term, (counts.get(term) ?? 0) + documents);
    }
    return sortedByBytes(counts, ([term]) => term).map(([term, documents]) => ({
      term,
      documents,
    }));
  }

  documentFrequency(term: string): number {
    let count = 0;
    for (const { terms, joined, isWhole } of this.#sources) {
      if (isWhole) {
        count += terms.documentFrequency(term);
        continue;
      }
      let last = -1;
      terms.postings(term, (document) => {
        if (document !== last && joined(document) !== undefined) count += 1;
        last = document;
      });
    }
    return count;
  }

  postings(term: string, visit: (document: number, field: Field, count: number) => void): void {
    const found: [document: number, field: Field, count: number][] = [];
    for (const { terms, joined } of this.#sources)
      terms.postings(term, (document, field, count) => {
        const its = joined(document);
        if (its !== undefined) found.push([its, field, count]);
      });
    // The sort keeps the fields of a document in their order.
    for (const each of found.sort(([one], [other]) => one - other)) visit(...each);
  }

  length(document: number, field: Field): number {
    const place = this.#placeOf(document);
    return place === undefined
      ? 0
      : (this.#sources[place.source]?.terms.length(place.id, field) ?? 0);
  }

  averageLength(field: Field): number {
    const { sum, documents } = this.lengthSum(field);
    return sum / Math.max(documents, 1);
  }

  lengthSum(field: Field): { sum: number; documents: number } {
    return ((this.#sums ??= this.#lengthSums())[field] ??= { sum: 0, documents: 0 });
  }

  /** Those of the sources, without what is hidden. */
  #lengthSums(): { sum: number; documents: number }[] {
    return fields.map((_, at) => {
      const field = at as Field;
      const total = { sum: 0, documents: 0 };
      for (const { terms, joined, isWhole } of this.#sources) {
        const its = terms.lengthSum(field);
        total.sum += its.sum;
        total.documents += its.documents;
        if (isWhole) continue;
        for (let document = 0; document < terms.documentCount; document += 1) {
          if (joined(document) !== undefined) continue;
          const length = terms.length(document, field);
          total.sum -= length;
          if (length > 0) total.documents -= 1;
        }
      }
      return total;
    });
  }
}

/** 1 for each document that is hidden; undefined: none is. */
function hiddenIn({ terms, joined, isWhole }: TermSource): Uint8Array | undefined {
  if (isWhole) return undefined;
  return Uint8Array.from({ length: terms.documentCount }, (_, document) =>
    joined(document) === undefined ? 1 : 0,
  );
}

/** In the order of `sortByBytes`. */
export function sortedByBytes<Each>(all: Iterable<Each>, textOf: (each: Each) => string): Each[] {
  return [...all].sort((one, other) => compareBytes(textOf(one), textOf(other)));
}

/** By the bytes of UTF-8: JavaScript's own order but for characters outside the basic plane. */
export function compareBytes(one: string, other: string): number {
  if (one === other) return 0;
  if (/[\ud800-\uffff]/.test(one) || /[\ud800-\uffff]/.test(other))
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return one < other ? -1 : 1;
}
