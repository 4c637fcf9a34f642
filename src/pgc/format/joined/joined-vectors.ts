import { VectorTable } from '../vectors/vector-table.js';
import type { JoinedNumbers } from './joined-numbers.js';

/** The vectors of all segments, in the order of their functions. */
export function joinedVectors({ segments, symbols: joined }: JoinedNumbers): VectorTable {
  const rows = segments.flatMap((segment, source) => {
    const { symbols, rows: bytes } = segment.vectors;
    const width = symbols.length === 0 ? 0 : bytes.length / symbols.length;
    return Array.from(symbols, (symbol, at) => ({
      symbol: joined.of(source, symbol),
      bytes: bytes.subarray(at * width, (at + 1) * width),
    }));
  });
  const seen = rows
    .flatMap(({ symbol, bytes }) => (symbol === undefined ? [] : [{ symbol, bytes }]))
    .sort((one, other) => one.symbol - other.symbol);
  const width = seen[0]?.bytes.length ?? 0;
  const all = new Int8Array(seen.length * width);
  for (const [at, { bytes }] of seen.entries()) all.set(bytes, at * width);
  return new VectorTable(
    Uint32Array.from(seen, ({ symbol }) => symbol),
    all,
  );
}
