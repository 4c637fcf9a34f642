import { BoundedMap } from '../base/bounded-map.js';
import type { Clock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import { inTrace, isSampled } from '../base/trace-context.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { Command, type Frame } from '../wire/frame.js';
import type { Credit, Settle } from '../wire/messages.js';
import { clientLimits } from './limits.js';

/** Milliseconds before a message without a receiver here may be delivered again. */
const strayDelayMs = 100;

/** A durable message that its handler works on. */
export interface Message {
  /** The broker's sequence number. */
  readonly seq: number;
  readonly id: string;
  readonly from: string;
  readonly mailbox: string;
  readonly type: string;
  readonly body: Buffer;
  readonly orderKey: string;
  readonly correlation: string;
  /** Where a reply is wanted; empty: none is. */
  readonly replyTo: string;
  /** 1 for the first delivery. */
  readonly attempt: number;
  readonly storedMs: number;
  /** Aborts when the sender cancels, the handler takes too long, or the receiver is closed. */
  readonly signal: AbortSignal;
}

/**
 * Returning settles the message. A BusError that is not retryable makes it a dead letter; `Later` delays
 * it; any other failure has it delivered again. Both count against the broker's maximum of attempts.
 */
export type MessageHandler = (message: Message) => void | Promise<void>;

/** Thrown by a handler: deliver this message again, not before `delayMs`. */
export class Later extends Error {
  constructor(
    readonly delayMs: number,
    readonly why = 'LATER',
  ) {
    super(why);
  }
}

export interface ReceiveOptions {
  /** Own mailbox by default; `service:<name>` of a service that is offered, `reply:<agent>`, or for administrators any. */
  mailbox?: string;
  /** Unsettled messages at once, and so how many handlers may run. */
  messages?: number;
  bytes?: number;
  /** A handler that takes longer has failed. */
  handlerMs?: number;
}

interface InFlight {
  message: Message;
  trace: string;
  abort: AbortController;
  lane: string;
  receiver: Receiver;
  isRunning: boolean;
  startedMs: number;
}

/** A lane whose first message is being returned. */
interface Returning {
  id: string;
  nack: Settle;
  /** The frame could not leave or was corrupt: it must be sent again. */
  isLost: boolean;
  saidMs: number;
  /** Delivered behind it, none of them begun. */
  behind: number[];
}

interface Receiver {
  mailbox: string;
  credit: Credit;
  handle: MessageHandler;
  handlerMs: number;
}

export interface InboxParts {
  agent: string;
  clock: Clock;
  trace: Trace;
  /** False: it cannot leave now; the next session repeats it. */
  settle: (command: Command, settle: Settle) => boolean;
  nextId: () => string;
  /** A NACK that the broker will accept under this id. False: it cannot leave now. */
  giveBack: (id: string, settle: Settle) => boolean;
  /** Resolves when the broker has accepted it. */
  grant: (credit: Credit) => Promise<void>;
  /** Likewise, tried until it is accepted or another session begins. */
  regrant: (credit: Credit) => void;
}

/**
 * Durable messages that were delivered here: run in order within a lane (sender, mailbox, order key),
 * side by side across lanes, settled by what the handler does. Messages in flight are kept over a reconnect, and
 * their leases are extended meanwhile.
 */
export class Inbox implements Disposable {
  readonly #parts: InboxParts;
  readonly #receivers = new Map<string, Receiver>();
  readonly #inFlight = new Map<number, InFlight>();
  readonly #lanes = new Map<string, InFlight[]>();
  /**
   * Lanes of which a message goes back to the broker, and with it what is delivered behind it until the
   * broker has heard of that.
   */
  readonly #returning = new Map<string, Returning>();
  /** Recently done, by seq with their ids, oldest first. */
  readonly #done = new BoundedMap<number, string>(clientLimits.settledMax);
  /** Outcomes not yet sent to the broker. */
  #acks: number[] = [];
  #terms: { seq: number; reason: string }[] = [];
  #isFlushing = false;
  #leaseMs = 0;
  #timer: Disposable | undefined;

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  /** Throws USAGE when this mailbox has a receiver already, and the broker's rejection of the credit. */
  async receive(handle: MessageHandler, options: ReceiveOptions): Promise<AsyncDisposable> {
    const mailbox = options.mailbox ?? `agent:${this.#parts.agent}`;
    if (this.#receivers.has(mailbox))
      throw new BusError('USAGE', { detail: `${mailbox} is received already` });
    const { creditMessages, creditBytes, handlerMs } = clientLimits;
    const receiver: Receiver = {
      mailbox,
      credit: {
        mailbox,
        messages: options.messages ?? creditMessages,
        bytes: options.bytes ?? creditBytes,
      },
      handle,
      handlerMs: options.handlerMs ?? handlerMs,
    };
    this.#receivers.set(mailbox, receiver);
    try {
      await this.#parts.grant(receiver.credit);
    } catch (error) {
      this.#receivers.delete(mailbox);
      throw error;
    }
    return { [Symbol.asyncDispose]: () => this.#stop(receiver) };
  }

  /** Messages that stay leased across sessions: in work, or settled without confirmation. */
  get inFlightSeqs(): number[] {
    return [...this.#inFlight.keys(), ...this.#acks, ...this.#terms.map(({ seq }) => seq)];
  }

  /** True when it was one of ours: later deliveries were sent after it. `seq`: of the returned message; 0: none. */
  onAccept(id: string, seq: number): boolean {
    for (const [lane, returning] of this.#returning) {
      if (returning.id !== id) continue;
      if (seq > 0 || returning.behind.length === 0) this.#returning.delete(lane);
      else {
        // That one was not ours any more; those behind it may be, or may not.
        returning.id = this.#parts.nextId();
        returning.nack = { seqs: returning.behind, delay_ms: 0, reason: '', untouched: true };
        returning.behind = [];
        this.#return(returning);
      }
      return true;
    }
    return false;
  }

  /** True when it was one of ours; the timer repeats it. */
  onReject(id: string): boolean {
    for (const returning of this.#returning.values()) {
      if (returning.id !== id) continue;
      returning.isLost = true;
      return true;
    }
    return false;
  }

  /** The session is over: its frames are lost, and messages not begun come again. */
  onLost(): void {
    this.#returning.clear();
    for (const [lane, queue] of this.#lanes) {
      for (const { message, isRunning } of queue)
        if (!isRunning) this.#inFlight.delete(message.seq);
      this.#lanes.set(lane, queue.slice(0, 1));
    }
  }

  onSession(leaseMs: number): void {
    this.#leaseMs = leaseMs;
    // Before any credit: the broker may hold messages that failed after our HELLO.
    this.#returnLost();
    this.#flush();
    for (const { credit } of this.#receivers.values()) this.#parts.regrant(credit);
    this.#arm();
  }

  /** A DELIVER of a durable message. */
  onDeliver(frame: Frame): void {
    const { envelope } = frame;
    const seq = envelope.seq;
    const lane = `${envelope.to}\0${envelope.from}\0${envelope.order_key}`;
    const returning = this.#returning.get(lane);
    if (returning !== undefined) return void returning.behind.push(seq);
    // Our ACK was lost, or came too late.
    if (this.#done.get(seq) === envelope.id) return this.#ack(seq, envelope.id);
    if (this.#inFlight.has(seq)) return void this.#say(Command.WORKING, [seq]);
    const receiver = this.#receivers.get(envelope.to);
    // Delayed: otherwise the broker would deliver it again at once.
    if (receiver === undefined) return this.#untouched([seq], strayDelayMs);
    const abort = new AbortController();
    const message: Message = {
      seq,
      id: envelope.id,
      from: envelope.from,
      mailbox: envelope.to,
      type: envelope.type,
      body: frame.body,
      orderKey: envelope.order_key,
      correlation: envelope.correlation,
      replyTo: envelope.reply_to,
      attempt: envelope.attempt,
      storedMs: envelope.stored_ms,
      signal: abort.signal,
    };
    const { trace } = envelope;
    const item = { message, trace, abort, lane, receiver, isRunning: false, startedMs: 0 };
    this.#inFlight.set(seq, item);
    const queue = this.#lanes.get(lane);
    if (queue !== undefined) return void queue.push(item);
    this.#lanes.set(lane, [item]);
    void this.#work(lane);
  }

  /** The sender cancelled this message. */
  onCancel(seq: number): void {
    this.#inFlight.get(seq)?.abort.abort();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    for (const { abort } of this.#inFlight.values()) abort.abort();
  }

  /** Runs one lane until it is empty. */
  async #work(lane: string): Promise<void> {
    for (;;) {
      const item = this.#lanes.get(lane)?.[0];
      if (item === undefined) break;
      item.isRunning = true;
      item.startedMs = this.#parts.clock.monotonicMs();
      const failure = await this.#run(item);
      // Timed out meanwhile: settled as failed, and its lane was emptied.
      if (this.#inFlight.get(item.message.seq) !== item) return;
      this.#inFlight.delete(item.message.seq);
      if (failure === undefined) {
        this.#lanes.get(lane)?.shift();
        this.#ack(item.message.seq, item.message.id);
      } else this.#fail(item, failure);
    }
    this.#lanes.delete(lane);
  }

  async #run(item: InFlight): Promise<unknown> {
    const { message, receiver, trace } = item;
    try {
      await inTrace(trace, () => {
        const { type, from } = message;
        if (isSampled()) this.#parts.trace('info', 'took a message', { type, from });
        return receiver.handle(message);
      });
      return undefined;
    } catch (error) {
      return error ?? new BusError('INTERNAL', { detail: 'the handler threw nothing' });
    }
  }

  #fail(item: InFlight, error: unknown): void {
    const { seq, type } = item.message;
    const isLater = error instanceof Later;
    const coded = asBusError(error);
    const reason = isLater ? error.why : `${coded.code}: ${coded.message}`;
    this.#parts.trace('warn', 'a message was not handled', { seq, type, reason });
    const isFinal = !isLater && coded.code !== 'INTERNAL' && !coded.retryable;
    if (isFinal) {
      // The lane goes on with the next.
      this.#lanes.get(item.lane)?.shift();
      this.#terms.push({ seq, reason });
      return this.#flush();
    }
    const lane = (this.#lanes.get(item.lane) ?? []).filter((each) => each !== item);
    this.#lanes.delete(item.lane);
    const behind = lane.map(({ message }) => message.seq);
    for (const each of behind) this.#inFlight.delete(each);
    const delayMs = isLater ? Math.round(error.delayMs) : 0;
    const nack = { seqs: [seq], delay_ms: delayMs, reason, untouched: false };
    const returning = { id: this.#parts.nextId(), nack, isLost: false, saidMs: 0, behind };
    this.#returning.set(item.lane, returning);
    this.#return(returning);
  }

  /** A repetition uses the same id: the first answer holds for messages before it. */
  #return(returning: Returning): void {
    returning.saidMs = this.#parts.clock.monotonicMs();
    returning.isLost = !this.#parts.giveBack(returning.id, returning.nack);
  }

  #returnLost(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    for (const returning of this.#returning.values())
      if (returning.isLost || nowMs - returning.saidMs > this.#leaseMs) this.#return(returning);
  }

  #ack(seq: number, id: string): void {
    this.#done.set(seq, id);
    this.#acks.push(seq);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    // Settlements of one turn share a frame.
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#acks.length > 0 && this.#say(Command.ACK, this.#acks)) this.#acks = [];
    this.#terms = this.#terms.filter(
      ({ seq, reason }) => !this.#say(Command.TERM, [seq], { reason }),
    );
  }

  #untouched(seqs: number[], delayMs: number): void {
    this.#say(Command.NACK, seqs, { untouched: true, delay_ms: delayMs });
  }

  /** False: it cannot leave now; the next session, or the end of the lease, makes up for it. */
  #say(command: Command, seqs: number[], fields: Partial<Settle> = {}): boolean {
    const settle = { seqs, delay_ms: 0, reason: '', untouched: false, ...fields };
    return this.#parts.settle(command, settle);
  }

  /** Withdraws the credit and returns messages not begun; running ones may finish. */
  async #stop(receiver: Receiver): Promise<void> {
    this.#receivers.delete(receiver.mailbox);
    const idle = [...this.#inFlight.values()].filter(
      (item) => item.receiver === receiver && !item.isRunning,
    );
    for (const item of idle) {
      this.#inFlight.delete(item.message.seq);
      const queue = this.#lanes.get(item.lane);
      queue?.splice(queue.indexOf(item), 1);
    }
    try {
      await this.#parts.grant({ ...receiver.credit, messages: 0 });
      if (idle.length > 0)
        this.#untouched(
          idle.map((item) => item.message.seq),
          0,
        );
    } catch (error) {
      // Without a session there is nothing to take back.
      this.#parts.trace('debug', 'credit not withdrawn', { code: asBusError(error).code });
    }
  }

  /** Extends the leases of messages in flight, and gives up on handlers that take too long. */
  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#parts.clock.after(this.#leaseMs / 3, () => {
      const nowMs = this.#parts.clock.monotonicMs();
      for (const item of [...this.#inFlight.values()]) {
        if (!item.isRunning || nowMs - item.startedMs < item.receiver.handlerMs) continue;
        item.abort.abort();
        this.#inFlight.delete(item.message.seq);
        this.#fail(item, new BusError('DEADLINE_EXCEEDED', { ms: item.receiver.handlerMs }));
      }
      this.#flush();
      this.#returnLost();
      if (this.#inFlight.size > 0) this.#say(Command.WORKING, [...this.#inFlight.keys()]);
      this.#arm();
    });
  }
}
