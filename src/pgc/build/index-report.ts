import type { LanguageCount, ManifestShard } from '../plan/manifest.js';
import type { HistoryMark } from '../overlay/file-lineage.js';
import type { LayerReport } from './binding/precise-layer.js';

/** What `sigma index --json` prints. */
export interface IndexReport {
  project: string;
  shards: Pick<ManifestShard, 'alias' | 'scope' | 'files' | 'lines' | 'items'>[];
  files_total: number;
  files_mined: number;
  files_reused: number;
  /** Calls and uses whose binding was worked out anew. */
  sites_bound: number;
  /** Deleted facts of contents that no file has any more. */
  facts_collected: number;
  /** History of git for O3: commits read, and why not all. 0 commits: no git. */
  history: { commits: number; is_complete: boolean; why: string };
  lines_total: number;
  /** By language, also those without a grammar. */
  languages: Record<string, LanguageCount>;
  elapsed_ms: number;
  peak_rss_bytes: number;
  disk_bytes: number;
  left_out: Record<string, number>;
  /** Of SCIP indexes; absent: there are none, or nothing was bound anew. */
  scip?: LayerReport;
  /** What the user may not expect, in sentences. */
  notes: string[];
}

/** Sums over all shards. */
export function languagesOf(shards: readonly ManifestShard[]): Record<string, LanguageCount> {
  const all: Record<string, LanguageCount> = {};
  for (const [name, count] of shards.flatMap(({ languages }) => Object.entries(languages))) {
    const sum = (all[name] ??= { files: 0, lines: 0, bytes: 0, error_bytes: 0, scanned: 0 });
    for (const key of Object.keys(sum) as (keyof LanguageCount)[]) sum[key] += count[key];
  }
  return all;
}

export function historyNote(mark: HistoryMark | undefined): IndexReport['history'] {
  const { commits = 0, why = '' } = mark ?? {};
  return { commits, is_complete: why === '', why };
}
