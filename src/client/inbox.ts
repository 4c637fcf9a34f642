import type { Clock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { Command, type Frame } from '../wire/frame.js';
import type { Credit, Settle } from '../wire/messages.js';
import { clientLimits } from './limits.js';

/** Before a message that nobody here receives may be delivered again. */
const strayDelayMs = 100;

/** A durable message in the hands of its handler. */
export interface Message {
  /** The broker's number of it. */
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
 * Returning settles the message. A BusError that is not retryable makes it a dead letter; `Later` puts it
 * off; any other failure has it delivered again after a while. Both count: at most as often as the broker allows.
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

interface Held {
  message: Message;
  abort: AbortController;
  lane: string;
  receiver: Receiver;
  isRunning: boolean;
  startedMs: number;
}

/** A lane whose front is on its way back. */
interface Returning {
  id: string;
  nack: Settle;
  /** It could not leave, or did not arrive whole: it has to be said again. */
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
  /** False: it cannot leave now; it is said again with the next session. */
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
 * side by side across lanes, settled by what the handler does. What is held is kept over a reconnect, and
 * its lease is extended as long as it is.
 */
export class Inbox implements Disposable {
  readonly #parts: InboxParts;
  readonly #receivers = new Map<string, Receiver>();
  readonly #held = new Map<number, Held>();
  readonly #lanes = new Map<string, Held[]>();
  /**
   * Lanes of which a message goes back to the broker, and with it what is delivered behind it until the
   * broker has heard of that.
   */
  readonly #returning = new Map<string, Returning>();
  /** Recently done, by seq with their ids, oldest first. */
  readonly #done = new Map<number, string>();
  /** Outcomes that the broker was not told yet. */
  #acks: number[] = [];
  #terms: { seq: number; reason: string }[] = [];
  #isFlushing = false;
  #leaseMs = 0;
  #timer: Disposable | undefined;

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  /** Throws USAGE when this mailbox is received already; what the broker refuses the credit with. */
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

  /** What stays leased to this agent over the end of a session: what it works on, or has done unheard. */
  get heldSeqs(): number[] {
    return [...this.#held.keys(), ...this.#acks, ...this.#terms.map(({ seq }) => seq)];
  }

  /** True when it was one of ours: what comes now was sent after that. `seq`: of the message that was taken back; 0: none. */
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

  /** True when it was one of ours; said again when the timer looks after it. */
  onReject(id: string): boolean {
    for (const returning of this.#returning.values()) {
      if (returning.id !== id) continue;
      returning.isLost = true;
      return true;
    }
    return false;
  }

  /** The session is over: nothing that was sent in it arrives any more, and what has not begun comes again. */
  onLost(): void {
    this.#returning.clear();
    for (const [lane, queue] of this.#lanes) {
      for (const { message, isRunning } of queue) if (!isRunning) this.#held.delete(message.seq);
      this.#lanes.set(lane, queue.slice(0, 1));
    }
  }

  onSession(leaseMs: number): void {
    this.#leaseMs = leaseMs;
    // Before any credit: the broker may keep for us what failed after we greeted it.
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
    if (this.#held.has(seq)) return void this.#say(Command.WORKING, [seq]);
    const receiver = this.#receivers.get(envelope.to);
    // Not at once: a broker that believes that we receive would send it back as fast.
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
    const held = { message, abort, lane, receiver, isRunning: false, startedMs: 0 };
    this.#held.set(seq, held);
    const queue = this.#lanes.get(lane);
    if (queue !== undefined) return void queue.push(held);
    this.#lanes.set(lane, [held]);
    void this.#work(lane);
  }

  /** The sender of this one no longer wants it done. */
  onCancel(seq: number): void {
    this.#held.get(seq)?.abort.abort();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    for (const { abort } of this.#held.values()) abort.abort();
  }

  /** Runs one lane until it is empty. */
  async #work(lane: string): Promise<void> {
    for (;;) {
      const held = this.#lanes.get(lane)?.[0];
      if (held === undefined) break;
      held.isRunning = true;
      held.startedMs = this.#parts.clock.monotonicMs();
      const failure = await this.#run(held);
      // Given up meanwhile: settled as failed, and its lane was emptied.
      if (this.#held.get(held.message.seq) !== held) return;
      this.#held.delete(held.message.seq);
      if (failure === undefined) {
        this.#lanes.get(lane)?.shift();
        this.#ack(held.message.seq, held.message.id);
      } else this.#fail(held, failure);
    }
    this.#lanes.delete(lane);
  }

  async #run(held: Held): Promise<unknown> {
    try {
      await held.receiver.handle(held.message);
      return undefined;
    } catch (error) {
      return error ?? new BusError('INTERNAL', { detail: 'the handler threw nothing' });
    }
  }

  #fail(held: Held, error: unknown): void {
    const { seq, type } = held.message;
    const isLater = error instanceof Later;
    const coded = asBusError(error);
    const reason = isLater ? error.why : `${coded.code}: ${coded.message}`;
    this.#parts.trace('warn', 'a message was not handled', { seq, type, reason });
    const isFinal = !isLater && coded.code !== 'INTERNAL' && !coded.retryable;
    if (isFinal) {
      // The lane goes on with the next.
      this.#lanes.get(held.lane)?.shift();
      this.#terms.push({ seq, reason });
      return this.#flush();
    }
    const lane = (this.#lanes.get(held.lane) ?? []).filter((each) => each !== held);
    this.#lanes.delete(held.lane);
    const behind = lane.map(({ message }) => message.seq);
    for (const each of behind) this.#held.delete(each);
    const delayMs = isLater ? Math.round(error.delayMs) : 0;
    const nack = { seqs: [seq], delay_ms: delayMs, reason, untouched: false };
    const returning = { id: this.#parts.nextId(), nack, isLost: false, saidMs: 0, behind };
    this.#returning.set(held.lane, returning);
    this.#return(returning);
  }

  /** Under the same id when it is said again: the first answer holds for what came before it. */
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
    this.#remember(seq, id);
    this.#acks.push(seq);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    // What is settled in the same turn is said in one frame.
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

  #remember(seq: number, id: string): void {
    this.#done.set(seq, id);
    if (this.#done.size <= clientLimits.settledMax) return;
    const [oldest] = this.#done.keys();
    if (oldest !== undefined) this.#done.delete(oldest);
  }

  #untouched(seqs: number[], delayMs: number): void {
    this.#say(Command.NACK, seqs, { untouched: true, delay_ms: delayMs });
  }

  /** False: it cannot leave now, which the next session makes up for, or the lease running out. */
  #say(command: Command, seqs: number[], fields: Partial<Settle> = {}): boolean {
    const settle = { seqs, delay_ms: 0, reason: '', untouched: false, ...fields };
    return this.#parts.settle(command, settle);
  }

  /** Credit back to nothing; what has not begun goes back; what runs may finish. */
  async #stop(receiver: Receiver): Promise<void> {
    this.#receivers.delete(receiver.mailbox);
    const idle = [...this.#held.values()].filter(
      (held) => held.receiver === receiver && !held.isRunning,
    );
    for (const held of idle) {
      this.#held.delete(held.message.seq);
      const queue = this.#lanes.get(held.lane);
      queue?.splice(queue.indexOf(held), 1);
    }
    try {
      await this.#parts.grant({ ...receiver.credit, messages: 0 });
      if (idle.length > 0)
        this.#untouched(
          idle.map((held) => held.message.seq),
          0,
        );
    } catch (error) {
      // Without a session there is nothing to take back.
      this.#parts.trace('debug', 'credit not withdrawn', { code: asBusError(error).code });
    }
  }

  /** Shows life for what is held, and gives up on handlers that take too long. */
  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#parts.clock.after(this.#leaseMs / 3, () => {
      const nowMs = this.#parts.clock.monotonicMs();
      for (const held of [...this.#held.values()]) {
        if (!held.isRunning || nowMs - held.startedMs < held.receiver.handlerMs) continue;
        held.abort.abort();
        this.#held.delete(held.message.seq);
        this.#fail(held, new BusError('DEADLINE_EXCEEDED', { ms: held.receiver.handlerMs }));
      }
      this.#flush();
      this.#returnLost();
      if (this.#held.size > 0) this.#say(Command.WORKING, [...this.#held.keys()]);
      this.#arm();
    });
  }
}
