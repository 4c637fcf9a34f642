import type { SnapshotFrom } from 'xstate';
import type { PeerId } from '../../transport/port.js';
import type { sessionMachine } from './session.machine.js';
import type { Rights } from './permissions.js';
import type { Peer } from './silence.js';
import type { RateLimit } from './rate-limit.js';

/** One connection. What decides its next state is in `snapshot`; the rest is what its frames need. */
export interface Session extends Peer {
  readonly peer: PeerId;
  readonly id: string;
  snapshot: SnapshotFrom<typeof sessionMachine>;
  agent: string;
  role: string;
  incarnation: number;
  isEphemeral: boolean;
  heartbeatMs: number;
  /** What the peer must sign; empty while nothing was asked. */
  nonce: Buffer;
  readonly services: Set<string>;
  /** It came over the network. */
  readonly isRemote: boolean;
  readonly rights: Rights;
  readonly rate: RateLimit;
  /** Monotonic; when the log last named it for the size of what it sends. */
  largeToldMs: number;
  /** Durable messages that its agent still worked on when it greeted. */
  held: number[];
  /** Durable SENDs without their ACCEPT. */
  posting: number;
  /** Ids of durable SENDs that were refused and did not come again; the latest of them. */
  readonly refused: Set<string>;
}

/** Who is connected: by connection, by agent, by service. */
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

  /** The session that speaks for an agent, if it is connected. */
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
   * Who answers next for a service: the one with the least load, and among equals the one that waited
   * longest, because an asked session moves to the end of the set.
   */
  responderFor(service: string, load: (session: Session) => number): Session | undefined {
    const offering = this.#byService.get(service);
    let best: Session | undefined;
    let least = Infinity;
    for (const session of offering ?? []) {
      const its = load(session);
      if (its < least) [best, least] = [session, its];
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
