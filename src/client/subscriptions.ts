import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { Link } from '../transport/port.js';
import { topicMatches, topicPrefix } from '../wire/address.js';
import { decodeFrame, type Frame } from '../wire/frame.js';
import { clientLimits } from './limits.js';

type OnFrame = (topic: string, frame: Frame) => void;

/** Who wants to hear which topics. The link filters by prefix, the pattern decides here. */
export class Subscriptions {
  readonly #wanted = new Set<{ pattern: string; onFrame: OnFrame }>();
  readonly #link: Link;
  readonly #trace: Trace;

  constructor(link: Link, trace: Trace) {
    this.#link = link;
    this.#trace = trace;
  }

  /** Throws TOO_LARGE at the limit. */
  add(pattern: string, onFrame: OnFrame): Disposable {
    const limit = clientLimits.subscriptionsMax;
    if (this.#wanted.size >= limit) {
      throw new BusError('TOO_LARGE', {
        what: 'the number of subscriptions',
        bytes: limit + 1,
        limit,
      });
    }
    const subscription = { pattern, onFrame };
    this.#wanted.add(subscription);
    this.#link.subscribe(topicPrefix(pattern));
    return {
      [Symbol.dispose]: () => {
        if (this.#wanted.delete(subscription)) this.#link.unsubscribe(topicPrefix(pattern));
      },
    };
  }

  /** A publication that fails its checks, or whose listener fails, costs only itself. */
  onPublication(topic: string, bytes: Buffer): void {
    try {
      const frame = decodeFrame(bytes);
      for (const { pattern, onFrame } of [...this.#wanted]) {
        if (topicMatches(pattern, topic)) onFrame(topic, frame);
      }
    } catch (error) {
      const detail = asBusError(error).message;
      this.#trace('error', 'a publication could not be handled', { topic, detail });
    }
  }
}
