import type { ManifestShard } from '../plan/manifest.js';

/** By what a shard holds: the same files are bound alike. */
export function keyOf({ alias, version }: Pick<ManifestShard, 'alias' | 'version'>): string {
  return `${alias} ${version}`;
}
