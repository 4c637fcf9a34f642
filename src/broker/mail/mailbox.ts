import type { PeerId } from '../../transport/port.js';

/** A stored message that is not settled. Its body is on disk; `frame` is there while memory allows. */
export interface StoredMessage {
  readonly seq: number;
  readonly id: string;
  readonly from: string;
  readonly mailbox: string;
  readonly type: string;
  readonly correlation: string;
  readonly replyTo: string;
  readonly more: boolean;
  readonly orderKey: string;
  /** Bytes of the whole frame. */
  readonly bytes: number;
  readonly storedMs: number;
  /** Unix milliseconds; 0: never. */
  expiresMs: number;
  /** Unix milliseconds before which it is not delivered; 0: at once. */
  dueMs: number;
  /** Deliveries that failed. */
  attempts: number;
  /** The reason of the last failure. */
  reason: string;
  /** Unix milliseconds since when it is a dead letter; 0: it is none. */
  deadMs: number;
  /** The DELIVER frame of its first delivery. */
  frame: Buffer | undefined;
  lease: Lease | undefined;
  /** The last holder vanished, perhaps because of this message: the next lease counts as another attempt. */
  isSuspect: boolean;
  /** Where it is queued; undefined: not due yet. */
  lane: Lane | undefined;
  /** Failed; blocks its lane until woken. */
  isHeld: boolean;
}

export interface Lease {
  readonly consumer: Consumer;
  untilMs: number;
}

/** One session that takes messages from one mailbox, up to its credit. */
export interface Consumer {
  readonly peer: PeerId;
  readonly mailbox: Mailbox;
  credit: { messages: number; bytes: number };
  /** By seq; the lease that ends first comes first. */
  readonly leased: Map<number, StoredMessage>;
  leasedBytes: number;
  /** Bodies are being read from disk; later messages wait for them. */
  isFetching: boolean;
}

function keyOf({ from, orderKey }: { from: string; orderKey: string }): string {
  return `${from}\0${orderKey}`;
}

/** Settled places at the head of a lane before it is copied; copying each time would cost O(n). */
const gapMax = 1_024;

/** Messages of one sender with one order key, delivered in order, oldest first. */
export class Lane {
  #messages: (StoredMessage | undefined)[] = [];
  /** Places before it are settled. */
  #head = 0;
  /** The first that is not leased. */
  next = 0;

  constructor(
    readonly from: string,
    readonly orderKey: string,
  ) {}

  get key(): string {
    return keyOf(this);
  }

  get isEmpty(): boolean {
    return this.#head === this.#messages.length;
  }

  get front(): StoredMessage | undefined {
    return this.#messages[this.#head];
  }

  at(place: number): StoredMessage | undefined {
    return place < this.#head ? undefined : this.#messages[place];
  }

  placeOf(message: StoredMessage): number {
    return this.#messages.indexOf(message, this.#head);
  }

  insert(message: StoredMessage): void {
    // Nearly always the end; a scheduled or requeued message goes in front of later ones not yet taken.
    let at = this.#messages.length;
    while (at > this.next && (this.#messages[at - 1]?.seq ?? 0) > message.seq) at -= 1;
    if (at === this.#messages.length) this.#messages.push(message);
    else this.#messages.splice(at, 0, message);
  }

  remove(place: number): void {
    if (place !== this.#head) {
      this.#messages.splice(place, 1);
      if (place < this.next) this.next -= 1;
      return;
    }
    // Free the message for the garbage collector.
    this.#messages[place] = undefined;
    this.#head += 1;
    this.next = Math.max(this.next, this.#head);
    if (this.#head < gapMax || this.#head * 2 < this.#messages.length) return;
    this.#messages = this.#messages.slice(this.#head);
    this.next -= this.#head;
    this.#head = 0;
  }
}

/**
 * One mailbox in memory: who gets which message next. Pure; disk and clock are the caller's.
 *
 * Order is strict per lane (sender, order key) and fair among lanes: each ready lane gives one message in
 * turn. A lane is pipelined to one consumer at a time; when a message comes back, those behind it that were
 * delivered already come back too, untouched.
 */
export class Mailbox {
  readonly messages = new Map<number, StoredMessage>();
  readonly consumers = new Map<PeerId, Consumer>();
  readonly #lanes = new Map<string, Lane>();
  readonly #ready = new Set<Lane>();
  /** Of the last message that was queued; nearly always the next one's as well. */
  #latest: Lane | undefined;
  /** Stored messages, with dead letters and those being stored. */
  depth = 0;
  bytes = 0;
  leases = 0;
  /** Dead letters, by seq. */
  readonly deadLetters = new Map<number, StoredMessage>();
  /** Messages that became available since waiting receivers were last served. */
  #freed: StoredMessage[] = [];

  constructor(readonly name: string) {}

  /** A tick may have work here. */
  get isBusy(): boolean {
    return this.leases > 0 || (this.#ready.size > 0 && this.consumers.size > 0);
  }

  get isIdle(): boolean {
    return this.depth === 0 && this.consumers.size === 0;
  }

  get dead(): number {
    return this.deadLetters.size;
  }

  /** Messages a waiting receiver may take now; each is returned once. */
  takeFreed(): StoredMessage[] {
    const freed = this.#freed;
    if (freed.length > 0) this.#freed = [];
    return freed;
  }

  /** Puts a due message into its lane. */
  queue(message: StoredMessage): void {
    const lane = this.#laneFor(message);
    lane.insert(message);
    message.lane = lane;
    this.#ready.add(lane);
    if (!message.isHeld) this.#freed.push(message);
  }

  /** Releases a held message. */
  wake(message: StoredMessage): void {
    message.isHeld = false;
    const { lane } = message;
    if (lane === undefined) return;
    this.#ready.add(lane);
    this.#freed.push(message);
  }

  /**
   * The next message for this consumer, now leased to it; undefined when there is none or its credit is
   * used up. `untilMs`: of the lease, on the caller's monotonic clock.
   */
  lease(consumer: Consumer, untilMs: number): StoredMessage | undefined {
    const { credit, leased } = consumer;
    if (leased.size >= credit.messages) return undefined;
    for (const lane of this.#ready) {
      const message = lane.at(lane.next);
      if (message === undefined || message.isHeld) {
        this.#ready.delete(lane);
        continue;
      }
      const holder = lane.at(lane.next - 1)?.lease?.consumer;
      if (holder !== undefined && holder !== consumer) continue;
      // One that is larger than the whole credit still passes, alone.
      if (leased.size > 0 && consumer.leasedBytes + message.bytes > credit.bytes) return undefined;
      this.#grant(consumer, message, untilMs);
      lane.next += 1;
      this.#ready.delete(lane);
      if (lane.at(lane.next) !== undefined) this.#ready.add(lane);
      return message;
    }
    return undefined;
  }

  /** Leases this message out of order; its lane goes on without it. */
  take(consumer: Consumer, message: StoredMessage, untilMs: number): void {
    this.#leave(message);
    this.#grant(consumer, message, untilMs);
  }

  /** A new session says that its agent still works on this message. True: it keeps the lease. */
  adopt(consumer: Consumer, message: StoredMessage, untilMs: number): boolean {
    const { lane } = message;
    const at = lane?.placeOf(message) ?? -1;
    if (lane === undefined || at !== lane.next || message.lease !== undefined) return false;
    const holder = lane.at(at - 1)?.lease?.consumer;
    if (holder !== undefined && holder !== consumer) return false;
    message.isSuspect = false;
    message.isHeld = false;
    this.#grant(consumer, message, untilMs);
    lane.next += 1;
    return true;
  }

  /** Extends the lease. */
  extend(message: StoredMessage, untilMs: number): void {
    const { lease } = message;
    if (lease === undefined) return;
    lease.untilMs = untilMs;
    lease.consumer.leased.delete(message.seq);
    lease.consumer.leased.set(message.seq, message);
  }

  /** Removes a settled, dead or cancelled message; the lane goes on with the next. */
  remove(message: StoredMessage): void {
    this.messages.delete(message.seq);
    this.#release(message);
    this.#leave(message);
  }

  #leave(message: StoredMessage): void {
    const { lane } = message;
    if (lane === undefined) return;
    message.lane = undefined;
    lane.remove(lane.placeOf(message));
    if (lane.isEmpty) {
      this.#lanes.delete(lane.key);
      this.#ready.delete(lane);
      if (this.#latest === lane) this.#latest = undefined;
    } else if (lane.at(lane.next) !== undefined) this.#ready.add(lane);
  }

  /** Returns the message to its lane, with those delivered behind it. `isHeld`: it stays there until queued or woken. */
  giveBack(message: StoredMessage, isHeld: boolean): void {
    const { lane } = message;
    if (lane === undefined) {
      this.#release(message);
      if (!isHeld) this.queue(message);
      return;
    }
    message.isHeld = isHeld;
    const at = lane.placeOf(message);
    if (at >= lane.next) return;
    for (let place = at; place < lane.next; place += 1) {
      const each = lane.at(place);
      if (each === undefined) continue;
      this.#release(each);
      if (!each.isHeld) this.#freed.push(each);
    }
    lane.next = at;
    this.#ready.add(lane);
  }

  /** The consumer is gone. In each lane only the message in front was begun, so only that one is suspect. */
  drop(consumer: Consumer): void {
    this.consumers.delete(consumer.peer);
    for (const message of [...consumer.leased.values()]) {
      // Already back with one in front of it.
      if (message.lease?.consumer !== consumer) continue;
      const front = message.lane?.front ?? message;
      if (front.lease?.consumer === consumer) front.isSuspect = true;
      this.giveBack(front.lease?.consumer === consumer ? front : message, false);
    }
  }

  /** Leases of this consumer that have ended, in order of seq. */
  overdue(consumer: Consumer, nowMs: number): StoredMessage[] {
    const overdue: StoredMessage[] = [];
    for (const message of consumer.leased.values()) {
      if ((message.lease?.untilMs ?? Infinity) > nowMs) break;
      overdue.push(message);
    }
    return overdue.sort((a, b) => a.seq - b.seq);
  }

  #laneFor(message: StoredMessage): Lane {
    const { from, orderKey } = message;
    if (this.#latest?.from === from && this.#latest.orderKey === orderKey) return this.#latest;
    const key = keyOf(message);
    this.#latest = this.#lanes.get(key) ?? new Lane(from, orderKey);
    this.#lanes.set(key, this.#latest);
    return this.#latest;
  }

  #grant(consumer: Consumer, message: StoredMessage, untilMs: number): void {
    message.lease = { consumer, untilMs };
    consumer.leased.set(message.seq, message);
    consumer.leasedBytes += message.bytes;
    this.leases += 1;
  }

  #release(message: StoredMessage): void {
    const consumer = message.lease?.consumer;
    if (consumer === undefined) return;
    message.lease = undefined;
    consumer.leased.delete(message.seq);
    consumer.leasedBytes -= message.bytes;
    this.leases -= 1;
    this.forgetIdle(consumer);
  }

  /** Drops a consumer without credit and leases. */
  forgetIdle(consumer: Consumer): void {
    if (consumer.credit.messages === 0 && consumer.leased.size === 0)
      this.consumers.delete(consumer.peer);
  }
}
