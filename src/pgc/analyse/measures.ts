import type { Plain, sigma } from '../../wire/codec.js';
import type { OpenedTree } from '../search/open-index.js';
import { changeOf, commitsOf } from '../overlay/history-items.js';
import type { OverlayItems } from '../overlay/overlay-file.js';
import type { OverlayName } from '../shapes.js';

/** Levels of folders in one answer. */
export const depthMax = 6;
/** Folders and files in one answer; smaller ones are in the sums. */
export const measureRowsMax = 4_000;

export type MeasuresRequest = Plain<sigma.pgc.MeasuresRequest>;
export type Measure = Plain<sigma.pgc.Measure>;
export type Measures = Plain<
  sigma.pgc.Measures,
  { total: Measure; rows: Measure[]; history: Plain<sigma.pgc.HistoryNote>[] }
>;

/**
 * A tree by numbers: each folder and file down to `depth` below `path` with its size, its weaknesses, and how often and when last it
 * was changed. `path` empty: the whole tree; unknown: there are no rows, and all sums are zero. Throws INDEX_CORRUPT.
 */
export async function measures(tree: OpenedTree, path: string, depth: number): Promise<Measures> {
  const at = path.replace(/^(?:\.\/+)+|^\.$|\/+$/g, '');
  const sums = new Sums(at, depth);
  for (const shard of tree.shards)
    for (let file = 0; file < shard.fileCount; file += 1) {
      const { path: own, lines } = shard.file(file);
      sums.add(own, (its) => {
        its.files += 1;
        its.lines += lines;
      });
    }
  const [security, lineage] = await Promise.all([tree.overlay('O2'), tree.overlay('O3')]);
  for (const overlay of security)
    for (const { file_path, severity } of overlay.items((rule) => !rule.startsWith('surface-')))
      if (severity !== 'info' && severity !== '')
        sums.add(file_path, (its) => {
          its.weaknesses += 1;
          if (severity === 'high' || severity === 'critical') its.grave += 1;
        });
  for (const overlay of lineage)
    for (const { file_path, text } of overlay.items((rule) => rule === 'history')) {
      const changed = changeOf(text) ?? '';
      sums.add(file_path, (its) => {
        its.commits += commitsOf(text);
        if (changed > its.changed) its.changed = changed;
      });
    }
  const rows = sums.rows();
  return {
    total: sums.total,
    rows: rows.slice(0, measureRowsMax),
    truncated: rows.length > measureRowsMax,
    history: sums.total.is_file ? historyOf(lineage, at) : [],
    warnings: [...missing('O2', security, tree), ...missing('O3', lineage, tree)],
  };
}

/** Of what is asked about, and of all below it. */
class Sums {
  readonly total: Measure;
  readonly #at: string;
  readonly #depth: number;
  readonly #rows = new Map<string, Measure>();

  constructor(at: string, depth: number) {
    this.#at = at;
    this.#depth = depth;
    this.total = empty(at, false);
  }

  /** To the file, as far as it is shown, and to every folder around it. */
  add(path: string, count: (its: Measure) => void): void {
    if (path === this.#at) {
      this.total.is_file = true;
      count(this.total);
      return;
    }
    const prefix = this.#at === '' ? '' : `${this.#at}/`;
    if (!path.startsWith(prefix)) return;
    count(this.total);
    const parts = path.slice(prefix.length).split('/');
    for (let depth = 1; depth <= Math.min(parts.length, this.#depth); depth += 1) {
      const own = prefix + parts.slice(0, depth).join('/');
      const row = this.#rows.get(own) ?? empty(own, depth === parts.length);
      this.#rows.set(own, row);
      count(row);
    }
  }

  /** The largest first, a folder before what is in it. */
  rows(): Measure[] {
    return [...this.#rows.values()].sort(
      (one, other) => other.lines - one.lines || one.path.length - other.path.length,
    );
  }
}

function empty(path: string, is_file: boolean): Measure {
  const none = { files: 0, lines: 0, weaknesses: 0, grave: 0, commits: 0, changed: '' };
  return { path, is_file, ...none };
}

function historyOf(lineage: readonly OverlayItems[], path: string): Measures['history'] {
  return lineage
    .flatMap((overlay) => overlay.itemsAt(path))
    .map(({ rule, text, subject }) => ({ rule, text, subject }));
}

function missing(
  name: OverlayName,
  opened: readonly OverlayItems[],
  { shards }: OpenedTree,
): string[] {
  const without = shards.length - opened.length;
  return without === 0
    ? []
    : [`${name} is not there in ${without} of ${shards.length} shards: the sums are without it`];
}
