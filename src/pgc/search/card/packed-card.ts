import { isUtf8 } from 'node:buffer';
import { BusError } from '../../../errors/bus-error.js';
import { codec, pgc, readerOf, type Codec, type FieldReader } from '../../../wire/codec.js';
import { PackedNames, type NameList } from './name-list.js';
import type { Card } from '../../shapes.js';

/** What a card is asked for again and again, to be looked up. */
export interface CardLists {
  /** With the number of documents that have each. */
  terms: NameList;
  defines: NameList;
  standIns: NameList;
  places: NameList;
  /** Names that are called here and may be defined elsewhere, with call sites. */
  open: NameList;
}

const cardCodec = codec<Card>(pgc.Card);

/** Fields of sigma.pgc.Card that are long; all others stay as they are decoded. */
const longFields = {
  11: 'terms',
  12: 'defines',
  13: 'unresolved',
  14: 'stand_ins',
  16: 'places',
} as const;
export type LongField = (typeof longFields)[keyof typeof longFields];
export const longNames: readonly LongField[] = Object.values(longFields);

const lengthDelimited = 2;
/** Of a length of 32 bits. Longer ones are allowed, but no encoder writes them. */
const lengthBytesMax = 5;
const nothing: Found = { starts: [], numbers: [], ranges: [] };

/** Where the elements of one long field lie. */
interface Found {
  /** Of the length of each element's name. */
  starts: number[];
  numbers: number[];
  /** Of the bytes that hold it, from and to, with its tags. */
  ranges: [from: number, to: number][];
}

/** What a card is read from gives its fields their values. */
export abstract class CardFields implements Card {
  declare readonly agent: string;
  declare readonly alias: string;
  declare readonly project: string;
  declare readonly root: string;
  declare readonly scope: string[];
  declare readonly languages: string[];
  declare readonly files: number;
  declare readonly lines: number;
  declare readonly documents: number;
  declare readonly index_version: string;
  declare readonly truncated: string[];
  declare readonly terms: Card['terms'];
  declare readonly defines: string[];
  declare readonly stand_ins: string[];
  declare readonly unresolved: Card['unresolved'];
  declare readonly places: string[];
}

/**
 * A card as it came over the bus. Decoded, those of a hundred shards are four million objects and a gigabyte; so names are
 * looked up where they lie in the message, and a list is made for each caller that reads all of it.
 */
export class PackedCard extends CardFields {
  readonly #lists: CardLists;

  /** `bytes`: a sigma.pgc.Card, which is kept. `isChecked`: by a checksum of our own. Throws MALFORMED_PAYLOAD. */
  constructor(bytes: Buffer, isChecked = false) {
    super();
    const { long, short } = scan(bytes);
    const decoded = (name: LongField): unknown =>
      cardCodec.decode(joined(bytes, long.get(name)?.ranges ?? []))[name];
    const whole = { ...cardCodec.decode(joined(bytes, short)) };
    for (const name of longNames) {
      const get = (): unknown => decoded(name);
      Object.defineProperty(whole, name, { enumerable: true, get });
    }
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(whole));
    // The part with texts that are not scanned is checked now, so that no later question fails.
    if (!isChecked) decoded('unresolved');
    const names = (name: LongField): NameList => {
      const { starts, numbers } = long.get(name) ?? nothing;
      return new PackedNames(bytes, starts, numbers.length > 0 ? numbers : undefined);
    };
    this.#lists = {
      terms: names('terms'),
      defines: names('defines'),
      standIns: names('stand_ins'),
      places: names('places'),
      open: names('unresolved'),
    };
  }

  get lists(): CardLists {
    return this.#lists;
  }
}

/** Cards, which stay packed where they are read. */
export const packedCards: Codec<Card> = {
  encode: (card) => cardCodec.encode(card),
  decode: (bytes) => {
    try {
      return new PackedCard(kept(bytes));
    } catch (error) {
      if (error instanceof BusError) throw error;
      const detail = error instanceof Error ? error.message : 'undecodable';
      throw new BusError('MALFORMED_PAYLOAD', { detail }, { cause: error });
    }
  },
};

/** A part of a much larger piece of memory is copied: it would keep the whole. */
function kept(bytes: Uint8Array): Buffer {
  const { buffer, byteOffset, byteLength } = bytes;
  const isWasteful = buffer.byteLength > byteLength * 1.1;
  return isWasteful ? Buffer.from(bytes) : Buffer.from(buffer, byteOffset, byteLength);
}

/** One pass over all fields. Throws RangeError where lengths do not fit. */
function scan(bytes: Uint8Array): { long: Map<LongField, Found>; short: [number, number][] } {
  const reader = readerOf(bytes);
  const long = new Map<LongField, Found>();
  const short: [number, number][] = [];
  while (reader.pos < reader.len) {
    const from = reader.pos;
    const tag = reader.uint32();
    const name = (longFields as Partial<Record<number, LongField>>)[tag >>> 3];
    if (name === undefined || (tag & 7) !== lengthDelimited) {
      reader.skipType(tag & 7);
      extend(short, from, reader.pos);
      continue;
    }
    let found = long.get(name);
    if (found === undefined) long.set(name, (found = { starts: [], numbers: [], ranges: [] }));
    if (name === 'terms' || name === 'unresolved') countedName(reader, found);
    else found.starts.push(textIn(reader));
    extend(found.ranges, from, reader.pos);
  }
  return { long, short };
}

/** Past a string. Returns where its length stands. Throws RangeError where it is no UTF-8, or its length has too many bytes. */
function textIn(reader: FieldReader): number {
  const start = reader.pos;
  const length = reader.uint32();
  const from = reader.pos;
  // Of what follows, one reader skips the bits and the other one would not.
  if (from - start > lengthBytesMax) throw new RangeError('a length has too many bytes');
  reader.skip(length);
  const bytes = reader.buf;
  // Nearly all are ASCII: a loop over a few bytes costs less than the way into native code.
  let all = 0;
  for (let at = from; at < reader.pos; at += 1) all |= bytes[at] ?? 0;
  if (all > 0x7f && !isUtf8(bytes.subarray(from, reader.pos)))
    throw new RangeError('a name is no text');
  return start;
}

/** A message of a name (1) and a number (2), as CardTerm and CardReference begin. */
function countedName(reader: FieldReader, found: Found): void {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new RangeError('a field is longer than its message');
  let start: number | undefined;
  let number = 0;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === nameTag) start = textIn(reader);
    else if (tag === numberTag) number = reader.uint32();
    else reader.skipType(tag & 7);
  }
  if (reader.pos !== end) throw new RangeError('a field ends beyond its message');
  // Without a name it says nothing.
  if (start === undefined) return;
  found.starts.push(start);
  found.numbers.push(number);
}

const nameTag = (1 << 3) | lengthDelimited;
const numberTag = 2 << 3;

/** Fields that follow each other are one range. */
function extend(ranges: [number, number][], from: number, to: number): void {
  const last = ranges.at(-1);
  if (last?.[1] === from) last[1] = to;
  else ranges.push([from, to]);
}

function joined(bytes: Buffer, ranges: readonly [number, number][]): Buffer {
  const parts = ranges.map(([from, to]) => bytes.subarray(from, to));
  return parts.length === 1 ? (parts[0] ?? bytes) : Buffer.concat(parts);
}
