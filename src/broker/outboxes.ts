import type { Clock } from '../base/clock.js';
import { within } from '../base/within.js';
import { Outbox } from '../transport/outbox.js';
import type { PeerId, SendOutcome } from '../transport/port.js';
import type { Frame } from '../wire/frame.js';

interface OutboxesParts {
  send: (peer: PeerId, part: Buffer) => Promise<SendOutcome>;
  onGone: (peer: PeerId) => void;
  /** Of one peer with a session. */
  bytesMax: number;
  /** Peers without a session that are answered at once; one more is not answered at all. */
  strangersMax: number;
  /** What waits for one of these: a few refusals. */
  strangerBytesMax: number;
  clock: Clock;
}

/**
 * One outbox per peer with a session, kept until that ends. A peer without one is answered too (RESET,
 * REJECT), but its outbox lives only while something is in it: strangers must cost nothing that lasts.
 */
export class Outboxes {
  readonly #kept = new Map<PeerId, Outbox>();
  /** Of strangers, and of peers whose session has ended while something (a GOODBYE) still waits. */
  readonly #passing = new Map<PeerId, Outbox>();
  readonly #parts: OutboxesParts;
  framesOut = 0;

  constructor(parts: OutboxesParts) {
    this.#parts = parts;
  }

  /** The peer sent HELLO: its outbox is kept, with a stranger's limit until it is authenticated. */
  keep(peer: PeerId): Outbox {
    const passing = this.#passing.get(peer);
    this.#passing.delete(peer);
    // What was said to the stranger leaves first.
    const outbox = passing ?? this.#open(peer, this.#parts.strangerBytesMax);
    this.#kept.set(peer, outbox);
    return outbox;
  }

  /** The peer is authenticated. */
  widen(peer: PeerId): void {
    this.#kept.get(peer)?.widen(this.#parts.bytesMax);
  }

  /** Its session is over. What was queued before still leaves. */
  forget(peer: PeerId): void {
    const outbox = this.#kept.get(peer);
    if (outbox === undefined) return;
    this.#kept.delete(peer);
    this.#pass(peer, outbox);
  }

  /** False: this peer does not read and its outbox is full. */
  offer(peer: PeerId, frame: Frame | Buffer): boolean {
    const isTaken = this.#outboxOf(peer)?.offer(frame) ?? false;
    if (isTaken) this.framesOut += 1;
    return isTaken;
  }

  /** Resolves when nothing waits any more, or after `withinMs`. */
  async flushed(withinMs: number): Promise<void> {
    const all = [...this.#kept.values(), ...this.#passing.values()];
    await within(this.#parts.clock, withinMs, Promise.all(all.map((each) => each.flushed())));
  }

  #outboxOf(peer: PeerId): Outbox | undefined {
    const known = this.#kept.get(peer) ?? this.#passing.get(peer);
    if (known !== undefined || this.#passing.size >= this.#parts.strangersMax) return known;
    const outbox = this.#open(peer, this.#parts.strangerBytesMax);
    // After the frame for which it is opened was offered.
    queueMicrotask(() => this.#pass(peer, outbox));
    this.#passing.set(peer, outbox);
    return outbox;
  }

  /** Kept only until it is empty. */
  #pass(peer: PeerId, outbox: Outbox): void {
    if (this.#kept.get(peer) === outbox) return;
    this.#passing.set(peer, outbox);
    void outbox.flushed().then(() => {
      if (this.#passing.get(peer) === outbox) this.#passing.delete(peer);
    });
  }

  #open(peer: PeerId, bytesMax: number): Outbox {
    const { send, onGone, clock } = this.#parts;
    return new Outbox({
      send: (part) => send(peer, part),
      onGone: () => onGone(peer),
      bytesMax,
      clock,
    });
  }
}
