import { lowerBound } from '../bytes.js';

/** What the functions of a shard are about, as vectors of no certain length. */
export class VectorTable {
  /** Of the length of each row. */
  #squares: Int32Array | undefined;

  constructor(
    readonly symbols: Uint32Array,
    readonly rows: Int8Array,
  ) {}

  get size(): number {
    return this.symbols.length;
  }

  /** The row of a symbol; undefined: it has none. */
  rowOf(symbol: number): number | undefined {
    const at = this.rowFrom(symbol);
    return this.symbols[at] === symbol ? at : undefined;
  }

  /** The first row of this symbol or one behind it. */
  rowFrom(symbol: number): number {
    return lowerBound(this.size, (each) => (this.symbols[each] ?? 0) < symbol);
  }

  /** Of all rows, with a vector of length 1. */
  cosines(vector: Float32Array): Float32Array {
    const { rows, size } = this;
    const squares = (this.#squares ??= this.#squaresOf(vector.length));
    const found = new Float32Array(size);
    for (let row = 0, at = 0; row < size; row += 1) {
      let sum = 0;
      for (let each = 0; each < vector.length; each += 1, at += 1)
        sum += (rows[at] ?? 0) * (vector[each] ?? 0);
      const square = squares[row] ?? 0;
      found[row] = square === 0 ? 0 : sum / Math.sqrt(square);
    }
    return found;
  }

  #squaresOf(width: number): Int32Array {
    const { rows, size } = this;
    const squares = new Int32Array(size);
    for (let row = 0, at = 0; row < size; row += 1)
      for (let each = 0; each < width; each += 1, at += 1)
        squares[row] = (squares[row] ?? 0) + (rows[at] ?? 0) ** 2;
    return squares;
  }
}
