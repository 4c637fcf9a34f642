import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { BusError } from '../../errors/bus-error.js';
import { ownersBytesMax, ownersFormats, type OwnersFormat } from './shard-plan-owners.js';
import { parseShardRequest, type ShardRequest } from './shard-plan.js';

/** Where a tree may have its file of owners; the first one found counts. */
const places: Record<OwnersFormat, readonly string[]> = {
  maintainers: ['MAINTAINERS'],
  codeowners: ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'],
};

/**
 * `auto`, a number, `maintainers` or `codeowners` (the file in the tree at `root`), or the path of a plan file: a file
 * named MAINTAINERS or CODEOWNERS is read as such, any other as JSON. Throws SHARD_PLAN_INVALID or PATH_OUTSIDE_ROOT.
 */
export async function readShardRequest(argument: string, root: string): Promise<ShardRequest> {
  if (argument === 'auto' || /^\d+$/.test(argument)) return parseShardRequest(argument);
  const owners = ownersFormats.find((each) => each === basename(argument).toLowerCase());
  if (owners === undefined) {
    const text = await textOf(argument);
    if (text !== undefined) return parseShardRequest(text);
    throw invalid(`${argument} is neither auto nor a number nor a file that can be read`);
  }
  // A bare file name means the file in the tree, not in the working directory.
  const inTree =
    basename(argument) === argument ? places[owners].map((place) => join(root, place)) : [];
  for (const path of [...inTree, argument]) {
    const text = await textOf(path);
    if (text !== undefined) return { owners, file: basename(path), text };
  }
  throw invalid(`there is no ${[...inTree, argument].join(' and no ')}`);
}

/** Undefined when there is no such file. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    if (size > ownersBytesMax) throw invalid(`${path} has more than ${ownersBytesMax} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof BusError) throw error;
    return undefined;
  }
}

function invalid(detail: string): BusError {
  return new BusError('SHARD_PLAN_INVALID', { detail });
}
