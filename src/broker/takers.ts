import { BusError } from '../errors/bus-error.js';
import type { PeerId } from '../transport/port.js';
import type { Take } from '../wire/messages.js';
import type { Letter } from './mailbox.js';

/** A TAKE that waits for a message. */
export interface Taker {
  peer: PeerId;
  /** The TAKE frame. */
  id: string;
  mailbox: string;
  want: Take;
  /** Monotonic. */
  untilMs: number;
}

/** Whether this message is one that the taker wants, now. */
export function fits(letter: Letter, want: Take): boolean {
  return (
    letter.isQueued &&
    !letter.isHeld &&
    letter.lease === undefined &&
    (want.from === '' || want.from === letter.from) &&
    (want.correlation === '' || want.correlation === letter.correlation)
  );
}

/** Sessions that wait for one message each. Every TAKE ends once: by a message, its deadline or a loss. */
export class Takers {
  readonly #byMailbox = new Map<string, Taker[]>();
  readonly #counts = new Map<PeerId, number>();
  readonly #perSessionMax: number;

  constructor(perSessionMax: number) {
    this.#perSessionMax = perSessionMax;
  }

  /** In the order in which they came. */
  of(mailbox: string): readonly Taker[] {
    return this.#byMailbox.get(mailbox) ?? [];
  }

  /** Said again after a new greeting, it takes the place of its first. Throws BROKER_BUSY. */
  add(taker: Taker): void {
    this.cancel(taker.peer, taker.id);
    const limit = this.#perSessionMax;
    const count = this.#counts.get(taker.peer) ?? 0;
    if (count >= limit) throw new BusError('BROKER_BUSY', { limit });
    this.#counts.set(taker.peer, count + 1);
    const waiting = this.#byMailbox.get(taker.mailbox) ?? [];
    waiting.push(taker);
    this.#byMailbox.set(taker.mailbox, waiting);
  }

  remove(taker: Taker): void {
    this.#drop((each) => each === taker);
  }

  /** True when there was one. */
  cancel(peer: PeerId, id: string): boolean {
    return this.#drop((taker) => taker.peer === peer && taker.id === id).length > 0;
  }

  /** Those whose time is up. `nowMs` is monotonic. */
  expired(nowMs: number): Taker[] {
    return this.#drop((taker) => taker.untilMs <= nowMs);
  }

  sessionEnded(peer: PeerId): void {
    if (this.#counts.has(peer)) this.#drop((taker) => taker.peer === peer);
  }

  /** Those that waited for a message of this agent. */
  agentLost(agent: string): Taker[] {
    return this.#drop((taker) => taker.want.from === agent);
  }

  #drop(isOver: (taker: Taker) => boolean): Taker[] {
    if (this.#byMailbox.size === 0) return [];
    const dropped: Taker[] = [];
    for (const [mailbox, takers] of this.#byMailbox) {
      const left = takers.filter((each) => !isOver(each));
      if (left.length === takers.length) continue;
      dropped.push(...takers.filter(isOver));
      if (left.length === 0) this.#byMailbox.delete(mailbox);
      else this.#byMailbox.set(mailbox, left);
    }
    for (const { peer } of dropped) {
      const count = (this.#counts.get(peer) ?? 0) - 1;
      if (count <= 0) this.#counts.delete(peer);
      else this.#counts.set(peer, count);
    }
    return dropped;
  }
}
