import type { SnapshotFrom } from 'xstate';
import type { ChurnMap } from '../../base/churn-map.js';
import type { Outbox } from '../../transport/outbox.js';
import type { PeerId } from '../../transport/port.js';
import type { sessionMachine } from './session.machine.js';
import type { Rights } from './permissions.js';
import type { Peer } from './silence.js';
import type { RateLimit } from './rate-limit.js';

/** One connection of one agent. `snapshot` is the state of its machine. */
export interface Session extends Peer {
  readonly peer: PeerId;
  readonly id: string;
  snapshot: SnapshotFrom<typeof sessionMachine>;
  readonly agent: string;
  /** `agent:` and its name. */
  readonly address: string;
  role: string;
  /** Who uses it, as it says; empty: no person. */
  person: string;
  incarnation: number;
  isEphemeral: boolean;
  heartbeatMs: number;
  /** The challenge to sign; empty: none was sent. */
  nonce: Buffer;
  readonly services: Set<string>;
  /** What its name is bound to: see `names.ts`; empty: nothing. */
  readonly binding: string;
  /** It came over the network. */
  readonly isRemote: boolean;
  readonly rights: Rights;
  readonly rate: RateLimit;
  readonly outbox: Outbox;
  /** Its open requests, by their ids. */
  readonly asked: ChurnMap<string, OpenRequest>;
  /** How many it has to answer. */
  toAnswer: number;
  /** Monotonic time of the last log line about a large body. */
  largeLoggedMs: number;
  /** Durable messages that its agent still works on, named in its HELLO. */
  held: number[];
  /** Durable SENDs that wait for their ACCEPT. */
  posting: number;
  /** The latest ids of durable SENDs that were refused and not sent again. */
  readonly refused: Set<string>;
}

/** A live request that was delivered and not yet answered for good. */
export interface OpenRequest {
  id: string;
  requester: Session;
  responder: Session;
  /** What it was given in all, for the text of its failure. */
  budgetMs: number;
  expiresAtMs: number;
}

/** All sessions, by connection, by agent and by service. */
export class Sessions {
  readonly #byPeer = new Map<PeerId, Session>();
  readonly #liveByAgent = new Map<string, Session>();
  readonly #byService = new Map<string, Set<Session>>();

  get size(): number {
    return this.#byPeer.size;
  }

  get liveCount(): number {
    return this.#liveByAgent.size;
  }

  all(): Session[] {
    return [...this.#byPeer.values()];
  }

  of(peer: PeerId): Session | undefined {
    return this.#byPeer.get(peer);
  }

  /** The live session of an agent, if any. */
  liveOf(agent: string): Session | undefined {
    return this.#liveByAgent.get(agent);
  }

  add(session: Session): void {
    this.#byPeer.set(session.peer, session);
  }

  announce(session: Session): void {
    this.#liveByAgent.set(session.agent, session);
  }

  /** True when no newer session speaks for the agent. */
  withdraw(session: Session): boolean {
    for (const service of session.services) this.withdrawService(session, service);
    if (this.#liveByAgent.get(session.agent) !== session) return false;
    this.#liveByAgent.delete(session.agent);
    return true;
  }

  forget(session: Session): void {
    this.#byPeer.delete(session.peer);
  }

  offer(session: Session, service: string): void {
    session.services.add(service);
    const offering = this.#byService.get(service) ?? new Set();
    this.#byService.set(service, offering.add(session));
  }

  withdrawService(session: Session, service: string): void {
    session.services.delete(service);
    const offering = this.#byService.get(service);
    offering?.delete(session);
    if (offering?.size === 0) this.#byService.delete(service);
  }

  /**
   * The session that answers next for a service: the one with the least load; among equals the one that
   * waited longest, because an asked session moves to the end of the set.
   */
  responderFor(service: string): Session | undefined {
    const offering = this.#byService.get(service);
    let best: Session | undefined;
    let least = Infinity;
    for (const session of offering ?? []) {
      if (session.toAnswer >= least) continue;
      best = session;
      least = session.toAnswer;
    }
    if (best !== undefined && offering !== undefined && offering.size > 1) {
      offering.delete(best);
      offering.add(best);
    }
    return best;
  }

  isOffered(service: string): boolean {
    return this.#byService.has(service);
  }

  services(): { name: string; agents: string[] }[] {
    return [...this.#byService]
      .map(([name, sessions]) => ({
        name,
        agents: [...sessions].map((session) => session.agent).sort(),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}
