import { isCFamily } from '../../format/facts.js';
import type { Change } from '../change/change.js';
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

/**
 * The same after a change, of each unit where they may differ: if the same texts include the same, those of the units that are not
 * the same.
 */
export function* farHeadersAfter(
  change: Change,
): Generator<[unit: number, headers: ReadonlyMap<string, readonly string[]>]> {
  const known = areIncludesSame(change) ? headersBefore(change) : undefined;
  if (known === undefined) yield* farHeaders(change.units).entries();
  else yield* known;
}

/** All units but those that are the same; undefined: one has other files than before. */
function headersBefore(
  change: Change,
): [unit: number, headers: ReadonlyMap<string, readonly string[]>][] | undefined {
  const found: [number, ReadonlyMap<string, readonly string[]>][] = [];
  for (const [unit, index] of change.units.entries()) {
    if (change.isSame(unit)) continue;
    const sources = new Set<number | undefined>();
    for (let file = 0; file < index.fileCount; file += 1) {
      const { path } = index.file(file);
      sources.add((change.kept(path) ?? change.changed(path))?.before?.unit);
    }
    const [source] = sources;
    const was = source === undefined ? undefined : change.before[source];
    if (sources.size > 1 || was?.index.fileCount !== index.fileCount) return undefined;
    found.push([unit, was.bound.farHeaders()]);
  }
  return found;
}

function areIncludesSame(change: Change): boolean {
  return change.texts.every(({ now, before }) => {
    const [is, was] = [now && change.units[now.unit], before && change.before[before.unit]?.index];
    if (now === undefined || before === undefined || is === undefined || was === undefined)
      return ![now && is, before && was].some((index, at) =>
        isCFamily(index?.file((at === 0 ? now : before)?.file ?? 0).language ?? 'text'),
      );
    const isC = isCFamily(is.file(now.file).language) || isCFamily(was.file(before.file).language);
    return !isC || includesOf(is, now.file) === includesOf(was, before.file);
  });
}

function includesOf(index: ShardIndex, file: number): string {
  return `${index.file(file).language} ${index
    .importsOf(file)
    .map(({ target }) => target)
    .join('\n')}`;
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
