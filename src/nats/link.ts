import { randomBytes } from 'node:crypto';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { backoffMs, type BackoffPolicy } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import { within } from '../base/within.js';
import type { BusError } from '../errors/bus-error.js';
import type { Link, LinkEvents, SendOutcome } from '../transport/port.js';
import { connectNats, flushed, refusalOf, type NatsAccess } from './connect.js';
import { findBroker } from './find.js';
import { Outflow, PartReceiver, PartSender } from './parts.js';
import { decodeWord, isLater, runOf, subjectsOf, type Word } from './subjects.js';

/** Between two attempts to reach a server, or to find the broker. */
const dialBackoff: BackoffPolicy = { baseMs: 250, capMs: 2_000 };
/** Between two looks whether the broker still answers. */
const lookMs = 1_000;
/** What was sent and heard nothing for so long may have reached no broker. */
const unheardMsMax = 2_000;

const closingMsMax = 500;

/** One session with one run of the broker. */
interface Session {
  word: Word;
  sender: PartSender;
  receiver: PartReceiver;
  subscriptions: Subscription[];
  /** A part of the broker has come. */
  isHeard: boolean;
  /** Since it was heard last. */
  sentMs: number | undefined;
}

/**
 * The bus on NATS, a client's side: finds the broker, begins a session with it, and another one when the broker
 * changes, when the connection breaks or when a part was lost.
 */
export class NatsLink implements Link {
  readonly #access: NatsAccess;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #subjects: ReturnType<typeof subjectsOf>;
  readonly #closing = new AbortController();
  /** Prefixes of topics, each as often as it is subscribed. */
  readonly #prefixes = new Map<string, number>();
  readonly #topics = new Map<string, Subscription>();
  #events: LinkEvents | undefined;
  #connection: NatsConnection | undefined;
  #session: Session | undefined;
  /** The latest that was heard of. */
  #word: Word | undefined;
  #isSeeking = false;
  /** Sessions in a row of which nothing was heard: the next one waits. */
  #futile = 0;
  #timer: Disposable | undefined;
  #running: Promise<void> | undefined;
  refusal: BusError | undefined;

  constructor(parts: { access: NatsAccess; clock: Clock; random: () => number }) {
    this.#access = parts.access;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#subjects = subjectsOf(parts.access.bus);
  }

  get address(): string {
    return this.#access.text;
  }

  open(events: LinkEvents): void {
    this.#events = events;
    this.#running = this.#run();
    this.#look();
  }

  send(part: Buffer): Promise<SendOutcome> {
    const session = this.#session;
    if (session === undefined) return Promise.resolve('gone');
    session.sentMs ??= this.#clock.monotonicMs();
    return Promise.resolve(session.sender.send(part));
  }

  /** Publications are where the broker is. */
  connectTopics(): void {}

  subscribe(prefix: string): void {
    const count = this.#prefixes.get(prefix) ?? 0;
    this.#prefixes.set(prefix, count + 1);
    if (count === 0) this.#follow(prefix);
  }

  unsubscribe(prefix: string): void {
    const count = this.#prefixes.get(prefix) ?? 0;
    if (count > 1) return void this.#prefixes.set(prefix, count - 1);
    this.#prefixes.delete(prefix);
    stop(this.#topics.get(prefix));
    this.#topics.delete(prefix);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#timer?.[Symbol.dispose]();
    this.#events = undefined;
    const connection = this.#connection;
    if (this.#session !== undefined) {
      // So that the broker does not wait for its silence to end.
      this.#session.sender.send(new Uint8Array());
      if (connection !== undefined)
        await within(
          this.#clock,
          closingMsMax,
          flushed(connection).catch(() => undefined),
        );
    }
    this.#end();
    await connection?.close().catch(() => undefined);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const connection = await connectNats(this.#access);
        this.refusal = undefined;
        attempt = 0;
        await this.#attend(connection);
      } catch (error) {
        this.refusal = refusalOf(this.address, error);
      }
      await this.#pause(attempt);
    }
  }

  /** Until the connection is lost. */
  async #attend(connection: NatsConnection): Promise<void> {
    if (this.#closing.signal.aborted) return connection.close();
    this.#connection = connection;
    // What JetStream counts may begin anew with its servers.
    this.#word = undefined;
    const closed = connection.closed();
    connection.subscribe(this.#subjects.leader, {
      callback: (error, message) => {
        const word = error === null ? decodeWord(message.string()) : undefined;
        if (word !== undefined) this.#onWord(word);
      },
    });
    void this.#seek();
    const why = await closed;
    this.#connection = undefined;
    this.#end();
    if (why instanceof Error) throw why;
  }

  #onWord(word: Word): void {
    const session = this.#session;
    if (!word.isServing) {
      if (session !== undefined && runOf(session.word) === runOf(word)) this.#restart();
      return;
    }
    if (session !== undefined && isLater(word, session.word)) this.#restart();
    else if (session === undefined) void this.#seek();
  }

  #restart(): void {
    this.#end();
    void this.#seek();
  }

  /** Asks for the broker until it has one, or the connection is lost. */
  async #seek(): Promise<void> {
    if (this.#isSeeking) return;
    this.#isSeeking = true;
    try {
      if (this.#futile > 0) await this.#pause(this.#futile);
      for (let attempt = 0; this.#connection !== undefined; attempt += 1) {
        const word = await this.#find();
        // An old one that has not noticed yet that it no longer leads may answer, too.
        if (word !== undefined && (this.#word === undefined || !isLater(this.#word, word))) {
          this.#word = word;
          if (await this.#begin(word)) return;
        }
        await this.#pause(attempt);
      }
    } finally {
      this.#isSeeking = false;
    }
  }

  /** Undefined: no broker serves. */
  async #find(): Promise<Word | undefined> {
    if (this.#connection === undefined) return undefined;
    const word = await findBroker(this.#connection, this.#access.bus);
    return typeof word === 'object' && word.isServing ? word : undefined;
  }

  async #begin(word: Word): Promise<boolean> {
    const connection = this.#connection;
    if (connection === undefined) return false;
    const run = runOf(word);
    const peer = `${this.#access.agent}.${randomBytes(8).toString('hex')}`;
    const flow = new Outflow(connection);
    const session: Session = {
      word,
      sender: new PartSender(flow, this.#subjects.in(run, peer)),
      receiver: new PartReceiver(),
      subscriptions: [],
      isHeard: false,
      sentMs: undefined,
    };
    const callback = (error: Error | null, message: Msg): void => {
      if (this.#session === session) this.#onMessage(session, error, message);
    };
    session.subscriptions = [connection.subscribe(this.#subjects.out(run, peer), { callback })];
    try {
      // The server knows the subscription before the broker can answer.
      await flushed(connection);
    } catch {
      return false;
    }
    if (this.#connection !== connection || this.#closing.signal.aborted) return false;
    this.#session = session;
    for (const prefix of this.#prefixes.keys()) this.#follow(prefix);
    this.#events?.onUp();
    return true;
  }

  #onMessage(session: Session, error: Error | null, message: Msg): void {
    const part = error === null ? session.receiver.take(message.reply ?? '', message.data) : 'gap';
    session.sentMs = undefined;
    if (part === 'gap') return this.#restart();
    session.isHeard = true;
    if (part !== 'unfinished') this.#events?.onPart(part);
  }

  #end(): void {
    const session = this.#session;
    if (session === undefined) return;
    this.#session = undefined;
    this.#futile = session.isHeard ? 0 : this.#futile + 1;
    for (const each of [...session.subscriptions, ...this.#topics.values()]) stop(each);
    this.#topics.clear();
    this.#events?.onDown();
  }

  /** A broker that ended without a word is not there any more, and neither is what was sent to it. */
  #look(): void {
    if (this.#closing.signal.aborted) return;
    this.#timer = this.#clock.after(lookMs, () => {
      void this.#check().finally(() => this.#look());
    });
  }

  async #check(): Promise<void> {
    const session = this.#session;
    const connection = this.#connection;
    if (session === undefined || connection === undefined) return;
    const { sentMs = Infinity } = session;
    if (this.#clock.monotonicMs() - sentMs < unheardMsMax) return;
    const word = await findBroker(connection, this.#access.bus);
    if (this.#session !== session || session.sentMs === undefined) return;
    // No answer proves nothing: it, or this process, may be busy.
    if (word === undefined) return;
    if (word !== 'absent' && runOf(word) === runOf(session.word)) session.sentMs = undefined;
    else if (word === 'absent' || isLater(word, session.word)) this.#restart();
  }

  #follow(prefix: string): void {
    const session = this.#session;
    const connection = this.#connection;
    if (session === undefined || connection === undefined) return;
    const pattern = patternOf(prefix);
    const subject = this.#subjects.topic(runOf(session.word), pattern);
    const start = subject.length - pattern.length;
    let receiver = new PartReceiver();
    const callback = (error: Error | null, message: Msg): void => {
      if (error !== null || this.#session !== session) return;
      const topic = message.subject.slice(start);
      if (!this.#isFirstFor(prefix, topic)) return;
      const token = message.reply ?? '';
      if (token === '0' || token === '0+') receiver = new PartReceiver();
      const frame = receiver.take(token, message.data);
      // A gap in a stream is seen by its numbers.
      if (typeof frame !== 'string') this.#events?.onPublication(topic, frame);
    };
    this.#topics.set(prefix, connection.subscribe(subject, { callback }));
  }

  /** Each of several subscriptions gets a publication; it is delivered once. */
  #isFirstFor(prefix: string, topic: string): boolean {
    for (const each of this.#topics.keys())
      if (`${topic}\0`.startsWith(each)) return each === prefix;
    return false;
  }

  #pause(attempt: number): Promise<void> {
    const ms = dialBackoff.baseMs + backoffMs(dialBackoff, attempt, this.#random());
    return pause(this.#clock, ms, this.#closing.signal);
  }
}

/** The narrowest pattern of NATS with all topics of this prefix, of which a NUL ends a topic. */
function patternOf(prefix: string): string {
  if (prefix.endsWith('\0')) return prefix.slice(0, -1);
  return `${prefix.slice(0, prefix.lastIndexOf('.') + 1)}>`;
}

function stop(subscription: Subscription | undefined): void {
  // Closed with its connection already.
  if (subscription?.isClosed() === false) subscription.unsubscribe();
}
