import { asBusError, BusError } from '../../errors/bus-error.js';
import {
  placeOf,
  readManifest,
  servedVersion,
  type IndexPlace,
  type Manifest,
} from '../plan/manifest.js';
import { openOverlay } from '../overlay/open-overlay.js';
import type { OverlayItems } from '../overlay/overlay-file.js';
import { OpenFiles } from '../format/container/section-file.js';
import { openShard } from '../plan/open-shard.js';
import { ShardOverlays } from '../overlay/shard-overlays.js';
import type { OverlayName } from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';
import { realRoot } from '../source/source-tree.js';

export interface OpenedIndex {
  /** Absolute, without links. */
  root: string;
  project: string;
  shards: ShardIndex[];
  /** Of a shard, by its alias. */
  overlaysIn: (alias: string) => ShardOverlays;
}

/** The segments of a tree, and its overlays, which are opened on first use. Disposed of when it is not asked any more. */
export interface OpenedTree extends OpenedIndex, Disposable {
  /** For more of its files. */
  files: OpenFiles;
  manifest: Manifest;
  /**
   * One file per shard that has this overlay ready, in the order of the shards; none for O1, which is the
   * segments. Throws INDEX_CORRUPT.
   */
  overlay: (name: OverlayName) => Promise<OverlayItems[]>;
}

/** Of a reader whose files a refresh removes. */
const attemptsMax = 3;

/**
 * The index of a tree as it was built last, from manifest and segments alone: any number of processes may
 * do this, also while a refresh runs. The agent of a shard is its alias.
 * Throws REPO_UNREADABLE, INDEX_MISSING or INDEX_CORRUPT.
 */
export async function openIndex(
  folder: string,
  home: string,
  /** Opens the largest shards only. */
  shardsMax = Infinity,
): Promise<OpenedTree> {
  const files = new OpenFiles();
  const close = (): void => files[Symbol.dispose]();
  return readServed(folder, home, async (place, manifest, root) => {
    // Of an attempt before.
    close();
    const { project } = manifest;
    const shards = await openSegments(place, manifest, files, shardsMax);
    const overlay = overlaysOf(place, manifest, files);
    const overlaysIn = (alias: string): ShardOverlays => {
      const shard = manifest.shards.find((each) => each.alias === alias);
      return new ShardOverlays(place, shard ?? { alias, overlays: {} }, files);
    };
    return { root, project, shards, overlaysIn, manifest, overlay, files, [Symbol.dispose]: close };
  });
}

/**
 * Reads the files that the manifest of a tree names. A refresh may remove them meanwhile: then the manifest is read
 * again. Throws REPO_UNREADABLE, INDEX_MISSING or INDEX_CORRUPT.
 */
export async function readServed<T>(
  folder: string,
  home: string,
  read: (place: IndexPlace, manifest: Manifest, root: string) => Promise<T>,
): Promise<T> {
  const root = await realRoot(folder);
  const place = placeOf(root, home);
  for (let attempt = 1; ; attempt += 1) {
    const manifest = await readManifest(place, root);
    try {
      return await read(place, manifest, root);
    } catch (error) {
      const { code, data } = asBusError(error);
      if (code !== 'INDEX_MISSING') throw error;
      if (attempt < attemptsMax) continue;
      const { path = '' } = data;
      throw new BusError('INDEX_CORRUPT', { path, detail: 'absent' }, { cause: error });
    }
  }
}

function overlaysOf(
  place: IndexPlace,
  manifest: Manifest,
  files: OpenFiles,
): OpenedTree['overlay'] {
  const opened = new Map<OverlayName, Promise<OverlayItems[]>>();
  const filesOf = (name: OverlayName, { shards }: Manifest): Promise<OverlayItems[]> =>
    Promise.all(
      shards
        .filter(({ overlays: { [name]: its } }) => its?.state === 'ready' && its.file !== '')
        .map((shard) => openOverlay(place, shard, name, files)),
    );
  const open = async (name: OverlayName): Promise<OverlayItems[]> => {
    for (let served = manifest, attempt = 1; ; attempt += 1) {
      try {
        return await filesOf(name, served);
      } catch (error) {
        // A run has ended meanwhile: the manifest that is served now names its files.
        if (asBusError(error).code !== 'INDEX_MISSING' || attempt >= attemptsMax) {
          opened.delete(name);
          throw error;
        }
        served = await readManifest(place, manifest.root);
      }
    }
  };
  return (name) => {
    const files = opened.get(name) ?? open(name);
    opened.set(name, files);
    return files;
  };
}

/** In the order of the manifest. */
export async function openSegments(
  place: IndexPlace,
  manifest: Manifest,
  files: OpenFiles,
  shardsMax = Infinity,
): Promise<ShardIndex[]> {
  const shards: ShardIndex[] = [];
  const largest = manifest.shards.toSorted((a, b) => b.lines - a.lines).slice(0, shardsMax);
  const wanted = manifest.shards.filter((shard) => largest.includes(shard));
  // One after the other: reading many large files at once only makes all of them late.
  for (const shard of wanted) {
    const { alias, scope } = shard;
    const its = {
      ...{ agent: alias, alias, scope, version: servedVersion(shard) },
      ...{ project: manifest.project, root: manifest.root },
    };
    shards.push(await openShard(place, shard, its, files));
  }
  return shards;
}
