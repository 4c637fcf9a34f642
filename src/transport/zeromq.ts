import { chmodSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import * as zmq from 'zeromq';
import { BusError } from '../errors/bus-error.js';
import { partBytesMax } from '../wire/frame.js';
import { checkIpcFolder, ipcPath, prepareIpcFolder, topicsAddressOf } from './ipc-address.js';
import type { Link, LinkEvents, Listener, PeerId, SendOutcome } from './port.js';

// Otherwise the process would not exit while a closed socket still holds unsent messages.
zmq.context.blocky = false;
// One context serves all sockets of a process; a PGC host has two for each of its shards.
zmq.context.maxSockets = 8_192;

/** Messages in a peer's pipe. Above it the peer counts as stalled and the sender's own queue holds the rest. */
const pipeMessagesMax = 64;
/** Publications are loss-tolerant: a subscriber that lags more than this misses some. */
const publicationsMax = 10_000;
/** The iterator serves hundreds of messages a turn; timers and fsync results must get in between. */
const messagesPerTurn = 64;

/** Every option is written down; libzmq's defaults queue for ever, wait for ever or linger for ever. */
const common = {
  maxMessageSize: partBytesMax,
  heartbeatInterval: 10_000,
  heartbeatTimeout: 30_000,
  handshakeInterval: 5_000,
  linger: 500,
};

/** ROUTER for the bus, XPUB for topics. */
export class ZeromqListener implements Listener {
  readonly topicsAddress: string;
  readonly #router: zmq.Router;
  readonly #topics: zmq.XPublisher;
  #isClosing = false;

  private constructor(
    readonly address: string,
    router: zmq.Router,
    topics: zmq.XPublisher,
  ) {
    this.topicsAddress = topicsAddressOf(address);
    this.#router = router;
    this.#topics = topics;
  }

  /**
   * Binds both sockets. Hold the store's lock before: libzmq unlinks and takes over an ipc path that is
   * in use, without a word. The look before guards against a broker of another home on the same path.
   * Throws SOCKET_PATH, BROKER_RUNNING.
   */
  static async bind(address: string): Promise<ZeromqListener> {
    prepareIpcFolder(address);
    if (await isListening(address)) throw new BusError('BROKER_RUNNING', { path: address });
    const router = new zmq.Router({
      ...common,
      mandatory: true,
      // Answer at once. Any other value lets one slow peer block every send.
      sendTimeout: 0,
      sendHighWaterMark: pipeMessagesMax,
      receiveHighWaterMark: pipeMessagesMax,
    });
    const topics = new zmq.XPublisher({
      ...common,
      sendTimeout: 0,
      sendHighWaterMark: publicationsMax,
    });
    const listener = new ZeromqListener(address, router, topics);
    try {
      await router.bind(address);
      await topics.bind(listener.topicsAddress);
      chmodSync(ipcPath(address), 0o600);
      chmodSync(ipcPath(listener.topicsAddress), 0o600);
    } catch (error) {
      router.close();
      topics.close();
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
    // A full pipe drops for that subscriber only; a gap in `seq` tells it so.
    void outcomeOf(() => this.#topics.send([`${topic}\0`, frame]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    // Never `unbind` before: zeromq.js runs it on another thread while a pending receive uses the same
    // socket on this one, and libzmq aborts the process (pipe.cpp, `_state == term_ack_sent`).
    this.#router.close();
    this.#topics.close();
    // A plain close leaves the files behind. Ours to remove: the caller still holds the lock.
    for (const address of [this.address, this.topicsAddress])
      rmSync(ipcPath(address), { force: true });
    return Promise.resolve();
  }
}

/** DEALER for the bus, SUB for topics. */
export class ZeromqLink implements Link {
  readonly #dealer: zmq.Dealer;
  readonly #subscriber: zmq.Subscriber;
  readonly #subscriptions = new Map<string, number>();
  #topicsAddress: string | undefined;
  #isUp = false;
  #isClosing = false;

  /** Throws SOCKET_PATH. Nothing is connected before `open`. */
  constructor(readonly address: string) {
    checkIpcFolder(address);
    this.#dealer = new zmq.Dealer({
      ...common,
      sendTimeout: 0,
      // Without it a DEALER says "sent" while nobody is there, and floods the broker later.
      immediate: true,
      sendHighWaterMark: pipeMessagesMax,
      receiveHighWaterMark: pipeMessagesMax,
      reconnectInterval: 100,
      reconnectMaxInterval: 2_000,
    });
    this.#subscriber = new zmq.Subscriber({
      ...common,
      receiveHighWaterMark: publicationsMax,
      reconnectInterval: 100,
      reconnectMaxInterval: 2_000,
    });
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
    this.#dealer.connect(this.address);
  }

  async send(part: Buffer): Promise<SendOutcome> {
    // ZeroMQ says "again" to both; only we know that nobody is there.
    return this.#isUp ? outcomeOf(() => this.#dealer.send(part)) : 'gone';
  }

  connectTopics(address: string): void {
    if (this.#topicsAddress === address) return;
    if (this.#topicsAddress !== undefined) this.#subscriber.disconnect(this.#topicsAddress);
    this.#topicsAddress = address;
    this.#subscriber.connect(address);
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
    this.#dealer.close();
    this.#subscriber.close();
    return Promise.resolve();
  }
}

/** Reads until the socket is closed. A bad message must not end the loop: `visit` answers for its own errors. */
async function forEachMessage(
  socket: AsyncIterable<Buffer[]>,
  isClosing: () => boolean,
  visit: (parts: Buffer[]) => void,
): Promise<void> {
  let inTurn = 0;
  try {
    for await (const parts of socket) {
      visit(parts);
      inTurn += 1;
      if (inTurn >= messagesPerTurn) {
        inTurn = 0;
        await new Promise(setImmediate);
      }
    }
  } catch (error) {
    // A pending receive ends with an error when its socket is unbound or closed; any other is a bug.
    if (!isClosing()) throw error;
  }
}

/** Whether a process accepts connections there; a socket file alone may be left over from one that was killed. */
export function isListening(address: string): Promise<boolean> {
  const file = ipcPath(address);
  return new Promise((resolve) => {
    const probe = connect(file);
    const settle = (answer: boolean) => (): void => {
      probe.destroy();
      resolve(answer);
    };
    probe.once('connect', settle(true));
    // Nobody there, or a socket file that a killed broker left behind.
    probe.once('error', (error: NodeJS.ErrnoException) =>
      // Anything else, such as a full backlog, means that somebody is there.
      settle(error.code !== 'ENOENT' && error.code !== 'ECONNREFUSED')(),
    );
  });
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
