import { ChurnMap } from '../base/churn-map.js';
import type { PeerId } from '../transport/port.js';
import type { BrokerLimits } from './limits.js';

/** A live request that was delivered and not yet answered for good. */
export interface OpenRequest {
  id: string;
  requester: PeerId;
  requesterAgent: string;
  responder: PeerId;
  /** What it was given in all, for the text of its failure. */
  budgetMs: number;
  expiresAtMs: number;
}

/** All open live requests: which session may answer, and which requesters to notify when a responder goes away. */
export class Requests {
  /** By requesting agent, then by id: two agents may choose the same. */
  readonly #open = new Map<string, ChurnMap<string, OpenRequest>>();
  /** How many each session has asked and has to answer; forgotten with it. */
  readonly #asked = new Map<PeerId, number>();
  readonly #toAnswer = new Map<PeerId, number>();
  readonly #limits: BrokerLimits;
  #size = 0;

  constructor(limits: BrokerLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  load(responder: PeerId): number {
    return this.#toAnswer.get(responder) ?? 0;
  }

  isFull(requester: PeerId): boolean {
    return (
      this.#size >= this.#limits.requestsMax ||
      (this.#asked.get(requester) ?? 0) >= this.#limits.requestsPerSessionMax
    );
  }

  /** A request resent under the same id replaces the earlier one: the earlier answer, if any, is refused. */
  add(request: OpenRequest): void {
    const { id, requesterAgent } = request;
    const earlier = this.of(requesterAgent, id);
    if (earlier !== undefined) this.end(earlier);
    let ofAgent = this.#open.get(requesterAgent);
    if (ofAgent === undefined) {
      ofAgent = new ChurnMap();
      this.#open.set(requesterAgent, ofAgent);
    }
    ofAgent.set(id, request);
    this.#count(request, 1);
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
    this.#count(request, -1);
  }

  /** A session is over: requests it asked are dropped, those it should have answered are returned. */
  forget(peer: PeerId): OpenRequest[] {
    for (const request of this.#matching(({ requester }) => requester === peer)) this.end(request);
    const orphans = this.#matching(({ responder }) => responder === peer);
    for (const request of orphans) this.end(request);
    this.#asked.delete(peer);
    this.#toAnswer.delete(peer);
    for (const [agent, ofAgent] of this.#open) if (ofAgent.size === 0) this.#open.delete(agent);
    return orphans;
  }

  expired(nowMs: number): OpenRequest[] {
    const over = this.#matching(({ expiresAtMs }) => expiresAtMs <= nowMs);
    for (const request of over) this.end(request);
    return over;
  }

  #matching(isMeant: (request: OpenRequest) => boolean): OpenRequest[] {
    return [...this.#open.values()].flatMap((ofAgent) => ofAgent.values().filter(isMeant));
  }

  #count({ requester, responder }: OpenRequest, by: 1 | -1): void {
    this.#size += by;
    this.#asked.set(requester, (this.#asked.get(requester) ?? 0) + by);
    this.#toAnswer.set(responder, (this.#toAnswer.get(responder) ?? 0) + by);
  }
}
