import { bytesOf, NumberColumn } from '../bytes.js';
import type { ShardTerms } from '../shard-terms.js';
import { wordVectors } from './word-vectors.js';

const rowMax = 127;

/** Collects what each function is about while a segment is written. */
export class FunctionVectors {
  readonly #symbols = new NumberColumn();
  readonly #rows: Int8Array[] = [];

  constructor(readonly terms: ShardTerms) {}

  /** `counts`: terms of the shard, with how often each stands in the function. */
  add(symbol: number, counts: Iterable<readonly [number, number]>): void {
    const named = Array.from(counts, ([term, count]) => [this.terms.text(term), count] as const);
    const vector = wordVectors().ofFunction(named);
    const most = vector.reduce((all, each) => Math.max(all, Math.abs(each)), 0);
    if (most === 0) return;
    this.#symbols.push(symbol);
    this.#rows.push(Int8Array.from(vector, (each) => Math.round((each * rowMax) / most)));
  }

  finish(): Record<'vectorSymbols' | 'vectorRows', Uint8Array> {
    return {
      vectorSymbols: bytesOf(this.#symbols.values()),
      vectorRows: Buffer.concat(this.#rows.map(({ buffer }) => new Uint8Array(buffer))),
    };
  }
}
