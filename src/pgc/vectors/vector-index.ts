import { dot } from '../../model/embedder.js';
import type { TokenTable } from '../../model/token-table.js';
import type { ShardIndex } from '../shard-index.js';
import { prepareQuery, scanCodes, type PreparedQuery } from './sign-codes.js';
import { symbolText } from './symbol-text.js';
import type { VectorFile } from './vector-file.js';

/** The best by their signs are looked at again with whole vectors: 128 take some 3 ms. */
const rescoredMin = 128;
const rescoredMax = 1_000;

export interface VectorHit {
  document: number;
  /** The cosine where a table gives it, else what the signs say of it; -1 to 1. */
  score: number;
}

/** What in one shard means much the same as a question. */
export class VectorIndex {
  readonly #file: VectorFile;
  readonly #index: ShardIndex;
  readonly #table: TokenTable | undefined;

  /** `table`: what made the vectors, where they can be made again while somebody waits. */
  constructor(file: VectorFile, index: ShardIndex, table?: TokenTable) {
    this.#file = file;
    this.#index = index;
    this.#table = table;
  }

  get dims(): number {
    return this.#file.info.dims;
  }

  /** Symbols that have a vector. */
  get size(): number {
    return this.#file.documents.length;
  }

  /** The `k` nearest, best first; none for a query of other dimensions, or of zeros: it says nothing. */
  search(query: Float32Array, k: number): VectorHit[] {
    return searchAll([this], query, k).map(({ document, score }) => ({ document, score }));
  }

  /** By the signs alone, best first; what scores more than `floor`. */
  scan(query: PreparedQuery, limit: number, floor: number): VectorHit[] {
    return scanCodes(this.#file.codes, query, limit, floor).map(({ row, score }) => ({
      document: this.#file.documents[row] ?? 0,
      score,
    }));
  }

  /** The cosine where a table gives it, else `score` as it is. */
  rescored(query: Float32Array, { document, score }: VectorHit): number {
    const table = this.#table;
    if (table === undefined) return score;
    return dot(query, table.embedOne(symbolText(this.#index, document)));
  }

  get rescores(): boolean {
    return this.#table !== undefined;
  }
}

export interface HitIn extends VectorHit {
  index: VectorIndex;
}

/** The `k` nearest of several shards, best first; as `VectorIndex.search`, and whole vectors for the best of all. */
export function searchAll(
  indexes: readonly VectorIndex[],
  query: Float32Array,
  k: number,
): HitIn[] {
  const fitting = indexes.filter(({ dims }) => dims === query.length);
  if (fitting.length === 0 || k < 1 || query.every((each) => each === 0)) return [];
  const prepared = prepareQuery(query);
  const isRescored = fitting.some(({ rescores }) => rescores);
  const looked = isRescored ? Math.max(k, Math.min(rescoredMax, Math.max(rescoredMin, 2 * k))) : k;
  let found: HitIn[] = [];
  for (const index of fitting) {
    // What is worse than what others have already given need not be looked at.
    const floor = found.length === looked ? (found.at(-1)?.score ?? -Infinity) : -Infinity;
    const hits = index.scan(prepared, looked, floor).map((hit) => ({ ...hit, index }));
    found = best(found.concat(hits), looked);
  }
  const rescored = found.map((hit) => ({ ...hit, score: hit.index.rescored(query, hit) }));
  return best(rescored, k);
}

function best(hits: HitIn[], limit: number): HitIn[] {
  return hits
    .sort((one, other) => other.score - one.score || one.document - other.document)
    .slice(0, limit);
}
