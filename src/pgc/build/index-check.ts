import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asBusError } from '../../errors/bus-error.js';
import { BoundCalls } from '../format/bound-calls.js';
import { WordsFile } from '../format/word-lists/words-file.js';
import {
  placeOf,
  readManifest,
  type IndexPlace,
  type Manifest,
  type ManifestShard,
} from '../plan/manifest.js';
import { openOverlay } from '../overlay/open-overlay.js';
import { OverlayFile } from '../overlay/overlay-file.js';
import { openShard, openWords } from '../plan/open-shard.js';
import { Segment } from '../format/segment.js';
import { readLayer } from '../scip/layer.js';
import { realRoot } from '../source/source-tree.js';

interface CheckedFile {
  /** In `segments/`. */
  file: string;
  /** Empty: intact and consistent with the manifest. */
  problem: string;
}

interface CheckReport {
  root: string;
  files: CheckedFile[];
  /** Files that no manifest names; the next run removes them. */
  strays: string[];
  is_sound: boolean;
}

/**
 * Reads all served files, checksums included, and compares them with the manifest. Changes no file of the index: `sigma
 * index` repairs, and after this found damage, it reads them all, too. Throws REPO_UNREADABLE, STORE_UNAVAILABLE; INDEX_MISSING, INDEX_CORRUPT for the manifest.
 */
export async function checkIndex(folder: string, home: string): Promise<CheckReport> {
  const root = await realRoot(folder);
  const place = placeOf(root, home);
  const manifest = await readManifest(place, root);
  const files: CheckedFile[] = [];
  for (const shard of manifest.shards) files.push(...(await checkShard(place, shard)));
  if (manifest.scip !== undefined) files.push(await checkLayer(place, manifest.scip));
  const named = new Set(files.map(({ file }) => file));
  const strays = (await readdir(place.segments)).filter((file) => !named.has(file)).sort();
  const is_sound = files.every(({ problem }) => problem === '');
  if (!is_sound) await rm(place.checked, { force: true });
  return { root, files, strays, is_sound };
}

/** Reads all files of one shard and compares them with the manifest. */
export async function checkShard(place: IndexPlace, shard: ManifestShard): Promise<CheckedFile[]> {
  const { delta, bound, base, items } = shard;
  const files: CheckedFile[] = [];
  const check = async (file: string, look: (path: string) => Promise<string>): Promise<void> => {
    const problem = await look(join(place.segments, file)).catch(problemOf);
    files.push({ file, problem });
  };
  const parts = [{ ...shard, version: base }, ...(delta === undefined ? [] : [delta])];
  for (const { segment, candidates, words, version } of parts) {
    await check(segment, async (path) => wrong(version, (await Segment.open(path)).info.version));
    await check(candidates, (path) => OverlayFile.open(path).then(() => ''));
    await check(words, async (path) => wrong(version, (await WordsFile.open(path)).info.version));
  }
  if (bound !== undefined) await check(bound, (path) => BoundCalls.open(path).then(() => ''));
  await check(shard.segment, async () => {
    const { items: found } = await openShard(place, shard, {}, 'whole', '');
    return counted('O1', found.O1, items.O1 ?? 0);
  });
  await check(shard.words, async () => {
    const { fileCount: found } = await openWords(place, shard);
    return found === shard.files ? '' : `it holds ${found} files, not ${shard.files}`;
  });
  for (const [name, { file }] of Object.entries(shard.overlays)) {
    const changed = delta?.overlays[name];
    if (changed !== undefined)
      await check(changed, (path) => OverlayFile.open(path).then(() => ''));
    if (file !== '') await check(file, () => overlayProblem(place, shard, name));
  }
  return merged(files);
}

/** A file that cannot be opened at present (too many are open) may be sound. */
function problemOf(error: unknown): string {
  const { code, message } = asBusError(error);
  if (code === 'STORE_UNAVAILABLE') throw error;
  return message;
}

function wrong(wanted: string, version: string): string {
  return version === wanted ? '' : `it is of version ${version}, not ${wanted}`;
}

async function overlayProblem(
  place: IndexPlace,
  shard: ManifestShard,
  name: string,
): Promise<string> {
  const { info, itemCount } = await openOverlay(place, shard, name);
  // The calls of O3 are in the segment.
  const all = shard.overlays[name]?.items ?? 0;
  return info.overlay === name
    ? counted(name, itemCount, name === 'O3' ? all - shard.calls : all)
    : `it holds ${info.overlay}, not ${name}`;
}

/** One row for each file, with its first problem. */
function merged(files: readonly CheckedFile[]): CheckedFile[] {
  const found = new Map<string, string>();
  for (const { file, problem } of files) found.set(file, found.get(file) || problem);
  return [...found].map(([file, problem]) => ({ file, problem }));
}

async function checkLayer(
  place: IndexPlace,
  { file }: NonNullable<Manifest['scip']>,
): Promise<CheckedFile> {
  const problem = await readLayer(join(place.segments, file)).then(() => '', problemOf);
  return { file, problem };
}

function counted(what: string, items: number, wanted: number): string {
  return items === wanted ? '' : `it holds ${items} items of ${what}, not ${wanted}`;
}
