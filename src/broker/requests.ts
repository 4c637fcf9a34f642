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
  /** By requesting agent, then by id: a name can hold any id, and two agents may choose the same. */
  readonly #open = new Map<string, Map<string, OpenRequest>>();
  readonly #byRequester = new Map<PeerId, Set<OpenRequest>>();
  readonly #byResponder = new Map<PeerId, Set<OpenRequest>>();
  readonly #limits: BrokerLimits;
  #size = 0;

  constructor(limits: BrokerLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  load(responder: PeerId): number {
    return this.#byResponder.get(responder)?.size ?? 0;
  }

  isFull(requester: PeerId): boolean {
    return (
      this.#size >= this.#limits.requestsMax ||
      (this.#byRequester.get(requester)?.size ?? 0) >= this.#limits.requestsPerSessionMax
    );
  }

  /** A request resent under the same id replaces the earlier one: the earlier answer, if any, is refused. */
  add(request: OpenRequest): void {
    const earlier = this.of(request.requesterAgent, request.id);
    if (earlier !== undefined) this.end(earlier);
    entryOf(this.#open, request.requesterAgent, () => new Map<string, OpenRequest>()).set(
      request.id,
      request,
    );
    entryOf(this.#byRequester, request.requester, () => new Set<OpenRequest>()).add(request);
    entryOf(this.#byResponder, request.responder, () => new Set<OpenRequest>()).add(request);
    this.#size += 1;
  }

  /** The request that this peer may answer. */
  answerable(requesterAgent: string, id: string, responder: PeerId): OpenRequest | undefined {
    const request = this.of(requesterAgent, id);
    return request?.responder === responder ? request : undefined;
  }

  /** The open request that this agent made under this id. */
  of(requesterAgent: string, id: string): OpenRequest | undefined {
    return this.#open.get(requesterAgent)?.get(id);
  }

  end(request: OpenRequest): void {
    const ofAgent = this.#open.get(request.requesterAgent);
    if (ofAgent?.get(request.id) !== request) return;
    ofAgent.delete(request.id);
    if (ofAgent.size === 0) this.#open.delete(request.requesterAgent);
    remove(this.#byRequester, request.requester, request);
    remove(this.#byResponder, request.responder, request);
    this.#size -= 1;
  }

  /** A session is over: requests it asked are dropped, those it should have answered are returned. */
  forget(peer: PeerId): OpenRequest[] {
    for (const request of [...(this.#byRequester.get(peer) ?? [])]) this.end(request);
    const orphans = [...(this.#byResponder.get(peer) ?? [])];
    for (const request of orphans) this.end(request);
    return orphans;
  }

  expired(nowMs: number): OpenRequest[] {
    const over: OpenRequest[] = [];
    for (const ofAgent of this.#open.values())
      for (const request of ofAgent.values()) if (request.expiresAtMs <= nowMs) over.push(request);
    for (const request of over) this.end(request);
    return over;
  }
}

function entryOf<V>(index: Map<string, V>, key: string, make: () => V): V {
  let entry = index.get(key);
  if (entry === undefined) {
    entry = make();
    index.set(key, entry);
  }
  return entry;
}

function remove(index: Map<PeerId, Set<OpenRequest>>, peer: PeerId, request: OpenRequest): void {
  const requests = index.get(peer);
  requests?.delete(request);
  if (requests?.size === 0) index.delete(peer);
}
