import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { backoffMs, type BackoffPolicy } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import { within } from '../base/within.js';
import { noTrace, type Trace } from '../base/trace.js';
import type { Listener, PeerId, SendOutcome } from '../transport/port.js';
import { connectNats, flushed, refusalOf, type NatsAccess } from './connect.js';
import { Outflow, PartReceiver, PartSender, Unfinished } from './parts.js';
import { encodeWord, isInbox, runOf, subjectsOf, type Word } from './subjects.js';

const dialBackoff: BackoffPolicy = { baseMs: 100, capMs: 2_000 };
/** The broker says again that it serves: a client that missed it looks for another one. */
const sayMs = 5_000;
/** A peer that sends nothing for longer is forgotten; the longest interval of heartbeats is half a minute. */
const unheardMsMax = 150_000;
/** Sessions; a further one is told to begin anew, and waits before it does. */
const peersMax = 16_384;
/** Of one identity: the commands of one person, or all shards of hosts that share one. Others must find room in the broker. */
const peersPerAgentMax = 1_024;
/** As a link names its sessions: `AGENT.SESSION`. */
const peerPattern = /^[a-z0-9_-]{1,96}\.[0-9a-f]{16}$/;
const closingMsMax = 500;
/** To a peer whose session is over. It is no number, so that it ends the session at the other side. */
const overToken = 'over';

interface Peer {
  agent: string;
  sender: PartSender;
  receiver: PartReceiver;
  heardMs: number;
}

/** The bus on NATS, the side of the broker that leads. */
export class NatsListener implements Listener {
  readonly #access: NatsAccess;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #trace: Trace;
  readonly #subjects: ReturnType<typeof subjectsOf>;
  readonly #closing = new AbortController();
  /** By agent and session. Of this connection alone: what was on its way when one broke may be lost. */
  readonly #peers = new Map<PeerId, Peer>();
  readonly #agents = new Map<string, number>();
  readonly #unfinished = new Unfinished();
  #word: Word;
  #connection: NatsConnection;
  #flow: Outflow;
  #onPart: ((peer: PeerId, part: Buffer) => void) | undefined;
  #running: Promise<void> | undefined;
  #timer: Disposable | undefined;

  private constructor(parts: NatsListenerParts, connection: NatsConnection) {
    this.#access = parts.access;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#trace = parts.trace ?? noTrace;
    this.#subjects = subjectsOf(parts.access.bus);
    this.#word = { epoch: parts.epoch, connection: 0, isServing: true };
    this.#connection = connection;
    this.#flow = new Outflow(connection);
  }

  /** Clients find it after `listen`. Throws NATS_MISSING, NATS_REFUSED, NATS_UNAVAILABLE. */
  static async open(parts: NatsListenerParts): Promise<NatsListener> {
    return new NatsListener(parts, await connectNats(parts.access));
  }

  get address(): string {
    return this.#access.text;
  }

  get topicsAddress(): string {
    return this.#access.text;
  }

  listen(onPart: (peer: PeerId, part: Buffer) => void): void {
    this.#onPart = onPart;
    this.#running = this.#run();
    this.#sayAgain();
  }

  send(peer: PeerId, part: Buffer): Promise<SendOutcome> {
    return Promise.resolve(this.#peers.get(peer)?.sender.send(part) ?? 'gone');
  }

  publish(topic: string, frame: Buffer): void {
    // Dropped; each subscriber sees a gap in `seq`.
    if (this.#flow.isFull) return;
    const subject = this.#subjects.topic(runOf(this.#word), topic);
    try {
      this.#flow.publish(subject, frame, 0);
    } catch {
      // The connection is lost, and with it every session.
    }
  }

  /** Every agent proves itself: the server knows users, and who may use them is not ours to say. */
  isRemote(): boolean {
    return true;
  }

  /** Refused connections are the server's to count. */
  refusals(): Record<string, number> {
    return {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#timer?.[Symbol.dispose]();
    this.#forgetAll();
    this.#word = { ...this.#word, isServing: false };
    this.#say();
    await within(
      this.#clock,
      closingMsMax,
      flushed(this.#connection).catch(() => undefined),
    );
    await this.#connection.close().catch(() => undefined);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        if (this.#connection.isClosed()) {
          this.#connection = await connectNats(this.#access);
          this.#flow = new Outflow(this.#connection);
          this.#word = { ...this.#word, connection: this.#word.connection + 1 };
        }
        attempt = 0;
        await this.#attend(this.#connection);
      } catch (error) {
        const { code } = refusalOf(this.address, error);
        this.#trace('warn', 'the connection to NATS is lost', { code });
      }
      this.#forgetAll();
      await pause(this.#clock, backoffMs(dialBackoff, attempt, this.#random()), signal);
    }
  }

  /** Until the connection is lost. */
  async #attend(connection: NatsConnection): Promise<void> {
    if (this.#closing.signal.aborted) return connection.close();
    const closed = connection.closed();
    const run = runOf(this.#word);
    connection.subscribe(this.#subjects.allIn(run), {
      callback: (error, message) => {
        if (error === null) this.#onMessage(run, message);
      },
    });
    connection.subscribe(this.#subjects.find, {
      callback: (error, message) => {
        if (error === null && isInbox(message.reply)) message.respond(encodeWord(this.#word));
      },
    });
    await flushed(connection);
    this.#say();
    const why = await closed;
    if (why instanceof Error) throw why;
  }

  #onMessage(run: string, message: Msg): void {
    const id = message.subject.slice(this.#subjects.in(run, '').length);
    // Nothing of ours; an answer to a name of its length could end our connection.
    if (!peerPattern.test(id)) return;
    const token = message.reply ?? '';
    const peer = this.#peers.get(id) ?? this.#greet(run, id, token);
    if (peer === undefined) return this.#tellOver(run, id);
    const part = peer.receiver.take(token, message.data);
    peer.heardMs = this.#clock.monotonicMs();
    if (part === 'unfinished') return;
    if (part === 'gap' || part.length === 0) {
      this.#forget(id, peer);
      if (part === 'gap') this.#tellOver(run, id);
      return;
    }
    this.#onPart?.(id, part);
  }

  /** Undefined: it does not begin with its first message, or there are too many. */
  #greet(run: string, id: PeerId, token: string): Peer | undefined {
    const [agent = ''] = id.split('.', 1);
    const count = this.#agents.get(agent) ?? 0;
    const isFirst = token === '0' || token === '0+';
    if (!isFirst || this.#peers.size >= peersMax || count >= peersPerAgentMax) return undefined;
    const sender = new PartSender(this.#flow, this.#subjects.out(run, id));
    const peer = { agent, sender, receiver: new PartReceiver(this.#unfinished), heardMs: 0 };
    this.#peers.set(id, peer);
    this.#agents.set(agent, count + 1);
    return peer;
  }

  #forget(id: PeerId, { agent, receiver }: Peer): void {
    if (!this.#peers.delete(id)) return;
    receiver.drop();
    const left = (this.#agents.get(agent) ?? 0) - 1;
    if (left > 0) this.#agents.set(agent, left);
    else this.#agents.delete(agent);
  }

  #forgetAll(): void {
    this.#unfinished.bytes = 0;
    this.#peers.clear();
    this.#agents.clear();
  }

  #tellOver(run: string, id: PeerId): void {
    // It finds out by itself then.
    if (this.#flow.isFull) return;
    this.#connection.publish(this.#subjects.out(run, id), undefined, { reply: overToken });
  }

  #sayAgain(): void {
    this.#timer = this.#clock.after(sayMs, () => {
      this.#say();
      const oldestMs = this.#clock.monotonicMs() - unheardMsMax;
      for (const [id, peer] of this.#peers) if (peer.heardMs < oldestMs) this.#forget(id, peer);
      this.#sayAgain();
    });
  }

  #say(): void {
    if (this.#connection.isClosed()) return;
    this.#connection.publish(this.#subjects.leader, encodeWord(this.#word));
  }
}

export interface NatsListenerParts {
  access: NatsAccess;
  /** Grows with each leader; see `Lease`. */
  epoch: number;
  clock: Clock;
  random: () => number;
  trace?: Trace | undefined;
}
