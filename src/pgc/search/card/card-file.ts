import { readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { codec, pgc } from '../../../wire/codec.js';
import { crc32 } from '../../../wire/crc.js';
import { cardOf } from './card.js';
import { PackedCard } from './packed-card.js';
import type { IndexPlace, ManifestShard } from '../../plan/manifest.js';
import { writeAtomically } from '../../format/segment-file.js';
import type { Card } from '../../shapes.js';
import type { ShardIndex } from '../../format/shard-index.js';

/**
 * A card takes a third of a second to make, and a router needs those of all shards at once. So each is made once per
 * version of its shard and kept beside the index.
 *
 *     0   8  magic, with the version of what a card holds
 *     8   4  CRC-32 of the rest
 *    12      a deflated sigma.pgc.Card without what depends on its place, open at its end
 */
const magic = Buffer.from('SIGMACD4', 'latin1');
const headBytes = 12;

/** Fields that do not depend on the content of a shard, and may change without it. */
type CardPlace = Pick<Card, 'agent' | 'alias' | 'project' | 'root' | 'scope' | 'index_version'>;

const partCodec = codec<Partial<Card>>(pgc.Card);

type CardOwner = Pick<ManifestShard, 'alias' | 'version' | 'bound'>;

export function cardFileName({ alias, version, bound }: CardOwner): string {
  return `${bound?.replace(/\.bound$/, '') ?? `${alias}-${version}`}.card`;
}

export function cardPath(place: IndexPlace, shard: CardOwner): string {
  return join(place.cards, cardFileName(shard));
}

/** The stored part of the card of a shard. Costs a pass over its terms and calls. */
export function makeCard(index: ShardIndex): Buffer {
  const {
    agent: _,
    alias: _1,
    project: _2,
    root: _3,
    scope: _4,
    index_version: _5,
    ...rest
  } = cardOf(index);
  return deflateRawSync(partCodec.encode(rest), {
    level: 1,
    finishFlush: constants.Z_SYNC_FLUSH,
  });
}

/** The body of the answer. A message of protobuf may be said in pieces, and deflated data too. */
export function placedCard(kept: Buffer, place: CardPlace): Buffer {
  return Buffer.concat([kept, deflateRawSync(partCodec.encode(place))]);
}

/** Undefined when there is none that is whole. */
export async function readCard(path: string): Promise<Buffer | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes && wholeIn(bytes);
}

/** The card of an opened shard; undefined when none that is whole is stored. */
export function openCard(path: string, { info }: Pick<ShardIndex, 'info'>): Card | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return undefined;
  }
  const kept = wholeIn(bytes);
  if (kept === undefined) return undefined;
  const { agent, alias, project, root, scope, version: index_version } = info;
  const card = placedCard(kept, { agent, alias, project, root, scope, index_version });
  return new PackedCard(inflateRawSync(card), true);
}

function wholeIn(bytes: Buffer): Buffer | undefined {
  if (bytes.length < headBytes) return undefined;
  const kept = bytes.subarray(headBytes);
  const isOurs = bytes.subarray(0, magic.length).equals(magic);
  return isOurs && crc32(kept) === bytes.readUInt32LE(magic.length) ? kept : undefined;
}

/** Throws STORE_UNAVAILABLE; without the file the card is made again. */
export async function writeCard(path: string, kept: Buffer): Promise<void> {
  const sum = Buffer.alloc(headBytes - magic.length);
  sum.writeUInt32LE(crc32(kept));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => undefined);
  await writeAtomically(path, [magic, sum, kept]);
}
