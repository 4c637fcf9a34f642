import type { ShardIndex } from '../../format/shard-index.js';
import type { Match } from './word-scores.js';

/** A file by its functions. */
export interface FunctionsOfFile {
  path: string;
  score: number;
  /** The best, best first. */
  best: readonly { name: string; line: number }[];
}

/** What ranks files: hits of one search, best first. */
interface RankedHit extends Pick<Match, 'attained' | 'context'> {
  symbol: number | undefined;
  file: number;
  score: number;
}

/** Each function of a file counts so much less than the one before it: a few good ones are more than many. */
const decay = 0.7;
/** The words of the file as a whole, beside those of its best function. */
const contextWeight = 0.6;
/** Functions that are named for a file. */
const namedMax = 3;

/** Files by what their hits are worth together, best first. `known`: how much of the question the shard knows at all. */
export function filesOf(
  index: ShardIndex,
  hits: readonly RankedHit[],
  known: number,
): FunctionsOfFile[] {
  const byFile = new Map<number, RankedHit[]>();
  for (const hit of hits) {
    const its = byFile.get(hit.file);
    if (its === undefined) byFile.set(hit.file, [hit]);
    else its.push(hit);
  }
  return Array.from(byFile, ([file, its]) => ({
    path: index.file(file).path,
    score: scoreOf(its, known),
    best: its
      .flatMap(({ symbol }) => (symbol === undefined ? [] : [index.symbolPlace(symbol)]))
      .slice(0, namedMax)
      .map(({ name, line_start: line }) => ({ name, line })),
  })).sort((one, other) => other.score - one.score || (one.path < other.path ? -1 : 1));
}

/** What functions have besides the words of the question, as their length, tells the less the less of it is known. */
function scoreOf(hits: readonly RankedHit[], known: number): number {
  const together = hits.reduce((sum, { score }, at) => sum + decay ** at * Math.max(0, score), 0);
  const words = Math.max(0, ...hits.map(({ attained }) => attained));
  return known * together + contextWeight * (hits[0]?.context ?? 0) + words;
}
