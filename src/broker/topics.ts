import { BusError } from '../errors/bus-error.js';
import {
  checkTopicPattern,
  isStateStream,
  runStart,
  streamMatches,
  streamOf,
  streamRunSpan,
  wholeStreams,
} from '../wire/address.js';
import { amend, encodeFrame, type Frame } from '../wire/frame.js';
import type { Publication, StreamPosition, TopicsAnswer, TopicsQuery } from '../wire/messages.js';
import type { BrokerLimits } from './limits.js';

type TopicLimits = Pick<
  BrokerLimits,
  | 'publicationBytesMax'
  | 'streamEntriesMax'
  | 'streamBytesMax'
  | 'streamsMax'
  | 'streamsBytesMax'
  | 'topicsAnswerBytesMax'
>;

/** What an entry costs besides its frame: its object, its topic, its buffer's header. */
const entryOverheadBytes = 256;
/** What a position costs in an answer besides its name. */
const positionOverheadBytes = 16;
/** Buffers below this size share slabs of 8 KiB, which a small entry would keep alive alone. */
const slabBytes = 4_096;

interface Entry {
  topic: string;
  seq: number;
  frame: Buffer;
}

interface Stream {
  name: string;
  /** Position of the last publication. */
  seq: number;
  /** Kept, oldest first; of a stream of states only the last. */
  entries: Entry[];
  bytes: number;
}

/**
 * Publications, counted per stream and kept for a while, so that a subscriber who missed some gets them
 * or at least knows. Presence streams end with their agents (`forget`). Of the remaining streams, the one
 * that was silent longest is forgotten at a limit.
 */
export class Topics {
  readonly #limits: TopicLimits;
  readonly #publish: (topic: string, frame: Buffer) => void;
  /** The one that was silent longest comes first. */
  readonly #streams = new Map<string, Stream>();
  readonly #presence = new Map<string, Stream>();
  /** Names of all streams, in order: what an answer is paged by. */
  readonly #names: string[] = [];
  #bytes = 0;
  /** Before the first number of the next new stream. */
  #start = 0;
  #published = 0;

  constructor(parts: { limits: TopicLimits; publish: (topic: string, frame: Buffer) => void }) {
    this.#limits = parts.limits;
    this.#publish = parts.publish;
  }

  /** Since the broker started. */
  get published(): number {
    return this.#published;
  }

  get streams(): number {
    return this.#names.length;
  }

  /** Kept, all streams together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts, keeps and sends; returns the position in its stream. `frame`: PUBLISH. Throws TOO_LARGE. */
  publish(topic: string, frame: Frame): number {
    const { seq, bytes } = this.#append(topic, frame);
    this.#published += 1;
    this.#publish(topic, bytes);
    return seq;
  }

  /** Keeps without sending: a state from before this run, for those who ask. Throws TOO_LARGE. */
  seed(topic: string, frame: Frame): void {
    this.#append(topic, frame);
  }

  /** The subject of the stream is gone. */
  forget(name: string): void {
    const stream = this.#presence.get(name) ?? this.#streams.get(name);
    if (stream === undefined) return;
    this.#presence.delete(name);
    this.#streams.delete(name);
    this.#names.splice(placeOf(this.#names, name), 1);
    this.#bytes -= stream.bytes;
    // Should it ever come back, no number of it is used twice.
    this.#start = Math.max(this.#start, runStart(stream.seq) + streamRunSpan);
  }

  /**
   * One page of whole streams. It is closed before the stream that would carry it over the limit, so that
   * a page is never larger than the limit or one stream. Throws INVALID_NAME.
   */
  sync(query: TopicsQuery): TopicsAnswer {
    checkTopicPattern(query.pattern);
    const seen = new Map(query.seen.map(({ stream, seq }) => [stream, seq]));
    const entries: Publication[] = [];
    const streams: StreamPosition[] = [];
    let bytes = 0;
    for (const stream of this.#matching(query.pattern, query.after)) {
      const news = query.positions_only ? [] : unseen(stream, seen.get(stream.name) ?? 0);
      const cost = costOf(stream, news);
      if (streams.length > 0 && bytes + cost > this.#limits.topicsAnswerBytesMax)
        return { entries, streams, next: streams.at(-1)?.stream ?? '' };
      bytes += cost;
      streams.push({ stream: stream.name, seq: stream.seq });
      for (const { topic, seq, frame } of news)
        entries.push({ topic, stream: stream.name, seq, frame });
    }
    return { entries, streams, next: '' };
  }

  *#matching(pattern: string, after: string): Generator<Stream> {
    const whole = wholeStreams(pattern);
    const wild = whole.search(/\.?[*>]/);
    const prefix = wild < 0 ? whole : whole.slice(0, wild);
    const first = after > prefix ? placeOf(this.#names, after) : placeOf(this.#names, prefix);
    for (let at = first; at < this.#names.length; at += 1) {
      const name = this.#names[at] ?? '';
      if (!name.startsWith(prefix)) return;
      const stream = this.#presence.get(name) ?? this.#streams.get(name);
      if (name !== after && stream !== undefined && streamMatches(pattern, name)) yield stream;
    }
  }

  #append(topic: string, frame: Frame): { seq: number; bytes: Buffer } {
    const name = streamOf(topic);
    const known = this.#presence.get(name) ?? this.#streams.get(name);
    const seq = (known?.seq ?? this.#start) + 1;
    const bytes = encodeFrame(amend(frame, { to: `topic:${topic}`, seq }));
    const limit = this.#limits.publicationBytesMax;
    if (bytes.length > limit)
      throw new BusError('TOO_LARGE', { what: 'a publication', bytes: bytes.length, limit });
    const stream = known ?? this.#open(name);
    stream.seq = seq;
    this.#keep(stream, { topic, seq, frame: bytes.length < slabBytes ? alone(bytes) : bytes });
    this.#makeRoom(stream);
    return { seq, bytes };
  }

  #open(name: string): Stream {
    const stream = { name, seq: 0, entries: [], bytes: 0 };
    this.#names.splice(placeOf(this.#names, name), 0, name);
    if (name.startsWith('presence.')) this.#presence.set(name, stream);
    else this.#streams.set(name, stream);
    return stream;
  }

  #keep(stream: Stream, entry: Entry): void {
    const before = stream.bytes;
    stream.entries.push(entry);
    stream.bytes += sizeOf(entry);
    const entriesMax = isStateStream(stream.name) ? 1 : this.#limits.streamEntriesMax;
    while (stream.entries.length > entriesMax || stream.bytes > this.#limits.streamBytesMax) {
      const oldest = stream.entries[0];
      if (oldest === undefined || oldest === entry) break;
      stream.entries.shift();
      stream.bytes -= sizeOf(oldest);
    }
    this.#bytes += stream.bytes - before;
  }

  #makeRoom(latest: Stream): void {
    if (this.#streams.delete(latest.name)) this.#streams.set(latest.name, latest);
    for (const name of this.#streams.keys()) {
      const isFull =
        this.#streams.size > this.#limits.streamsMax || this.#bytes > this.#limits.streamsBytesMax;
      if (!isFull || name === latest.name) return;
      this.forget(name);
    }
  }
}

/** Kept publications after this position. One from before the stream's present run has seen none of it. */
function unseen(stream: Stream, seen: number): Entry[] {
  return seen > stream.seq ? stream.entries : stream.entries.filter(({ seq }) => seq > seen);
}

function sizeOf(entry: Entry): number {
  return entry.frame.length + entryOverheadBytes;
}

function costOf(stream: Stream, entries: Entry[]): number {
  const each = entries.map(({ topic, frame }) => frame.length + topic.length + stream.name.length);
  return each.reduce((sum, bytes) => sum + bytes + positionOverheadBytes, 0) + nameCost(stream);
}

function nameCost(stream: Stream): number {
  return stream.name.length + positionOverheadBytes;
}

/** A copy with memory of its own. */
function alone(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** Where a name is, or belongs, in an ordered list. */
function placeOf(names: string[], name: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] ?? '') < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
