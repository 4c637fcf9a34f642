import type { Clock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { Link } from '../transport/port.js';
import {
  checkTopicPattern,
  streamMatches,
  streamOf,
  topicPrefix,
  wholeStreams,
} from '../wire/address.js';
import { decodeFrame, type Frame } from '../wire/frame.js';
import type { TopicsAnswer, TopicsQuery } from '../wire/messages.js';
import { Follower, type SubscribeOptions } from './follower.js';
import { clientLimits, followLimits } from './limits.js';

export interface Subscription extends Disposable {
  /** Everything is delivered or reported as missing from now on. False again during recovery from a restart. */
  readonly isLevel: boolean;
}

export interface SubscriptionParts {
  link: Link;
  /** QUERY `topics`, to this session and no later one. */
  query: (query: TopicsQuery) => Promise<TopicsAnswer>;
  isLive: () => boolean;
  clock: Clock;
  random: () => number;
  trace: Trace;
  /** Time between two looks for lost publications. */
  checkMs?: number | undefined;
}

/** Who wants to hear which topics. The link filters by prefix, the pattern decides here. */
export class Subscriptions implements Disposable {
  readonly #followers = new Set<Follower>();
  readonly #parts: SubscriptionParts;
  #epoch: string | undefined;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
  }

  /** Throws INVALID_NAME, and TOO_LARGE at the limit. */
  add(
    pattern: string,
    onPublication: (topic: string, frame: Frame) => void,
    options: SubscribeOptions = {},
  ): Subscription {
    checkTopicPattern(pattern);
    const limit = clientLimits.subscriptionsMax;
    if (this.#followers.size >= limit) {
      throw new BusError('TOO_LARGE', {
        what: 'the number of subscriptions',
        bytes: limit + 1,
        limit,
      });
    }
    const { link, query, isLive, clock, random, trace } = this.#parts;
    const checkMs = this.#parts.checkMs ?? followLimits.checkMs;
    const shared = { query, isLive, clock, random, trace, checkMs };
    const follower = new Follower({ ...shared, pattern, options, onPublication });
    this.#followers.add(follower);
    const prefix = topicPrefix(wholeStreams(pattern));
    // First subscribed, then asked: what is published in between comes both ways.
    link.subscribe(prefix);
    if (this.#epoch !== undefined && isLive()) follower.onSession(this.#epoch);
    return {
      get isLevel() {
        return follower.isLevel;
      },
      [Symbol.dispose]: () => {
        follower[Symbol.dispose]();
        if (this.#followers.delete(follower)) link.unsubscribe(prefix);
      },
    };
  }

  /** A session began; `epoch` names the run of the broker. */
  onSession(epoch: string): void {
    this.#epoch = epoch;
    for (const follower of [...this.#followers]) follower.onSession(epoch);
  }

  /** A publication that fails its checks is lost like one that never came: the next one shows the gap. */
  onPublication(topic: string, bytes: Buffer): void {
    let frame: Frame;
    try {
      frame = decodeFrame(bytes);
    } catch (error) {
      const detail = asBusError(error).message;
      return this.#parts.trace('error', 'a publication could not be read', { topic, detail });
    }
    const stream = streamOf(topic);
    for (const follower of [...this.#followers])
      if (streamMatches(follower.pattern, stream)) follower.onPublication(stream, topic, frame);
  }

  [Symbol.dispose](): void {
    for (const follower of this.#followers) follower[Symbol.dispose]();
    this.#followers.clear();
  }
}
