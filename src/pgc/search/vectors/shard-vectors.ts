import { join } from 'node:path';
import type { TokenTable } from '../../../model/token-table.js';
import type { ManifestShard } from '../../plan/manifest.js';
import { Segment } from '../../format/segment.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { EarlierCodes, type EarlierFiles } from './earlier-codes.js';
import { codeBytes, writeCode } from './sign-codes.js';
import { explains, symbolText } from './symbol-text.js';
import { VectorFile, vectorFileName } from './vector-file.js';

/** Texts that are embedded at once; between two batches others have their turn. */
export const batchSize = 256;

/** What a thread needs to make the vectors of one shard. Plain data. */
export interface VectorOrder {
  /** The folder of the segments. */
  segments: string;
  shard: Pick<ManifestShard, 'alias' | 'version' | 'segment'>;
  /** Symbols that may have one. */
  room: number;
  /** Files of the version that was served before; absent: all codes are made anew. */
  earlier?: EarlierFiles | undefined;
}

export type Vectors = NonNullable<ManifestShard['vectors']>;

/** The codes of some symbols, one behind the other, and of how many dimensions the vectors are; `earlier`: what need not be made. */
export type CodesOf = (
  index: ShardIndex,
  symbols: Uint32Array,
  earlier: EarlierCodes | undefined,
) => Promise<{ codes: Uint8Array; dims: number }>;

/** Writes the vectors of a shard; of no symbol, no file. Throws INDEX_CORRUPT, STORE_UNAVAILABLE, as `codesOf`. */
export async function writeVectors(
  { segments, shard, room, earlier: files }: VectorOrder,
  fingerprint: string,
  codesOf: CodesOf,
): Promise<Vectors> {
  const { alias, version, segment } = shard;
  const index = await Segment.open(join(segments, segment));
  const { wanted, leftOut } = chosen(index, room);
  const file = wanted.length === 0 ? '' : vectorFileName(shard, fingerprint);
  if (file !== '') {
    const earlier = files && (await EarlierCodes.open(segments, files, index));
    const { codes, dims } = await codesOf(index, wanted, earlier);
    const info = { alias, version, fingerprint, dims };
    await VectorFile.write(join(segments, file), info, wanted, codes);
  }
  return { fingerprint, file, symbols: wanted.length, left_out: leftOut };
}

/** By a table. `pause`: called between two batches. */
export function codesByTable(table: TokenTable, pause: () => Promise<void>): CodesOf {
  const { dims } = table;
  const width = codeBytes(dims);
  return async (index, symbols, earlier) => {
    const codes = new Uint8Array(symbols.length * width);
    for (let row = 0; row < symbols.length; row += 1) {
      if (row % batchSize === 0) await pause();
      const symbol = symbols[row] ?? 0;
      const known = earlier?.of(symbol);
      if (known !== undefined) codes.set(known, row * width);
      else writeCode(table.embedOne(symbolText(index, symbol)), codes, row * width);
    }
    return { codes, dims };
  };
}

/** Symbols that explain, in the order of the documents; where there is not room for all, documented ones are kept. */
function chosen(
  index: ShardIndex,
  room: number,
): { wanted: Uint32Array<ArrayBuffer>; leftOut: number } {
  const documented: number[] = [];
  const others: number[] = [];
  for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
    const isDocumented = index.isDocumented(symbol);
    if (explains(index.outline(symbol), isDocumented))
      (isDocumented ? documented : others).push(symbol);
  }
  const all = documented.concat(others);
  const wanted = Uint32Array.from(all.slice(0, Math.max(0, room))).sort();
  return { wanted, leftOut: all.length - wanted.length };
}
