import { randomBytes } from 'node:crypto';
import type { JetStreamClient } from '@nats-io/jetstream';
import { BoundedQueue } from '../base/bounded-queue.js';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import type { Trace } from '../base/trace.js';
import { within } from '../base/within.js';
import { refusalOf, type NatsAccess, type NatsConnection } from './connect.js';
import { copiesOf } from './seat.js';
import { ensureStream, whereAbsent } from './streams.js';
import { auditOf, subjectsOf } from './subjects.js';

const mib = 1024 * 1024;
/** Of the lines of all leaders: beyond either, the oldest go. */
const streamBytesMax = 1024 * mib;
const streamAgeMs = 30 * 24 * 3_600_000;
/** What may wait for the servers; more is not appended, but counted. */
const waitingMax = 16_384;
const waitingBytesMax = 16 * mib;
const requestMsMax = 2_000;
const againMs = 1_000;
const closeMsMax = 2_000;
/** Read at once. */
const readMax = 16;

/** Lines of an audit log, each with its newline. */
interface Piece {
  lines: string;
  count: number;
  /** Entries that are missing before these. */
  before: number;
}

export interface AuditStreamParts {
  /** It comes back by itself. */
  connection: NatsConnection;
  access: NatsAccess;
  clock: Clock;
  trace: Trace;
  /** What may wait. */
  bytesMax?: number;
}

/**
 * A copy of a leader's audit log on the servers of the bus, for operators. The bus does not wait for it: what cannot be appended is counted, and
 * marked where it is missing; the file has it.
 */
export class AuditStream implements AsyncDisposable {
  readonly #parts: AuditStreamParts;
  readonly #waiting = new BoundedQueue<Piece>(waitingMax);
  readonly #end = new AbortController();
  /** The server takes a repeated piece once. */
  readonly #run = randomBytes(8).toString('hex');
  #taken = 0;
  #bytes = 0;
  #lost = 0;
  /** Of these, the ones that no piece tells of. */
  #unmentioned = 0;
  #trouble = '';
  #appending: Promise<void> | undefined;
  #client: JetStreamClient | undefined;

  constructor(parts: AuditStreamParts) {
    this.#parts = parts;
  }

  readonly append = (lines: string, count: number): void => {
    const { bytesMax = waitingBytesMax } = this.#parts;
    const isRoom = this.#bytes + lines.length <= bytesMax && !this.#end.signal.aborted;
    const before = this.#unmentioned;
    if (!isRoom || !this.#waiting.offer({ lines, count, before })) return this.#lose(count);
    this.#unmentioned = 0;
    this.#bytes += lines.length;
    this.#appending ??= this.#appendAll();
  };

  /** Appends what is waiting, for two seconds at most. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { clock, trace } = this.#parts;
    await within(clock, closeMsMax, this.#appending ?? Promise.resolve());
    this.#end.abort();
    await this.#appending;
    const lost = this.#lost;
    if (lost > 0) trace('warn', 'the audit log on the bus has gaps, its file does not', { lost });
  }

  async #appendAll(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#end;
    for (let piece = this.#waiting.take(); piece !== undefined; piece = this.#waiting.take()) {
      const mark = { at: new Date(clock.nowMs()).toISOString(), what: 'lost', count: piece.before };
      const text = `${piece.before > 0 ? `${JSON.stringify(mark)}\n` : ''}${piece.lines}`;
      this.#taken += 1;
      const msgID = `${this.#run}-${this.#taken}`;
      let isThere = false;
      while (!isThere && !signal.aborted) {
        isThere = await this.#isAppended(text, msgID);
        if (!isThere) await pause(clock, againMs, signal);
      }
      this.#bytes -= piece.lines.length;
      if (!isThere) this.#lose(piece.count);
    }
    this.#appending = undefined;
  }

  async #isAppended(text: string, msgID: string): Promise<boolean> {
    const { access, trace } = this.#parts;
    let trouble = '';
    try {
      this.#client ??= await this.#open();
      await this.#client.publish(subjectsOf(access.bus).audit(access.agent), text, { msgID });
    } catch (error) {
      const { code, message } = refusalOf(access.text, error);
      trouble = code;
      if (this.#trouble === '')
        trace('warn', 'the audit log is not appended on the bus', { code, message });
      // The servers note each refusal.
      if (code === 'NATS_REFUSED') this.#end.abort();
    }
    if (trouble === '' && this.#trouble !== '') trace('info', 'the audit log is on the bus again');
    this.#trouble = trouble;
    return trouble === '';
  }

  async #open(): Promise<JetStreamClient> {
    const { connection, access } = this.#parts;
    const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
    const options = { timeout: requestMsMax, checkAPI: false };
    await ensureStream(await jetstreamManager(connection, options), {
      ...{ name: auditOf(access.bus), subjects: [subjectsOf(access.bus).audit('*')] },
      ...{ num_replicas: copiesOf(connection), max_bytes: streamBytesMax },
      ...{ max_age: streamAgeMs * 1e6, discard: 'old' },
    });
    return jetstream(connection, options);
  }

  #lose(count: number): void {
    this.#lost += count;
    this.#unmentioned += count;
  }
}

/** Lines of all leaders, the last ones first; `host`: which broker led. Throws what the client throws. */
export async function* auditBackwards(
  connection: NatsConnection,
  bus: string,
): AsyncGenerator<{ host: string; lines: string }> {
  const { jetstreamManager } = await import('@nats-io/jetstream');
  const { streams } = await jetstreamManager(connection, { checkAPI: false });
  const name = auditOf(bus);
  const found = await streams.info(name).catch(whereAbsent);
  const { first_seq: first = 1, last_seq: last = 0 } = found?.state ?? {};
  for (let at = last; at >= first; at -= readMax) {
    const few = Array.from({ length: Math.min(readMax, at - first + 1) }, (_, back) => at - back);
    const messages = await Promise.all(few.map((seq) => streams.getMessage(name, { seq })));
    for (const message of messages)
      if (message !== null)
        yield { host: message.subject.split('.').at(-1) ?? '', lines: message.string() };
  }
}
