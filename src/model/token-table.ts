import { assert } from '../base/assert.js';
import { toUnitLength, type Embedder } from './embedder.js';
import type { WordPiece } from './word-piece.js';

/** Pieces of one text; later pieces matter less. */
const piecesMax = 256;
/** Share of the smooth inverse frequency. Measured on code: 1e-3 and 1e-6 find a fifth less. */
const sifShare = 3e-5;
/** Directions that all tokens share and that distinguish none. */
const sharedDirections = 8;
/** Each round brings a direction nearer to the widest one; more change no digit that is kept. */
const powerRounds = 60;
/** Sampling step of rows when the directions are computed. */
const sampled = 4;

/** How the rows were made; another recipe makes vectors that cannot be compared. */
export const tableRecipe = `sif${sifShare}-shared${sharedDirections}-int8`;

/** A vector for each piece of a vocabulary: `rows[id × dims + d] × scales[id]`. */
export interface TableRows {
  dims: number;
  rows: Int8Array;
  scales: Float32Array;
}

/**
 * Vectors of texts without running a model: the sum of the vectors of their pieces. After the recipe of
 * Model2Vec (S. Tulkens, T. van Dongen, 2024). Some fifty thousand short texts a second.
 */
export class TokenTable implements Embedder {
  readonly dims: number;
  readonly #rows: Int8Array;
  readonly #scales: Float32Array;

  constructor(
    readonly tokenizer: WordPiece,
    readonly table: TableRows,
    readonly fingerprint: string,
  ) {
    this.dims = table.dims;
    this.#rows = table.rows;
    this.#scales = table.scales;
    assert(
      table.scales.length === tokenizer.vocabulary.length &&
        table.rows.length === table.scales.length * table.dims,
      'a table has one row for each piece',
    );
  }

  /** Of length 1; zeros for a text without a word. */
  embedOne(text: string): Float32Array {
    const { dims } = this;
    const vector = new Float32Array(dims);
    for (const id of this.tokenizer.pieces(text, piecesMax)) {
      const scale = this.#scales[id] ?? 0;
      const row = id * dims;
      for (let at = 0; at < dims; at += 1)
        vector[at] = (vector[at] ?? 0) + scale * (this.#rows[row + at] ?? 0);
    }
    return toUnitLength(vector);
  }

  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return Promise.resolve(texts.map((text) => this.embedOne(text)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * The rows of a table from what a model says of each piece alone. Pieces are weighted by how rare they are: a
 * vocabulary of BERT is in the order of frequency, which by Zipf's law gives it. S. Arora and others, "A
 * simple but tough-to-beat baseline for sentence embeddings", 2017; J. Mu, P. Viswanath, "All-but-the-top",
 * 2018. Changes `vectors`: one after the other, in the order of the ids.
 */
export function distil(vectors: Float32Array, dims: number): TableRows {
  const count = vectors.length / dims;
  centre(vectors, dims);
  let harmonic = 0;
  for (let rank = 1; rank <= count; rank += 1) harmonic += 1 / rank;
  for (let id = 0; id < count; id += 1) {
    const weight = sifShare / (sifShare + 1 / ((id + 1) * harmonic));
    for (let at = 0; at < dims; at += 1)
      vectors[id * dims + at] = (vectors[id * dims + at] ?? 0) * weight;
  }
  for (const direction of widestDirections(vectors, dims, Math.min(sharedDirections, dims - 1)))
    for (let id = 0; id < count; id += 1)
      withoutDirection(vectors.subarray(id * dims, (id + 1) * dims), direction);
  return quantized(vectors, dims);
}

function centre(vectors: Float32Array, dims: number): void {
  const mean = new Float64Array(dims);
  for (let at = 0; at < vectors.length; at += 1)
    mean[at % dims] = (mean[at % dims] ?? 0) + (vectors[at] ?? 0);
  const count = vectors.length / dims;
  for (let at = 0; at < vectors.length; at += 1)
    vectors[at] = (vectors[at] ?? 0) - (mean[at % dims] ?? 0) / count;
}

/** Of length 1, by the power method: each is taken out before the next is looked for. */
function widestDirections(vectors: Float32Array, dims: number, wanted: number): Float64Array[] {
  const products = productsOf(vectors, dims);
  const found: Float64Array[] = [];
  for (let number = 0; number < wanted; number += 1) {
    // Any start will do that is not at right angles to what is looked for.
    let direction = Float64Array.from({ length: dims }, (_, at) => Math.sin(7.3 * at + number + 1));
    for (let round = 0; round < powerRounds; round += 1) {
      const next = new Float64Array(dims);
      for (let row = 0; row < dims; row += 1) {
        let sum = 0;
        for (let at = 0; at < dims; at += 1)
          sum += (products[row * dims + at] ?? 0) * (direction[at] ?? 0);
        next[row] = sum;
      }
      for (const each of found) withoutDirection(next, each);
      const length = Math.hypot(...next);
      if (length === 0) return found;
      direction = next.map((each) => each / length);
    }
    found.push(direction);
  }
  return found;
}

/** The sum of the outer products of some of the rows with themselves. */
function productsOf(vectors: Float32Array, dims: number): Float64Array {
  const products = new Float64Array(dims * dims);
  for (let start = 0; start < vectors.length; start += sampled * dims) {
    const row = vectors.subarray(start, start + dims);
    for (let one = 0; one < dims; one += 1) {
      const factor = row[one] ?? 0;
      for (let other = 0; other <= one; other += 1)
        products[one * dims + other] =
          (products[one * dims + other] ?? 0) + factor * (row[other] ?? 0);
    }
  }
  for (let one = 0; one < dims; one += 1)
    for (let other = 0; other < one; other += 1)
      products[other * dims + one] = products[one * dims + other] ?? 0;
  return products;
}

function withoutDirection(vector: Float32Array | Float64Array, direction: Float64Array): void {
  let along = 0;
  for (let at = 0; at < vector.length; at += 1) along += (vector[at] ?? 0) * (direction[at] ?? 0);
  for (let at = 0; at < vector.length; at += 1)
    vector[at] = (vector[at] ?? 0) - along * (direction[at] ?? 0);
}

function quantized(vectors: Float32Array, dims: number): TableRows {
  const count = vectors.length / dims;
  const rows = new Int8Array(vectors.length);
  const scales = new Float32Array(count);
  for (let id = 0; id < count; id += 1) {
    let largest = 0;
    for (let at = id * dims; at < (id + 1) * dims; at += 1)
      largest = Math.max(largest, Math.abs(vectors[at] ?? 0));
    scales[id] = largest / 127;
    if (largest === 0) continue;
    for (let at = id * dims; at < (id + 1) * dims; at += 1)
      rows[at] = Math.round((127 * (vectors[at] ?? 0)) / largest);
  }
  return { dims, rows, scales };
}
