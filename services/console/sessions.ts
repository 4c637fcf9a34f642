import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../src/base/clock.js';
import { BusError } from '../../src/errors/bus-error.js';

const secretBytes = 32;

export const sessionLimits = {
  /** One more, and the one that has been silent longest is ended. */
  sessionsMax: 32,
  idleMs: 30 * 60_000,
  lifeMs: 12 * 60 * 60_000,
  /** Links that were not used yet; one more, and the oldest is void. */
  linksMax: 16,
  linkMs: 10 * 60_000,
  /** Of one session. */
  callsMax: 8,
  streamsMax: 16,
} as const;

/** One browser of the person. */
export interface Session {
  /** Shown by what the page sends, and by no other page. */
  readonly csrf: string;
  /** Aborts when it is over. */
  readonly over: AbortSignal;
  /** Under way. */
  calls: number;
  streams: number;
}

interface Kept extends Session {
  end: () => void;
  readonly beganMs: number;
  heardMs: number;
}

/** Who is logged in: by a link that counts once, then by a cookie. In memory only: with the process all of it is gone. */
export class Sessions implements Disposable {
  readonly #clock: Clock;
  /** By the digest of the cookie; least recently heard first. */
  readonly #sessions = new Map<string, Kept>();
  /** Digests of tokens, oldest first, and when they were made. */
  readonly #links = new Map<string, number>();
  #timer: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A token for one log-in. */
  newLink(): string {
    const [oldest] = this.#links.keys();
    if (this.#links.size >= sessionLimits.linksMax && oldest !== undefined)
      this.#links.delete(oldest);
    const token = newSecret();
    this.#links.set(digestOf(token), this.#clock.monotonicMs());
    return token;
  }

  /**
   * The cookie of a new session. Throws CONSOLE_LINK. Wrong tokens are not counted: none of 256 bits is guessed, and a lock would keep
   * the person out who has the right one.
   */
  begin(token: string): string {
    const { sessionsMax, callsMax, streamsMax } = sessionLimits;
    const nowMs = this.#clock.monotonicMs();
    if (!this.#spend(token, nowMs)) throw new BusError('CONSOLE_LINK');
    const [silent] = this.#sessions.values();
    if (this.#sessions.size >= sessionsMax) silent?.end();
    const cookie = newSecret();
    const key = digestOf(cookie);
    const over = new AbortController();
    setMaxListeners(callsMax + streamsMax, over.signal);
    this.#sessions.set(key, {
      ...{ csrf: newSecret(), over: over.signal, calls: 0, streams: 0 },
      ...{ beganMs: nowMs, heardMs: nowMs },
      end: () => {
        this.#sessions.delete(key);
        over.abort(new BusError('CONSOLE_SESSION'));
      },
    });
    this.#arm();
    return cookie;
  }

  /** The session of a cookie, which counts as heard. */
  of(cookie: string): Session | undefined {
    const key = digestOf(cookie);
    const session = this.#sessions.get(key);
    const nowMs = this.#clock.monotonicMs();
    if (session === undefined || endMs(session) <= nowMs) return undefined;
    session.heardMs = nowMs;
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    return session;
  }

  end(cookie: string): void {
    this.#sessions.get(digestOf(cookie))?.end();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    for (const session of [...this.#sessions.values()]) session.end();
  }

  /** All are compared, so that the time does not tell which one was nearly right. */
  #spend(token: string, nowMs: number): boolean {
    const given = Buffer.from(digestOf(token));
    let found = '';
    for (const [link, madeMs] of this.#links) {
      const isRight = timingSafeEqual(given, Buffer.from(link));
      if (isRight && nowMs - madeMs < sessionLimits.linkMs) found = link;
    }
    return this.#links.delete(found);
  }

  /** Ends what is over also where no request asks for it: its streams are still open. */
  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    const ends = [...this.#sessions.values()].map(endMs);
    if (ends.length === 0) return;
    this.#timer = this.#clock.after(Math.min(...ends) - this.#clock.monotonicMs(), () => {
      const nowMs = this.#clock.monotonicMs();
      for (const session of [...this.#sessions.values()])
        if (endMs(session) <= nowMs) session.end();
      this.#arm();
    });
  }
}

function endMs({ beganMs, heardMs }: Kept): number {
  return Math.min(heardMs + sessionLimits.idleMs, beganMs + sessionLimits.lifeMs);
}

export function newSecret(): string {
  return randomBytes(secretBytes).toString('base64url');
}

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** How long it takes does not tell how much of it was right. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(digestOf(one)), Buffer.from(digestOf(other)));
}
