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
import { OverlayFile } from '../overlay/overlay-file.js';
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
 * index` repairs, and after this found damage, it reads them all, too. Throws REPO_UNREADABLE, INDEX_MISSING, INDEX_CORRUPT for the manifest.
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
  const { segment, candidates, words, bound, overlays, version, items, calls } = shard;
  const files: CheckedFile[] = [];
  const check = async (file: string, look: (path: string) => Promise<string>): Promise<void> => {
    const problem = await look(join(place.segments, file)).catch(
      (error: unknown) => asBusError(error).message,
    );
    files.push({ file, problem });
  };
  await check(segment, async (path) => {
    const { info } = await Segment.open(path);
    if (info.version !== version) return `it is of version ${info.version}, not ${version}`;
    return counted('O1', info.overlays.O1 ?? 0, items.O1 ?? 0);
  });
  await check(candidates, async (path) => {
    await OverlayFile.open(path);
    return '';
  });
  await check(words, async (path) => {
    const { info, fileCount: found } = await WordsFile.open(path);
    if (info.version !== version) return `it is of version ${info.version}, not ${version}`;
    return found === shard.files ? '' : `it holds ${found} files, not ${shard.files}`;
  });
  if (bound !== undefined)
    await check(bound, async (path) => {
      await BoundCalls.open(path);
      return '';
    });
  for (const [name, { file, items: all }] of Object.entries(overlays)) {
    if (file === '') continue;
    // The calls of O3 are in the segment.
    const wanted = name === 'O3' ? all - calls : all;
    await check(file, async (path) => {
      const { info, itemCount } = await OverlayFile.open(path);
      return info.overlay === name
        ? counted(name, itemCount, wanted)
        : `it holds ${info.overlay}, not ${name}`;
    });
  }
  return files;
}

async function checkLayer(
  place: IndexPlace,
  { file }: NonNullable<Manifest['scip']>,
): Promise<CheckedFile> {
  const problem = await readLayer(join(place.segments, file)).then(
    () => '',
    (error: unknown) => asBusError(error).message,
  );
  return { file, problem };
}

function counted(what: string, items: number, wanted: number): string {
  return items === wanted ? '' : `it holds ${items} items of ${what}, not ${wanted}`;
}
