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
    const squares = this.#squares;
    if (squares === undefined) return this.#firstCosines(vector);
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

  /** Both in one pass: the rows of a large shard are megabytes. */
  #firstCosines(vector: Float32Array): Float32Array {
    const { rows, size } = this;
    const [found, squares] = [new Float32Array(size), new Int32Array(size)];
    for (let row = 0, at = 0; row < size; row += 1) {
      let sum = 0;
      let square = 0;
      for (let each = 0; each < vector.length; each += 1, at += 1) {
        const value = rows[at] ?? 0;
        sum += value * (vector[each] ?? 0);
        square += value * value;
      }
      squares[row] = square;
      found[row] = square === 0 ? 0 : sum / Math.sqrt(square);
    }
    this.#squares = squares;
    return found;
  }
}
