import { isCode } from '../facts.js';
import { Columns, weights, type FeatureName } from './features.js';
import { NameScores, type Finding, type ModuleFiles } from './named.js';
import type { ParsedReport } from './report.js';
import type { WordIndex } from './word-index.js';
import { WordScores, type SoughtTerm } from './word-scores.js';

export interface Ranked {
  file: number;
  path: string;
  score: number;
}

export interface Candidates {
  columns: Columns;
  terms: SoughtTerm[];
  findings: readonly Finding[];
  /** The best, best first; of the same score in the order of their paths. */
  best: Ranked[];
}

/** By file: 1 where it is source, 0 where it is a header, a document or a recipe. */
export function sourcesOf(index: WordIndex): Uint8Array {
  const sources = new Uint8Array(index.fileCount);
  let file = 0;
  for (const shard of index.shards) {
    let its = 0;
    for (const path of shard.paths()) {
      sources[file] = isCode(shard.language(its)) && !header.test(path) ? 1 : 0;
      its += 1;
      file += 1;
    }
  }
  return sources;
}

const header = /\.(?:h\w*|d\.[cm]?ts)$/;

/** The files that a report may concern, by all that can be said without reading them. */
export function candidatesOf(
  index: WordIndex,
  parts: { sources: Uint8Array; modules: ModuleFiles },
  report: ParsedReport,
  { limit, without }: { limit: number; without: ReadonlySet<FeatureName> },
): Candidates {
  const columns = new Columns(index.fileCount, without);
  const terms = new WordScores(index, columns, report).score();
  const names = new NameScores(index, columns, parts.modules);
  names.score(report);
  const scores = columns.scores();
  addSource(columns, scores, parts.sources);
  return { columns, terms, findings: names.findings, best: bestOf(index, scores, limit) };
}

/** Only where something speaks for a file at all; what the report names by its path need not be source. */
function addSource(columns: Columns, scores: Float64Array, sources: Uint8Array): void {
  if (!columns.isWanted('source')) return;
  for (let file = 0; file < scores.length; file += 1) {
    if ((scores[file] ?? 0) <= 0) continue;
    const isNamed = columns.at('path', file) + columns.at('file', file) > 0;
    if (isNamed || sources[file] === 1) scores[file] = (scores[file] ?? 0) + weights.source;
  }
}

/** Keeps the best as they come, and sorts these few now and then: most files have some word of a report. */
function bestOf(index: WordIndex, scores: Float64Array, count: number): Ranked[] {
  let kept: Ranked[] = [];
  let floor = 0;
  const trim = (): void => {
    // Of many equal ones the paths decide, which are read of these only.
    for (const each of kept) if (each.path === '') each.path = index.path(each.file);
    kept = kept.sort(byScore).slice(0, count);
    if (kept.length === count) floor = kept.at(-1)?.score ?? 0;
  };
  scores.forEach((score, file) => {
    if (score <= 0 || score < floor) return;
    kept.push({ file, score, path: '' });
    if (kept.length >= 4 * count + 256) trim();
  });
  trim();
  return kept;
}

export function byScore(a: Ranked, b: Ranked): number {
  return b.score - a.score || (a.path < b.path ? -1 : 1);
}
