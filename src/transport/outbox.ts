import type { Clock } from '../base/clock.js';
import { Batch } from '../wire/batch.js';
import { frameRoom, type Frame } from '../wire/frame.js';
import type { SendOutcome } from './port.js';

/** How long a peer that does not read is left alone before the next attempt. */
const stallRetryMs = 5;

/**
 * Frames on their way to one peer. All that one piece of work queues, with the promises that it settles, leaves
 * together when that is done: the cost is per message, not per byte. Nothing waits for company or for a timer.
 */
export class Outbox {
  readonly #send: (part: Buffer) => Promise<SendOutcome>;
  readonly #onGone: () => void;
  #bytesMax: number;
  readonly #clock: Clock;
  readonly #batch = new Batch();
  /** Parts that are whole and have not left. Never joined anew: a part has a limit of frames. */
  #parts: Buffer[] = [];
  #bytes = 0;
  /** A flush is due, or runs. */
  #isFlushing = false;
  #waiters: (() => void)[] = [];
  /** Counts calls of `clear`, so that a running flush does not send dropped frames. */
  #generation = 0;

  constructor(parts: {
    send: (part: Buffer) => Promise<SendOutcome>;
    /** The peer is gone; queued frames are dropped. */
    onGone: () => void;
    bytesMax: number;
    clock: Clock;
  }) {
    this.#send = parts.send;
    this.#onGone = parts.onGone;
    this.#bytesMax = parts.bytesMax;
    this.#clock = parts.clock;
  }

  /**
   * `Buffer`: a frame that is encoded already. `reserve`: bytes that this frame may use beyond the limit.
   * False: the peer does not read and its outbox is full. Throws TOO_LARGE.
   */
  offer(frame: Frame | Buffer, reserve = 0): boolean {
    const room = Buffer.isBuffer(frame) ? frame.length : frameRoom(frame);
    if (this.#bytes > 0 && this.#bytes + room > this.#bytesMax + reserve) return false;
    if (!this.#batch.takes(room)) this.#close();
    this.#bytes += this.#batch.add(frame, room);
    if (!this.#isFlushing) this.#flushSoon();
    return true;
  }

  /** Raises the limit. */
  widen(bytesMax: number): void {
    this.#bytesMax = bytesMax;
  }

  /** Resolves when nothing waits any more. */
  flushed(): Promise<void> {
    return this.#isFlushing
      ? new Promise((resolve) => void this.#waiters.push(resolve))
      : Promise.resolve();
  }

  clear(): void {
    this.#generation += 1;
    this.#batch.clear();
    this.#parts = [];
    this.#bytes = 0;
  }

  /** After the promises that are settled now, and those that they settle: their work queues more. */
  #flushSoon(): void {
    this.#isFlushing = true;
    process.nextTick(() => void this.#flush());
  }

  async #flush(): Promise<void> {
    // While a part waits the next one grows: a peer that does not read would collect small ones.
    if (this.#parts.length === 0) this.#close();
    const generation = this.#generation;
    for (let part = this.#parts[0]; part !== undefined; part = this.#parts[0]) {
      const outcome = await this.#send(part);
      if (generation !== this.#generation) break;
      if (outcome === 'stalled') {
        this.#clock.after(stallRetryMs, () => void this.#flush());
        return;
      }
      if (outcome === 'gone') {
        this.clear();
        this.#rest();
        return this.#onGone();
      }
      this.#parts.shift();
      this.#bytes -= part.length;
    }
    if (this.#bytes > 0) this.#flushSoon();
    else this.#rest();
  }

  #close(): void {
    if (!this.#batch.isEmpty) this.#parts.push(this.#batch.take());
  }

  #rest(): void {
    this.#isFlushing = false;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
