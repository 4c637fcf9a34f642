import type { Clock } from '../base/clock.js';
import { joinFrames } from '../wire/frame.js';
import type { SendOutcome } from './port.js';

/** How long a peer that does not read is left alone before the next attempt. */
const stallRetryMs = 5;

/**
 * Encoded frames on their way to one peer. After a quiet turn the first frames leave at once, with the frames
 * that the same task queued. Later frames of this turn of the event loop leave together at its end, in as few
 * messages as the batch limits allow: the cost is per message, not per byte.
 */
export class Outbox {
  readonly #send: (part: Buffer) => Promise<SendOutcome>;
  readonly #onGone: () => void;
  #bytesMax: number;
  readonly #clock: Clock;
  #frames: Buffer[] = [];
  /** Frames that were joined and have not left. Never joined anew: a part has a limit of frames. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #flushing: Promise<void> | undefined;
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

  /** False: the peer does not read and its outbox is full. */
  offer(frame: Buffer): boolean {
    if (this.#bytes > 0 && this.#bytes + frame.length > this.#bytesMax) return false;
    this.#frames.push(frame);
    this.#bytes += frame.length;
    this.#flushing ??= this.#flush();
    return true;
  }

  /** Raises the limit. */
  widen(bytesMax: number): void {
    this.#bytesMax = bytesMax;
  }

  /** Resolves when nothing waits any more. */
  async flushed(): Promise<void> {
    await this.#flushing;
  }

  clear(): void {
    this.#generation += 1;
    this.#frames = [];
    this.#parts = [];
    this.#bytes = 0;
  }

  async #flush(): Promise<void> {
    // Not at once: the piece of work that queued this frame, a part of many requests say, queues more.
    await Promise.resolve();
    while (this.#parts.length + this.#frames.length > 0) {
      const generation = this.#generation;
      if (this.#parts.length === 0) {
        this.#parts = joinFrames(this.#frames);
        this.#frames = [];
      }
      for (const part of [...this.#parts]) {
        const outcome = await this.#send(part);
        if (generation !== this.#generation) break;
        if (outcome === 'gone') {
          this.clear();
          this.#flushing = undefined;
          return this.#onGone();
        }
        if (outcome === 'stalled') {
          await new Promise<void>((resolve) => void this.#clock.after(stallRetryMs, resolve));
          break;
        }
        this.#parts.shift();
        this.#bytes -= part.length;
      }
      await this.#clock.turn();
    }
    this.#flushing = undefined;
  }
}
