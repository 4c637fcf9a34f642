import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { deadKey, messageKey, stateKey } from '../store/keys.js';
import type { Operation, Store } from '../store/port.js';
import type { PeerId } from '../transport/port.js';
import { Command, decodeFrame, encodeFrame, readdress, type Frame } from '../wire/frame.js';
import {
  messageViewCodec,
  type MailboxView,
  type MessageAnswer,
  type MessageView,
} from '../wire/messages.js';
import { Dedupe } from './mail/dedupe.js';
import { letterOf, redelivery, settleOperations, stateOperation, viewOf } from './letters.js';
import type { BrokerLimits } from './limits.js';
import { Mailbox, type Consumer, type Letter } from './mailbox.js';
import { MailIndex } from './mail/mail-index.js';
import { fits, Takers, type Taker } from './takers.js';
import { Timeline } from './mail/schedule.js';

/** Bodies read from disk at once. */
const fetchMax = 256;
/** Due messages looked at in one tick; the rest waits for the next. */
const duePerTickMax = 10_000;
/** After the store could not be read though it serves. */
const reloadRetryMs = 1_000;
/** Times of messages that are settled already, before they are dropped. */
const timelineSlack = 1_024;

export interface Posted {
  seq: number;
  /** It had been accepted before; nothing was stored. */
  isDuplicate: boolean;
}

export interface MailboxesParts {
  store: Store;
  clock: Clock;
  random: () => number;
  limits: BrokerLimits;
  trace: Trace;
  /** False: the peer does not read. */
  deliver: (peer: PeerId, frame: Buffer) => boolean;
  onDead: (letter: Letter) => void;
  /** A message for somebody who waited for it; it is leased to that session. */
  onTaken: (taker: Taker, letter: Letter) => void;
}

/**
 * Durable messages: accepted once stored and synced, delivered under a lease until settled, in order per
 * sender, mailbox and order key. The disk holds the message, its changes of state and the ids of settled
 * ones; leases live in memory, because a holder names in its HELLO what it still works on.
 */
export class Mailboxes {
  readonly #parts: MailboxesParts;
  readonly #limits: BrokerLimits;
  readonly #clock: Clock;
  readonly #index: MailIndex;
  readonly #dedupe: Dedupe;
  readonly #mailboxes = new Map<string, Mailbox>();
  readonly #timeline = new Timeline<Letter>();
  /** SENDs whose batch is on its way to disk, by sender and id. */
  readonly #posting = new Map<string, Promise<Posted>>();
  /** Mailboxes with something back from a session, until it or the next has said what it still works on. */
  readonly #left = new Set<Mailbox>();
  #bytes = 0;
  #frameBytes = 0;
  #depth = 0;
  #prunedMs = 0;
  #isLoading = true;
  #reloads = 0;
  /** Sessions that wait for one message. */
  readonly takers: Takers;
  readonly counts = { accepted: 0, delivered: 0, settled: 0, redelivered: 0, duplicates: 0 };

  private constructor(parts: MailboxesParts) {
    this.#parts = parts;
    this.#limits = parts.limits;
    this.#clock = parts.clock;
    this.#dedupe = new Dedupe(parts.limits);
    this.takers = new Takers(parts.limits.takersPerSessionMax);
    this.#index = new MailIndex({
      store: parts.store,
      dedupe: this.#dedupe,
      onCorrupt: (key, detail) =>
        parts.trace('error', 'a stored record is corrupt and was left out', {
          record: key,
          detail,
        }),
    });
  }

  static async open(parts: MailboxesParts): Promise<Mailboxes> {
    const mailboxes = new Mailboxes(parts);
    await mailboxes.#load();
    mailboxes.#index.onReopened(() => void mailboxes.#reload());
    return mailboxes;
  }

  /** What is stored is not known yet, or not known again; new messages are refused meanwhile. */
  get isLoading(): boolean {
    return this.#isLoading;
  }

  // --- accept

  /** What became of an earlier SEND of this id by this sender; undefined: there was none. */
  earlier(from: string, id: string): Promise<Posted> | undefined {
    const seq = this.#dedupe.seqOf(from, id);
    const posted = seq === undefined ? this.#posting.get(`${from}\0${id}`) : { seq };
    if (posted === undefined) return undefined;
    this.counts.duplicates += 1;
    return Promise.resolve(posted).then((each) => ({ seq: each.seq, isDuplicate: true }));
  }

  /**
   * Stores a message for `mailbox` and resolves after fsync. Ask `earlier` first.
   * Throws INBOX_FULL, BROKER_BUSY at once, and rejects STORE_UNAVAILABLE; then it was not taken.
   */
  post(frame: Frame, from: string, mailbox: string): Promise<Posted> {
    const key = `${from}\0${frame.envelope.id}`;
    const { letter, bytes, operations } = this.#admit(frame, from, mailbox);
    const posting = this.#store(letter, bytes, operations).finally(() => {
      this.#posting.delete(key);
    });
    this.#posting.set(key, posting);
    return posting;
  }

  /** It is stored, or on its way to the store. */
  isTaken(from: string, id: string): boolean {
    return this.#dedupe.seqOf(from, id) !== undefined || this.#posting.has(`${from}\0${id}`);
  }

  /** Takes its number and its room. */
  #admit(
    frame: Frame,
    from: string,
    name: string,
  ): { letter: Letter; bytes: Buffer; operations: Operation[] } {
    if (this.#isLoading || !this.#index.isStoreServing) throw storeBusy('it is being reopened');
    const { id, reply_to, correlation, more, trace, type } = frame.envelope;
    const { delay_ms, ttl_ms, order_key } = frame.envelope;
    const operations: Operation[] = [];
    const seq = this.#index.takeSeq(operations);
    const stored = readdress(frame, Command.DELIVER, {
      // Written out: this runs for every message, and a spread costs a microsecond.
      id,
      from,
      correlation,
      more,
      trace,
      type,
      delay_ms,
      ttl_ms,
      order_key,
      seq,
      to: name,
      reply_to: reply_to === '' ? '' : `reply:${from}`,
      attempt: 1,
      durable: true,
      stored_ms: this.#clock.nowMs(),
    });
    const bytes = encodeFrame(stored);
    // At once: a refusal that came later would come after those that were sent behind it.
    if (!this.#parts.store.hasRoom(bytes.length)) throw storeBusy('too much waits for the disk');
    this.#reserve(name, bytes.length);
    operations.push({ type: 'put', key: messageKey(seq), value: bytes });
    return { letter: letterOf(stored, bytes), bytes, operations };
  }

  async #store(letter: Letter, bytes: Buffer, operations: Operation[]): Promise<Posted> {
    const { from, seq } = letter;
    const mailbox = this.#mailbox(letter.mailbox);
    try {
      await this.#index.commit(operations);
    } catch (error) {
      this.#free(mailbox, bytes.length);
      throw error;
    }
    this.counts.accepted += 1;
    this.#remember(letter, mailbox);
    this.#index.tidy(this.#dedupe.thin(from, this.#clock.nowMs()));
    this.#keepFrame(letter, bytes);
    this.#index.letters.set(seq, letter);
    this.#enter(mailbox, letter);
    this.#pumpAll(mailbox);
    return { seq, isDuplicate: false };
  }

  #remember({ from, id, seq, storedMs: atMs }: Letter, { name }: Mailbox): void {
    this.#dedupe.remember(from, id, { seq, mailbox: name, atMs, isSettled: false });
  }

  /** Throws INBOX_FULL or BROKER_BUSY. */
  #reserve(name: string, bytes: number): void {
    const { mailboxMessagesMax, mailboxBytesMax, messagesMax, messageBytesMax } = this.#limits;
    const { depth, bytes: stored } = this.#mailboxes.get(name) ?? { depth: 0, bytes: 0 };
    if (depth >= mailboxMessagesMax || stored + bytes > mailboxBytesMax)
      throw new BusError('INBOX_FULL', { mailbox: name, depth });
    // A message ends with its reply: without room for that, a full broker would stay full.
    const share = name.startsWith('reply:') ? 2 : 1;
    if (this.#depth >= messagesMax * share || this.#bytes + bytes > messageBytesMax * share) {
      const retryAfterMs = this.#limits.busyRetryMs;
      throw new BusError('BROKER_BUSY', { limit: messagesMax, retryAfterMs });
    }
    const mailbox = this.#mailbox(name);
    mailbox.depth += 1;
    mailbox.bytes += bytes;
    this.#depth += 1;
    this.#bytes += bytes;
  }

  #free(mailbox: Mailbox, bytes: number): void {
    mailbox.depth -= 1;
    mailbox.bytes -= bytes;
    this.#depth -= 1;
    this.#bytes -= bytes;
    if (mailbox.isIdle) this.#mailboxes.delete(mailbox.name);
  }

  #keepFrame(letter: Letter, frame: Buffer): void {
    if (this.#frameBytes + frame.length > this.#limits.frameCacheBytesMax) return;
    letter.frame = frame;
    this.#frameBytes += frame.length;
  }

  #dropFrame(letter: Letter): void {
    if (letter.frame !== undefined) this.#frameBytes -= letter.frame.length;
    letter.frame = undefined;
  }

  #enter(mailbox: Mailbox, letter: Letter): void {
    mailbox.letters.set(letter.seq, letter);
    if (letter.expiresMs > 0) this.#timeline.add(letter.expiresMs, letter);
    const isEarly = letter.dueMs > this.#clock.nowMs();
    if (isEarly) this.#timeline.add(letter.dueMs, letter);
    // What was tried before keeps its place, and what is behind it waits with it.
    letter.isHeld = isEarly && letter.attempts > 0;
    if (!isEarly || letter.isHeld) mailbox.queue(letter);
  }

  // --- deliver

  /** Sets how many messages and bytes this session takes unsettled. */
  credit(peer: PeerId, name: string, messages: number, bytes: number): void {
    if (messages === 0) return this.withdraw(peer, name);
    const consumer = this.#consumer(peer, name);
    consumer.credit = {
      messages: Math.min(messages, this.#limits.creditMessagesMax),
      bytes: Math.min(bytes, this.#limits.creditBytesMax),
    };
    this.#pump(consumer);
  }

  #settleOperations(letter: Letter): Operation[] {
    const isRemembered = this.#dedupe.settled(letter.from, letter.id);
    return settleOperations(letter, isRemembered, this.#clock.nowMs());
  }

  /** It takes nothing more out of this mailbox; what it holds it may finish. */
  withdraw(peer: PeerId, name: string): void {
    const mailbox = this.#mailboxes.get(name);
    const consumer = mailbox?.consumers.get(peer);
    if (mailbox === undefined || consumer === undefined) return;
    consumer.credit = { messages: 0, bytes: 0 };
    mailbox.forgetIdle(consumer);
    if (mailbox.isIdle) this.#mailboxes.delete(name);
  }

  /** A session has begun whose agent still works on these, from an earlier one. */
  adopt(peer: PeerId, seqs: number[], maySettle: (mailbox: string) => boolean): void {
    for (const seq of seqs.sort((a, b) => a - b)) {
      const letter = this.#index.letters.get(seq);
      if (letter === undefined || letter.deadMs > 0 || !maySettle(letter.mailbox)) continue;
      const consumer = this.#consumer(peer, letter.mailbox);
      const untilMs = this.#clock.monotonicMs() + this.#limits.leaseMs;
      consumer.mailbox.adopt(consumer, letter, untilMs);
      consumer.mailbox.forgetIdle(consumer);
    }
    for (const mailbox of this.#left) this.#pumpAll(mailbox);
    this.#left.clear();
  }

  /** A session has lost count of what was delivered to it: whatever it does not name as held comes back. */
  takeBack(peer: PeerId, held: ReadonlySet<number>): void {
    for (const mailbox of this.#mailboxes.values()) {
      for (const letter of [...(mailbox.consumers.get(peer)?.leased.values() ?? [])]) {
        // Back already, behind one of its lane.
        if (letter.lease?.consumer.peer !== peer || held.has(letter.seq)) continue;
        mailbox.giveBack(letter, false);
        this.#left.add(mailbox);
      }
    }
  }

  /** Delivers what this session may have, in all its mailboxes. */
  resume(peer: PeerId): void {
    for (const mailbox of this.#mailboxes.values())
      if (mailbox.consumers.has(peer)) this.#pumpAll(mailbox);
  }

  /** One message, now or when it comes; see `onTaken`. Throws INBOX_EMPTY, BROKER_BUSY. */
  take(taker: Taker): void {
    const mailbox = this.#mailboxes.get(taker.mailbox);
    const mayWait = taker.untilMs > this.#clock.monotonicMs();
    if (mailbox !== undefined && this.#serve(mailbox, taker, [...mailbox.letters.values()])) return;
    if (!mayWait) throw new BusError('INBOX_EMPTY', { mailbox: taker.mailbox });
    this.takers.add(taker);
  }

  /** Gives the taker the oldest of these that it wants, or the newest. False: there is none. */
  #serve(mailbox: Mailbox, taker: Taker, letters: readonly Letter[]): boolean {
    const { want, peer } = taker;
    let letter: Letter | undefined;
    do {
      letter = undefined;
      for (const each of letters) {
        if (!fits(each, want) || mailbox.letters.get(each.seq) !== each) continue;
        if (letter === undefined || each.seq > letter.seq === want.lifo) letter = each;
      }
      if (letter === undefined) return false;
      // One that is over is in the mailbox no more; the next may do.
    } while (this.#isOver(letter));
    const consumer = this.#consumer(peer, mailbox.name);
    mailbox.take(consumer, letter, this.#clock.monotonicMs() + this.#limits.leaseMs);
    this.counts.delivered += 1;
    if (letter.attempts > 0) this.counts.redelivered += 1;
    this.#parts.onTaken(taker, letter);
    return true;
  }

  /** What was taken could not be read: it comes back, unless it is gone meanwhile. */
  untaken(taker: Taker, letter: Letter): void {
    if (letter.lease?.consumer.peer !== taker.peer) return;
    const { mailbox } = letter.lease.consumer;
    mailbox.giveBack(letter, false);
    this.#pumpAll(mailbox);
  }

  /** `isSuperseded`: another session of its agent begins now, and `adopt` says what that one goes on with. */
  sessionEnded(peer: PeerId, isSuperseded: boolean): void {
    this.takers.sessionEnded(peer);
    for (const mailbox of [...this.#mailboxes.values()]) {
      const consumer = mailbox.consumers.get(peer);
      if (consumer === undefined) continue;
      mailbox.drop(consumer);
      if (mailbox.isIdle) this.#mailboxes.delete(mailbox.name);
      else if (isSuperseded) this.#left.add(mailbox);
      else this.#pumpAll(mailbox);
    }
  }

  #consumer(peer: PeerId, name: string): Consumer {
    const mailbox = this.#mailbox(name);
    let consumer = mailbox.consumers.get(peer);
    if (consumer === undefined) {
      consumer = {
        ...{ peer, mailbox, leased: new Map(), leasedBytes: 0, isFetching: false },
        credit: { messages: 0, bytes: 0 },
      };
      mailbox.consumers.set(peer, consumer);
    }
    return consumer;
  }

  #mailbox(name: string): Mailbox {
    let mailbox = this.#mailboxes.get(name);
    if (mailbox === undefined) {
      mailbox = new Mailbox(name);
      this.#mailboxes.set(name, mailbox);
    }
    return mailbox;
  }

  #pumpAll(mailbox: Mailbox): void {
    const freed = mailbox.takeFreed();
    for (const taker of freed.length === 0 ? [] : this.takers.of(mailbox.name))
      if (this.#serve(mailbox, taker, freed)) this.takers.remove(taker);
    for (const consumer of mailbox.consumers.values()) this.#pump(consumer);
  }

  #pump(consumer: Consumer): void {
    // Its session may have ended while bodies were read for it.
    if (consumer.isFetching || consumer.mailbox.consumers.get(consumer.peer) !== consumer) return;
    const missing: Letter[] = [];
    while (missing.length < fetchMax) {
      const untilMs = this.#clock.monotonicMs() + this.#limits.leaseMs;
      const letter = consumer.mailbox.lease(consumer, untilMs);
      if (letter === undefined) break;
      if (this.#isOver(letter)) continue;
      if (missing.length > 0 || letter.frame === undefined) missing.push(letter);
      else if (!this.#send(consumer, letter, letter.frame)) return;
    }
    if (missing.length > 0) void this.#fetch(consumer, missing);
  }

  /** True: it became a dead letter instead, expired or because one holder too many vanished over it. */
  #isOver(letter: Letter): boolean {
    if (this.#isExpired(letter)) this.#bury(letter, 'EXPIRED');
    else if (letter.isSuspect) {
      letter.isSuspect = false;
      letter.attempts += 1;
      letter.reason = 'LEASE_LOST';
      if (letter.attempts >= this.#limits.attemptsMax) this.#bury(letter, letter.reason);
      else this.#index.note(letter, [stateOperation(letter)]);
    }
    return letter.deadMs > 0;
  }

  #isExpired(letter: Letter): boolean {
    return letter.expiresMs > 0 && letter.expiresMs <= this.#clock.nowMs();
  }

  async #fetch(consumer: Consumer, letters: Letter[]): Promise<void> {
    consumer.isFetching = true;
    let frames: (Buffer | undefined)[] = [];
    try {
      frames = await this.#index.getMany(letters.map((letter) => messageKey(letter.seq)));
    } catch (error) {
      this.#parts.trace('warn', 'messages could not be read', {
        mailbox: consumer.mailbox.name,
        code: asBusError(error).code,
      });
    }
    consumer.isFetching = false;
    let isStalled = false;
    for (const [at, letter] of letters.entries()) {
      if (letter.lease?.consumer !== consumer) continue;
      const frame = letter.frame ?? frames[at];
      // The next tick tries again.
      if (frame === undefined || isStalled) consumer.mailbox.giveBack(letter, false);
      else isStalled = !this.#send(consumer, letter, frame);
    }
    if (frames.length > 0 && !isStalled) this.#pumpAll(consumer.mailbox);
  }

  /** False: the peer does not read. */
  #send(consumer: Consumer, letter: Letter, frame: Buffer): boolean {
    const isFirst = letter.attempts === 0;
    const bytes = isFirst ? frame : redelivery(decodeFrame(frame), letter.attempts);
    if (!this.#parts.deliver(consumer.peer, bytes)) {
      consumer.mailbox.giveBack(letter, false);
      return false;
    }
    this.counts.delivered += 1;
    if (!isFirst) this.counts.redelivered += 1;
    return true;
  }

  // --- settle

  /**
   * Every settlement but of messages that this session may settle is passed over: it comes too late.
   * `onSettled` is called before anything is delivered because of it, with the first that was settled; 0: none.
   */
  settle(
    peer: PeerId,
    isOwn: (mailbox: string) => boolean,
    seqs: number[],
    verdict: (letter: Letter) => void,
    onSettled: (first: number) => void,
  ): void {
    const touched = new Set<Mailbox>();
    let first = 0;
    for (const seq of seqs) {
      const letter = this.#index.letters.get(seq);
      if (letter === undefined || letter.deadMs > 0) continue;
      if (letter.lease?.consumer.peer !== peer && !isOwn(letter.mailbox)) continue;
      touched.add(this.#mailbox(letter.mailbox));
      first ||= seq;
      verdict(letter);
    }
    onSettled(first);
    for (const mailbox of touched) this.#pumpAll(mailbox);
  }

  done(letter: Letter): void {
    this.counts.settled += 1;
    this.#remove(letter);
    this.#index.note(letter, this.#settleOperations(letter));
  }

  working(letter: Letter): void {
    const untilMs = this.#clock.monotonicMs() + this.#limits.leaseMs;
    this.#mailbox(letter.mailbox).extend(letter, untilMs);
  }

  /** It was delivered and not begun: it goes back to its place and nothing is counted. */
  untouched(letter: Letter, delayMs: number): void {
    letter.dueMs = delayMs === 0 ? 0 : this.#clock.nowMs() + delayMs;
    this.#holdUntil(letter, letter.dueMs);
  }

  /** One more failed attempt. Redelivered after `delayMs`, or after full-jitter backoff when that is 0. */
  failed(letter: Letter, reason: string, delayMs: number): void {
    letter.attempts += 1;
    letter.reason = reason;
    letter.isSuspect = false;
    // What was delivered behind it comes again, whatever becomes of it: its holder has given up on its lane.
    this.#mailbox(letter.mailbox).giveBack(letter, true);
    if (letter.attempts >= this.#limits.attemptsMax) return this.#bury(letter, reason);
    if (this.#isExpired(letter)) return this.#bury(letter, 'EXPIRED');
    const { retryBackoff } = this.#limits;
    const waitMs = delayMs || backoffMs(retryBackoff, letter.attempts - 1, this.#parts.random());
    letter.dueMs = this.#clock.nowMs() + waitMs;
    this.#index.note(letter, [stateOperation(letter)]);
    this.#holdUntil(letter, letter.dueMs);
  }

  /** Never again. */
  terminated(letter: Letter, reason: string): void {
    letter.attempts += 1;
    this.#bury(letter, reason || 'TERMINATED');
  }

  /** All that is in these mailboxes, in whosever hands: nobody will ever take it. */
  close(names: readonly string[], reason: string): void {
    for (const name of names)
      for (const letter of [...(this.#mailboxes.get(name)?.letters.values() ?? [])])
        this.#bury(letter, reason);
  }

  #holdUntil(letter: Letter, untilMs: number): void {
    this.#mailbox(letter.mailbox).giveBack(letter, untilMs > 0);
    if (untilMs > 0) this.#timeline.add(untilMs, letter);
  }

  #bury(letter: Letter, reason: string): void {
    const mailbox = this.#mailbox(letter.mailbox);
    mailbox.remove(letter);
    mailbox.graves.set(letter.seq, letter);
    letter.reason = reason;
    letter.deadMs = this.#clock.nowMs();
    this.#dropFrame(letter);
    this.#index.note(letter, this.#buryOperations(letter));
    this.#parts.trace('warn', 'message became a dead letter', {
      ...{ seq: letter.seq, mailbox: letter.mailbox, from: letter.from, reason },
      attempts: letter.attempts,
    });
    this.#parts.onDead(letter);
  }

  #buryOperations(letter: Letter): Operation[] {
    const value = messageViewCodec.encode(viewOf(letter, letter.deadMs));
    return [
      { type: 'put', key: deadKey(letter.seq), value },
      { type: 'del', key: stateKey(letter.seq) },
    ];
  }

  #remove(letter: Letter): void {
    const mailbox = this.#mailbox(letter.mailbox);
    mailbox.remove(letter);
    mailbox.graves.delete(letter.seq);
    this.#index.letters.delete(letter.seq);
    this.#dropFrame(letter);
    this.#free(mailbox, letter.bytes);
  }

  // --- time

  /** `isLate`: this process stalled, so that silence proves nothing about those who hold leases. */
  tick(isLate: boolean): void {
    const nowMs = this.#clock.nowMs();
    for (let count = 0; count < duePerTickMax; count += 1) {
      const letter = this.#timeline.take(nowMs);
      if (letter === undefined) break;
      if (this.#index.letters.get(letter.seq) === letter && letter.deadMs === 0)
        this.#due(letter, nowMs);
    }
    const { letters } = this.#index;
    if (this.#timeline.size > 2 * letters.size + timelineSlack)
      this.#timeline.prune((letter) => letters.get(letter.seq) === letter);
    for (const mailbox of this.#mailboxes.values()) {
      if (!mailbox.isBusy && this.takers.of(mailbox.name).length === 0) continue;
      for (const consumer of isLate ? [] : mailbox.consumers.values()) this.#expireLeases(consumer);
      this.#pumpAll(mailbox);
    }
    if (nowMs - this.#prunedMs < this.#limits.pruneMs) return;
    this.#prunedMs = nowMs;
    this.#index.tidy(this.#dedupe.prune(nowMs));
  }

  #due(letter: Letter, nowMs: number): void {
    const mailbox = this.#mailbox(letter.mailbox);
    // Whoever works on it may still finish; looked at again, in case it comes back.
    if (letter.lease !== undefined) {
      if (this.#isExpired(letter)) this.#timeline.add(nowMs + this.#limits.leaseMs, letter);
      return;
    }
    if (this.#isExpired(letter)) this.#bury(letter, 'EXPIRED');
    else if (letter.dueMs > nowMs) return;
    else if (letter.isQueued) mailbox.wake(letter);
    else mailbox.queue(letter);
    this.#pumpAll(mailbox);
  }

  #expireLeases(consumer: Consumer): void {
    for (const letter of consumer.mailbox.overdue(consumer, this.#clock.monotonicMs())) {
      // Back already, behind one of its lane.
      if (letter.lease?.consumer === consumer) this.failed(letter, 'LEASE_EXPIRED', 0);
    }
  }

  // --- look and administer

  get size(): { messages: number; bytes: number; leases: number; dead: number; oldestMs: number } {
    const all = this.views();
    const sum = (pick: (view: MailboxView) => number): number =>
      all.reduce((total, view) => total + pick(view), 0);
    return {
      messages: this.#depth - sum((view) => view.dead),
      bytes: this.#bytes,
      leases: sum((view) => view.leases),
      dead: sum((view) => view.dead),
      oldestMs: all.reduce((oldest, view) => Math.max(oldest, view.oldest_ms), 0),
    };
  }

  views(): MailboxView[] {
    const nowMs = this.#clock.nowMs();
    return [...this.#mailboxes.values()]
      .filter((mailbox) => mailbox.depth > 0)
      .map((mailbox) => {
        // Insertion order is nearly the order of age; exact enough to see that something is stuck.
        const oldest = [...take(mailbox.letters.values(), 1)][0];
        return {
          mailbox: mailbox.name,
          depth: mailbox.depth - mailbox.dead,
          bytes: mailbox.bytes,
          leases: mailbox.leases,
          dead: mailbox.dead,
          oldest_ms: oldest === undefined ? 0 : Math.max(1, nowMs - oldest.storedMs),
        };
      });
  }

  /** Mailboxes that cost memory: with messages, or somebody who takes them. */
  get mailboxCount(): number {
    return this.#mailboxes.size;
  }

  /** Something in it waits to be taken, or is on its way to the disk. */
  isUsed(name: string): boolean {
    const mailbox = this.#mailboxes.get(name);
    return mailbox !== undefined && mailbox.depth > mailbox.dead;
  }

  isKnown(mailbox: string): boolean {
    return (this.#mailboxes.get(mailbox)?.depth ?? 0) > 0;
  }

  /** The mailbox of what this agent sent under this id within the dedupe window; see `Dedupe.mailboxOf`. */
  sentTo(agent: string, id: string): string | undefined {
    return this.#dedupe.mailboxOf(agent, id);
  }

  letterBySeq(seq: number): Letter | undefined {
    return this.#index.letters.get(seq);
  }

  letterById(agent: string, id: string): Letter | undefined {
    const seq = this.#dedupe.seqOf(agent, id);
    return seq === undefined ? undefined : this.#index.letters.get(seq);
  }

  /** Letters of these mailboxes, or of all, in the order of seq, behind `after`; `isDead`: dead ones, else the others. */
  list(
    names: readonly string[] | 'all',
    isDead: boolean,
    after: number,
    limit: number,
  ): MessageView[] {
    const nowMs = this.#clock.nowMs();
    const wanted = names === 'all' ? [...this.#mailboxes.keys()] : names;
    return wanted
      .flatMap((name) => {
        const mailbox = this.#mailboxes.get(name);
        return [...((isDead ? mailbox?.graves : mailbox?.letters)?.values() ?? [])];
      })
      .filter((each) => each.seq > after)
      .sort((a, b) => a.seq - b.seq)
      .slice(0, limit)
      .map((each) => viewOf(each, nowMs));
  }

  /** Throws NO_SUCH_MESSAGE, STORE_UNAVAILABLE. */
  async read(letter: Letter): Promise<MessageAnswer> {
    const frame = letter.frame ?? (await this.#index.getMany([messageKey(letter.seq)]))[0];
    if (frame === undefined) throw new BusError('NO_SUCH_MESSAGE', { message: letter.seq });
    return { view: viewOf(letter, this.#clock.nowMs()), body: decodeFrame(frame).body };
  }

  /** Dead letters take their places again, as if never tried and without expiry. */
  async requeue(letters: Letter[]): Promise<void> {
    const dead = [...new Set(letters)].filter((letter) => letter.deadMs > 0);
    const again = { deadMs: 0, attempts: 0, expiresMs: 0, dueMs: 0, reason: 'REQUEUED' };
    const fresh = dead.map((letter) => ({ ...letter, ...again, isQueued: false, isHeld: false }));
    try {
      await this.#index.commit(
        fresh.flatMap((letter) => [
          { type: 'del' as const, key: deadKey(letter.seq) },
          stateOperation(letter),
        ]),
      );
    } catch (error) {
      // It may have reached the disk: what is dead here must be so there.
      for (const letter of dead)
        if (this.#index.letters.get(letter.seq) === letter)
          this.#index.owe(letter.seq, this.#buryOperations(letter));
      throw error;
    }
    for (const letter of fresh) {
      // Purged or requeued by somebody else meanwhile.
      if ((this.#index.letters.get(letter.seq)?.deadMs ?? 0) === 0) continue;
      const mailbox = this.#mailbox(letter.mailbox);
      mailbox.graves.delete(letter.seq);
      this.#index.letters.set(letter.seq, letter);
      this.#enter(mailbox, letter);
    }
    this.#parts.trace('info', 'dead letters requeued', { count: fresh.length });
    for (const name of new Set(fresh.map((letter) => letter.mailbox)))
      this.#pumpAll(this.#mailbox(name));
  }

  /**
   * Gone for good, from this moment on; their ids stay known, so that none is accepted again. Throws
   * STORE_UNAVAILABLE: they are gone until this process ends without its store having come back.
   */
  async purge(letters: Letter[]): Promise<void> {
    const { letters: known } = this.#index;
    const gone = [...new Set(letters)].filter((letter) => known.get(letter.seq) === letter);
    const touched = new Set(gone.map((letter) => this.#mailbox(letter.mailbox)));
    for (const letter of gone) this.#remove(letter);
    for (const mailbox of touched) this.#pumpAll(mailbox);
    const operations = gone.map((letter): [number, Operation[]] => [
      letter.seq,
      [
        ...this.#settleOperations(letter),
        { type: 'del', key: stateKey(letter.seq) },
        { type: 'del', key: deadKey(letter.seq) },
      ],
    ]);
    try {
      await this.#index.commit(operations.flatMap(([, its]) => its));
    } catch (error) {
      for (const [seq, its] of operations) this.#index.owe(seq, its);
      throw error;
    }
  }

  // --- disk

  async #load(): Promise<void> {
    this.#isLoading = true;
    // All at once when all is read: half of it would look like all of it, and be known to the next load.
    for (const letter of await this.#index.load()) {
      const mailbox = this.#mailbox(letter.mailbox);
      this.#index.letters.set(letter.seq, letter);
      this.#remember(letter, mailbox);
      mailbox.depth += 1;
      mailbox.bytes += letter.bytes;
      this.#depth += 1;
      this.#bytes += letter.bytes;
      if (letter.deadMs > 0) mailbox.graves.set(letter.seq, letter);
      else this.#enter(mailbox, letter);
    }
    for (const mailbox of this.#mailboxes.values()) this.#pumpAll(mailbox);
    this.#isLoading = false;
  }

  /** The store was closed and opened again, and may hold more than we were told. */
  async #reload(): Promise<void> {
    this.#reloads += 1;
    const reload = this.#reloads;
    // When it fails again, its next reopening loads anew; when it only could not be read, we try again.
    while (reload === this.#reloads && this.#index.isStoreServing) {
      try {
        await this.#load();
        this.#parts.trace('info', 'the store is back', { messages: this.#depth });
        return;
      } catch (error) {
        this.#parts.trace('warn', 'the store could not be read', { code: asBusError(error).code });
      }
      await new Promise<void>((resolve) => void this.#clock.after(reloadRetryMs, resolve));
    }
  }
}

function storeBusy(detail: string): BusError {
  return new BusError('STORE_UNAVAILABLE', { path: 'bus/store', detail });
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const item of items) {
    if (left <= 0) return;
    left -= 1;
    yield item;
  }
}
