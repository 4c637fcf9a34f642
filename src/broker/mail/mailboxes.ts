import { backoffMs } from '../../base/backoff.js';
import type { Clock } from '../../base/clock.js';
import type { Trace } from '../../base/trace.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { deadKey, messageKey, stateKey } from '../../store/keys.js';
import type { Operation, Store } from '../../store/port.js';
import type { PeerId } from '../../transport/port.js';
import {
  Command,
  decodeFrame,
  encodeFrame,
  newEnvelope,
  type Envelope,
  type Frame,
} from '../../wire/frame.js';
import {
  messageViewCodec,
  type MailboxView,
  type MessageAnswer,
  type MessageView,
} from '../../wire/messages.js';
import { Dedupe } from './dedupe.js';
import {
  storedMessageOf,
  redelivery,
  settleOperations,
  stateOperation,
  viewOf,
} from './stored-message.js';
import type { BrokerLimits } from '../limits.js';
import { Mailbox, type Consumer, type StoredMessage } from './mailbox.js';
import { MailIndex } from './mail-index.js';
import { Postings, type OnPosted, type Posting } from './postings.js';
import { fits, WaitingReceivers, type WaitingReceiver } from './waiting-receivers.js';
import { Schedule } from './schedule.js';

/** Bodies read from disk at once. */
const fetchMax = 256;
/** Due messages looked at in one tick; the rest waits for the next. */
const duePerTickMax = 10_000;
/** Pause before another attempt to read a store that serves. */
const reloadRetryMs = 1_000;
/** Entries of settled messages that the schedule keeps before it is pruned. */
const scheduleSlack = 1_024;

export interface MailboxesParts {
  store: Store;
  clock: Clock;
  random: () => number;
  limits: BrokerLimits;
  trace: Trace;
  /** False: the peer does not read. */
  deliver: (peer: PeerId, frame: Buffer) => boolean;
  onDead: (message: StoredMessage) => void;
  /** A waiting receiver got this message; it is leased to that session. */
  onReceived: (receiver: WaitingReceiver, message: StoredMessage) => void;
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
  readonly #schedule = new Schedule<StoredMessage>();
  readonly #postings = new Postings({
    commit: (batch) => this.#index.store(batch),
    onEnded: (batch, error) => this.#onPosted(batch, error),
  });
  /** Mailboxes with returned messages that wait for a session's list of held ones. */
  readonly #returned = new Set<Mailbox>();
  #bytes = 0;
  #frameBytes = 0;
  #depth = 0;
  #prunedMs = 0;
  #isLoading = true;
  #reloads = 0;
  /** TAKEs that wait for a message. */
  readonly receivers: WaitingReceivers;
  readonly counts = { accepted: 0, delivered: 0, settled: 0, redelivered: 0, duplicates: 0 };

  private constructor(parts: MailboxesParts) {
    this.#parts = parts;
    this.#limits = parts.limits;
    this.#clock = parts.clock;
    this.#dedupe = new Dedupe(parts.limits);
    this.receivers = new WaitingReceivers(parts.limits.receiversPerSessionMax);
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

  /** The store is being read; new messages are refused meanwhile. */
  get isLoading(): boolean {
    return this.#isLoading;
  }

  // --- accept

  /** Whether this sender sent this id before; then `onPosted` hears how that ended, or will end. */
  repeat(from: string, id: string, onPosted: OnPosted): boolean {
    const seq = this.#dedupe.seqOf(from, id);
    if (seq === undefined) return false;
    this.counts.duplicates += 1;
    if (!this.#postings.repeat(seq, onPosted)) this.#tell(onPosted, undefined, seq, true);
    return true;
  }

  /**
   * Stores a message for `mailbox`; `onPosted` is called after fsync, or with STORE_UNAVAILABLE: then it was not
   * accepted. Ask `repeat` first. Throws INBOX_FULL, BROKER_BUSY, STORE_UNAVAILABLE.
   */
  post(frame: Frame, from: string, mailbox: string, onPosted: OnPosted): void {
    if (this.#isLoading || !this.#index.isStoreServing) throw storeBusy('it is being reopened');
    const { body, bodyCrc } = frame;
    const stored: Frame = { command: Command.DELIVER, envelope: newEnvelope(), body, bodyCrc };
    this.#address(stored.envelope, frame.envelope, from, mailbox);
    const bytes = encodeFrame(stored);
    // Checked at once: a later refusal would come behind messages sent after this one.
    if (!this.#parts.store.hasRoom(this.#postings.formingBytes + bytes.length))
      throw storeBusy('too much waits for the disk');
    this.#reserve(mailbox, bytes.length);
    const message = storedMessageOf(stored, bytes);
    this.#remember(message);
    this.#postings.add(message, bytes, onPosted);
  }

  /** Field by field: this runs for every message. */
  #address(its: Envelope, sent: Envelope, from: string, mailbox: string): void {
    its.id = sent.id;
    its.from = from;
    its.to = mailbox;
    if (sent.reply_to !== '') its.reply_to = `reply:${from}`;
    its.correlation = sent.correlation;
    its.more = sent.more;
    its.attempt = 1;
    its.trace = sent.trace;
    its.type = sent.type;
    its.seq = this.#index.takeSeq();
    its.durable = true;
    its.order_key = sent.order_key;
    its.delay_ms = sent.delay_ms;
    its.ttl_ms = sent.ttl_ms;
    its.stored_ms = this.#clock.nowMs();
  }

  /** It is stored, or on its way to the store. */
  isTaken(from: string, id: string): boolean {
    return this.#dedupe.seqOf(from, id) !== undefined;
  }

  /** A batch is on disk, or was refused. Its senders hear of it before the receivers do. */
  #onPosted(batch: readonly Posting[], error: BusError | undefined): void {
    const touched = new Set<Mailbox>();
    for (const { message, bytes } of batch) {
      const mailbox = this.#mailbox(message.mailbox);
      if (error === undefined) {
        this.#keepFrame(message, bytes);
        this.#index.messages.set(message.seq, message);
        this.#enter(mailbox, message);
        touched.add(mailbox);
      } else {
        this.#dedupe.forget(message.from, message.id);
        this.#free(mailbox, bytes.length);
      }
    }
    if (error === undefined) {
      this.counts.accepted += batch.length;
      this.#thin(batch);
    }
    for (const { message, onPosted, repeats } of batch) {
      this.#tell(onPosted, error, message.seq, false);
      for (const each of repeats ?? []) this.#tell(each, error, message.seq, true);
    }
    for (const mailbox of touched) this.#pumpAll(mailbox);
  }

  /** One that fails must not keep the others of its batch from hearing. */
  #tell(onPosted: OnPosted, ...how: Parameters<OnPosted>): void {
    try {
      onPosted(...how);
    } catch (error) {
      this.#parts.trace('error', 'a sender was not answered', {
        detail: asBusError(error).message,
      });
    }
  }

  /** Forgets ids that are too many after these. */
  #thin(batch: readonly Posting[]): void {
    const nowMs = this.#clock.nowMs();
    let last: string | undefined;
    for (const { message } of batch) {
      if (message.from === last) continue;
      last = message.from;
      this.#index.writeBestEffort(this.#dedupe.thin(last, nowMs));
    }
  }

  #remember({ from, id, seq, mailbox, storedMs: atMs }: StoredMessage): void {
    this.#dedupe.remember(from, id, { seq, mailbox, atMs, isSettled: false });
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

  #keepFrame(message: StoredMessage, frame: Buffer): void {
    if (this.#frameBytes + frame.length > this.#limits.frameCacheBytesMax) return;
    message.frame = frame;
    this.#frameBytes += frame.length;
  }

  #dropFrame(message: StoredMessage): void {
    if (message.frame !== undefined) this.#frameBytes -= message.frame.length;
    message.frame = undefined;
  }

  #enter(mailbox: Mailbox, message: StoredMessage): void {
    mailbox.messages.set(message.seq, message);
    if (message.expiresMs > 0) this.#schedule.add(message.expiresMs, message);
    const isEarly = message.dueMs > this.#clock.nowMs();
    if (isEarly) this.#schedule.add(message.dueMs, message);
    // A message that failed before keeps its place, and those behind it wait.
    message.isHeld = isEarly && message.attempts > 0;
    if (!isEarly || message.isHeld) mailbox.queue(message);
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

  #settleOperations(message: StoredMessage): Operation[] {
    const isRemembered = this.#dedupe.settled(message.from, message.id);
    return settleOperations(message, isRemembered, this.#clock.nowMs());
  }

  /** The session takes no more messages from this mailbox; it may finish those it holds. */
  withdraw(peer: PeerId, name: string): void {
    const mailbox = this.#mailboxes.get(name);
    const consumer = mailbox?.consumers.get(peer);
    if (mailbox === undefined || consumer === undefined) return;
    consumer.credit = { messages: 0, bytes: 0 };
    mailbox.forgetIdle(consumer);
    if (mailbox.isIdle) this.#mailboxes.delete(name);
  }

  /** Leases to a new session the messages that its agent still works on. */
  adopt(peer: PeerId, seqs: number[], maySettle: (mailbox: string) => boolean): void {
    for (const seq of seqs.sort((a, b) => a - b)) {
      const message = this.#index.messages.get(seq);
      if (message === undefined || message.deadMs > 0 || !maySettle(message.mailbox)) continue;
      const consumer = this.#consumer(peer, message.mailbox);
      const untilMs = this.#clock.monotonicMs() + this.#limits.leaseMs;
      consumer.mailbox.adopt(consumer, message, untilMs);
      consumer.mailbox.forgetIdle(consumer);
    }
    for (const mailbox of this.#returned) this.#pumpAll(mailbox);
    this.#returned.clear();
  }

  /** A session lost track of its deliveries: every message that it does not name in `held` comes back. */
  takeBack(peer: PeerId, held: ReadonlySet<number>): void {
    for (const mailbox of this.#mailboxes.values()) {
      for (const message of [...(mailbox.consumers.get(peer)?.leased.values() ?? [])]) {
        // Already returned with an earlier message of its lane.
        if (message.lease?.consumer.peer !== peer || held.has(message.seq)) continue;
        mailbox.giveBack(message, false);
        this.#returned.add(mailbox);
      }
    }
  }

  /** Delivers from all mailboxes that this session consumes. */
  resume(peer: PeerId): void {
    for (const mailbox of this.#mailboxes.values())
      if (mailbox.consumers.has(peer)) this.#pumpAll(mailbox);
  }

  /** One message, now or when it comes; see `onReceived`. Throws INBOX_EMPTY, BROKER_BUSY. */
  take(receiver: WaitingReceiver): void {
    const mailbox = this.#mailboxes.get(receiver.mailbox);
    const mayWait = receiver.untilMs > this.#clock.monotonicMs();
    if (mailbox !== undefined && this.#serve(mailbox, receiver, [...mailbox.messages.values()]))
      return;
    if (!mayWait) throw new BusError('INBOX_EMPTY', { mailbox: receiver.mailbox });
    this.receivers.add(receiver);
  }

  /** Gives the receiver the oldest message that it wants, or the newest. False: there is none. */
  #serve(mailbox: Mailbox, receiver: WaitingReceiver, messages: readonly StoredMessage[]): boolean {
    const { want, peer } = receiver;
    let message: StoredMessage | undefined;
    do {
      message = undefined;
      for (const each of messages) {
        if (!fits(each, want) || mailbox.messages.get(each.seq) !== each) continue;
        if (message === undefined || each.seq > message.seq === want.lifo) message = each;
      }
      if (message === undefined) return false;
      // An expired message left the mailbox; try the next.
    } while (this.#isOver(message));
    const consumer = this.#consumer(peer, mailbox.name);
    mailbox.take(consumer, message, this.#clock.monotonicMs() + this.#limits.leaseMs);
    this.counts.delivered += 1;
    if (message.attempts > 0) this.counts.redelivered += 1;
    this.#parts.onReceived(receiver, message);
    return true;
  }

  /** A taken message could not be read: it goes back into the mailbox. */
  undoTake(receiver: WaitingReceiver, message: StoredMessage): void {
    if (message.lease?.consumer.peer !== receiver.peer) return;
    const { mailbox } = message.lease.consumer;
    mailbox.giveBack(message, false);
    this.#pumpAll(mailbox);
  }

  /** `isSuperseded`: a new session of the same agent begins now; `adopt` follows with the messages it keeps. */
  sessionEnded(peer: PeerId, isSuperseded: boolean): void {
    this.receivers.sessionEnded(peer);
    for (const mailbox of [...this.#mailboxes.values()]) {
      const consumer = mailbox.consumers.get(peer);
      if (consumer === undefined) continue;
      mailbox.drop(consumer);
      if (mailbox.isIdle) this.#mailboxes.delete(mailbox.name);
      else if (isSuperseded) this.#returned.add(mailbox);
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
    for (const receiver of freed.length === 0 ? [] : this.receivers.of(mailbox.name))
      if (this.#serve(mailbox, receiver, freed)) this.receivers.remove(receiver);
    for (const consumer of mailbox.consumers.values()) this.#pump(consumer);
  }

  #pump(consumer: Consumer): void {
    // Its session may have ended while bodies were read for it.
    if (consumer.isFetching || consumer.mailbox.consumers.get(consumer.peer) !== consumer) return;
    const missing: StoredMessage[] = [];
    while (missing.length < fetchMax) {
      const untilMs = this.#clock.monotonicMs() + this.#limits.leaseMs;
      const message = consumer.mailbox.lease(consumer, untilMs);
      if (message === undefined) break;
      if (this.#isOver(message)) continue;
      if (missing.length > 0 || message.frame === undefined) missing.push(message);
      else if (!this.#send(consumer, message, message.frame)) return;
    }
    if (missing.length > 0) void this.#fetch(consumer, missing);
  }

  /** True: it became a dead letter instead, expired or after too many lost holders. */
  #isOver(message: StoredMessage): boolean {
    if (this.#isExpired(message)) this.#makeDead(message, 'EXPIRED');
    else if (message.isSuspect) {
      message.isSuspect = false;
      message.attempts += 1;
      message.reason = 'LEASE_LOST';
      if (message.attempts >= this.#limits.attemptsMax) this.#makeDead(message, message.reason);
      else this.#index.writeUnsynced(message, [stateOperation(message)]);
    }
    return message.deadMs > 0;
  }

  #isExpired(message: StoredMessage): boolean {
    return message.expiresMs > 0 && message.expiresMs <= this.#clock.nowMs();
  }

  async #fetch(consumer: Consumer, messages: StoredMessage[]): Promise<void> {
    consumer.isFetching = true;
    let frames: (Buffer | undefined)[] = [];
    try {
      frames = await this.#index.getMany(messages.map((message) => messageKey(message.seq)));
    } catch (error) {
      this.#parts.trace('warn', 'messages could not be read', {
        mailbox: consumer.mailbox.name,
        code: asBusError(error).code,
      });
    }
    consumer.isFetching = false;
    let isStalled = false;
    for (const [at, message] of messages.entries()) {
      if (message.lease?.consumer !== consumer) continue;
      const frame = message.frame ?? frames[at];
      // The next tick tries again.
      if (frame === undefined || isStalled) consumer.mailbox.giveBack(message, false);
      else isStalled = !this.#send(consumer, message, frame);
    }
    if (frames.length > 0 && !isStalled) this.#pumpAll(consumer.mailbox);
  }

  /** False: the peer does not read. */
  #send(consumer: Consumer, message: StoredMessage, frame: Buffer): boolean {
    const isFirst = message.attempts === 0;
    const bytes = isFirst ? frame : redelivery(decodeFrame(frame), message.attempts);
    if (!this.#parts.deliver(consumer.peer, bytes)) {
      consumer.mailbox.giveBack(message, false);
      return false;
    }
    this.counts.delivered += 1;
    if (!isFirst) this.counts.redelivered += 1;
    return true;
  }

  // --- settle

  /**
   * Applies a verdict to each message that this session may settle; skips the rest as too late.
   * `onSettled` gets the first settled seq (0: none) before any delivery that follows.
   */
  settle(
    peer: PeerId,
    isOwn: (mailbox: string) => boolean,
    seqs: number[],
    verdict: (message: StoredMessage) => void,
    onSettled: (first: number) => void,
  ): void {
    const touched = new Set<Mailbox>();
    let first = 0;
    for (const seq of seqs) {
      const message = this.#index.messages.get(seq);
      if (message === undefined || message.deadMs > 0) continue;
      if (message.lease?.consumer.peer !== peer && !isOwn(message.mailbox)) continue;
      touched.add(this.#mailbox(message.mailbox));
      first ||= seq;
      verdict(message);
    }
    onSettled(first);
    for (const mailbox of touched) this.#pumpAll(mailbox);
  }

  done(message: StoredMessage): void {
    this.counts.settled += 1;
    this.#remove(message);
    this.#index.writeUnsynced(message, this.#settleOperations(message));
  }

  working(message: StoredMessage): void {
    const untilMs = this.#clock.monotonicMs() + this.#limits.leaseMs;
    this.#mailbox(message.mailbox).extend(message, untilMs);
  }

  /** Delivered but not begun: returns to its place; no attempt is counted. */
  untouched(message: StoredMessage, delayMs: number): void {
    message.dueMs = delayMs === 0 ? 0 : this.#clock.nowMs() + delayMs;
    this.#holdUntil(message, message.dueMs);
  }

  /** One more failed attempt. Redelivered after `delayMs`, or after full-jitter backoff when that is 0. */
  failed(message: StoredMessage, reason: string, delayMs: number): void {
    message.attempts += 1;
    message.reason = reason;
    message.isSuspect = false;
    // Messages delivered behind it come again in any case: the holder gave up on this lane.
    this.#mailbox(message.mailbox).giveBack(message, true);
    if (message.attempts >= this.#limits.attemptsMax) return this.#makeDead(message, reason);
    if (this.#isExpired(message)) return this.#makeDead(message, 'EXPIRED');
    const { retryBackoff } = this.#limits;
    const waitMs = delayMs || backoffMs(retryBackoff, message.attempts - 1, this.#parts.random());
    message.dueMs = this.#clock.nowMs() + waitMs;
    this.#index.writeUnsynced(message, [stateOperation(message)]);
    this.#holdUntil(message, message.dueMs);
  }

  /** Makes it a dead letter at once. */
  terminated(message: StoredMessage, reason: string): void {
    message.attempts += 1;
    this.#makeDead(message, reason || 'TERMINATED');
  }

  /** Every message of these mailboxes, leased or not, becomes a dead letter. */
  close(names: readonly string[], reason: string): void {
    for (const name of names)
      for (const message of [...(this.#mailboxes.get(name)?.messages.values() ?? [])])
        this.#makeDead(message, reason);
  }

  #holdUntil(message: StoredMessage, untilMs: number): void {
    this.#mailbox(message.mailbox).giveBack(message, untilMs > 0);
    if (untilMs > 0) this.#schedule.add(untilMs, message);
  }

  #makeDead(message: StoredMessage, reason: string): void {
    const mailbox = this.#mailbox(message.mailbox);
    mailbox.remove(message);
    mailbox.deadLetters.set(message.seq, message);
    message.reason = reason;
    message.deadMs = this.#clock.nowMs();
    this.#dropFrame(message);
    this.#index.writeUnsynced(message, this.#deadLetterOperations(message));
    this.#parts.trace('warn', 'message became a dead letter', {
      ...{ seq: message.seq, mailbox: message.mailbox, from: message.from, reason },
      attempts: message.attempts,
    });
    this.#parts.onDead(message);
  }

  #deadLetterOperations(message: StoredMessage): Operation[] {
    const value = messageViewCodec.encode(viewOf(message, message.deadMs));
    return [
      { type: 'put', key: deadKey(message.seq), value },
      { type: 'del', key: stateKey(message.seq) },
    ];
  }

  #remove(message: StoredMessage): void {
    const mailbox = this.#mailbox(message.mailbox);
    mailbox.remove(message);
    mailbox.deadLetters.delete(message.seq);
    this.#index.messages.delete(message.seq);
    this.#dropFrame(message);
    this.#free(mailbox, message.bytes);
  }

  // --- time

  /** `isLate`: this process stalled, so the silence of lease holders proves nothing. */
  tick(isLate: boolean): void {
    const nowMs = this.#clock.nowMs();
    for (let count = 0; count < duePerTickMax; count += 1) {
      const message = this.#schedule.take(nowMs);
      if (message === undefined) break;
      if (this.#index.messages.get(message.seq) === message && message.deadMs === 0)
        this.#due(message, nowMs);
    }
    const { messages } = this.#index;
    if (this.#schedule.size > 2 * messages.size + scheduleSlack)
      this.#schedule.prune((message) => messages.get(message.seq) === message);
    for (const mailbox of this.#mailboxes.values()) {
      if (!mailbox.isBusy && this.receivers.of(mailbox.name).length === 0) continue;
      for (const consumer of isLate ? [] : mailbox.consumers.values()) this.#expireLeases(consumer);
      this.#pumpAll(mailbox);
    }
    if (nowMs - this.#prunedMs < this.#limits.pruneMs) return;
    this.#prunedMs = nowMs;
    this.#index.writeBestEffort(this.#dedupe.prune(nowMs));
  }

  #due(message: StoredMessage, nowMs: number): void {
    const mailbox = this.#mailbox(message.mailbox);
    // The holder may still finish. Checked again later, in case the message comes back.
    if (message.lease !== undefined) {
      if (this.#isExpired(message)) this.#schedule.add(nowMs + this.#limits.leaseMs, message);
      return;
    }
    if (this.#isExpired(message)) this.#makeDead(message, 'EXPIRED');
    else if (message.dueMs > nowMs) return;
    else if (message.lane !== undefined) mailbox.wake(message);
    else mailbox.queue(message);
    this.#pumpAll(mailbox);
  }

  #expireLeases(consumer: Consumer): void {
    for (const message of consumer.mailbox.overdue(consumer, this.#clock.monotonicMs())) {
      // Back already, behind one of its lane.
      if (message.lease?.consumer === consumer) this.failed(message, 'LEASE_EXPIRED', 0);
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
        const oldest = mailbox.messages.values().next().value;
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

  /** Mailboxes in memory: those with messages or a consumer. */
  get mailboxCount(): number {
    return this.#mailboxes.size;
  }

  /** It holds live messages, or some are being stored. */
  isUsed(name: string): boolean {
    const mailbox = this.#mailboxes.get(name);
    return mailbox !== undefined && mailbox.depth > mailbox.dead;
  }

  isKnown(mailbox: string): boolean {
    return (this.#mailboxes.get(mailbox)?.depth ?? 0) > 0;
  }

  /** The mailbox of what this agent sent under this id within the dedupe window; see `Dedupe.mailboxOf`. */
  sentTo(agent: string, id: string): string | undefined {
    const seq = this.#dedupe.seqOf(agent, id);
    if (seq === undefined || this.#postings.has(seq)) return undefined;
    return this.#dedupe.mailboxOf(agent, id);
  }

  messageBySeq(seq: number): StoredMessage | undefined {
    return this.#index.messages.get(seq);
  }

  messageById(agent: string, id: string): StoredMessage | undefined {
    const seq = this.#dedupe.seqOf(agent, id);
    return seq === undefined ? undefined : this.#index.messages.get(seq);
  }

  /** Messages of these mailboxes, or of all, in order of seq, behind `after`. `isDead`: dead letters only; else live messages only. */
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
        return [...((isDead ? mailbox?.deadLetters : mailbox?.messages)?.values() ?? [])];
      })
      .filter((each) => each.seq > after)
      .sort((a, b) => a.seq - b.seq)
      .slice(0, limit)
      .map((each) => viewOf(each, nowMs));
  }

  /** Throws NO_SUCH_MESSAGE, STORE_UNAVAILABLE. */
  async read(message: StoredMessage): Promise<MessageAnswer> {
    const frame = message.frame ?? (await this.#index.getMany([messageKey(message.seq)]))[0];
    if (frame === undefined) throw new BusError('NO_SUCH_MESSAGE', { message: message.seq });
    return { view: viewOf(message, this.#clock.nowMs()), body: decodeFrame(frame).body };
  }

  /** Queues dead letters again, with no attempts and no expiry. */
  async requeue(messages: StoredMessage[]): Promise<void> {
    const dead = [...new Set(messages)].filter((message) => message.deadMs > 0);
    const again = { deadMs: 0, attempts: 0, expiresMs: 0, dueMs: 0, reason: 'REQUEUED' };
    const fresh = dead.map((message) => ({ ...message, ...again, lane: undefined, isHeld: false }));
    try {
      await this.#index.commit(
        fresh.flatMap((message) => [
          { type: 'del' as const, key: deadKey(message.seq) },
          stateOperation(message),
        ]),
      );
    } catch (error) {
      // The batch may have reached the disk: write the dead letters again.
      for (const message of dead)
        if (this.#index.messages.get(message.seq) === message)
          this.#index.retryLater(message.seq, this.#deadLetterOperations(message));
      throw error;
    }
    for (const message of fresh) {
      // Purged or requeued meanwhile.
      if ((this.#index.messages.get(message.seq)?.deadMs ?? 0) === 0) continue;
      const mailbox = this.#mailbox(message.mailbox);
      mailbox.deadLetters.delete(message.seq);
      this.#index.messages.set(message.seq, message);
      this.#enter(mailbox, message);
    }
    this.#parts.trace('info', 'dead letters requeued', { count: fresh.length });
    for (const name of new Set(fresh.map((message) => message.mailbox)))
      this.#pumpAll(this.#mailbox(name));
  }

  /**
   * Deletes messages for good; their ids stay known, so that none is accepted again. Throws
   * STORE_UNAVAILABLE: they come back if this process ends before its store is back.
   */
  async purge(messages: StoredMessage[]): Promise<void> {
    const { messages: known } = this.#index;
    const gone = [...new Set(messages)].filter((message) => known.get(message.seq) === message);
    const touched = new Set(gone.map((message) => this.#mailbox(message.mailbox)));
    for (const message of gone) this.#remove(message);
    for (const mailbox of touched) this.#pumpAll(mailbox);
    const operations = gone.map((message): [number, Operation[]] => [
      message.seq,
      [
        ...this.#settleOperations(message),
        { type: 'del', key: stateKey(message.seq) },
        { type: 'del', key: deadKey(message.seq) },
      ],
    ]);
    try {
      await this.#index.commit(operations.flatMap(([, each]) => each));
    } catch (error) {
      for (const [seq, each] of operations) this.#index.retryLater(seq, each);
      throw error;
    }
  }

  // --- disk

  async #load(): Promise<void> {
    this.#isLoading = true;
    // Entered only when all is read: a partial load would look complete to the next one.
    for (const message of await this.#index.load()) {
      const mailbox = this.#mailbox(message.mailbox);
      this.#index.messages.set(message.seq, message);
      this.#remember(message);
      mailbox.depth += 1;
      mailbox.bytes += message.bytes;
      this.#depth += 1;
      this.#bytes += message.bytes;
      if (message.deadMs > 0) mailbox.deadLetters.set(message.seq, message);
      else this.#enter(mailbox, message);
    }
    for (const mailbox of this.#mailboxes.values()) this.#pumpAll(mailbox);
    this.#isLoading = false;
  }

  /** The store was closed and reopened; it may hold batches that were reported as failed. */
  async #reload(): Promise<void> {
    this.#reloads += 1;
    const reload = this.#reloads;
    // If the store fails again, its next reopening loads anew; if only the read failed, we retry.
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
