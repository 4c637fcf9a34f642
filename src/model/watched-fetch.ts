import type { Clock } from '../base/clock.js';
import { within } from '../base/within.js';

export interface AnswerWatch {
  clock: Clock;
  /** Between two parts of a body. */
  silenceMs: number;
  /** From the first to the last byte of a body. */
  answerMs: number;
  bytesMax: number;
  /** A longer `Retry-After` is not waited for: the caller gets the error. */
  retryAfterMsMax: number;
}

/** Why reading the body of an answer was stopped. */
export class BodyGivenUp extends Error {
  constructor(
    readonly why: 'silent' | 'endless' | 'large',
    message: string,
  ) {
    super(message);
  }
}

/**
 * The client of the endpoint watches no more once the head of an answer is there, reads it however long it is, and sleeps as
 * long as the other side wants. This does what it lacks. `working`: attempts that the endpoint has worked on, as far as
 * anybody here knows.
 */
export class WatchedFetch {
  working = 0;

  constructor(private readonly watch: AnswerWatch) {}

  readonly fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    this.working += 1;
    let response: Response;
    try {
      // A text goes to the configured endpoint only; redirects are not followed.
      response = await fetch(url, { ...init, redirect: 'manual' });
    } catch (error) {
      // One that was aborted was sent, most likely; one that failed was not answered.
      if (init?.signal?.aborted !== true) this.working -= 1;
      throw error;
    }
    if (!response.ok) this.working -= 1;
    const headers = new Headers(response.headers);
    if (askedWaitMs(headers, this.watch.clock.nowMs()) > this.watch.retryAfterMsMax)
      headers.set('x-should-retry', 'false');
    // The body is decoded by now.
    headers.delete('content-encoding');
    const { status, statusText } = response;
    const body = response.body === null ? null : watched(response.body, this.watch);
    return new Response(body, { status, statusText, headers });
  };
}

/** `Retry-After` in milliseconds: seconds or a date; 0: none. `nowMs`: of the epoch. */
export function askedWaitMs(headers: Headers, nowMs: number): number {
  const own = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (own > 0) return own;
  const asked = headers.get('retry-after');
  if (asked === null) return 0;
  const seconds = Number(asked);
  const ms = Number.isNaN(seconds) ? Date.parse(asked) - nowMs : seconds * 1000;
  return ms > 0 ? ms : 0;
}

function watched(
  body: ReadableStream<Uint8Array>,
  { clock, silenceMs, answerMs, bytesMax }: AnswerWatch,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const endsAt = clock.monotonicMs() + answerMs;
  let bytes = 0;
  const givenUp = (why: BodyGivenUp['why'], message: string): BodyGivenUp => {
    reader.cancel().catch(() => undefined);
    return new BodyGivenUp(why, message);
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = reader.read();
      const leftMs = endsAt - clock.monotonicMs();
      if (!(await within(clock, Math.max(0, Math.min(silenceMs, leftMs)), part)))
        throw leftMs < silenceMs
          ? givenUp('endless', `its answer had not ended after ${answerMs} ms`)
          : givenUp('silent', `it fell silent within its answer, for ${silenceMs} ms`);
      const { done, value } = await part;
      if (done) return controller.close();
      bytes += value.byteLength;
      if (bytes > bytesMax) throw givenUp('large', `more than ${bytesMax} bytes`);
      controller.enqueue(value);
    },
    async cancel(reason) {
      await reader.cancel(reason);
    },
  });
}
