import { BusError } from '../../errors/bus-error.js';
import type { PeerId } from '../../transport/port.js';
import type { Take } from '../../wire/messages.js';
import type { StoredMessage } from './mailbox.js';

/** A TAKE that waits for its message. */
export interface WaitingReceiver {
  peer: PeerId;
  /** The TAKE frame. */
  id: string;
  mailbox: string;
  want: Take;
  /** Monotonic. */
  untilMs: number;
}

/** Whether the receiver may have this message now. */
export function fits(message: StoredMessage, want: Take): boolean {
  return (
    message.lane !== undefined &&
    !message.isHeld &&
    message.lease === undefined &&
    (want.from === '' || want.from === message.from) &&
    (want.correlation === '' || want.correlation === message.correlation)
  );
}

/** TAKEs that wait. Each ends once: with a message, at its deadline, or when its session or sender is lost. */
export class WaitingReceivers {
  readonly #byMailbox = new Map<string, WaitingReceiver[]>();
  readonly #counts = new Map<PeerId, number>();
  readonly #perSessionMax: number;

  constructor(perSessionMax: number) {
    this.#perSessionMax = perSessionMax;
  }

  /** In order of arrival. */
  of(mailbox: string): readonly WaitingReceiver[] {
    return this.#byMailbox.get(mailbox) ?? [];
  }

  /** A repeated TAKE replaces its first. Throws BROKER_BUSY. */
  add(receiver: WaitingReceiver): void {
    this.cancel(receiver.peer, receiver.id);
    const limit = this.#perSessionMax;
    const count = this.#counts.get(receiver.peer) ?? 0;
    if (count >= limit) throw new BusError('BROKER_BUSY', { limit });
    this.#counts.set(receiver.peer, count + 1);
    const waiting = this.#byMailbox.get(receiver.mailbox) ?? [];
    waiting.push(receiver);
    this.#byMailbox.set(receiver.mailbox, waiting);
  }

  remove(receiver: WaitingReceiver): void {
    this.#drop((each) => each === receiver);
  }

  /** True when there was one. */
  cancel(peer: PeerId, id: string): boolean {
    return this.#drop((receiver) => receiver.peer === peer && receiver.id === id).length > 0;
  }

  /** Removes and returns those past their deadline. `nowMs` is monotonic. */
  expired(nowMs: number): WaitingReceiver[] {
    return this.#drop((receiver) => receiver.untilMs <= nowMs);
  }

  sessionEnded(peer: PeerId): void {
    if (this.#counts.has(peer)) this.#drop((receiver) => receiver.peer === peer);
  }

  /** Removes and returns those that waited for a message of this agent. */
  agentLost(agent: string): WaitingReceiver[] {
    return this.#drop((receiver) => receiver.want.from === agent);
  }

  #drop(isOver: (receiver: WaitingReceiver) => boolean): WaitingReceiver[] {
    if (this.#byMailbox.size === 0) return [];
    const dropped: WaitingReceiver[] = [];
    for (const [mailbox, receivers] of this.#byMailbox) {
      const left = receivers.filter((each) => !isOver(each));
      if (left.length === receivers.length) continue;
      dropped.push(...receivers.filter(isOver));
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
