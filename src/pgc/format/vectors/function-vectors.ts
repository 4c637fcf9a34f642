import { bytesOf, NumberColumn } from '../bytes.js';
import type { ShardTerms } from '../shard-terms.js';
import { wordVectors } from './word-vectors.js';

const rowMax = 127;

/** Collects what each function is about while a segment is written. */
export class FunctionVectors {
  readonly #symbols = new NumberColumn();
  readonly #rows: Int8Array[] = [];
  /** By term of the shard: its number among the learned words, -1 when there is none. */
  readonly #learned: number[] = [];
  readonly #words = new NumberColumn();
  readonly #counts = new NumberColumn();

  constructor(readonly terms: ShardTerms) {}

  /** A term of the next function, and how often it stands in it. */
  count(term: number, count: number): void {
    for (let next = this.#learned.length; next <= term; next += 1)
      this.#learned.push(wordVectors().numberOf(this.terms.text(next)) ?? -1);
    const word = this.#learned[term] as number;
    if (word < 0) return;
    this.#words.push(word);
    this.#counts.push(count);
  }

  /** The function of which all terms are counted. */
  end(symbol: number): void {
    const vector = wordVectors().ofFunction(this.#words.values(), this.#counts.values());
    this.#words.length = this.#counts.length = 0;
    let most = 0;
    for (const each of vector) most = Math.max(most, Math.abs(each));
    if (most === 0) return;
    this.#symbols.push(symbol);
    const row = new Int8Array(vector.length);
    for (let at = 0; at < row.length; at += 1)
      row[at] = Math.round(((vector[at] as number) * rowMax) / most);
    this.#rows.push(row);
  }

  finish(): Record<'vectorSymbols' | 'vectorRows', Uint8Array> {
    return {
      vectorSymbols: bytesOf(this.#symbols.values()),
      vectorRows: Buffer.concat(this.#rows.map(({ buffer }) => new Uint8Array(buffer))),
    };
  }
}
