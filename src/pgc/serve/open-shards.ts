import { systemClock } from '../../base/clock.js';
import { Excerpts } from '../source/excerpt.js';
import { type OpenFiles } from '../format/container/section-file.js';
import { openWords } from '../plan/open-shard.js';
import { WordsShard } from '../search/locate/words-shard.js';
import { placeOf, type IndexPlace, type Manifest } from '../plan/manifest.js';
import { cardPath, openCard } from '../search/card/card-file.js';
import { lazyCardOf } from '../search/card/card.js';
import type { ShardIndex } from '../format/shard-index.js';
import type { Card } from '../shapes.js';
import { openIndex } from '../search/open-index.js';
import { Shard } from './shard.js';
import type { SearchPart } from '../search/search.js';

export interface OpenedShards extends Disposable {
  /** Absolute, without links. */
  root: string;
  project: string;
  shards: Shard[];
  /** As stored, else made, when they are first asked for. */
  cards: () => readonly Card[];
}

/** Opens all shards of a built index in this process. `without`: see `searchParts`. Throws as `openIndex`. */
export async function openShards(
  folder: string,
  home: string,
  without?: ReadonlySet<SearchPart>,
): Promise<OpenedShards> {
  const tree = await openIndex(folder, home);
  const { root, project, shards, overlaysIn, manifest, files } = tree;
  const excerpts = new Excerpts(root);
  const place = placeOf(root, home);
  return {
    root,
    project,
    [Symbol.dispose]: () => tree[Symbol.dispose](),
    cards: () => shards.map((index) => storedCard(place, manifest, index, files)),
    shards: shards.map(
      (index) =>
        new Shard(
          ...([index, overlaysIn(index.info.alias), excerpts, systemClock] as const),
          ...([without, wordsOf(place, manifest, index.info.alias, excerpts, files)] as const),
        ),
    ),
  };
}

function storedCard(
  place: IndexPlace,
  { shards }: Manifest,
  index: ShardIndex,
  files: OpenFiles,
): Card {
  const shard = shards.find(({ alias }) => alias === index.info.alias);
  const stored = shard && openCard(cardPath(place, shard), index, files);
  return stored ?? lazyCardOf(index);
}

/** The word lists of a shard's files, opened on the first report; undefined if the index has none. */
export function wordsOf(
  place: IndexPlace,
  { shards }: Manifest,
  alias: string,
  excerpts: Excerpts,
  files: OpenFiles,
): WordsShard | undefined {
  const shard = shards.find((each) => each.alias === alias);
  return shard && new WordsShard(alias, () => openWords(place, shard, files), excerpts);
}
