import path from 'node:path';
import type { Client } from '../../src/client/client.js';
import { treeServiceOf } from '../../src/pgc/tree-service.js';
import { realOf, treeOf, within } from '../cli/artifact-place.js';
import type { Bus } from './bus.js';

/** Where an artifact of this server is. */
export interface ArtifactPlace {
  /** Empty: of no tree that anybody knows. */
  root: string;
  path: string;
}

/** The tree of the lattice that it lies in, and where: the folder of this server may be a part of it. */
export async function placeIn(
  { folder }: Pick<Bus, 'folder'>,
  client: Client,
  wanted: string,
): Promise<ArtifactPlace> {
  const { services } = await client.status();
  const served = new Set(services.map(({ name }) => name));
  const file = await realOf(path.resolve(folder, wanted));
  const its = path.join(folder, 'any');
  // A name of something that is no file is that of something in this folder.
  const root = treeOf(its, (each) => served.has(treeServiceOf(each))) || folder;
  return { root, path: within(root, file, wanted) };
}
