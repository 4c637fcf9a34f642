import { weights } from './features.js';
import type { Seeking } from './seeking.js';
import type { TreeWords } from './tree-words.js';
import type { RoutedTerm } from './word-scores.js';

/**
 * CORI's estimate that a collection is about a term, df / (df + a + b · size / mean size), with constants for collections
 * of some five hundred files: J. Callan, "Distributed Information Retrieval", 2000.
 */
const halfway = 5;
const sizePenalty = 15;
/** What a word adds to a file that has it, by unit of what it could: once in the text, now and then in a name. */
const usualInText = 1.1;
const usualInNames = 0.3;

/**
 * Shards of a tree by how likely they hold the files that a report concerns, best first: what the best of their paths has,
 * what of the named functions and options they define, and how far the words of the report are theirs.
 */
export function rankedShards(index: TreeWords, seeking: Seeking): number[] {
  const mean = Math.max(1, index.fileCount / Math.max(1, index.shards.length));
  const scores = index.shards.map(({ words }, shard) => {
    const norm = halfway + (sizePenalty * words.fileCount) / mean;
    const belief = seeking.terms.reduce((sum, term) => {
      const files = term.byShard[shard] ?? 0;
      return files === 0 ? sum : sum + (gainOf(term) * files) / (files + norm);
    }, 0);
    return belief + bestGiven(index, seeking, shard) + namedIn(seeking, shard);
  });
  return scores.map((_, shard) => shard).sort((one, other) => compare(scores, one, other));
}

function compare(scores: readonly number[], one: number, other: number): number {
  return (scores[other] ?? 0) - (scores[one] ?? 0) || one - other;
}

function gainOf({ names, once, often, cover }: RoutedTerm): number {
  return usualInNames * names + usualInText * (once + often) + cover;
}

function bestGiven(index: TreeWords, seeking: Seeking, shard: number): number {
  const base = index.baseOf(shard);
  const count = index.shards[shard]?.words.fileCount ?? 0;
  let best = 0;
  for (let file = base; file < base + count; file += 1) {
    const given = seeking.given[file] ?? 0;
    if (given > 0) best = Math.max(best, given + seeking.bonusOf(file));
  }
  return best;
}

/** A name that is defined in few files is shared by them. */
function namedIn(seeking: Seeking, shard: number): number {
  return seeking.names.reduce((sum, { feature, byShard, value }) => {
    const all = byShard.reduce((total, files) => total + files, 0);
    return (byShard[shard] ?? 0) === 0 ? sum : sum + (weights[feature] * value) / all;
  }, 0);
}
