import { dot } from '../../../model/embedder.js';
import type { TokenTable } from '../../../model/token-table.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { prepareQuery, scanCodes } from './sign-codes.js';
import { symbolText } from './symbol-text.js';
import type { VectorFile } from './vector-file.js';

/** The best by their signs are looked at again with whole vectors: 48 take some 2 ms. */
const rescoredMin = 48;
const rescoredMax = 1_000;

export interface VectorHit {
  document: number;
  /** The cosine where a table gives it, else what the signs say of it; -1 to 1. */
  score: number;
}

/** Finds the symbols of one shard that mean much the same as a question. */
export class VectorIndex {
  readonly #file: VectorFile;
  readonly #index: ShardIndex;
  readonly #table: TokenTable | undefined;

  /** `table`: made the vectors, and can make them again within the time of an answer. */
  constructor(file: VectorFile, index: ShardIndex, table?: TokenTable) {
    this.#file = file;
    this.#index = index;
    this.#table = table;
  }

  /** The `k` nearest, best first; none for a query of other dimensions, or of zeros: it says nothing. */
  search(query: Float32Array, k: number): VectorHit[] {
    if (this.#file.info.dims !== query.length || k < 1 || query.every((each) => each === 0))
      return [];
    const looked = Math.max(k, Math.min(rescoredMax, Math.max(rescoredMin, 2 * k)));
    const found = scanCodes(
      this.#file.codes,
      prepareQuery(query),
      this.#table === undefined ? k : looked,
    ).map(({ row, score }) => ({ document: this.#file.documents[row] ?? 0, score }));
    return best(
      found.map((hit) => this.#rescored(query, hit)),
      k,
    );
  }

  #rescored(query: Float32Array, hit: VectorHit): VectorHit {
    const table = this.#table;
    if (table === undefined) return hit;
    const text = symbolText(this.#index, hit.document);
    return { ...hit, score: dot(query, table.embedOne(text)) };
  }
}

function best(hits: VectorHit[], limit: number): VectorHit[] {
  return hits
    .sort((one, other) => other.score - one.score || one.document - other.document)
    .slice(0, limit);
}
