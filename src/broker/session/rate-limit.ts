import type { PeerId } from '../../transport/port.js';

/** How many milliseconds' worth of a rate may come at once. */
const burstMs = 1_000;

/**
 * Two token buckets, of frames and of bytes, in one object without timers: what was earned is counted when
 * something is taken. A bucket may go into debt by one taking, so that a frame larger than a whole bucket
 * passes too, and is paid for afterwards.
 */
export class RateLimit {
  readonly #framesPerMs: number;
  readonly #bytesPerMs: number;
  #frames: number;
  #bytes: number;
  #sinceMs: number;

  constructor(rate: { framesPerS: number; bytesPerS: number }, nowMs: number) {
    this.#framesPerMs = rate.framesPerS / 1_000;
    this.#bytesPerMs = rate.bytesPerS / 1_000;
    this.#frames = this.#framesPerMs * burstMs;
    this.#bytes = this.#bytesPerMs * burstMs;
    this.#sinceMs = nowMs;
  }

  /** 0: taken. Else nothing was taken, and this many whole milliseconds from now it may be. `nowMs` is monotonic. */
  take(frames: number, bytes: number, nowMs: number): number {
    const earnedMs = nowMs - this.#sinceMs;
    if (earnedMs > 0) {
      this.#sinceMs = nowMs;
      this.#frames = Math.min(
        this.#frames + earnedMs * this.#framesPerMs,
        this.#framesPerMs * burstMs,
      );
      this.#bytes = Math.min(this.#bytes + earnedMs * this.#bytesPerMs, this.#bytesPerMs * burstMs);
    }
    if (this.#frames > 0 && this.#bytes > 0) {
      this.#frames -= frames;
      this.#bytes -= bytes;
      return 0;
    }
    const waitMs = Math.max(-this.#frames / this.#framesPerMs, -this.#bytes / this.#bytesPerMs);
    return Math.floor(waitMs) + 1;
  }
}

/** What a peer may say before it has a session: a greeting, its proof, and a few attempts more. */
const strangerRate = { framesPerS: 20, bytesPerS: 256 * 1024 };

/**
 * The rates of peers that have no session yet. At most `peersMax` of them are remembered; one more makes
 * the one forgotten that has been known longest, so that strangers cost nothing lasting.
 */
export class StrangerRates {
  readonly #peersMax: number;
  readonly #rates = new Map<PeerId, RateLimit>();

  constructor(peersMax: number) {
    this.#peersMax = peersMax;
  }

  get size(): number {
    return this.#rates.size;
  }

  /** As `RateLimit.take`. */
  take(peer: PeerId, frames: number, bytes: number, nowMs: number): number {
    let rate = this.#rates.get(peer);
    if (rate === undefined) {
      const [oldest] = this.#rates.keys();
      if (this.#rates.size >= this.#peersMax && oldest !== undefined) this.#rates.delete(oldest);
      rate = new RateLimit(strangerRate, nowMs);
      this.#rates.set(peer, rate);
    }
    return rate.take(frames, bytes, nowMs);
  }

  /** It has a session now, with a rate of its own. */
  forget(peer: PeerId): void {
    this.#rates.delete(peer);
  }
}
