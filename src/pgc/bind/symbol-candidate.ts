import { cached, pathOf } from './index-cache.js';
import type { ShardIndex } from '../format/shard-index.js';
import { isStandIn, mayStandIn, type Candidate } from './visibility.js';

const known = new WeakMap<ShardIndex, Map<string, readonly SymbolCandidate[]>>();

export interface SymbolCandidate extends Candidate {
  id: number;
}

/** A symbol in the form that the visibility rule takes. */
export function candidateOf(index: ShardIndex, symbol: number): SymbolCandidate {
  const row = index.symbolPlace(symbol);
  return {
    id: symbol,
    symbol: row.name,
    kind: row.kind,
    file_path: pathOf(index, row.file),
    line: row.line_start,
    exported: row.exported,
    declaration: row.declaration,
    container: row.container,
  };
}

/** All symbols of a name; those of a common one are asked for again and again. */
export function candidatesNamed(index: ShardIndex, name: string): readonly SymbolCandidate[] {
  let named = known.get(index);
  if (named === undefined)
    known.set(index, (named = new Map<string, readonly SymbolCandidate[]>()));
  return cached(named, name, () =>
    index.symbolsNamed(name).map((each) => candidateOf(index, each)),
  );
}

/** Whether a symbol only stands in for the real definition; see `isStandIn`. */
export function isStandInOf(index: ShardIndex, symbol: number): boolean {
  const own = candidateOf(index, symbol);
  if (!mayStandIn(own)) return false;
  return isStandIn(own, candidatesNamed(index, own.symbol));
}
