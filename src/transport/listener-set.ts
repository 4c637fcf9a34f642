import type { Listener, PeerId, SendOutcome } from './port.js';

/** A peer's id begins with one digit: which of the listeners it came by. */
const listenersMax = 10;

/** Several listeners as one, such as a socket file and a port; announces the addresses of the first. */
export class ListenerSet implements Listener {
  readonly address: string;
  readonly topicsAddress: string;
  readonly #listeners: readonly Listener[];

  /** Owns them. */
  constructor(first: Listener, ...others: Listener[]) {
    this.#listeners = [first, ...others];
    if (this.#listeners.length > listenersMax)
      throw new RangeError(`at most ${listenersMax} listeners, got ${this.#listeners.length}`);
    this.address = first.address;
    this.topicsAddress = first.topicsAddress;
  }

  listen(onPart: (peer: PeerId, part: Buffer) => void): void {
    for (const [at, listener] of this.#listeners.entries()) {
      const digit = String(at);
      listener.listen((peer, part) => onPart(digit + peer, part));
    }
  }

  send(peer: PeerId, part: Buffer): Promise<SendOutcome> {
    return this.#of(peer)?.send(peer.slice(1), part) ?? Promise.resolve('gone');
  }

  publish(topic: string, frame: Buffer): void {
    for (const listener of this.#listeners) listener.publish(topic, frame);
  }

  isRemote(peer: PeerId): boolean {
    // An unknown peer counts as remote.
    return this.#of(peer)?.isRemote(peer.slice(1)) ?? true;
  }

  refusals(): Record<string, number> {
    const sum: Record<string, number> = {};
    for (const listener of this.#listeners)
      for (const [code, count] of Object.entries(listener.refusals()))
        sum[code] = (sum[code] ?? 0) + count;
    return sum;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener[Symbol.asyncDispose]()));
  }

  #of(peer: PeerId): Listener | undefined {
    return this.#listeners[peer.charCodeAt(0) - '0'.charCodeAt(0)];
  }
}
