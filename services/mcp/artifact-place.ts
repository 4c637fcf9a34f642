import path from 'node:path';
import type { Client } from '../../src/client/client.js';
import { treeServiceOf } from '../../src/pgc/serve/tree-service.js';
import { artifactPlace, treeOf, type ArtifactPlace } from '../../src/remote/artifact-place.js';
import type { Bus } from './bus.js';

/** The tree of the lattice that an artifact lies in, and where: the folder of this server may be a part of it. */
export async function placeIn(
  { folder }: Pick<Bus, 'folder'>,
  client: Client,
  wanted: string,
): Promise<ArtifactPlace & { root: string }> {
  const { services } = await client.status();
  const served = new Set(services.map(({ name }) => name));
  const isKnown = (each: string): boolean => served.has(treeServiceOf(each));
  // A name of something that is no file is that of something in this folder.
  const root = treeOf(path.join(folder, 'any'), isKnown) || folder;
  return { root, ...(await artifactPlace(wanted, { root, folder, isKnown })) };
}
