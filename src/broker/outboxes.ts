import type { Clock } from '../base/clock.js';
import { Outbox } from '../transport/outbox.js';
import type { PeerId, SendOutcome } from '../transport/port.js';

/** One outbox per connected peer. */
export class Outboxes {
  readonly #outboxes = new Map<PeerId, Outbox>();
  readonly #parts: {
    send: (peer: PeerId, part: Buffer) => Promise<SendOutcome>;
    onGone: (peer: PeerId) => void;
    bytesMax: number;
    clock: Clock;
  };
  framesOut = 0;

  constructor(parts: {
    send: (peer: PeerId, part: Buffer) => Promise<SendOutcome>;
    onGone: (peer: PeerId) => void;
    bytesMax: number;
    clock: Clock;
  }) {
    this.#parts = parts;
  }

  /** False: this peer does not read and its outbox is full. */
  offer(peer: PeerId, frame: Buffer): boolean {
    const outbox = this.#outboxes.get(peer) ?? this.#open(peer);
    const isTaken = outbox.offer(frame);
    if (isTaken) this.framesOut += 1;
    return isTaken;
  }

  /** What was queued before (a GOODBYE) still leaves. */
  forget(peer: PeerId): void {
    this.#outboxes.delete(peer);
  }

  /** Resolves when nothing waits any more, or after `withinMs`. */
  async flushed(withinMs: number): Promise<void> {
    const { clock } = this.#parts;
    const all = Promise.all([...this.#outboxes.values()].map((each) => each.flushed()));
    await Promise.race([all, new Promise<void>((resolve) => void clock.after(withinMs, resolve))]);
  }

  #open(peer: PeerId): Outbox {
    const { send, onGone, bytesMax, clock } = this.#parts;
    const outbox = new Outbox({
      send: (part) => send(peer, part),
      onGone: () => {
        if (this.#outboxes.get(peer) === outbox) this.#outboxes.delete(peer);
        onGone(peer);
      },
      bytesMax,
      clock,
    });
    this.#outboxes.set(peer, outbox);
    return outbox;
  }
}
