import type { Dealer, Subscriber } from 'zeromq';

/** Between attempts after a refusal: twice as long each time. */
const refusedWaitMs = { first: 250, most: 32_000 };

type HandshakeRefusal = 'CURVE_REFUSED' | 'CURVE_REQUIRED';

/**
 * Keeps one socket connected to one address. libzmq comes back by itself after a loss, but gives up for
 * good when the handshake was refused; a key that was just added, or restored, must be tried again.
 */
export class Redial implements Disposable {
  readonly #socket: Dealer | Subscriber;
  #address: string | undefined;
  #waitMs = refusedWaitMs.first;
  #timer: NodeJS.Timeout | undefined;
  /** Why the last handshake failed; undefined when it did not. */
  refusal: HandshakeRefusal | undefined;

  constructor(socket: Dealer | Subscriber) {
    this.#socket = socket;
    const { events } = socket;
    events.on('handshake', () => {
      this.refusal = undefined;
      this.#waitMs = refusedWaitMs.first;
    });
    events.on('handshake:error:auth', () => this.#refused('CURVE_REFUSED'));
    events.on('handshake:error:protocol', () => this.#refused('CURVE_REQUIRED'));
  }

  connect(address: string): void {
    if (this.#address === address) return;
    if (this.#address !== undefined) this.#hangUp(this.#address);
    this.#address = address;
    this.#socket.connect(address);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#address = undefined;
  }

  #refused(why: HandshakeRefusal): void {
    this.refusal = why;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#again(), this.#waitMs);
    // Only this process waits for a refused connection.
    this.#timer.unref();
    this.#waitMs = Math.min(this.#waitMs * 2, refusedWaitMs.most);
  }

  #again(): void {
    if (this.#address === undefined) return;
    this.#hangUp(this.#address);
    this.#socket.connect(this.#address);
  }

  #hangUp(address: string): void {
    try {
      this.#socket.disconnect(address);
    } catch {
      // libzmq has dropped the address already.
    }
  }
}
