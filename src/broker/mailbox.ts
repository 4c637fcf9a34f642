import type { PeerId } from '../transport/port.js';

/** A stored message that is not settled. Its body is on disk; `frame` is there while memory allows. */
export interface Letter {
  readonly seq: number;
  readonly id: string;
  readonly from: string;
  readonly mailbox: string;
  readonly type: string;
  readonly correlation: string;
  readonly replyTo: string;
  readonly more: boolean;
  readonly orderKey: string;
  /** Of the whole frame. */
  readonly bytes: number;
  readonly storedMs: number;
  /** Unix milliseconds; 0: never. */
  expiresMs: number;
  /** Unix milliseconds before which it is not delivered; 0: at once. */
  dueMs: number;
  /** Deliveries that failed. */
  attempts: number;
  /** Why the last one failed. */
  reason: string;
  /** Since when it is a dead letter; 0: it is none. */
  deadMs: number;
  /** The DELIVER frame of its first delivery. */
  frame: Buffer | undefined;
  lease: Lease | undefined;
  /** Its last lease was lost with its holder, who may have failed because of it: the next one counts as another attempt. */
  isSuspect: boolean;
  /** In its lane; else its time has not come. */
  isQueued: boolean;
  /** It failed and waits in its lane, and the lane with it, until it is woken. */
  isHeld: boolean;
}

export interface Lease {
  readonly consumer: Consumer;
  untilMs: number;
}

/** One session that takes messages out of one mailbox, at most as many at once as its credit says. */
export interface Consumer {
  readonly peer: PeerId;
  readonly mailbox: Mailbox;
  credit: { messages: number; bytes: number };
  /** By seq, the lease that runs out first in front. */
  readonly leased: Map<number, Letter>;
  leasedBytes: number;
  /** Bodies are on their way from disk; nothing else is sent before them. */
  isFetching: boolean;
}

/** Settled places in front of a lane that are kept before it is copied; copying each time would cost O(n). */
const gapMax = 1_024;

/** Messages of one sender with one order key, oldest first: delivered in order, and none before the one in front is settled or back. */
class Lane {
  #letters: (Letter | undefined)[] = [];
  /** Places before it are settled. */
  #head = 0;
  /** The first that is not leased. */
  next = 0;

  constructor(readonly key: string) {}

  get isEmpty(): boolean {
    return this.#head === this.#letters.length;
  }

  get front(): Letter | undefined {
    return this.#letters[this.#head];
  }

  at(place: number): Letter | undefined {
    return place < this.#head ? undefined : this.#letters[place];
  }

  placeOf(letter: Letter): number {
    return this.#letters.indexOf(letter, this.#head);
  }

  insert(letter: Letter): void {
    // Nearly always the end; a scheduled or requeued message goes in front of later ones not yet taken.
    let at = this.#letters.length;
    while (at > this.next && (this.#letters[at - 1]?.seq ?? 0) > letter.seq) at -= 1;
    if (at === this.#letters.length) this.#letters.push(letter);
    else this.#letters.splice(at, 0, letter);
  }

  remove(place: number): void {
    if (place !== this.#head) {
      this.#letters.splice(place, 1);
      if (place < this.next) this.next -= 1;
      return;
    }
    // Not kept alive by its place.
    this.#letters[place] = undefined;
    this.#head += 1;
    this.next = Math.max(this.next, this.#head);
    if (this.#head < gapMax || this.#head * 2 < this.#letters.length) return;
    this.#letters = this.#letters.slice(this.#head);
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
  readonly letters = new Map<number, Letter>();
  readonly consumers = new Map<PeerId, Consumer>();
  readonly #lanes = new Map<string, Lane>();
  readonly #ready = new Set<Lane>();
  /** Of all that is stored here, dead letters and what is about to be stored included. */
  depth = 0;
  bytes = 0;
  leases = 0;
  /** Dead letters, by seq. */
  readonly graves = new Map<number, Letter>();
  /** What became free since somebody last looked for those who wait for one message. */
  #freed: Letter[] = [];

  constructor(readonly name: string) {}

  /** Something may have to be done without anybody asking. */
  get isBusy(): boolean {
    return this.leases > 0 || (this.#ready.size > 0 && this.consumers.size > 0);
  }

  get isIdle(): boolean {
    return this.depth === 0 && this.consumers.size === 0;
  }

  get dead(): number {
    return this.graves.size;
  }

  /** May be taken by whoever waits for one; each is named once. */
  takeFreed(): Letter[] {
    const freed = this.#freed;
    if (freed.length > 0) this.#freed = [];
    return freed;
  }

  /** Its time has come: it takes its place in its lane. */
  queue(letter: Letter): void {
    const key = `${letter.from}\0${letter.orderKey}`;
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = new Lane(key);
      this.#lanes.set(key, lane);
    }
    lane.insert(letter);
    letter.isQueued = true;
    this.#ready.add(lane);
    if (!letter.isHeld) this.#freed.push(letter);
  }

  /** The time until which it was held has come. */
  wake(letter: Letter): void {
    letter.isHeld = false;
    const lane = this.#laneOf(letter);
    if (lane === undefined) return;
    this.#ready.add(lane);
    this.#freed.push(letter);
  }

  /**
   * The next message for this consumer, now leased to it; undefined when there is none or its credit is
   * used up. `untilMs`: of the lease, on the caller's monotonic clock.
   */
  lease(consumer: Consumer, untilMs: number): Letter | undefined {
    const { credit, leased } = consumer;
    if (leased.size >= credit.messages) return undefined;
    for (const lane of this.#ready) {
      const letter = lane.at(lane.next);
      if (letter === undefined || letter.isHeld) {
        this.#ready.delete(lane);
        continue;
      }
      const holder = lane.at(lane.next - 1)?.lease?.consumer;
      if (holder !== undefined && holder !== consumer) continue;
      // One that is larger than the whole credit still passes, alone.
      if (leased.size > 0 && consumer.leasedBytes + letter.bytes > credit.bytes) return undefined;
      this.#grant(consumer, letter, untilMs);
      lane.next += 1;
      this.#ready.delete(lane);
      if (lane.at(lane.next) !== undefined) this.#ready.add(lane);
      return letter;
    }
    return undefined;
  }

  /** This very message, out of its turn: its lane goes on without it. */
  take(consumer: Consumer, letter: Letter, untilMs: number): void {
    const lane = this.#laneOf(letter);
    const place = lane?.placeOf(letter) ?? -1;
    if (lane !== undefined && place >= 0) this.#leave(lane, place);
    letter.isQueued = false;
    this.#grant(consumer, letter, untilMs);
  }

  /** The consumer still works on it, says a session that has just begun. True when it may keep it. */
  adopt(consumer: Consumer, letter: Letter, untilMs: number): boolean {
    const lane = this.#laneOf(letter);
    const at = lane?.placeOf(letter) ?? -1;
    if (lane === undefined || at !== lane.next || letter.lease !== undefined) return false;
    const holder = lane.at(at - 1)?.lease?.consumer;
    if (holder !== undefined && holder !== consumer) return false;
    letter.isSuspect = false;
    letter.isHeld = false;
    this.#grant(consumer, letter, untilMs);
    lane.next += 1;
    return true;
  }

  /** Shown to be worked on. */
  extend(letter: Letter, untilMs: number): void {
    const { lease } = letter;
    if (lease === undefined) return;
    lease.untilMs = untilMs;
    lease.consumer.leased.delete(letter.seq);
    lease.consumer.leased.set(letter.seq, letter);
  }

  /** It is settled, dead or cancelled: the lane goes on with the next. */
  remove(letter: Letter): void {
    this.letters.delete(letter.seq);
    this.#release(letter);
    const lane = this.#laneOf(letter);
    const at = lane?.placeOf(letter) ?? -1;
    if (lane !== undefined && at >= 0) this.#leave(lane, at);
  }

  #leave(lane: Lane, place: number): void {
    lane.remove(place);
    if (lane.isEmpty) {
      this.#lanes.delete(lane.key);
      this.#ready.delete(lane);
    } else if (lane.at(lane.next) !== undefined) this.#ready.add(lane);
  }

  /** It comes back, and with it what was delivered behind it. `isHeld`: until somebody queues or wakes it. */
  giveBack(letter: Letter, isHeld: boolean): void {
    if (!letter.isQueued) {
      this.#release(letter);
      if (!isHeld) this.queue(letter);
      return;
    }
    letter.isHeld = isHeld;
    const lane = this.#laneOf(letter);
    const at = lane?.placeOf(letter) ?? -1;
    if (lane === undefined || at < 0 || at >= lane.next) return;
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
    for (const letter of [...consumer.leased.values()]) {
      // Already back with one in front of it.
      if (letter.lease?.consumer !== consumer) continue;
      const front = (letter.isQueued ? this.#laneOf(letter)?.front : undefined) ?? letter;
      if (front.lease?.consumer === consumer) front.isSuspect = true;
      this.giveBack(front.lease?.consumer === consumer ? front : letter, false);
    }
  }

  /** Leases of this consumer that have run out, in the order of their lanes' fronts first. */
  overdue(consumer: Consumer, nowMs: number): Letter[] {
    const overdue: Letter[] = [];
    for (const letter of consumer.leased.values()) {
      if ((letter.lease?.untilMs ?? Infinity) > nowMs) break;
      overdue.push(letter);
    }
    return overdue.sort((a, b) => a.seq - b.seq);
  }

  #laneOf(letter: Letter): Lane | undefined {
    return this.#lanes.get(`${letter.from}\0${letter.orderKey}`);
  }

  #grant(consumer: Consumer, letter: Letter, untilMs: number): void {
    letter.lease = { consumer, untilMs };
    consumer.leased.set(letter.seq, letter);
    consumer.leasedBytes += letter.bytes;
    this.leases += 1;
  }

  #release(letter: Letter): void {
    const consumer = letter.lease?.consumer;
    if (consumer === undefined) return;
    letter.lease = undefined;
    consumer.leased.delete(letter.seq);
    consumer.leasedBytes -= letter.bytes;
    this.leases -= 1;
    this.forgetIdle(consumer);
  }

  /** One that takes nothing and holds nothing costs nothing. */
  forgetIdle(consumer: Consumer): void {
    if (consumer.credit.messages === 0 && consumer.leased.size === 0)
      this.consumers.delete(consumer.peer);
  }
}
