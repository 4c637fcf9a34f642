import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { placeOf, readManifest } from '../../src/pgc/plan/manifest.js';

/** Digests of every file that an index serves, and the states of its overlays. Throws for any other file. */
export async function servedFiles(root: string, home: string): Promise<Record<string, string>> {
  const place = placeOf(root, home);
  const { shards } = await readManifest(place, root);
  const named = shards
    .flatMap(({ segment, bound = '', candidates, words, overlays }) => [
      ...[segment, bound, candidates, words],
      ...Object.values(overlays).map(({ file }) => file),
    ])
    .filter(Boolean)
    .sort();
  expect((await readdir(place.segments)).sort()).toEqual(named);
  const entries = named.map(async (file) => {
    const bytes = await readFile(join(place.segments, file));
    return [file, createHash('sha256').update(bytes).digest('hex')] as const;
  });
  const states = shards.map(({ alias, overlays }) => [alias, JSON.stringify(overlays)] as const);
  return Object.fromEntries([...states, ...(await Promise.all(entries))]);
}
