import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { codec, pgc } from '../../../wire/codec.js';
import { cardOf, lazyCardOf } from './card.js';
import { partsAfter, type CardBefore } from './card-after.js';
import {
  CardFields,
  longNames,
  PackedCard,
  type CardLists,
  type LongField,
} from './packed-card.js';
import { packList, StoredNames, type PackedList } from './stored-names.js';
import type { IndexPlace, ManifestShard } from '../../plan/manifest.js';
import { openShard } from '../../plan/open-shard.js';
import { OpenFiles } from '../../format/container/section-file.js';
import type { Section } from '../../format/container/section.js';
import {
  sectionsIn,
  writeSections,
  type SectionLayout,
  type SectionsOf,
} from '../../format/container/segment-file.js';
import type { Card } from '../../shapes.js';
import type { ShardIndex } from '../../format/shard-index.js';

/** Raised whenever what a card holds, or the layout, changes. */
const cardFormat = 5;
const listNames = ['terms', 'defines', 'standIns', 'places', 'open'] as const;
type ListName = (typeof listNames)[number];
const listParts = ['blocks', 'bytes', 'numbers'] as const satisfies (keyof PackedList)[];
type ListSection = `${ListName}.${(typeof listParts)[number]}`;
const sectionNames: readonly ('about' | 'message' | ListSection)[] = [
  'about', // JSON: what is short and does not depend on the card's place
  'message', // a deflated sigma.pgc.Card without what depends on its place, open at its end
  ...listNames.flatMap((list) => listParts.map((part): ListSection => `${list}.${part}`)),
];

/**
 * A card takes a third of a second to make, and a router needs those of all shards at once. So each is made once per
 * version of its shard and kept beside the index: as the message that goes over the bus, and as lists in which names are
 * looked up without reading the rest.
 */
const layout: SectionLayout<(typeof sectionNames)[number]> = {
  magic: 'SIGMACRD',
  format: cardFormat,
  names: sectionNames,
};
type Sections<Each> = Record<(typeof sectionNames)[number], Each>;

/** Fields that do not depend on the content of a shard, and may change without it. */
type CardPlace = Pick<Card, 'agent' | 'alias' | 'project' | 'root' | 'scope' | 'index_version'>;
type CardContent = Omit<Card, keyof CardPlace>;
type CardAbout = Omit<CardContent, LongField>;

const partCodec = codec<Partial<Card>>(pgc.Card);

type CardOwner = Pick<ManifestShard, 'alias' | 'version' | 'bound'>;

export function cardFileName({ alias, version, bound }: CardOwner): string {
  return `${bound?.replace(/\.bound$/, '') ?? `${alias}-${version}`}.card`;
}

export function cardPath(place: IndexPlace, shard: CardOwner): string {
  return join(place.cards, cardFileName(shard));
}

/** The stored part of the card of a shard. Costs a pass over its terms, and over its calls if nothing is known of it `before`. */
export function makeCard(index: ShardIndex, before?: CardBefore): Sections<Uint8Array> {
  return packCard({ ...lazyCardOf(index, before && partsAfter(index, before)) });
}

export function packCard(card: Card): Sections<Uint8Array> {
  const { agent: _, alias: _1, project: _2, root: _3, scope: _4, index_version: _5, ...its } = card;
  const { languages, files, lines, documents, truncated = [] } = its;
  const about: CardAbout = { languages, files, lines, documents, truncated };
  const unnumbered = (names: readonly string[]): Map<string, number> =>
    new Map(names.map((name) => [name, 0]));
  const lists: Record<ListName, PackedList> = {
    terms: packList(new Map(its.terms.map(({ term, documents: having }) => [term, having]))),
    defines: packList(unnumbered(its.defines)),
    standIns: packList(unnumbered(its.stand_ins)),
    places: packList(unnumbered(its.places ?? [])),
    open: packList(unnumbered(its.unresolved.map(({ term }) => term))),
  };
  const packed = listNames.flatMap((list) =>
    listParts.map((part) => [`${list}.${part}`, lists[list][part]] as const),
  );
  return {
    ...(Object.fromEntries(packed) as Record<ListSection, Uint8Array>),
    about: Buffer.from(JSON.stringify(about)),
    message: deflateRawSync(partCodec.encode(its), {
      level: 1,
      finishFlush: constants.Z_SYNC_FLUSH,
    }),
  };
}

/** The body of the answer. A message of protobuf may be said in pieces, and deflated data too. */
export function placedCard(message: Uint8Array, place: CardPlace): Buffer {
  return Buffer.concat([message, deflateRawSync(partCodec.encode(place))]);
}

/** The message of a stored card; undefined when there is none that is whole. */
export function readCard(path: string): Buffer | undefined {
  try {
    using files = new OpenFiles();
    return sectionsIn(path, layout, files).message.whole();
  } catch {
    return undefined;
  }
}

/** The card of an opened shard; undefined when none is stored. What is damaged in it is made again. */
export function openCard(path: string, index: ShardIndex, files: OpenFiles): Card | undefined {
  try {
    return new StoredCard(sectionsIn(path, layout, files), index);
  } catch {
    return undefined;
  }
}

/**
 * Makes and stores the card of a shard; `before`: the shard that it was, whose card says what has not changed. Throws INDEX_*,
 * STORE_UNAVAILABLE.
 */
export async function renewCard(
  place: IndexPlace,
  shard: ManifestShard,
  before?: ManifestShard,
): Promise<void> {
  using files = new OpenFiles();
  const index = await openShard(place, shard, {}, files);
  const was = before === undefined ? undefined : await cardBefore(place, before, files);
  await writeCard(cardPath(place, shard), makeCard(index, was));
}

async function cardBefore(
  place: IndexPlace,
  shard: ManifestShard,
  files: OpenFiles,
): Promise<CardBefore | undefined> {
  const index = await openShard(place, shard, {}, files);
  const card = openCard(cardPath(place, shard), index, files);
  return card && { index, card };
}

/** Throws STORE_UNAVAILABLE; without the file the card is made again. */
export async function writeCard(path: string, card: Sections<Uint8Array>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => undefined);
  await writeSections(path, layout, card);
}

/** A card of which no more is read than what is asked. */
class StoredCard extends CardFields {
  readonly lists: CardLists;

  /** Throws INDEX_CORRUPT. */
  constructor(sections: SectionsOf<(typeof sectionNames)[number]>, index: ShardIndex) {
    super();
    const { agent, alias, project, root, scope, version: index_version } = index.info;
    const place: CardPlace = { agent, alias, project, root, scope, index_version };
    let made: PackedCard | undefined;
    const remade = (): PackedCard =>
      (made ??= new PackedCard(partCodec.encode(cardOf(index)), true));
    let whole: PackedCard | undefined;
    const message = (): PackedCard => (whole ??= messageIn(sections.message, place) ?? remade());
    Object.assign(this, sections.about.json(), place);
    const listOf = (list: ListName): StoredNames => {
      const [blocks, bytes] = [sections[`${list}.blocks`], sections[`${list}.bytes`]];
      const numbers = sections[`${list}.numbers`];
      return new StoredNames({ blocks, bytes, numbers }, () => remade().lists[list]);
    };
    this.lists = {
      ...{ terms: listOf('terms'), defines: listOf('defines'), standIns: listOf('standIns') },
      ...{ places: listOf('places'), open: listOf('open') },
    };
    Object.defineProperty(this, 'lists', { enumerable: false });
    for (const name of longNames)
      Object.defineProperty(this, name, { enumerable: true, get: () => message()[name] });
  }
}

function messageIn(message: Section, place: CardPlace): PackedCard | undefined {
  try {
    return new PackedCard(inflateRawSync(placedCard(message.whole(), place)), true);
  } catch {
    return undefined;
  }
}
