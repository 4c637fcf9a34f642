import type { PeerId } from '../../transport/port.js';

/** Burst: milliseconds' worth of the rate that may come at once. */
const burstMs = 1_000;

/**
 * Two token buckets, of frames and of bytes, in one object without timers: tokens are
 * added when some are taken. A bucket may go into debt once, so that a frame larger than the bucket
 * passes and is paid for afterwards.
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

  /** 0: taken. Else nothing was taken; retry after this many milliseconds. `nowMs` is monotonic. */
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

/** The rate of a peer without a session: HELLO, PROOF and a few more attempts. */
const strangerRate = { framesPerS: 20, bytesPerS: 256 * 1024 };

/**
 * Rates of strangers: peers without a session. At most `peersMax` are remembered; one more evicts the
 * oldest, so that memory is bounded.
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

  /** The peer has a session now, with a rate of its own. */
  forget(peer: PeerId): void {
    this.#rates.delete(peer);
  }
}
