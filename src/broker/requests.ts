import type { PeerId } from '../transport/port.js';
import type { BrokerLimits } from './limits.js';

/** A live request that was delivered and not yet answered for good. */
export interface OpenRequest {
  id: string;
  requester: PeerId;
  requesterAgent: string;
  responder: PeerId;
  responderAgent: string;
  /** What it was given in all, for the text of its failure. */
  budgetMs: number;
  expiresAtMs: number;
}

/** All open live requests: who may answer what, and whom to tell when a responder goes away. */
export class Requests {
  readonly #open = new Map<string, OpenRequest>();
  readonly #byRequester = new Map<PeerId, Set<string>>();
  readonly #byResponder = new Map<PeerId, Set<string>>();
  readonly #limits: BrokerLimits;

  constructor(limits: BrokerLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  load(responder: PeerId): number {
    return this.#byResponder.get(responder)?.size ?? 0;
  }

  isFull(requester: PeerId): boolean {
    return (
      this.#open.size >= this.#limits.requestsMax ||
      (this.#byRequester.get(requester)?.size ?? 0) >= this.#limits.requestsPerSessionMax
    );
  }

  /** A request resent under the same id replaces the earlier one: the earlier answer, if any, is refused. */
  add(request: OpenRequest): void {
    const key = keyOf(request.requesterAgent, request.id);
    this.#remove(key);
    this.#open.set(key, request);
    indexed(this.#byRequester, request.requester).add(key);
    indexed(this.#byResponder, request.responder).add(key);
  }

  /** The request that this peer may answer. */
  answerable(requesterAgent: string, id: string, responder: PeerId): OpenRequest | undefined {
    const request = this.#open.get(keyOf(requesterAgent, id));
    return request?.responder === responder ? request : undefined;
  }

  /** The open request that this agent made under this id. */
  of(requesterAgent: string, id: string): OpenRequest | undefined {
    return this.#open.get(keyOf(requesterAgent, id));
  }

  end(request: OpenRequest): void {
    this.#remove(keyOf(request.requesterAgent, request.id));
  }

  /** A session is over: requests it asked are dropped, those it should have answered are returned. */
  forget(peer: PeerId): OpenRequest[] {
    for (const key of [...(this.#byRequester.get(peer) ?? [])]) this.#remove(key);
    const orphans = [...(this.#byResponder.get(peer) ?? [])].flatMap(
      (key) => this.#open.get(key) ?? [],
    );
    for (const request of orphans) this.end(request);
    return orphans;
  }

  expired(nowMs: number): OpenRequest[] {
    const over = [...this.#open.values()].filter((request) => request.expiresAtMs <= nowMs);
    for (const request of over) this.end(request);
    return over;
  }

  #remove(key: string): void {
    const request = this.#open.get(key);
    if (request === undefined) return;
    this.#open.delete(key);
    unindex(this.#byRequester, request.requester, key);
    unindex(this.#byResponder, request.responder, key);
  }
}

function keyOf(requesterAgent: string, id: string): string {
  return `${requesterAgent}\0${id}`;
}

function indexed(index: Map<PeerId, Set<string>>, peer: PeerId): Set<string> {
  let keys = index.get(peer);
  if (keys === undefined) {
    keys = new Set();
    index.set(peer, keys);
  }
  return keys;
}

function unindex(index: Map<PeerId, Set<string>>, peer: PeerId, key: string): void {
  const keys = index.get(peer);
  keys?.delete(key);
  if (keys?.size === 0) index.delete(peer);
}
