import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../base/clock.js';
import { givenWithin, within } from '../../base/within.js';
import { BusError } from '../../errors/bus-error.js';
import { errorCodeHeader, errorHeader } from './errors.js';
import type { ForeignAgent } from './foreign-info.js';
import { foreignLimits } from './limits.js';
import { chunkIn, promptBody } from './protocol.js';
import { oneLine } from './words.js';

export interface PromptParts {
  connection: NatsConnection;
  clock: Clock;
  /** A new subject for answers. */
  inbox: string;
  silenceMs?: number;
}

/**
 * Asks a foreign agent; its answer as it comes. Throws AGENT_OFFLINE, AGENT_FAILED, TOO_LARGE, DEADLINE_EXCEEDED, CANCELLED.
 * What is read no further is dropped: the protocol knows no cancellation.
 */
export async function* prompted(
  { connection, clock, inbox, silenceMs = foreignLimits.silenceMs }: PromptParts,
  agent: ForeignAgent,
  text: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const body = promptBody(text);
  const bytes = Buffer.byteLength(body);
  const limit = Math.min(agent.bytesMax, connection.info?.max_payload ?? Infinity);
  if (bytes > limit) throw new BusError('TOO_LARGE', { what: 'the question', bytes, limit });
  using limited = givenWithin(clock, foreignLimits.answerMs, signal);
  const arrivals = new Arrivals();
  const cancel = (): void => arrivals.end(ending(signal));
  limited.signal.addEventListener('abort', cancel, { once: true });
  if (limited.signal.aborted) cancel();
  const callback = (error: Error | null, msg: Msg): void => {
    if (error === null) arrivals.take(msg);
    else arrivals.end(failed(agent.name, error.message));
  };
  const subscription = connection.subscribe(inbox, { callback });
  try {
    connection.publish(agent.subject, body, { reply: inbox });
    while (true) {
      const msg = await arrivals.next(clock, silenceMs);
      if (msg.data.length === 0 && msg.headers === undefined) return;
      const said = readChunk(agent.name, msg);
      if (said !== '') yield said;
    }
  } finally {
    if (!connection.isClosed()) subscription.unsubscribe();
  }
}

/** Messages in order, bounded in all: a stream of which more has come than an answer may have is over. */
class Arrivals {
  readonly #waiting: Msg[] = [];
  #bytes = 0;
  #end: BusError | undefined;
  #wake: () => void = () => undefined;

  take(msg: Msg): void {
    const limit = foreignLimits.answerBytesMax;
    this.#bytes += msg.data.length + foreignLimits.messageBytes;
    if (this.#bytes > limit)
      return this.end(new BusError('TOO_LARGE', { what: 'the answer', bytes: this.#bytes, limit }));
    this.#waiting.push(msg);
    this.#wake();
  }

  end(error: BusError): void {
    this.#end ??= error;
    this.#wake();
  }

  async next(clock: Clock, silenceMs: number): Promise<Msg> {
    if (this.#waiting.length === 0 && this.#end === undefined) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      if (!(await within(clock, silenceMs, woken)))
        throw new BusError('DEADLINE_EXCEEDED', { ms: silenceMs });
    }
    if (this.#end !== undefined) throw this.#end;
    const msg = this.#waiting.shift();
    return msg ?? this.next(clock, silenceMs);
  }
}

function ending(signal: AbortSignal): BusError {
  return signal.aborted
    ? new BusError('CANCELLED')
    : new BusError('DEADLINE_EXCEEDED', { ms: foreignLimits.answerMs });
}

function readChunk(agent: string, { data, headers }: Msg): string {
  if (headers?.status === '503') throw new BusError('AGENT_OFFLINE', { agent });
  const code = headers?.get(errorCodeHeader) ?? '';
  if (code !== '') throw failed(agent, `${code} ${headers?.get(errorHeader) ?? ''}`);
  try {
    const { text = '', question } = chunkIn(data);
    if (question === undefined) return text;
    throw failed(agent, `it asks back, and no person is here to answer: ${question}`);
  } catch (error) {
    if (error instanceof BusError && error.code !== 'MALFORMED_PAYLOAD') throw error;
    throw failed(agent, error instanceof Error ? error.message : String(error));
  }
}

function failed(agent: string, detail: string): BusError {
  return new BusError('AGENT_FAILED', {
    agent,
    detail: oneLine(detail, foreignLimits.descriptionCharsMax),
  });
}
