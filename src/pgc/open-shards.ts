import { Excerpts } from './excerpt.js';
import { openIndex } from './open-index.js';
import { Shard } from './shard.js';

export interface OpenedShards {
  /** Absolute, without links. */
  root: string;
  project: string;
  shards: Shard[];
}

/** Every shard of a built index, ready to answer in this process. Throws as `openIndex`. */
export async function openShards(folder: string, home: string): Promise<OpenedShards> {
  const { root, project, shards } = await openIndex(folder, home);
  const excerpts = new Excerpts(root);
  return { root, project, shards: shards.map((index) => new Shard(index, excerpts)) };
}
