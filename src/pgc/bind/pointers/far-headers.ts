import { isCFamily } from '../../format/facts.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { IncludeGraph } from './includes.js';

/** Headers of other shards that one shard knows of; the files that include what is beyond see it by its path alone. */
const farHeadersMax = 20_000;

/** Of each shard: the headers in others that its files reach through includes, with the files that these include. */
export function farHeaders(
  shards: readonly ShardIndex[],
): ReadonlyMap<string, readonly string[]>[] {
  const files = shards.map(cFilesOf);
  const graph = new IncludeGraph(files.flat());
  return files.map((its) => {
    const own = new Set(its.map(({ path }) => path));
    const reached = new Set(own);
    const far = new Map<string, readonly string[]>();
    for (const path of reached) {
      const included = graph.included(path);
      if (!own.has(path)) far.set(path, included);
      if (far.size >= farHeadersMax) break;
      for (const each of included) reached.add(each);
    }
    return far;
  });
}

interface Including {
  path: string;
  targets: () => readonly string[];
}

/** The files of a shard that include headers of C, with their targets as written. */
export function cFilesOf(index: ShardIndex): Including[] {
  return Array.from({ length: index.fileCount }, (_, file) => file)
    .filter((file) => isCFamily(index.file(file).language))
    .map((file) => ({
      path: index.file(file).path,
      targets: () => index.importsOf(file).map(({ target }) => target),
    }));
}
