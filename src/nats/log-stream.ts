import type { ConsumerMessages, JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import type { BusError } from '../errors/bus-error.js';
import { unavailable } from '../store/level-folder.js';
import { needed } from './connect.js';
import type { LogLimits } from './log-limits.js';
import { ensureStream } from './streams.js';

/** Messages that a reader asks for at once, and how long the server keeps such a question. */
const fetchMax = 64;
const fetchMs = 5_000;
/** Up to so many messages are asked for one by one, which takes no reader. */
const readSinglyMax = 16;
/** The server forgets a reader that is gone. */
const readerIdleMs = 30_000;
/** What a message may have besides its body. */
const headerBytesMax = 1_024;
const askBackoff = { baseMs: 20, capMs: 500 };

export interface StreamParts {
  connection: NatsConnection;
  name: string;
  subject: string;
  replicas: number;
  bytesMax: number;
  limits: LogLimits;
  clock: Clock;
  random: () => number;
  /** Given: nothing is asked again. */
  signal: AbortSignal;
}

export interface Bounds {
  first: number;
  last: number;
  messages: number;
  bytes: number;
  bytesMax: number;
}

export interface LogMessage {
  sequence: number;
  bytes: Buffer;
}

/** A JetStream stream that one process at a time appends to. All its calls throw STORE_UNAVAILABLE. */
export class LogStream {
  readonly name: string;
  readonly #parts: StreamParts;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;

  private constructor(parts: StreamParts, client: JetStreamClient, manager: JetStreamManager) {
    this.name = `stream ${parts.name}`;
    this.#parts = parts;
    this.#client = client;
    this.#manager = manager;
  }

  /** Servers that are to keep a copy. */
  get replicas(): number {
    return this.#parts.replicas;
  }

  /** Makes the stream if it is not there; one that is there stays as it is. Throws NATS_MISSING, too. */
  static async open(parts: StreamParts): Promise<LogStream> {
    const { connection, name, subject, replicas, bytesMax, limits } = parts;
    const { jetstream, jetstreamManager } = await needed(import('@nats-io/jetstream'));
    const options = { timeout: limits.requestMsMax, checkAPI: false };
    const wanted = {
      ...{ name, subjects: [subject], num_replicas: replicas, max_bytes: bytesMax },
      ...{ discard: 'new' as const, deny_delete: true },
    };
    const manager = await jetstreamManager(connection, options);
    const stream = new LogStream(parts, jetstream(connection, options), manager);
    await stream.#asked(() => ensureStream(manager, wanted));
    return stream;
  }

  /** The largest entry that one message carries. */
  get entryBytesMax(): number {
    return (this.#parts.connection.info?.max_payload ?? 1024 * 1024) - headerBytesMax;
  }

  /** Sequences of the first and the last message; `first` is behind `last` when there is none. */
  bounds(): Promise<Bounds> {
    return this.#asked(() => this.#bounds());
  }

  async #bounds(): Promise<Bounds> {
    const { state, config } = await this.#manager.streams.info(this.#parts.name);
    const { first_seq: first, last_seq: last, bytes, messages } = state;
    const bytesMax = config.max_bytes > 0 ? config.max_bytes : Infinity;
    return { first: messages === 0 ? last + 1 : first, last, bytes, messages, bytesMax };
  }

  /**
   * Appends behind the message `expected`, if that is still the last one. False: something else stands there. An answer that is
   * lost does no harm: what stands in that place decides, and a repetition has no other place to go.
   */
  async append(entry: Buffer, expected: number): Promise<boolean> {
    const { clock, random, limits, subject, signal } = this.#parts;
    const untilMs = clock.monotonicMs() + limits.awayMsMax;
    const expect = { lastSequence: expected, streamName: this.#parts.name };
    for (let attempt = 0; ; attempt += 1) {
      let why: unknown;
      try {
        await this.#client.publish(subject, entry, { expect });
        return true;
      } catch (error) {
        why = error;
      }
      // In this order: `last` is not newer than what we then look for.
      const last = await this.#bounds().then(
        (bounds) => bounds.last,
        () => undefined,
      );
      const found =
        last === undefined ? undefined : await this.#read({ seq: expected + 1 }).catch(() => null);
      if (found) return found.bytes.equals(entry);
      // It was there, and was purged by the one that leads now.
      if (found === undefined && last !== undefined && last > expected) return false;
      if (signal.aborted || clock.monotonicMs() >= untilMs) throw this.#away(why);
      await pause(clock, backoffMs(askBackoff, attempt, random()), signal);
    }
  }

  /** Appends behind what is there; returns where. Unlike `append` it may be there although this throws. */
  async publish(entry: Buffer, subject = this.#parts.subject): Promise<number> {
    try {
      return (await this.#client.publish(subject, entry)).seq;
    } catch (error) {
      throw this.#away(error);
    }
  }

  read(query: { seq: number } | { last_by_subj: string }): Promise<LogMessage | undefined> {
    return this.#asked(() => this.#read(query));
  }

  async #read(query: { seq: number } | { last_by_subj: string }): Promise<LogMessage | undefined> {
    const found = await this.#manager.streams.getMessage(this.#parts.name, query);
    return found === null ? undefined : { sequence: found.seq, bytes: bufferOf(found.data) };
  }

  /**
   * Messages from `from` on, up to `to`, or for as long as the signal is not given; ends without an error when it is. Throws
   * STORE_UNAVAILABLE when what should be there does not come.
   */
  async *messages(options: {
    from: number;
    to?: number;
    subject?: string;
    signal: AbortSignal;
  }): AsyncGenerator<LogMessage, void> {
    const { from, to = Infinity, subject, signal } = options;
    if (subject === undefined && to - from < readSinglyMax)
      return yield* this.#singly(from, to, signal);
    const isOver = (): boolean => signal.aborted;
    const reader = await this.#asked(
      () =>
        this.#client.consumers.get(this.#parts.name, {
          opt_start_seq: Math.max(1, from),
          inactive_threshold: readerIdleMs,
          ...(subject !== undefined && { filter_subjects: subject }),
        }),
      signal,
    );
    try {
      while (!isOver()) {
        let isIdle = true;
        const batch = await this.#asked(
          () => reader.fetch({ max_messages: fetchMax, expires: fetchMs }),
          signal,
        );
        using _closing = this.#closing(batch, signal);
        for await (const { seq, data } of batch) {
          isIdle = false;
          yield { sequence: seq, bytes: bufferOf(data) };
          if (seq >= to) return;
        }
        if (isIdle && to !== Infinity && !isOver())
          throw this.#away(`it does not give message ${from} to ${to}`);
      }
    } catch (error) {
      if (!isOver()) throw this.#away(error);
    } finally {
      void reader.delete().catch(() => undefined);
    }
  }

  async *#singly(from: number, to: number, signal: AbortSignal): AsyncGenerator<LogMessage, void> {
    for (let seq = from; seq <= to && !signal.aborted; seq += 1) {
      const message = await this.read({ seq });
      if (message === undefined) throw this.#away(`message ${seq} is not there`);
      yield message;
    }
  }

  /** Removes all up to and with this message. */
  async purge(what: { upTo: number } | { subject: string }): Promise<void> {
    const options = 'subject' in what ? { filter: what.subject } : { seq: what.upTo + 1 };
    await this.#asked(() => this.#manager.streams.purge(this.#parts.name, options));
  }

  /** Subjects that have messages, with their number. */
  async subjects(): Promise<Map<string, number>> {
    const { name } = this.#parts;
    const { state } = await this.#asked(() =>
      this.#manager.streams.info(name, { subjects_filter: '>' }),
    );
    return new Map(Object.entries(state.subjects ?? {}));
  }

  /** Ends a batch at its disposal, when the signal is given, and when the server is silent for too long. */
  #closing(batch: ConsumerMessages, signal: AbortSignal): Disposable {
    const close = (): void => void batch.close().catch(() => undefined);
    const timer = this.#parts.clock.after(2 * fetchMs, close);
    signal.addEventListener('abort', close, { once: true });
    return {
      [Symbol.dispose]: () => {
        timer[Symbol.dispose]();
        signal.removeEventListener('abort', close);
        close();
      },
    };
  }

  /** Again while the server is away, or a cluster has no leader yet. */
  async #asked<T>(question: () => Promise<T>, signal = this.#parts.signal): Promise<T> {
    const { clock, random, limits } = this.#parts;
    const untilMs = clock.monotonicMs() + limits.awayMsMax;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await question();
      } catch (error) {
        if (signal.aborted || clock.monotonicMs() >= untilMs) throw this.#away(error);
      }
      await pause(clock, backoffMs(askBackoff, attempt, random()), signal);
    }
  }

  #away(error: unknown): BusError {
    return unavailable(this.name, error);
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
