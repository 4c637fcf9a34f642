import type { ManifestShard } from '../plan/manifest.js';

/** By what a shard holds: the same files are bound alike. */
export function keyOf({ alias, version }: Pick<ManifestShard, 'alias' | 'version'>): string {
  return `${alias} ${version}`;
}

/** Languages whose calls are bound over all shards. */
const boundLanguages = [
  ...(['c', 'cpp', 'go', 'java', 'python', 'rust'] as const),
  ...(['typescript', 'tsx', 'javascript'] as const),
];

export function isBound({ languages }: Pick<ManifestShard, 'languages'>): boolean {
  return boundLanguages.some((language) => language in languages);
}
