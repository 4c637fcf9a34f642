import type { Clock } from '../base/clock.js';

/** Silent intervals after which a broker whose link still stands counts as hung. */
const silentIntervalsMax = 4;
/** A timer may be early by a little; a ping that waits a whole further interval would be late by a lot. */
const dueShare = 0.9;

/** Sends PING after silence, and notices when no answer comes. */
export class Heartbeat implements Disposable {
  readonly #clock: Clock;
  readonly #isLive: () => boolean;
  readonly #onDue: () => void;
  readonly #onSilence: () => void;
  #timer: Disposable | undefined;
  #lastHeardMs: number;
  #lastSentMs: number;
  #silentBeats = 0;
  intervalMs: number;

  constructor(parts: {
    clock: Clock;
    intervalMs: number;
    isLive: () => boolean;
    /** A ping should go out. */
    onDue: () => void;
    /** Nothing was heard for too long. */
    onSilence: () => void;
  }) {
    this.#clock = parts.clock;
    this.intervalMs = parts.intervalMs;
    this.#isLive = parts.isLive;
    this.#onDue = parts.onDue;
    this.#onSilence = parts.onSilence;
    this.#lastHeardMs = parts.clock.monotonicMs();
    this.#lastSentMs = this.#lastHeardMs;
  }

  start(): void {
    this.#arm(this.#clock.monotonicMs());
  }

  heard(): void {
    this.#lastHeardMs = this.#clock.monotonicMs();
    this.#silentBeats = 0;
  }

  sent(): void {
    this.#lastSentMs = this.#clock.monotonicMs();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #arm(previousMs: number): void {
    const { intervalMs } = this;
    this.#timer = this.#clock.after(intervalMs, () => {
      const nowMs = this.#clock.monotonicMs();
      const hasSlept = nowMs - previousMs - intervalMs > intervalMs;
      if (this.#isLive()) this.#beat(nowMs, hasSlept);
      this.#arm(nowMs);
    });
  }

  /** `hasSlept`: this process stalled. Silence is counted in beats, so that a stall is no silence of the broker. */
  #beat(nowMs: number, hasSlept: boolean): void {
    if (!hasSlept) this.#silentBeats += 1;
    if (this.#silentBeats > silentIntervalsMax) return this.#onSilence();
    // Due when we have been silent, and also when only we have been talking.
    const quietMs = nowMs - Math.min(this.#lastSentMs, this.#lastHeardMs);
    if (quietMs >= this.intervalMs * dueShare) this.#onDue();
  }
}
