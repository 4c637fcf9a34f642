import { join } from 'node:path';
import { BusError } from '../errors/bus-error.js';
import { placeOf, readManifest, type IndexPlace, type Manifest } from './manifest.js';
import { Segment } from './segment.js';
import type { ShardIndex } from './shard-index.js';
import { realRoot } from './source-tree.js';

export interface OpenedIndex {
  /** Absolute, without links. */
  root: string;
  project: string;
  shards: ShardIndex[];
}

/** A refresh removes old segments after its swap; a reader that was in between reads the manifest again. */
const attemptsMax = 3;

/**
 * The index of a tree as it was built last, from manifest and segments alone: any number of processes may
 * do this, also while a refresh runs. The agent of a shard is its alias.
 * Throws REPO_UNREADABLE, INDEX_MISSING or INDEX_CORRUPT.
 */
export async function openIndex(folder: string, home: string): Promise<OpenedIndex> {
  const root = await realRoot(folder);
  const place = placeOf(root, home);
  for (let attempt = 1; ; attempt += 1) {
    const manifest = await readManifest(place, root);
    try {
      return { root, project: manifest.project, shards: await openShards(place, manifest) };
    } catch (error) {
      const isMissing = error instanceof BusError && error.code === 'INDEX_MISSING';
      if (!isMissing) throw error;
      if (attempt < attemptsMax) continue;
      const { path } = error.data;
      throw new BusError('INDEX_CORRUPT', { path: path ?? '', detail: 'absent' }, { cause: error });
    }
  }
}

async function openShards(place: IndexPlace, manifest: Manifest): Promise<ShardIndex[]> {
  const shards: ShardIndex[] = [];
  // One after the other: reading many large files at once only makes all of them late.
  for (const { alias, scope, segment } of manifest.shards) {
    shards.push(
      await Segment.open(join(place.segments, segment), {
        agent: alias,
        alias,
        scope,
        project: manifest.project,
        root: manifest.root,
      }),
    );
  }
  return shards;
}
