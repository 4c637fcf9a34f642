import { BusError } from '../errors/bus-error.js';
import type { PeerId } from '../transport/port.js';

interface Waiter {
  peer: PeerId;
  /** The QUERY that waits. */
  queryId: string;
  untilMs: number;
}

/** Questions for durable replies that have not come yet. Each is answered once: by the reply or by its deadline. */
export class ReplyWaiters {
  readonly #byRequest = new Map<string, Waiter[]>();
  readonly #counts = new Map<PeerId, number>();
  readonly #perSessionMax: number;

  constructor(perSessionMax: number) {
    this.#perSessionMax = perSessionMax;
  }

  /** Throws BROKER_BUSY. */
  add(agent: string, request: string, waiter: Waiter): void {
    const count = this.#counts.get(waiter.peer) ?? 0;
    if (count >= this.#perSessionMax) throw new BusError('BROKER_BUSY', { limit: count });
    this.#counts.set(waiter.peer, count + 1);
    const key = `${agent}\0${request}`;
    const waiters = this.#byRequest.get(key) ?? [];
    waiters.push(waiter);
    this.#byRequest.set(key, waiters);
  }

  /** Who waits for this; they wait no longer. */
  take(agent: string, request: string): Waiter[] {
    const key = `${agent}\0${request}`;
    const waiters = this.#byRequest.get(key) ?? [];
    this.#byRequest.delete(key);
    for (const { peer } of waiters) this.#count(peer, -1);
    return waiters;
  }

  /** The deadline of these is over. `nowMs` is monotonic. */
  expired(nowMs: number): Waiter[] {
    return this.#drop((waiter) => waiter.untilMs <= nowMs);
  }

  sessionEnded(peer: PeerId): void {
    if (this.#counts.has(peer)) this.#drop((waiter) => waiter.peer === peer);
  }

  #drop(isOver: (waiter: Waiter) => boolean): Waiter[] {
    const dropped: Waiter[] = [];
    for (const [key, waiters] of this.#byRequest) {
      const over = waiters.filter(isOver);
      if (over.length === 0) continue;
      dropped.push(...over);
      const left = waiters.filter((waiter) => !isOver(waiter));
      if (left.length === 0) this.#byRequest.delete(key);
      else this.#byRequest.set(key, left);
    }
    for (const { peer } of dropped) this.#count(peer, -1);
    return dropped;
  }

  #count(peer: PeerId, change: number): void {
    const count = (this.#counts.get(peer) ?? 0) + change;
    if (count <= 0) this.#counts.delete(peer);
    else this.#counts.set(peer, count);
  }
}
