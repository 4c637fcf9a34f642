import { citeCall, type Excerpts } from './citation.js';
import { citationsMax, type CallSite, type Citation } from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';

/**
 * How relevant the line of a call site is to a question for the callers of that name: the share of call sites that an
 * independent reader of the same sources confirmed (test/bench/lattice/results.md, precision of call edges).
 */
export const callSimilarity = 0.976;

/** The lines of call sites, as far as the called name stands on them; at most `citationsMax`. */
export function citationsOfCalls(
  index: ShardIndex,
  excerpts: Excerpts,
  callee: string,
  sites: readonly CallSite[],
): Citation[] {
  return sites.slice(0, citationsMax).flatMap(({ file_path, line, symbol }) => {
    const file = index.fileAt(file_path);
    const caller = symbol === '' ? file_path : symbol;
    return file === undefined
      ? []
      : (citeCall(index, excerpts, { caller, callee, file, line }, callSimilarity) ?? []);
  });
}
