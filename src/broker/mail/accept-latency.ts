import { Histogram, quantileOf } from '../../base/histogram.js';

/** A quantile is over the last one to two times as many. */
const recentRecords = 4_096;

/** How long durable messages waited for their ACCEPT: since the start, and lately. */
export class AcceptLatency {
  /** Since the broker started. */
  readonly total = new Histogram();
  #current = new Histogram();
  #before = new Histogram();

  record(ms: number): void {
    this.total.record(ms);
    this.#current.record(ms);
    if (this.#current.count < recentRecords) return;
    this.#before.clear();
    [this.#current, this.#before] = [this.#before, this.#current];
  }

  /** Milliseconds, of the last of them; 0: none yet. */
  recent(q: number): number {
    return quantileOf([this.#current, this.#before], q);
  }
}
