import type { Link, LinkEvents, Listener, PeerId, SendOutcome } from '../../src/transport/port.js';

/** Parts under way to one receiver; above it the receiver counts as stalled, as with ZeroMQ's pipes. */
const pipePartsMax = 1_024;

/**
 * A broker and its clients in one process, without sockets. Delivery is asynchronous and in order;
 * connections come back by themselves when a new listener opens on the same network.
 */
export class MemoryNetwork {
  readonly address = 'memory://bus';
  #listener: MemoryListener | undefined;
  readonly #links = new Set<MemoryLink>();
  #nextPeer = 0;

  listener(): Listener {
    const listener = new MemoryListener(this);
    this.#listener = listener;
    for (const link of this.#links) this.connect(link);
    return listener;
  }

  link(): Link {
    return new MemoryLink(this);
  }

  connect(link: MemoryLink): void {
    this.#links.add(link);
    const listener = this.#listener;
    if (listener === undefined) return;
    this.#nextPeer += 1;
    link.up(`peer-${this.#nextPeer}`, listener);
  }

  forget(link: MemoryLink): void {
    this.#links.delete(link);
  }

  closed(listener: MemoryListener): void {
    if (this.#listener !== listener) return;
    this.#listener = undefined;
    for (const link of this.#links) link.down();
  }
}

class MemoryListener implements Listener {
  readonly address: string;
  readonly topicsAddress: string;
  readonly peers = new Map<PeerId, MemoryLink>();
  readonly #inbound = new Pipe();

  constructor(readonly network: MemoryNetwork) {
    this.address = network.address;
    this.topicsAddress = `${network.address}.topics`;
  }

  listen(onPart: (peer: PeerId, part: Buffer) => void): void {
    this.#inbound.drainTo((peer, part) => onPart(peer, part));
  }

  receive(peer: PeerId, part: Buffer): SendOutcome {
    return this.#inbound.offer(peer, part);
  }

  send(peer: PeerId, part: Buffer): Promise<SendOutcome> {
    return Promise.resolve(this.peers.get(peer)?.receive(part) ?? 'gone');
  }

  publish(topic: string, frame: Buffer): void {
    for (const link of this.peers.values()) link.receivePublication(topic, frame);
  }

  isRemote(): boolean {
    return false;
  }

  refusals(): Record<string, number> {
    return {};
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.peers.clear();
    this.#inbound.close();
    this.network.closed(this);
    return Promise.resolve();
  }
}

class MemoryLink implements Link {
  readonly address: string;
  readonly #network: MemoryNetwork;
  readonly #prefixes = new Map<string, number>();
  readonly #inbound = new Pipe();
  readonly #publications = new Pipe();
  #events: LinkEvents | undefined;
  #peer: PeerId | undefined;
  #listener: MemoryListener | undefined;
  #hasTopics = false;

  constructor(network: MemoryNetwork) {
    this.#network = network;
    this.address = network.address;
  }

  open(events: LinkEvents): void {
    this.#events = events;
    this.#inbound.drainTo((_peer, part) => events.onPart(part));
    this.#publications.drainTo((topic, frame) => events.onPublication(topic, frame));
    this.#network.connect(this);
  }

  up(peer: PeerId, listener: MemoryListener): void {
    this.#peer = peer;
    this.#listener = listener;
    listener.peers.set(peer, this);
    setImmediate(() => {
      if (this.#peer === peer) this.#events?.onUp();
    });
  }

  down(): void {
    this.#peer = undefined;
    this.#listener = undefined;
    setImmediate(() => this.#events?.onDown());
  }

  send(part: Buffer): Promise<SendOutcome> {
    if (this.#peer === undefined || this.#listener === undefined) return Promise.resolve('gone');
    return Promise.resolve(this.#listener.receive(this.#peer, part));
  }

  receive(part: Buffer): SendOutcome {
    return this.#inbound.offer('', part);
  }

  receivePublication(topic: string, frame: Buffer): void {
    const onWire = `${topic}\0`;
    if (!this.#hasTopics || ![...this.#prefixes.keys()].some((prefix) => onWire.startsWith(prefix)))
      return;
    this.#publications.offer(topic, frame);
  }

  connectTopics(_address: string): void {
    this.#hasTopics = true;
  }

  subscribe(prefix: string): void {
    this.#prefixes.set(prefix, (this.#prefixes.get(prefix) ?? 0) + 1);
  }

  unsubscribe(prefix: string): void {
    const count = this.#prefixes.get(prefix) ?? 0;
    if (count > 1) this.#prefixes.set(prefix, count - 1);
    else this.#prefixes.delete(prefix);
  }

  [Symbol.asyncDispose](): Promise<void> {
    if (this.#peer !== undefined) this.#listener?.peers.delete(this.#peer);
    this.#peer = undefined;
    this.#listener = undefined;
    this.#events = undefined;
    this.#inbound.close();
    this.#publications.close();
    this.#network.forget(this);
    return Promise.resolve();
  }
}

/** Delivers in a later turn of the event loop, so that a send never runs its receiver. */
class Pipe {
  #waiting: [string, Buffer][] = [];
  #visit: ((label: string, part: Buffer) => void) | undefined;
  #isScheduled = false;
  #isClosed = false;

  drainTo(visit: (label: string, part: Buffer) => void): void {
    this.#visit = visit;
    this.#schedule();
  }

  offer(label: string, part: Buffer): SendOutcome {
    if (this.#isClosed) return 'gone';
    if (this.#waiting.length >= pipePartsMax) return 'stalled';
    this.#waiting.push([label, part]);
    this.#schedule();
    return 'sent';
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }

  #schedule(): void {
    if (this.#isScheduled || this.#visit === undefined || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const batch = this.#waiting;
      this.#waiting = [];
      for (const [label, part] of batch) if (!this.#isClosed) this.#visit?.(label, part);
    });
  }
}
