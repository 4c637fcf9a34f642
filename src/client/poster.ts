import { backoffMs } from '../base/backoff.js';
import { ChurnMap } from '../base/churn-map.js';
import type { Clock } from '../base/clock.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { ErrorCode } from '../errors/catalogue.js';
import { Command, frameOf, newEnvelope, type Frame } from '../wire/frame.js';
import { clientLimits, postBackoff } from './limits.js';

export interface PostOptions {
  /** Message id, for senders that may repeat a message, also from another process; generated otherwise. */
  id?: string;
  /** Messages with the same key to the same recipient are handled in order; different keys do not wait for each other. */
  orderKey?: string;
  /** Milliseconds between acceptance and first delivery. */
  delayMs?: number;
  /** Milliseconds after acceptance when an unsettled message becomes a dead letter. */
  ttlMs?: number;
  /** A durable reply is wanted; `collect` waits for it. */
  wantsReply?: boolean;
  /** The message that this one answers. */
  correlation?: string;
  /** A partial answer; more follow. */
  more?: boolean;
  /** Milliseconds to try. After that it is unknown whether it was accepted: send it again under the same id. */
  deadlineMs?: number;
  /** The agent in whose name an administrator sends. */
  from?: string;
}

export interface Accepted {
  id: string;
  /** The broker's number of the message. */
  seq: number;
}

interface Post {
  frame: Frame;
  accepted: Promise<Accepted>;
  lane: Lane;
  /** Neighbours in its lane that are not accepted yet. */
  before: Post | undefined;
  behind: Post | undefined;
  isSent: boolean;
  corruptions: number;
  deadlineMs: number;
  expiresMs: number;
  resolve: (accepted: Accepted) => void;
  reject: (error: BusError) => void;
}

interface Lane {
  key: string;
  /** Of those that are not accepted. */
  last: Post | undefined;
  refusals: number;
  /** Why it is stuck; the reason for messages that time out in it. */
  refusal: BusError | undefined;
  pausedUntilMs: number;
}

export interface PosterParts {
  clock: Clock;
  random: () => number;
  /** False: the link takes nothing just now. */
  send: (frame: Frame) => boolean;
  /** Why nothing can be sent now; undefined while live. */
  trouble: () => BusError | undefined;
}

/** Refusals that pass by themselves: the broker's own state, and frames that came in the wrong order. */
const passing: ReadonlySet<ErrorCode> = new Set([
  'BROKER_BUSY',
  'BROKER_DRAINING',
  'FRAME_CORRUPT',
  'OUT_OF_ORDER',
  'RATE_LIMITED',
  'STORE_UNAVAILABLE',
]);

/** The timer of waiting messages. */
const sweepMs = 50;
/** A message that arrived corrupt so often is corrupt here. */
const corruptionsMax = 3;

/**
 * Durable messages on their way to the broker. Each is sent until it is accepted, refused for good or out
 * of time, over reconnects and restarts of the broker, always under its own id. At most a window of them
 * is out at once. One that overtakes an earlier one of its lane is refused OUT_OF_ORDER and sent again.
 */
export class Poster implements Disposable {
  readonly #parts: PosterParts;
  readonly #posts = new ChurnMap<string, Post>();
  readonly #lanes = new Map<string, Lane>();
  /** Those that are not out, in order. */
  #unsent = new Set<Post>();
  #window = 0;
  #out = 0;
  #sweep: Disposable | undefined;

  constructor(parts: PosterParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#posts.size;
  }

  /** Resolves once the broker has stored it. Throws the broker's rejection, or BROKER_BUSY, TOO_LARGE, NO_BROKER, DEADLINE_EXCEEDED. */
  post(
    to: string,
    type: string,
    body: Buffer,
    id: string,
    options: PostOptions,
  ): Promise<Accepted> {
    if (this.#posts.size >= clientLimits.postsMax)
      return Promise.reject(new BusError('BROKER_BUSY', { limit: clientLimits.postsMax }));
    // Field by field: this runs for every message.
    const envelope = newEnvelope();
    envelope.id = id;
    envelope.to = to;
    envelope.type = type;
    envelope.durable = true;
    envelope.from = options.from ?? '';
    envelope.order_key = options.orderKey ?? '';
    envelope.delay_ms = Math.round(options.delayMs ?? 0);
    envelope.ttl_ms = Math.round(options.ttlMs ?? 0);
    if (options.wantsReply === true) envelope.reply_to = 'reply';
    envelope.correlation = options.correlation ?? '';
    envelope.more = options.more ?? false;
    const frame = frameOf(Command.SEND, envelope, body);
    const earlier = this.#posts.get(id);
    if (earlier !== undefined) {
      // For example a reply whose handler ran twice.
      if (isSame(earlier.frame, frame)) return earlier.accepted;
      const detail = `another message ${id} is being sent already`;
      return Promise.reject(new BusError('USAGE', { detail }));
    }
    const deadlineMs = options.deadlineMs ?? clientLimits.deadlineMs;
    let resolve: Post['resolve'] = () => undefined;
    let reject: Post['reject'] = () => undefined;
    const accepted = new Promise<Accepted>((onAccepted, onRefused) => {
      resolve = onAccepted;
      reject = onRefused;
    });
    // As the broker counts them: messages of other senders do not wait for it.
    const lane = this.#laneOf(`${frame.envelope.from}\0${to}\0${frame.envelope.order_key}`);
    const nowMs = this.#parts.clock.monotonicMs();
    const post: Post = {
      frame,
      accepted,
      lane,
      resolve,
      reject,
      deadlineMs,
      isSent: false,
      corruptions: 0,
      before: lane.last,
      behind: undefined,
      expiresMs: nowMs + deadlineMs,
    };
    if (lane.last !== undefined) lane.last.behind = post;
    lane.last = post;
    this.#posts.set(id, post);
    // Nearly always it leaves at once.
    if (this.#unsent.size > 0 || !this.#mayLeave(post, nowMs) || !this.#leave(post)) {
      this.#unsent.add(post);
      if (this.#unsent.size > 1) this.#pump();
    }
    this.#arm();
    return accepted;
  }

  /** A session has begun: messages that were not accepted go out again, in order. */
  onSession(window: number): void {
    this.#window = Math.min(window, clientLimits.postsOutMax);
    this.#recall();
    this.#pump();
  }

  [Symbol.dispose](): void {
    this.#sweep?.[Symbol.dispose]();
  }

  onLost(): void {
    this.#window = 0;
    this.#recall();
  }

  /** True when it was one of these. */
  onAccept(id: string, seq: number): boolean {
    const post = this.#take(id);
    if (post === undefined) return false;
    post.lane.refusals = 0;
    post.lane.refusal = undefined;
    post.resolve({ id, seq });
    this.#pump();
    return true;
  }

  /** True when it was one of these. */
  onReject(id: string, error: BusError): boolean {
    const post = this.#posts.get(id);
    if (post === undefined) return false;
    if (error.code === 'FRAME_CORRUPT') post.corruptions += 1;
    if (post.corruptions >= corruptionsMax)
      this.#fail(id, new BusError('MALFORMED_PAYLOAD', { detail: 'it arrives corrupt each time' }));
    else if (passing.has(error.code)) this.#again(post, error);
    // Whether to wait for room in a mailbox, or for a recipient, is the sender's decision.
    else this.#fail(id, error);
    this.#pump();
    return true;
  }

  failAll(error: BusError): void {
    for (const [id] of this.#posts.entries()) this.#fail(id, error);
  }

  #again(post: Post, error: BusError): void {
    if (post.isSent) this.#out -= 1;
    post.isSent = false;
    this.#unsent.add(post);
    const { lane } = post;
    const nowMs = this.#parts.clock.monotonicMs();
    // Those behind it were refused with it; they need no pause of their own.
    if (error.code === 'OUT_OF_ORDER') return;
    lane.refusal = error;
    if (lane.pausedUntilMs > nowMs) return;
    const waitMs = backoffMs(postBackoff, lane.refusals, this.#parts.random());
    lane.refusals += 1;
    lane.pausedUntilMs = nowMs + Math.max(waitMs, error.retryAfterMs);
  }

  #pump(): void {
    if (this.#out >= this.#window || this.#unsent.size === 0) return;
    const nowMs = this.#parts.clock.monotonicMs();
    for (const post of this.#unsent) {
      if (this.#out >= this.#window) return;
      if (!this.#mayLeave(post, nowMs)) continue;
      if (!this.#leave(post)) return;
      this.#unsent.delete(post);
    }
  }

  #mayLeave({ lane, before }: Post, nowMs: number): boolean {
    // One in front of it that came back goes first.
    return this.#out < this.#window && lane.pausedUntilMs <= nowMs && before?.isSent !== false;
  }

  /** False: the link takes nothing just now. */
  #leave(post: Post): boolean {
    const { envelope } = post.frame;
    envelope.after = post.before?.frame.envelope.id ?? '';
    try {
      if (!this.#parts.send(post.frame)) return false;
      post.isSent = true;
      this.#out += 1;
    } catch (error) {
      // Too large for a frame: its own failure, not that of those behind it.
      this.#fail(envelope.id, asBusError(error));
    }
    return true;
  }

  #recall(): void {
    this.#out = 0;
    for (const post of this.#posts.values()) post.isSent = false;
    this.#unsent = new Set(this.#posts.values());
    for (const lane of this.#lanes.values()) lane.pausedUntilMs = 0;
  }

  #fail(id: string, error: BusError): void {
    this.#take(id)?.reject(error);
  }

  #take(id: string): Post | undefined {
    const post = this.#posts.get(id);
    if (post === undefined) return undefined;
    this.#posts.delete(id);
    if (post.isSent) this.#out -= 1;
    else this.#unsent.delete(post);
    const { lane, before, behind } = post;
    if (before !== undefined) before.behind = behind;
    if (behind !== undefined) behind.before = before;
    else lane.last = before;
    if (lane.last === undefined) this.#lanes.delete(lane.key);
    return post;
  }

  #laneOf(key: string): Lane {
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { key, last: undefined, refusals: 0, refusal: undefined, pausedUntilMs: 0 };
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  /** Deadlines and pauses, as long as anything waits. */
  #arm(): void {
    if (this.#sweep !== undefined || this.#posts.size === 0) return;
    this.#sweep = this.#parts.clock.after(sweepMs, () => {
      this.#sweep = undefined;
      const nowMs = this.#parts.clock.monotonicMs();
      for (const [id, post] of this.#posts.entries()) {
        if (post.expiresMs > nowMs) continue;
        const late = new BusError('DEADLINE_EXCEEDED', { ms: post.deadlineMs });
        this.#fail(id, post.lane.refusal ?? this.#parts.trouble() ?? late);
      }
      this.#pump();
      this.#arm();
    });
  }
}

function isSame(one: Frame, other: Frame): boolean {
  const { to, type, correlation } = one.envelope;
  const their = other.envelope;
  const isAlike = to === their.to && type === their.type && correlation === their.correlation;
  return isAlike && one.bodyCrc === other.bodyCrc && one.body.equals(other.body);
}
