import { join } from 'node:path';
import { corrupt, type Reading } from '../format/container/segment-file.js';
import { BoundCalls } from '../format/bound-calls.js';
import { JoinedIndex } from '../format/joined/joined-index.js';
import { JoinedWords } from '../format/joined/joined-words.js';
import { Segment } from '../format/segment.js';
import type { ShardIndex, ShardInfo } from '../format/shard-index.js';
import { WordsFile, type ShardWords } from '../format/word-lists/words-file.js';
import { boundPath, type IndexPlace, type ManifestShard } from './manifest.js';

const nothing: ReadonlySet<string> = new Set();

/**
 * The index of a shard, of all its files together. `its`: what replaces what the files say of their place. Throws
 * INDEX_CORRUPT, or INDEX_MISSING when a file is not there.
 */
export async function openShard(
  place: IndexPlace,
  shard: ManifestShard,
  its: Partial<ShardInfo> = {},
  reading: Reading = 'whole',
  bound = boundPath(place, shard),
): Promise<ShardIndex> {
  const { delta } = shard;
  const path = join(place.segments, shard.segment);
  if (delta === undefined) return Segment.open(path, its, bound, reading);
  const base = await Segment.open(path, {}, '', reading);
  const changed = await Segment.open(join(place.segments, delta.segment), {}, '', reading);
  const calls = bound === '' ? undefined : await BoundCalls.open(bound, reading);
  const hides = new Set(delta.hides);
  const info: ShardInfo = { ...infoOf(shard, base.info, changed.info, hides), ...its };
  const sources = [
    { segment: base, hides: nothing },
    { segment: changed, hides },
  ];
  try {
    return new JoinedIndex(sources, info, calls);
  } catch (error) {
    throw corrupt(path, error instanceof Error ? error.message : 'unreadable', error);
  }
}

/** The words of all files of a shard. Throws as `openShard`. */
export async function openWords(
  place: IndexPlace,
  shard: ManifestShard,
  reading?: Reading,
): Promise<ShardWords> {
  const { delta, alias, version } = shard;
  const base = await WordsFile.open(join(place.segments, shard.words), reading);
  if (delta === undefined) return base;
  const changed = await WordsFile.open(join(place.segments, delta.words), reading);
  const hides = new Set(delta.hides);
  const sources = [
    { words: base, hides: nothing },
    { words: changed, hides },
  ];
  const roles = joinedRoles(base.info.roles, changed.info.roles, hides);
  return new JoinedWords(sources, {
    ...{ alias, version, languages: [] },
    ...(roles === undefined ? {} : { roles }),
  });
}

function infoOf(
  shard: ManifestShard,
  base: ShardInfo,
  changed: ShardInfo,
  hides: ReadonlySet<string>,
): ShardInfo {
  const { alias, scope, version, languages, files, lines, items } = shard;
  const roles = joinedRoles(base.roles, changed.roles, hides);
  const known = new Map(
    [...base.abbreviations, ...changed.abbreviations].map((each) => [JSON.stringify(each), each]),
  );
  return {
    ...{
      agent: alias,
      alias,
      scope,
      version,
      files,
      lines,
      project: base.project,
      root: base.root,
    },
    ...{ languages: Object.keys(languages).sort(), overlays: items },
    abbreviations: [...known.values()],
    ...(roles === undefined ? {} : { roles }),
  };
}

function joinedRoles(
  base: ShardInfo['roles'],
  changed: ShardInfo['roles'],
  hides: ReadonlySet<string>,
): ShardInfo['roles'] {
  if (base === undefined && changed === undefined) return undefined;
  const kept = Object.entries(base ?? {}).filter(([path]) => !hides.has(path));
  return { ...Object.fromEntries(kept), ...changed };
}
