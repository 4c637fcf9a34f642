import type {
  ConsumerMessages,
  JetStreamClient,
  JetStreamManager,
  StreamConfig,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import type { BusError } from '../errors/bus-error.js';
import { unavailable } from '../store/level-folder.js';
import type { LogLimits } from './log-limits.js';

/** Messages that a reader asks for at once, and how long the server keeps such a question. */
const fetchMax = 64;
const fetchMs = 5_000;
/** The server forgets a reader that is gone. */
const readerIdleMs = 30_000;
/** What a message may have besides its body. */
const headerBytesMax = 1_024;
const appendBackoff = { baseMs: 20, capMs: 500 };
/** Codes of JetStream. */
const noMessageFound = 10_037;
const streamNotFound = 10_059;

export interface StreamParts {
  connection: NatsConnection;
  name: string;
  subject: string;
  replicas: number;
  bytesMax: number;
  limits: LogLimits;
  clock: Clock;
  random: () => number;
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

  /** Makes the stream if it is not there; one that is there stays as it is. */
  static async open(parts: StreamParts): Promise<LogStream> {
    const { connection, name, subject, replicas, bytesMax, limits, clock, random } = parts;
    const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
    const options = { timeout: limits.requestMsMax, checkAPI: false };
    const untilMs = clock.monotonicMs() + limits.awayMsMax;
    const wanted = {
      ...{ name, subjects: [subject], num_replicas: replicas, max_bytes: bytesMax },
      ...{ retention: 'limits', storage: 'file', discard: 'new', deny_delete: true },
    } as StreamConfig;
    // A cluster that has just started refuses for a while.
    for (let attempt = 0; ; attempt += 1) {
      try {
        const manager = await jetstreamManager(connection, options);
        await manager.streams.info(name).catch((error: unknown) => {
          if (codeOf(error) !== streamNotFound) throw error;
          return manager.streams.add(wanted);
        });
        return new LogStream(parts, jetstream(connection, options), manager);
      } catch (error) {
        if (clock.monotonicMs() >= untilMs) throw unavailable(`stream ${name}`, error);
      }
      await pause(clock, backoffMs(appendBackoff, attempt, random()));
    }
  }

  /** The largest entry that one message carries. */
  get entryBytesMax(): number {
    return (this.#parts.connection.info?.max_payload ?? 1024 * 1024) - headerBytesMax;
  }

  /** Sequences of the first and the last message; `first` is behind `last` when there is none. */
  async bounds(): Promise<{ first: number; last: number; bytes: number; messages: number }> {
    const { state } = await this.#asked(() => this.#manager.streams.info(this.#parts.name));
    const { first_seq: first, last_seq: last, bytes, messages } = state;
    return { first: messages === 0 ? last + 1 : first, last, bytes, messages };
  }

  /**
   * Appends behind the message `expected`, if that is still the last one. False: something else stands there. An answer that is
   * lost does no harm: what stands in that place decides, and a repetition has no other place to go.
   */
  async append(entry: Buffer, expected: number, signal: AbortSignal): Promise<boolean> {
    const { clock, random, limits, subject } = this.#parts;
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
      const last = await this.bounds().then(
        (bounds) => bounds.last,
        () => undefined,
      );
      const found =
        last === undefined ? undefined : await this.read(expected + 1).catch(() => null);
      if (found) return found.bytes.equals(entry);
      // It was there, and was purged by the one that leads now.
      if (found === undefined && last !== undefined && last > expected) return false;
      if (signal.aborted || clock.monotonicMs() >= untilMs) throw this.#away(why);
      await pause(clock, backoffMs(appendBackoff, attempt, random()), signal);
    }
  }

  /** Appends behind what is there; returns where. Unlike `append` it may be there although this throws. */
  async publish(entry: Buffer, subject = this.#parts.subject): Promise<number> {
    return (await this.#asked(() => this.#client.publish(subject, entry))).seq;
  }

  async read(query: number | { last_by_subj: string }): Promise<LogMessage | undefined> {
    const its = typeof query === 'number' ? { seq: query } : query;
    try {
      const found = await this.#manager.streams.getMessage(this.#parts.name, its);
      return found === null ? undefined : { sequence: found.seq, bytes: bufferOf(found.data) };
    } catch (error) {
      if (codeOf(error) === noMessageFound) return undefined;
      throw this.#away(error);
    }
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
    const isOver = (): boolean => signal.aborted;
    if (from > to || isOver()) return;
    const reader = await this.#asked(() =>
      this.#client.consumers.get(this.#parts.name, {
        opt_start_seq: Math.max(1, from),
        inactive_threshold: readerIdleMs,
        ...(subject !== undefined && { filter_subjects: subject }),
      }),
    );
    try {
      while (!isOver()) {
        let isIdle = true;
        const batch = await this.#asked(() =>
          reader.fetch({ max_messages: fetchMax, expires: fetchMs }),
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

  async #asked<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (error) {
      throw this.#away(error);
    }
  }

  #away(error: unknown): BusError {
    return unavailable(this.name, error);
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code;
