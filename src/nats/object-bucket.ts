import { createHash, randomBytes } from 'node:crypto';
import type { JetStreamClient, JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/transport-node';
import { backoffMs, type BackoffPolicy } from '../base/backoff.js';
import { systemClock, type Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import { BusError } from '../errors/bus-error.js';
import { refusalOf, type NatsAccess, type NatsConnection } from './connect.js';
import { copiesOf } from './seat.js';
import { ensureStream, jetstreamCode, whereAbsent } from './streams.js';
import { indexesOf } from './subjects.js';

const mib = 1024 * 1024;
/** Of what is published on one bus; then it refuses. */
const bucketBytesMax = 8 * 1024 * mib;
/** A server takes messages of 1 MiB, with their headers, unless it is told otherwise. */
const pieceBytesMax = 512 * 1024;
const requestMsMax = 5_000;
const attemptsMax = 5;
const policy: BackoffPolicy = { baseMs: 250, capMs: 4_000 };
/** Codes of JetStream. */
const full = 10_077;
/** The servers, or the account, have no room for the bucket. */
const noRoom: readonly (number | undefined)[] = [10_002, 10_023, 10_027, 10_047];

export interface BucketParts {
  connection: NatsConnection;
  access: NatsAccess;
  signal?: AbortSignal | undefined;
  bytesMax?: number;
  clock?: Clock;
  random?: () => number;
}

/** What is said of an object in its last message, as the tools of NATS know it. */
interface Info {
  name: string;
  bucket: string;
  /** Names its pieces. */
  nuid: string;
  size: number;
  chunks: number;
  /** `SHA-256=` and base64. */
  digest: string;
  mtime: string;
  deleted?: boolean;
}

/** The last word on an object. */
interface Head {
  /** Of the message that says it; 0: there is none. */
  revision: number;
  /** Undefined: there is no object, or it is not told. */
  info?: Info | undefined;
  isDamaged?: boolean;
}

/**
 * Published indexes on the servers of the bus: files in a bucket of JetStream's object store. Pieces of a file are messages under a subject of their own, and
 * one message, written last, names them: readers see all or nothing. The bucket is made by the first that puts something.
 */
export class ObjectBucket {
  readonly title: string;
  readonly atOnce = 8;
  readonly #parts: BucketParts;
  readonly #bucket: string;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  /** Has a message replace those before it under its subject. */
  readonly #rollup: () => MsgHdrs;
  #isMade = false;
  #isFilled = false;

  private constructor(
    parts: BucketParts,
    its: { client: JetStreamClient; manager: JetStreamManager; rollup: () => MsgHdrs },
  ) {
    this.#parts = parts;
    this.#bucket = indexesOf(parts.access.bus);
    this.#client = its.client;
    this.#manager = its.manager;
    this.#rollup = its.rollup;
    this.title = `the bus at ${parts.access.text}`;
  }

  static async open(parts: BucketParts): Promise<ObjectBucket> {
    const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
    const { headers } = await import('@nats-io/transport-node');
    const options = { timeout: requestMsMax, checkAPI: false };
    const rollup = (): MsgHdrs => {
      const its = headers();
      its.set('Nats-Rollup', 'sub');
      return its;
    };
    return new ObjectBucket(parts, {
      client: jetstream(parts.connection, options),
      manager: await jetstreamManager(parts.connection, options),
      rollup,
    });
  }

  /** Undefined: there is none. Throws INTERRUPTED, PUBLISHED_DAMAGED, for more than `bytesMax`, too, PUBLISHED_UNREACHABLE, PUBLISHED_REFUSED. */
  get(name: string, bytesMax: number): Promise<Buffer | undefined> {
    return this.#tried(async () => {
      const info = await this.#infoOf(name);
      if (info === undefined) return undefined;
      if (info.size > bytesMax) throw this.#damaged(name, `it has more than ${bytesMax} bytes`);
      const bytes = await this.#read(info);
      if (bytes !== undefined) return bytes;
      if ((await this.#infoOf(name))?.nuid !== info.nuid)
        throw new Error(`${name} was replaced while it was read`);
      throw this.#damaged(name, 'a piece of it is missing, or is another one');
    });
  }

  /** Undefined: there is none. Throws as `get`. */
  async lengthOf(name: string): Promise<number | undefined> {
    return (await this.#tried(() => this.#infoOf(name)))?.size;
  }

  /** Throws INTERRUPTED, PUBLISHED_UNREACHABLE, PUBLISHED_REFUSED. */
  async put(name: string, bytes: Buffer): Promise<void> {
    const digest = digestOf(bytes);
    let before: string | undefined;
    /** What is named no more when this has succeeded. */
    const garbage = new Set<string>();
    const live = await this.#tried(async () => {
      await this.#make();
      const { revision, info } = await this.#headOf(name);
      if (garbage.size === 0) before = info?.nuid;
      // The answer was lost, or another process was faster.
      else if (info !== undefined && info.nuid !== before && info.digest === digest)
        return info.nuid;
      const nuid = randomBytes(11).toString('hex');
      for (const each of [nuid, info?.nuid]) if (each !== undefined) garbage.add(each);
      await this.#send({ name, nuid, digest }, bytes, revision);
      return nuid;
    });
    garbage.delete(live);
    for (const nuid of garbage) await this.#forget(nuid);
  }

  /** `revision`: of the message that this one is to replace. */
  async #send(
    its: Pick<Info, 'name' | 'nuid' | 'digest'>,
    bytes: Buffer,
    revision: number,
  ): Promise<void> {
    const { connection } = this.#parts;
    const pieceBytes = Math.min(pieceBytesMax, connection.info?.max_payload ?? pieceBytesMax);
    const subject = this.#piecesOf(its.nuid);
    let chunks = 0;
    let isNamed = false;
    try {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        this.#throwIfAborted();
        await this.#client.publish(subject, bytes.subarray(at, at + pieceBytes));
        chunks += 1;
      }
      const info = { ...its, bucket: this.#bucket, size: bytes.length, chunks };
      const text = JSON.stringify({
        ...{ ...info, mtime: new Date().toISOString() },
        options: { max_chunk_size: pieceBytes },
      });
      const expect = { lastSubjectSequence: revision };
      isNamed = true;
      await this.#client.publish(this.#subjectOf(its.name), text, {
        expect,
        headers: this.#rollup(),
      });
    } catch (error) {
      this.#isMade = false;
      // Refused, it is named nowhere. Without an answer it may be.
      if (!isNamed || jetstreamCode(error) !== undefined) await this.#forget(its.nuid);
      throw error;
    }
  }

  async #make(): Promise<void> {
    if (this.#isMade) return;
    const { connection, bytesMax = bucketBytesMax } = this.#parts;
    await ensureStream(this.#manager, {
      ...{ name: this.#stream, subjects: [this.#piecesOf('>'), `$O.${this.#bucket}.M.>`] },
      ...{ num_replicas: copiesOf(connection), max_bytes: bytesMax, discard: 'new' },
      allow_rollup_hdrs: true,
    });
    this.#isMade = true;
  }

  /** Undefined: there is no such object. */
  async #infoOf(name: string): Promise<Info | undefined> {
    const { info, isDamaged } = await this.#headOf(name);
    if (isDamaged === true) throw this.#damaged(name, 'what is said of it cannot be read');
    return info;
  }

  /** From the copy that leads, which knows all that was put. */
  async #headOf(name: string): Promise<Head> {
    if (!(await this.#hasMessages())) return { revision: 0 };
    const query = { last_by_subj: this.#subjectOf(name) };
    const found = await this.#manager.streams.getMessage(this.#stream, query).catch(whereAbsent);
    if (!found) return { revision: 0 };
    const info = infoIn(found);
    return { revision: found.seq, isDamaged: info === undefined, info: info || undefined };
  }

  /** nats-server 2.9.10 ends when it is asked for a message of a stream that it is just making. One that says that it holds messages is made. */
  async #hasMessages(): Promise<boolean> {
    if (!this.#isFilled) {
      const info = await this.#manager.streams.info(this.#stream).catch(whereAbsent);
      this.#isFilled = (info?.state.messages ?? 0) > 0;
    }
    return this.#isFilled;
  }

  /** Undefined: its pieces are not there, or not what was put. */
  async #read({ nuid, size, digest }: Info): Promise<Buffer | undefined> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    let seq = 1;
    while (bytes < size) {
      this.#throwIfAborted();
      const query = { seq, next_by_subj: this.#piecesOf(nuid) };
      // From the copy that leads, wrapped: what a host may ask for, it cannot have written anywhere as it is.
      const found = await this.#manager.streams.getMessage(this.#stream, query);
      const piece = found?.data ?? new Uint8Array();
      bytes += piece.length;
      if (found === null || piece.length === 0 || bytes > size) return undefined;
      pieces.push(piece);
      seq = found.seq + 1;
    }
    const all = Buffer.concat(pieces);
    return digestOf(all) === digest ? all : undefined;
  }

  /** Takes room, else nothing. */
  async #forget(nuid: string): Promise<void> {
    const filter = this.#piecesOf(nuid);
    await this.#manager.streams.purge(this.#stream, { filter }).catch(() => undefined);
  }

  get #stream(): string {
    return `OBJ_${this.#bucket}`;
  }

  #piecesOf(nuid: string): string {
    return `$O.${this.#bucket}.C.${nuid}`;
  }

  #subjectOf(name: string): string {
    return `$O.${this.#bucket}.M.${padded(Buffer.from(name).toString('base64url'))}`;
  }

  /** Tries again what may work later. */
  async #tried<T>(work: () => Promise<T>): Promise<T> {
    const { clock = systemClock, random = Math.random, signal } = this.#parts;
    for (let attempt = 0; ; attempt += 1) {
      this.#throwIfAborted();
      try {
        return await work();
      } catch (error) {
        const failure = this.#failureOf(error);
        if (!failure.retryable || attempt + 1 >= attemptsMax) throw failure;
      }
      await pause(clock, backoffMs(policy, attempt, random()), signal);
    }
  }

  #throwIfAborted(): void {
    if (this.#parts.signal?.aborted === true) throw new BusError('INTERRUPTED');
  }

  #failureOf(error: unknown): BusError {
    if (error instanceof BusError && error.code !== 'INTERRUPTED') return error;
    this.#throwIfAborted();
    const { access } = this.#parts;
    const place = this.title;
    const refused = (detail: string): BusError =>
      new BusError('PUBLISHED_REFUSED', { place, detail }, { cause: error });
    const { code, data } = refusalOf(access.text, error);
    if (code === 'NATS_REFUSED') return refused(`its servers do not let ${access.agent} do it`);
    if (jetstreamCode(error) === full)
      return refused(
        `its bucket is full; \`nats stream purge ${this.#stream}\` empties it, then publish again`,
      );
    if (noRoom.includes(jetstreamCode(error)))
      return refused(
        `its servers have no room for a bucket of ${bucketBytesMax / mib} MiB; \`nats object add ${this.#bucket} --max-bucket-size\` makes a smaller one`,
      );
    const detail = String(data.detail);
    return new BusError('PUBLISHED_UNREACHABLE', { place, detail }, { cause: error });
  }

  #damaged(name: string, detail: string): BusError {
    return new BusError('PUBLISHED_DAMAGED', { place: this.title, name, detail });
  }
}

/** False: it was deleted. Undefined: it cannot be read. */
function infoIn({ data }: StoredMsg): Info | false | undefined {
  try {
    const info = JSON.parse(Buffer.from(data).toString()) as Partial<Info>;
    if (info.deleted === true) return false;
    const { nuid = '', size, digest } = info;
    const isOne = Number.isSafeInteger(size) && /^\w{1,64}$/.test(nuid);
    return isOne && typeof digest === 'string' ? (info as Info) : undefined;
  } catch {
    return undefined;
  }
}

function digestOf(bytes: Uint8Array): string {
  return `SHA-256=${padded(createHash('sha256').update(bytes).digest('base64url'))}`;
}

/** As the tools of NATS write it. */
function padded(base64: string): string {
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, '=');
}
