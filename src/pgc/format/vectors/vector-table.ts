import { lowerBound } from '../bytes.js';

/** What the functions of a shard are about, as vectors of no certain length. */
export class VectorTable {
  constructor(
    readonly symbols: Uint32Array,
    readonly rows: Int8Array,
  ) {}

  get size(): number {
    return this.symbols.length;
  }

  /** The row of a symbol; undefined: it has none. */
  rowOf(symbol: number): number | undefined {
    const at = lowerBound(this.size, (each) => (this.symbols[each] ?? 0) < symbol);
    return this.symbols[at] === symbol ? at : undefined;
  }

  /** Cosine between a row and a vector of length 1. */
  cosine(row: number, vector: Float32Array): number {
    const start = row * vector.length;
    let sum = 0;
    let squares = 0;
    for (let at = 0; at < vector.length; at += 1) {
      const value = this.rows[start + at] ?? 0;
      sum += value * (vector[at] ?? 0);
      squares += value * value;
    }
    return squares === 0 ? 0 : sum / Math.sqrt(squares);
  }
}
