import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { BusError } from '../../../errors/bus-error.js';
import { digestOf, objectName, type ObjectMark } from './published.js';

/** A folder, or what a web server or the bus has, as the files of a published index. */
export interface PublishedPlace {
  /** For messages: without what an address may hold of secrets. */
  readonly title: string;
  /** Requests at once that it is fit for. */
  readonly atOnce: number;
  /** Undefined: there is none. Throws PUBLISHED_DAMAGED for more than `bytesMax`, PUBLISHED_UNREACHABLE, PUBLISHED_REFUSED. */
  get(name: string, bytesMax: number): Promise<Buffer | undefined>;
  /** Length as it is stored; undefined: there is none, or its length is not told. Throws as `get`. */
  lengthOf(name: string): Promise<number | undefined>;
  /** Readers see all of it or nothing. Throws PUBLISHED_UNREACHABLE, PUBLISHED_REFUSED. */
  put(name: string, bytes: Buffer): Promise<void>;
}

const [zip, unzip] = [promisify(gzip), promisify(gunzip)];
/** Segments become half as long; by another level, half a hundredth shorter for a sixth more time. */
const level = 5;
/** Content that shrinks by less is stored as it is, which is faster to read. */
const gainMin = 0.05;
/** What a gzip of content that does not shrink is longer than the content, at most. */
const overhead = (bytes: number): number => 1_024 + Math.ceil(bytes / 1_000);
/** Of an object that is not what its name says: a proxy may have cut it. */
const attemptsMax = 3;

/** As it is stored. The same content gives the same bytes. */
export async function packed(content: Uint8Array): Promise<Buffer> {
  const small = await zip(content, { level });
  return small.length <= content.length * (1 - gainMin) ? small : zip(content, { level: 0 });
}

/** The content, and the bytes that were moved for it. Throws PUBLISHED_DAMAGED, and as `place.get`. */
export async function getObject(
  place: PublishedPlace,
  mark: ObjectMark,
): Promise<{ content: Buffer; moved: number }> {
  const name = objectName(mark);
  let moved = 0;
  for (let attempt = 1; ; attempt += 1) {
    const stored = await place.get(name, mark.bytes + overhead(mark.bytes));
    moved += stored?.length ?? 0;
    const content = stored === undefined ? 'it is not there' : await contentOf(stored, mark);
    if (typeof content !== 'string') return { content, moved };
    if (stored === undefined || attempt >= attemptsMax)
      throw new BusError('PUBLISHED_DAMAGED', { place: place.title, name, detail: content });
  }
}

/** Whether a place has an object, whole. Throws as `place.get`. */
export async function isWhole(place: PublishedPlace, mark: ObjectMark): Promise<boolean> {
  return getObject(place, mark).then(
    () => true,
    (error: unknown) => {
      if (error instanceof BusError && error.code === 'PUBLISHED_DAMAGED') return false;
      throw error;
    },
  );
}

/** Or what is wrong with it. */
async function contentOf(stored: Buffer, { digest, bytes }: ObjectMark): Promise<Buffer | string> {
  let content: Buffer;
  try {
    // Zero would mean: as much as there is.
    content = await unzip(stored, { maxOutputLength: Math.max(bytes, 1) });
  } catch (error) {
    return error instanceof Error ? error.message : 'no gzip';
  }
  if (content.length !== bytes) return `it holds ${content.length} bytes, not ${bytes}`;
  return digestOf(content) === digest ? content : 'its content is another one';
}

/** Runs `work` for each, so many at once. After a failure nothing is begun any more, and the failure is thrown. */
export async function eachOf<T>(
  all: Iterable<T>,
  atOnce: number,
  work: (each: T) => Promise<void>,
): Promise<void> {
  const queue = all[Symbol.iterator]();
  let isBroken = false;
  const outcomes = await Promise.allSettled(
    Array.from({ length: atOnce }, async () => {
      for (let next = queue.next(); next.done !== true && !isBroken; next = queue.next())
        await work(next.value).catch((error: unknown) => {
          isBroken = true;
          throw error;
        });
    }),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
