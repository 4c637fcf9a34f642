import { chmodSync, rmSync } from 'node:fs';
import * as zmq from 'zeromq';
import { noTrace, type Trace } from '../base/trace.js';
import { BusError } from '../errors/bus-error.js';
import { batchBytesMax, partBytesMax } from '../wire/frame.js';
import { isTcp, topicsAddressFrom, topicsAddressOf } from './address.js';
import { linkOptions, listenerOptions, type LinkKeys, type ListenerKeys } from './curve.js';
import { checkIpcFolder, ipcPath, prepareIpcFolder } from './ipc-address.js';
import type { Link, LinkEvents, Listener, PeerId, SendOutcome } from './port.js';
import { isListening } from './probe.js';
import { Redial } from './redial.js';
import { Refusals } from './refusals.js';

// Otherwise the process would not exit while a closed socket still holds unsent messages.
zmq.context.blocky = false;
// One context serves all sockets of a process; a PGC host has two for each of its shards.
zmq.context.maxSockets = 8_192;

/** Messages in a peer's pipe. Above it the peer counts as stalled and the sender's own queue holds the rest. */
const pipeMessagesMax = 64;
/** The kernel takes a part in one piece. By default it takes two or three, and wakes the other side for each. tcp finds its own size. */
const localBuffers = { sendBufferSize: 2 * batchBytesMax, receiveBufferSize: 2 * batchBytesMax };
/** Publications are loss-tolerant: a subscriber that lags more than this misses some. */
const publicationsMax = 10_000;
/** What is read before timers, fsync results and other sockets get a turn. */
const turn = { messages: 64, bytes: 512 * 1024 };

/** Every option is written down; libzmq's defaults queue for ever, wait for ever or linger for ever. */
const common = {
  maxMessageSize: partBytesMax,
  handshakeInterval: 5_000,
  linger: 500,
};

/** Cuts connections whose other end is gone without a word. A local socket cannot lose its end that way. */
const farEnd = { heartbeatInterval: 10_000, heartbeatTimeout: 30_000 };

/** ROUTER for the bus, XPUB for topics. */
export class ZeromqListener implements Listener {
  readonly topicsAddress: string;
  readonly #router: zmq.Router;
  readonly #topics: zmq.XPublisher;
  readonly #refusals: Refusals;
  #isClosing = false;

  private constructor(
    readonly address: string,
    router: zmq.Router,
    topics: zmq.XPublisher,
    trace: Trace,
  ) {
    this.topicsAddress = topicsAddressOf(address);
    this.#router = router;
    this.#topics = topics;
    this.#refusals = new Refusals(address, trace);
    if (!isTcp(address)) return;
    this.#refusals.watch(router);
    this.#refusals.watch(topics);
  }

  /**
   * Binds both sockets. Hold the store's lock before: libzmq unlinks and takes over an ipc path that is
   * in use, without a word. The look before guards against a broker of another home on the same path.
   * Throws SOCKET_PATH, BROKER_RUNNING, and KEYS_MISSING for a tcp address without keys.
   */
  static async bind(
    address: string,
    options: { keys?: ListenerKeys | undefined; trace?: Trace | undefined } = {},
  ): Promise<ZeromqListener> {
    const secured = { ...commonTo(address), ...listenerOptions(address, options.keys) };
    if (!isTcp(address)) {
      prepareIpcFolder(address);
      if (await isListening(address)) throw new BusError('BROKER_RUNNING', { path: address });
    }
    const router = new zmq.Router({
      ...secured,
      ...(isTcp(address) ? {} : localBuffers),
      mandatory: true,
      // Answer at once. Any other value lets one slow peer block every send.
      sendTimeout: 0,
      sendHighWaterMark: pipeMessagesMax,
      receiveHighWaterMark: pipeMessagesMax,
    });
    const topics = new zmq.XPublisher({
      ...secured,
      sendTimeout: 0,
      sendHighWaterMark: publicationsMax,
    });
    const listener = new ZeromqListener(address, router, topics, options.trace ?? noTrace);
    try {
      await router.bind(address);
      await topics.bind(listener.topicsAddress);
      for (const file of listener.#files()) chmodSync(file, 0o600);
    } catch (error) {
      router.close();
      topics.close();
      if ((error as { code?: string }).code === 'EADDRINUSE')
        throw new BusError('BROKER_RUNNING', { path: address }, { cause: error });
      throw new BusError('SOCKET_PATH', { address, detail: messageOf(error) }, { cause: error });
    }
    return listener;
  }

  listen(onPart: (peer: PeerId, part: Buffer) => void): void {
    const isClosing = (): boolean => this.#isClosing;
    void forEachMessage(this.#router, isClosing, ([peer, part]) => {
      if (peer !== undefined && part !== undefined) onPart(peer.toString('latin1'), part);
    });
    // Subscriptions arrive here as messages; unread they would fill the pipe.
    void forEachMessage(this.#topics, isClosing, () => undefined);
  }

  async send(peer: PeerId, part: Buffer): Promise<SendOutcome> {
    return outcomeOf(() => this.#router.send([Buffer.from(peer, 'latin1'), part]));
  }

  publish(topic: string, frame: Buffer): void {
    // A full pipe drops for that subscriber only, which sees a gap in `seq`.
    void outcomeOf(() => this.#topics.send([`${topic}\0`, frame]));
  }

  isRemote(): boolean {
    return isTcp(this.address);
  }

  refusals(): Record<string, number> {
    return this.#refusals.counts();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    // Never `unbind` before: zeromq.js runs it on another thread while a pending receive uses the same
    // socket on this one, and libzmq aborts the process (pipe.cpp, `_state == term_ack_sent`).
    this.#router.close();
    this.#topics.close();
    // A plain close leaves the files behind. Ours to remove: the caller still holds the lock.
    for (const file of this.#files()) rmSync(file, { force: true });
    return Promise.resolve();
  }

  /** What an ipc socket leaves in the file system. */
  #files(): string[] {
    return isTcp(this.address) ? [] : [this.address, this.topicsAddress].map(ipcPath);
  }
}

/** DEALER for the bus, SUB for topics. */
export class ZeromqLink implements Link {
  readonly #dealer: zmq.Dealer;
  readonly #subscriber: zmq.Subscriber;
  readonly #bus: Redial;
  readonly #topics: Redial;
  readonly #subscriptions = new Map<string, number>();
  #isUp = false;
  #isClosing = false;

  /** Nothing is connected before `open`. Throws SOCKET_PATH, and KEYS_MISSING for a tcp address without keys. */
  constructor(
    readonly address: string,
    keys?: LinkKeys,
  ) {
    const secured = { ...commonTo(address), ...reconnect(address), ...linkOptions(address, keys) };
    if (!isTcp(address)) checkIpcFolder(address);
    this.#dealer = new zmq.Dealer({
      ...secured,
      ...(isTcp(address) ? {} : localBuffers),
      sendTimeout: 0,
      // Without it a DEALER reports "sent" without a connection, and floods the broker later.
      immediate: true,
      sendHighWaterMark: pipeMessagesMax,
      receiveHighWaterMark: pipeMessagesMax,
    });
    this.#subscriber = new zmq.Subscriber({
      ...secured,
      receiveHighWaterMark: publicationsMax,
    });
    this.#bus = new Redial(this.#dealer);
    this.#topics = new Redial(this.#subscriber);
  }

  get refusal(): BusError | undefined {
    const code = this.#bus.refusal;
    return code && new BusError(code, { address: this.address });
  }

  open(events: LinkEvents): void {
    // After the handshake the first send succeeds; after `connect` alone it may not.
    this.#dealer.events.on('handshake', () => {
      this.#isUp = true;
      events.onUp();
    });
    this.#dealer.events.on('disconnect', () => {
      this.#isUp = false;
      events.onDown();
    });
    const isClosing = (): boolean => this.#isClosing;
    void forEachMessage(this.#dealer, isClosing, ([part]) => {
      if (part !== undefined) events.onPart(part);
    });
    void forEachMessage(this.#subscriber, isClosing, ([topic, frame]) => {
      if (topic !== undefined && frame !== undefined)
        events.onPublication(topic.toString('utf8', 0, topic.length - 1), frame);
    });
    this.#bus.connect(this.address);
  }

  async send(part: Buffer): Promise<SendOutcome> {
    // ZeroMQ reports "again" in both cases; only we know that there is no connection.
    return this.#isUp ? outcomeOf(() => this.#dealer.send(part)) : 'gone';
  }

  connectTopics(address: string): void {
    this.#topics.connect(topicsAddressFrom(this.address, address));
  }

  subscribe(prefix: string): void {
    const count = this.#subscriptions.get(prefix) ?? 0;
    this.#subscriptions.set(prefix, count + 1);
    if (count === 0) this.#subscriber.subscribe(prefix);
  }

  unsubscribe(prefix: string): void {
    const count = this.#subscriptions.get(prefix) ?? 0;
    if (count > 1) this.#subscriptions.set(prefix, count - 1);
    else if (this.#subscriptions.delete(prefix)) this.#subscriber.unsubscribe(prefix);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#bus[Symbol.dispose]();
    this.#topics[Symbol.dispose]();
    this.#dealer.close();
    this.#subscriber.close();
    return Promise.resolve();
  }
}

/**
 * Reads until the socket is closed. What it holds is read in one go, since a receive that need not wait is done at
 * once. A bad message must not end the loop: `visit` answers for its own errors.
 */
async function forEachMessage(
  socket: { receive(): Promise<Buffer[]> },
  isClosing: () => boolean,
  visit: (parts: Buffer[]) => void,
): Promise<void> {
  let messages = 0;
  let bytes = 0;
  try {
    for (;;) {
      const parts = await socket.receive();
      visit(parts);
      messages += 1;
      bytes += parts.at(-1)?.length ?? 0;
      if (messages < turn.messages && bytes < turn.bytes) continue;
      messages = bytes = 0;
      await new Promise(setImmediate);
    }
  } catch (error) {
    // A pending receive ends with an error when its socket is closed; any other is a bug.
    if (!isClosing()) throw error;
  }
}

function commonTo(address: string): object {
  return isTcp(address) ? { ...common, ...farEnd } : common;
}

/** Twice as long after each failure. A broker far away is away for longer, and has more to fear from a herd. */
function reconnect(address: string): object {
  return { reconnectInterval: 100, reconnectMaxInterval: isTcp(address) ? 32_000 : 2_000 };
}

async function outcomeOf(sending: () => Promise<void>): Promise<SendOutcome> {
  try {
    // Called in here because a socket that is being unbound throws at once instead of rejecting.
    await sending();
    return 'sent';
  } catch (error) {
    // A closing socket (EBUSY, EBADF, ENOTSOCK) is as gone as an unknown routing id (EHOSTUNREACH).
    return (error as { code?: string }).code === 'EAGAIN' ? 'stalled' : 'gone';
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
