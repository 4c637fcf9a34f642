import type { BrokerLimits } from './limits.js';
import type { OpenRequest, Session } from './session/sessions.js';

/** All open live requests: who may answer, and whom to tell when a responder goes away. Each session holds its own. */
export class Requests {
  readonly #limits: BrokerLimits;
  readonly #sessions: () => Iterable<Session>;
  #size = 0;
  #opened = 0;

  constructor(limits: BrokerLimits, sessions: () => Iterable<Session>) {
    this.#limits = limits;
    this.#sessions = sessions;
  }

  get size(): number {
    return this.#size;
  }

  /** In all. */
  get opened(): number {
    return this.#opened;
  }

  isFull(requester: Session): boolean {
    const { requestsMax, requestsPerSessionMax } = this.#limits;
    return this.#size >= requestsMax || requester.asked.size >= requestsPerSessionMax;
  }

  /** A request resent under the same id replaces the earlier one: the earlier answer, if any, is refused. */
  add(request: OpenRequest): void {
    const { asked } = request.requester;
    const earlier = asked.get(request.id);
    if (earlier !== undefined) this.end(earlier);
    asked.set(request.id, request);
    request.responder.toAnswer += 1;
    this.#size += 1;
    this.#opened += 1;
  }

  /** The request of this id that this session may answer. */
  answerable(requester: Session, id: string, responder: Session): OpenRequest | undefined {
    const request = requester.asked.get(id);
    return request?.responder === responder ? request : undefined;
  }

  end(request: OpenRequest): void {
    const { asked } = request.requester;
    if (asked.get(request.id) !== request) return;
    asked.delete(request.id);
    request.responder.toAnswer -= 1;
    this.#size -= 1;
  }

  /** A session is over: requests it asked are dropped, those it should have answered are returned. */
  forget(session: Session): OpenRequest[] {
    for (const request of session.asked.values()) this.end(request);
    if (session.toAnswer === 0) return [];
    return this.#ended(({ responder }) => responder === session);
  }

  expired(nowMs: number): OpenRequest[] {
    return this.#ended(({ expiresAtMs }) => expiresAtMs <= nowMs);
  }

  /** Ends those that are meant. */
  #ended(isMeant: (request: OpenRequest) => boolean): OpenRequest[] {
    const meant: OpenRequest[] = [];
    for (const { asked } of this.#sessions()) {
      if (asked.size > 0) meant.push(...asked.values().filter(isMeant));
    }
    for (const request of meant) this.end(request);
    return meant;
  }
}
