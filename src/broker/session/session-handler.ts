import { randomBytes } from 'node:crypto';
import { newId } from '../../base/ids.js';
import type { SparseTrace } from '../../base/sparse-trace.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { step } from '../../machine/step.js';
import type { Listener, PeerId } from '../../transport/port.js';
import { parseAddress } from '../../wire/address.js';
import { Command, frameBytesMax, type Frame } from '../../wire/frame.js';
import {
  challengeCodec,
  goodbyeCodec,
  proofCodec,
  welcomeCodec,
  type GoodbyeReason,
  type Hello,
} from '../../wire/messages.js';
import { proofOf, proves } from '../../wire/proof.js';
import { ownsMailbox } from '../commands/settle.js';
import type { BrokerCore } from '../core.js';
import { checkedHello, newSession } from './handshake.js';
import { silentIntervalsMax } from '../limits.js';
import type { Outboxes } from '../outboxes.js';
import { bindingOf, objectionToName } from './names.js';
import type { Permissions } from './permissions.js';
import type { StrangerRates } from './rate-limit.js';
import { sessionMachine, type SessionEffect, type SessionEvent } from './session.machine.js';
import type { Session } from './sessions.js';
import type { Writer } from '../writer.js';

const nonceBytes = 32;
/** When clients of a draining broker reconnect. */
const reconnectMsMin = 500;
const reconnectMsMax = 3_000;

/** The identity that a peer claims. `isRemote`: it came over the network. */
export interface Claim {
  agent: string;
  role: string;
  isRemote: boolean;
}

/** none: the folder of the socket is proof enough. A secret: it must be shown. refused: nothing would prove it. */
export type ProofNeeded = 'none' | Buffer | 'refused';

interface SessionHandlerParts {
  core: BrokerCore;
  writer: Writer;
  outboxes: Outboxes;
  listener: Listener;
  permissions: Permissions;
  strangerRates: StrangerRates;
  proofFor: (claim: Claim) => ProofNeeded;
  keyOfName: (agent: string) => Buffer | undefined;
  random: () => number;
  version: string;
  trace: SparseTrace;
}

/** Handshakes (HELLO, PROOF) and the life of sessions: steps their machines and performs the effects. */
export class SessionHandler {
  readonly #parts: SessionHandlerParts;
  readonly #core: BrokerCore;
  readonly #writer: Writer;
  /** Names this run of the broker. */
  readonly #epoch = newId('epoch');

  constructor(parts: SessionHandlerParts) {
    this.#parts = parts;
    this.#core = parts.core;
    this.#writer = parts.writer;
  }

  /** HELLO: rejected, or begins a session, or repeats the WELCOME of a known one. */
  onHello(peer: PeerId, known: Session | undefined, frame: Frame): void {
    let hello: Hello;
    try {
      hello = checkedHello(frame.body, known, this.#core.limits, this.#core.clock.nowMs());
      this.#admit(known);
    } catch (error) {
      return this.#writer.reject(peer, frame.envelope.id, asBusError(error));
    }
    const isRemote = this.#parts.listener.isRemote(peer);
    const mustProve = this.#parts.proofFor({ ...hello, isRemote }) !== 'none';
    const older = this.#core.sessions.liveOf(hello.agent);
    const why = this.#objectionTo(hello, mustProve);
    if (why !== undefined) {
      const { agent, role } = hello;
      return this.#writer.reject(
        peer,
        frame.envelope.id,
        new BusError('UNAUTHORISED', { agent, role, why }),
      );
    }
    if (older !== undefined && older !== known) {
      // Another holder was let in above because the name is rather its own; then it does not matter who began later.
      const isOther = !mustProve && older.binding !== bindingOf(hello.key, isRemote);
      if (!isOther && older.incarnation > hello.incarnation) {
        return this.#writer.reject(
          peer,
          frame.envelope.id,
          new BusError('SUPERSEDED', { agent: hello.agent }),
        );
      }
      // A peer that must prove itself displaces no session before it has.
      if (!mustProve) this.step(older, { type: 'session.superseded' });
    }
    const session = known ?? this.#open(peer, hello);
    session.held = hello.held;
    if (session.snapshot.matches('live')) return this.#greetAgain(session, hello);
    this.step(session, {
      type: 'peer.greeted',
      agent: hello.agent,
      proof: mustProve,
    });
  }

  /** Frames were lost: unnamed messages are taken back before the WELCOME and delivered again after it. */
  #greetAgain(session: Session, { agent, held }: Hello): void {
    this.#core.mailboxes.takeBack(session.peer, new Set(held));
    this.step(session, { type: 'peer.greeted', agent, proof: false });
    this.#adopt(session);
    this.#core.mailboxes.resume(session.peer);
  }

  #objectionTo(hello: Hello, isProved: boolean): string | undefined {
    const { registry, sessions } = this.#core;
    return objectionToName(hello, isProved, {
      ...{ registry, sessions, keyOfName: this.#parts.keyOfName },
      isProvenRole: (role) => this.#core.isProvenRole(role),
      isHostedRole: (role) => this.#core.isHostedRole(role),
    });
  }

  /** Throws BROKER_DRAINING, SESSIONS_FULL. */
  #admit(known: Session | undefined): void {
    if (this.#core.isDraining) throw new BusError('BROKER_DRAINING');
    const limit = this.#core.limits.sessionsMax;
    if (known === undefined && this.#core.sessions.size >= limit)
      throw new BusError('SESSIONS_FULL', { limit });
  }

  #open(peer: PeerId, hello: Hello): Session {
    const session = newSession(peer, hello, {
      limits: this.#core.limits,
      rights: this.#parts.permissions.of(hello.role),
      outbox: this.#parts.outboxes.keep(peer),
      isRemote: this.#parts.listener.isRemote(peer),
      nowMs: this.#core.clock.monotonicMs(),
      sessions: this.#core.sessions.size,
    });
    this.#core.sessions.add(session);
    return session;
  }

  /** PROOF: the answer of a challenged session. */
  onProof(session: Session, frame: Frame): void {
    const secret = this.#parts.proofFor(session);
    if (secret === 'none' || !session.snapshot.matches('proving')) {
      return this.#writer.reject(
        session.peer,
        frame.envelope.id,
        new BusError('PROTOCOL_UNEXPECTED_EVENT', {
          event: 'PROOF',
          state: session.snapshot.value,
        }),
      );
    }
    const { nonce, agent, incarnation } = session;
    let isProved = false;
    try {
      const { hmac } = proofCodec.decode(frame.body);
      isProved = secret !== 'refused' && proves(hmac, proofOf(secret, nonce, agent, incarnation));
    } catch (error) {
      this.#parts.trace.log('warn', 'a proof could not be read', {
        agent: session.agent,
        detail: asBusError(error).message,
      });
    }
    if (!isProved) return this.step(session, { type: 'peer.misproved' });
    const older = this.#core.sessions.liveOf(session.agent);
    // A newer session may have come during the proof.
    if (older !== undefined && older.incarnation > session.incarnation) {
      return this.step(session, { type: 'peer.misproved' });
    }
    if (older !== undefined) this.step(older, { type: 'session.superseded' });
    this.step(session, { type: 'peer.proved' });
  }

  /** Feeds one event to the session's machine and performs its effects. */
  step(session: Session, event: SessionEvent): void {
    const { snapshot, effects } = step(sessionMachine, session.snapshot, event);
    session.snapshot = snapshot;
    for (const effect of effects) this.#perform(session, effect);
  }

  #perform(session: Session, effect: SessionEffect): void {
    switch (effect.type) {
      case 'challenge.send':
        // One nonce per session: a HELLO that was repeated before the first proof came is challenged twice.
        if (session.nonce.length === 0) session.nonce = randomBytes(nonceBytes);
        return this.#writer.write(
          session.peer,
          Command.CHALLENGE,
          {},
          challengeCodec.encode({ nonce: session.nonce }),
        );
      case 'welcome.send':
        return this.#writer.write(session.peer, Command.WELCOME, {}, this.#welcome(session));
      case 'refusal.send':
        this.#parts.trace.log('warn', 'a proof was wrong', {
          agent: session.agent,
          role: session.role,
        });
        return this.#writer.reject(
          session.peer,
          '',
          new BusError('UNAUTHORISED', {
            ...{ agent: session.agent, role: session.role },
            why: session.isRemote
              ? 'its identity does not prove it; ask the operator of the broker for a new one (`sigma keys`)'
              : `the role ${session.role} must be proven, and the key that was shown is not that of this broker`,
          }),
        );
      case 'reset.send':
        return this.#writer.reset(session.peer, 'FRAME_CORRUPT');
      case 'goodbye.send':
        return this.#writer.write(
          session.peer,
          Command.GOODBYE,
          {},
          goodbyeCodec.encode({
            reason: effect.reason,
            reconnect_ms: this.#reconnectMs(effect.reason),
          }),
        );
      case 'session.announce':
        // Authenticated: until here it had the small limits of a stranger.
        this.#parts.strangerRates.forget(session.peer);
        this.#parts.outboxes.widen(session.peer);
        session.silenceMaxMs = session.heartbeatMs * silentIntervalsMax;
        session.lastHeardMs = this.#core.clock.monotonicMs();
        this.#core.sessions.announce(session);
        this.#adopt(session);
        this.#core.registry.seen(session.agent, this.#core.clock.nowMs());
        return this.#core.announce('joined', session.agent);
      case 'session.withdraw':
        return this.#withdraw(session, effect.reason);
      case 'session.forget':
        this.#core.sessions.forget(session);
        return this.#parts.outboxes.forget(session.peer);
    }
  }

  #withdraw(session: Session, reason: GoodbyeReason): void {
    const wasLast = this.#core.sessions.withdraw(session);
    this.#core.mailboxes.sessionEnded(session.peer, reason === 'superseded');
    for (const orphan of this.#core.requests.forget(session)) {
      this.#writer.reject(
        orphan.requester.peer,
        orphan.id,
        new BusError('RESPONDER_LOST', { agent: session.agent }),
      );
    }
    if (!wasLast) return;
    const { registry } = this.#core;
    // Messages in the name of a hosted agent may still come, from any process.
    const isHosted =
      this.#core.isHostedRole(session.role) && registry.record(session.agent) !== undefined;
    if (!isHosted) this.giveUpOn(session.agent);
    this.#core.registry.seen(session.agent, this.#core.clock.nowMs());
    // Announced before the registry forgets an ephemeral agent, while its record exists.
    this.#core.announce(reason === 'expired' ? 'lost' : 'left', session.agent);
    this.#core.registry.ended(session.agent, this.#core.clock.nowMs());
    if (this.#core.registry.record(session.agent) === undefined)
      this.#core.topics.forget(`presence.${session.agent}`);
  }

  /** Ends the TAKEs that wait for a message of this agent. */
  giveUpOn(agent: string): void {
    for (const { peer, id } of this.#core.mailboxes.receivers.agentLost(agent))
      this.#writer.reject(peer, id, new BusError('RESPONDER_LOST', { agent }));
  }

  #welcome(session: Session): Buffer {
    return welcomeCodec.encode({
      session: session.id,
      heartbeat_ms: session.heartbeatMs,
      frame_size_max: frameBytesMax,
      requests_max: this.#core.limits.requestsPerSessionMax,
      topics_address: this.#parts.listener.topicsAddress,
      broker_version: this.#parts.version,
      window: this.#core.limits.windowMax,
      credit_messages_max: this.#core.limits.creditMessagesMax,
      credit_bytes_max: this.#core.limits.creditBytesMax,
      lease_ms: this.#core.limits.leaseMs,
      epoch: this.#epoch,
    });
  }

  /** Messages that the agent still works on stay leased to it across sessions. */
  #adopt(session: Session): void {
    const { held, peer } = session;
    session.held = [];
    this.#core.mailboxes.adopt(peer, held, (mailbox) => {
      const { kind, name } = parseAddress(mailbox);
      return kind === 'service' ? session.rights.mayOffer(name) : ownsMailbox(session, mailbox);
    });
  }

  /** Announces the end of the broker: clients that hear it send nothing new. */
  warnOfEnd(session: Session): void {
    const body = goodbyeCodec.encode({
      reason: 'draining',
      reconnect_ms: this.#reconnectMs('draining'),
    });
    this.#writer.write(session.peer, Command.NOTICE, { type: 'lame_duck' }, body);
  }

  /** Jittered, so that not all come back in the same moment. */
  #reconnectMs(reason: GoodbyeReason): number {
    if (reason !== 'draining') return 0;
    return Math.round(reconnectMsMin + this.#parts.random() * (reconnectMsMax - reconnectMsMin));
  }

  /** Its connection is known to be gone. */
  onGone(peer: PeerId): void {
    const session = this.#core.sessions.of(peer);
    if (session !== undefined) this.step(session, { type: 'session.expired' });
  }
}
