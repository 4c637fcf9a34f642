import type { Link, LinkEvents, Listener, PeerId, SendOutcome } from '../../src/transport/port.js';
import type { SeededRandom } from './random.js';
import type { Process, SimulatedTime } from './time.js';

/**
 * What ZeroMQ over a local socket or TCP can do to us: each connection keeps its order and loses nothing
 * while it stands; parts are late; it may stand still for a while (`partition`) or end, and then what was
 * under way is lost from some point on, and the broker is not told. The shares below are what no such
 * connection does, but a broken peer, a bit flip or another transport might.
 */
export interface NetworkFaults {
  delayMsMax: number;
  /** Of parts in which one bit arrives flipped: found by checksums. */
  flipShare: number;
  /** Inside a standing connection. */
  lossShare: number;
  duplicateShare: number;
  reorderShare: number;
}

export const soundNetwork: NetworkFaults = {
  delayMsMax: 2,
  flipShare: 0,
  lossShare: 0,
  duplicateShare: 0,
  reorderShare: 0,
};

/** Parts under way in one direction; above it the sender is told `stalled`. */
const pipePartsMax = 64;
const dialMsMax = 30;
const redialMsMax = 200;

export interface Tap {
  /** A part has left a client, or reached it; `connection` is new after each reconnect. */
  onSent(agent: string, part: Buffer): void;
  onReceived(agent: string, part: Buffer): void;
  onConnection(agent: string, isUp: boolean): void;
}

export class SimulatedNetwork {
  faults: NetworkFaults = soundNetwork;
  listener: SimulatedListener | undefined;
  readonly links = new Set<SimulatedLink>();
  #peers = 0;

  constructor(
    readonly time: SimulatedTime,
    readonly random: SeededRandom,
    readonly tap: Tap,
  ) {}

  listen(process: Process): SimulatedListener {
    this.listener = new SimulatedListener(this, process);
    return this.listener;
  }

  link(process: Process, agent: string): SimulatedLink {
    return new SimulatedLink(this, process, agent);
  }

  nextPeer(): PeerId {
    this.#peers += 1;
    return `peer-${this.#peers}`;
  }

  /** The broker's process is gone, and with it every connection to it. */
  listenerLost(listener: SimulatedListener): void {
    if (this.listener !== listener) return;
    this.listener = undefined;
    for (const link of this.links) link.cut();
  }
}

/** One direction of a connection. */
class Pipe {
  isBlocked = false;
  #queue: { part: Buffer; readyMs: number }[] = [];
  #lastMs = 0;
  #isArmed = false;

  constructor(
    readonly network: SimulatedNetwork,
    readonly arrive: (part: Buffer) => void,
  ) {}

  push(part: Buffer): SendOutcome {
    if (this.#queue.length >= pipePartsMax) return 'stalled';
    const { random, faults } = this.network;
    if (random.chance(faults.lossShare)) return 'sent';
    this.#add(random.chance(faults.flipShare) ? flipped(part, random) : part);
    if (random.chance(faults.duplicateShare)) this.#add(part);
    return 'sent';
  }

  /** What is under way is lost from some point on. */
  cutAtRandom(): void {
    this.isBlocked = false;
    this.#queue.length = this.network.random.int(0, this.#queue.length);
    this.#arm();
  }

  drop(): void {
    this.#queue = [];
  }

  block(isBlocked: boolean): void {
    this.isBlocked = isBlocked;
    this.#arm();
  }

  #add(part: Buffer): void {
    const { random, faults, time } = this.network;
    const readyMs = Math.max(this.#lastMs, time.nowMs + random.next() * faults.delayMsMax);
    this.#lastMs = readyMs;
    const at = random.chance(faults.reorderShare)
      ? random.int(0, this.#queue.length)
      : this.#queue.length;
    this.#queue.splice(at, 0, { part, readyMs });
    this.#arm();
  }

  #arm(): void {
    const [first] = this.#queue;
    if (this.#isArmed || this.isBlocked || first === undefined) return;
    this.#isArmed = true;
    const { time } = this.network;
    time.schedule(first.readyMs - time.nowMs, () => {
      this.#isArmed = false;
      if (!this.isBlocked) {
        const next = this.#queue.shift();
        if (next !== undefined) this.arrive(next.part);
      }
      this.#arm();
    });
  }
}

function flipped(part: Buffer, random: SeededRandom): Buffer {
  const out = Buffer.from(part);
  const bit = random.int(0, part.length * 8 - 1);
  out[bit >> 3]! ^= 1 << (bit & 7);
  return out;
}

interface Connection {
  peer: PeerId;
  link: SimulatedLink;
  isOpen: boolean;
  toBroker: Pipe;
  toClient: Pipe;
}

export class SimulatedListener implements Listener {
  readonly address = 'simulated://bus';
  readonly topicsAddress = 'simulated://topics';
  readonly #connections = new Map<PeerId, Connection>();
  #onPart: ((peer: PeerId, part: Buffer) => void) | undefined;

  constructor(
    readonly network: SimulatedNetwork,
    readonly process: Process,
  ) {}

  connect(link: SimulatedLink): Connection {
    const peer = this.network.nextPeer();
    const connection: Connection = {
      ...{ peer, link, isOpen: true },
      toBroker: new Pipe(this.network, (part) => {
        this.process.run(0, () => this.#onPart?.(peer, part), true);
      }),
      toClient: new Pipe(this.network, (part) => link.arrive(connection, part)),
    };
    this.#connections.set(peer, connection);
    return connection;
  }

  disconnected(connection: Connection): void {
    this.#connections.delete(connection.peer);
  }

  get isServing(): boolean {
    return this.process.isAlive && this.#onPart !== undefined;
  }

  listen(onPart: (peer: PeerId, part: Buffer) => void): void {
    this.#onPart = onPart;
    for (const link of this.network.links) link.dial(dialMsMax);
  }

  send(peer: PeerId, part: Buffer): Promise<SendOutcome> {
    if (!this.process.isAlive) return new Promise(() => undefined);
    const connection = this.#connections.get(peer);
    return Promise.resolve(connection === undefined ? 'gone' : connection.toClient.push(part));
  }

  publish(): void {
    // Nobody subscribes here: publications promise nothing that could be checked.
  }

  isRemote(): boolean {
    return false;
  }

  refusals(): Record<string, number> {
    return {};
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#onPart = undefined;
    this.network.listenerLost(this);
    return Promise.resolve();
  }
}

export class SimulatedLink implements Link {
  readonly address = 'simulated://bus';
  #events: LinkEvents | undefined;
  #connection: Connection | undefined;
  #listener: SimulatedListener | undefined;
  #isDialling = false;
  /** The connection is gone, and its owner was not told yet. */
  #isLosing = false;

  constructor(
    readonly network: SimulatedNetwork,
    readonly process: Process,
    readonly agent: string,
  ) {}

  open(events: LinkEvents): void {
    this.#events = events;
    this.network.links.add(this);
    this.dial(dialMsMax);
  }

  dial(withinMs: number): void {
    if (this.#isDialling || this.#isLosing) return;
    if (this.#connection !== undefined || this.#events === undefined) return;
    this.#isDialling = true;
    this.process.run(this.network.random.next() * withinMs, () => {
      this.#isDialling = false;
      if (this.#isLosing) return;
      const { listener } = this.network;
      if (this.#connection !== undefined || this.#events === undefined) return;
      if (listener?.isServing !== true) return this.dial(redialMsMax);
      this.#listener = listener;
      this.#connection = listener.connect(this);
      this.network.tap.onConnection(this.agent, true);
      this.#events.onUp();
    });
  }

  send(part: Buffer): Promise<SendOutcome> {
    if (!this.process.isAlive) return new Promise(() => undefined);
    if (this.#connection === undefined) return Promise.resolve('gone');
    const outcome = this.#connection.toBroker.push(part);
    if (outcome === 'sent') this.network.tap.onSent(this.agent, part);
    return Promise.resolve(outcome);
  }

  arrive(connection: Connection, part: Buffer): void {
    this.process.run(
      0,
      () => {
        // What a DEALER has not read when its connection goes is gone with it.
        if (this.#connection !== connection) return;
        this.network.tap.onReceived(this.agent, part);
        this.#events?.onPart(part);
      },
      true,
    );
  }

  /** The connection ends; another one is dialled. */
  cut(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    connection.isOpen = false;
    connection.toBroker.cutAtRandom();
    connection.toClient.drop();
    this.#listener?.disconnected(connection);
    this.network.tap.onConnection(this.agent, false);
    this.#isLosing = true;
    this.process.run(this.network.random.next() * 5, () => {
      this.#isLosing = false;
      this.#events?.onDown();
      this.dial(redialMsMax);
    });
  }

  /** Nothing passes, in one direction or both, and neither side is told. */
  block(toBroker: boolean, toClient: boolean): void {
    this.#connection?.toBroker.block(toBroker);
    this.#connection?.toClient.block(toClient);
  }

  /** Its process is gone. */
  lost(): void {
    this.network.links.delete(this);
    this.cut();
    this.#events = undefined;
  }

  connectTopics(): void {
    // See SimulatedListener.publish.
  }

  subscribe(): void {
    // Likewise.
  }

  unsubscribe(): void {
    // Likewise.
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.lost();
    return Promise.resolve();
  }
}
