import { join } from 'node:path';
import { Segment } from '../../format/segment.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { codeBytes } from './sign-codes.js';
import { VectorFile } from './vector-file.js';

/** Files of an earlier version of a shard, from the same miner and embedder. Plain data. */
export interface EarlierFiles {
  segment: string;
  vectors: string;
}

/** Codes of symbols in files whose content is as it was: their texts are, too. */
export class EarlierCodes {
  readonly #codes: Uint8Array;
  readonly #width: number;
  /** By symbol: 1 + its row; 0: it has none. */
  readonly #rows: Uint32Array;

  private constructor(codes: Uint8Array, width: number, rows: Uint32Array) {
    this.#codes = codes;
    this.#width = width;
    this.#rows = rows;
  }

  /** Without any where those files cannot be read. */
  static async open(
    segments: string,
    { segment, vectors }: EarlierFiles,
    index: ShardIndex,
  ): Promise<EarlierCodes | undefined> {
    try {
      const before = await Segment.open(join(segments, segment));
      const { codes, documents, info } = await VectorFile.open(join(segments, vectors));
      return new EarlierCodes(codes, codeBytes(info.dims), rowsOf(index, before, documents));
    } catch {
      return undefined;
    }
  }

  of(symbol: number): Uint8Array | undefined {
    const row = (this.#rows[symbol] ?? 0) - 1;
    return row < 0 ? undefined : this.#codes.subarray(row * this.#width, (row + 1) * this.#width);
  }
}

/** One content has the same symbols in the same order, wherever it stands in a shard. */
function rowsOf(index: ShardIndex, before: ShardIndex, documents: Uint32Array): Uint32Array {
  const earlier = new Uint32Array(before.symbolCount);
  documents.forEach((symbol, row) => (earlier[symbol] = row + 1));
  const rows = new Uint32Array(index.symbolCount);
  for (let file = 0; file < index.fileCount; file += 1) {
    const { path, blob, language } = index.file(file);
    const at = before.fileAt(path);
    if (at === undefined) continue;
    const known = before.file(at);
    if (known.blob !== blob || known.language !== language) continue;
    const [now, then] = [index.symbolsOf(file), before.symbolsOf(at)];
    if (now.length !== then.length) continue;
    now.forEach((symbol, position) => (rows[symbol] = earlier[then[position] ?? 0] ?? 0));
  }
  return rows;
}
