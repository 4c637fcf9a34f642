import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { BuildNotice } from './build-notice.js';
import type { IndexPlace, Manifest, ManifestShard } from '../plan/manifest.js';
import { failedState, infoOf, reasonOf, stateOf, withOverlay } from './overlay-state.js';
import type { FileRow } from '../format/shard-index.js';
import type { FileLineage, HistoryMark } from './file-lineage.js';
import { OverlayFile, OverlayWriter } from './overlay-file.js';

/**
 * Builds the part of O3 that comes from git: who changed a file, when and why, and what changes together with it.
 * Rebuilt when HEAD (or the revision of `--as-of`) has moved. A shard without a history has its calls alone. When git
 * fails, O3 is `failed`, but its calls are still served from the segment. Throws as `historyOf`.
 */
export async function buildLineage(
  place: IndexPlace,
  shards: readonly ManifestShard[],
  members: ReadonlyMap<string, readonly FileRow[]>,
  lineage: FileLineage,
  before: Manifest | undefined,
  notice: BuildNotice,
): Promise<ManifestShard[]> {
  const built: ManifestShard[] = [];
  for (const shard of shards) {
    const files = members.get(shard.alias) ?? [];
    const O3 = await stateIn({ place, lineage, before, notice }, shard, files);
    built.push(withOverlay(shard, 'O3', O3));
  }
  return built;
}

interface LineageJob {
  place: IndexPlace;
  lineage: FileLineage;
  before: Manifest | undefined;
  notice: BuildNotice;
}

async function stateIn(
  job: LineageJob,
  shard: ManifestShard,
  files: readonly FileRow[],
): Promise<ManifestShard['overlays'][string]> {
  const mark = await job.lineage.mark();
  if (mark === undefined) return stateOf('O3', shard.calls, '');
  const failed = (reason: string): ManifestShard['overlays'][string] => ({
    ...failedState('O3', reason),
    items: shard.calls,
  });
  if (mark.why === 'broken')
    return failed(`git failed after ${mark.commits} commits: is an object damaged or lost?`);
  return historyFile(job, mark, shard, files).then(
    ({ file, items }) => stateOf('O3', shard.calls + items, file),
    (error: unknown) => failed(reasonOf(error)),
  );
}

async function historyFile(
  { place, lineage, before, notice }: LineageJob,
  mark: HistoryMark,
  shard: ManifestShard,
  files: readonly FileRow[],
): Promise<{ file: string; items: number }> {
  // A history that was cut short differs from the complete one of the same commit.
  const { commit, commits, why } = mark;
  const read = createHash('sha256').update(`${commit} ${commits} ${why}`).digest('hex');
  const file = `${shard.alias}-${shard.version}.${read.slice(0, 12)}.O3.ovl`;
  const known = before?.shards.find(({ overlays }) => overlays.O3?.file === file);
  const kept = await keptItems(place, known, file);
  if (kept !== undefined) return { file, items: kept };
  await notice.add(new Map([[shard.alias, ['O3']]]));
  return { file, items: await written(place, shard, file, files, lineage) };
}

async function keptItems(
  place: IndexPlace,
  known: ManifestShard | undefined,
  file: string,
): Promise<number | undefined> {
  if (known === undefined) return undefined;
  try {
    return (await OverlayFile.open(join(place.segments, file))).itemCount;
  } catch {
    return undefined;
  }
}

async function written(
  place: IndexPlace,
  { alias }: ManifestShard,
  file: string,
  files: readonly FileRow[],
  lineage: FileLineage,
): Promise<number> {
  const writer = new OverlayWriter();
  const items = await lineage.itemsOf(alias, files);
  for (const [at, { path, blob }] of files.entries()) {
    const own = items[at] ?? [];
    writer.add(
      path,
      blob,
      own.map((item) => ({ ...item, symbol: '' })),
    );
  }
  await writer.write(join(place.segments, file), infoOf('O3', alias));
  return writer.items;
}
