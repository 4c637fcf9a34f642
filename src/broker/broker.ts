import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { noTrace, type Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { start, step } from '../machine/step.js';
import type { Store } from '../store/port.js';
import type { Listener, PeerId } from '../transport/port.js';
import {
  Command,
  decodeFrames,
  encodeFrame,
  frameBytesMax,
  makeFrame,
  protocolVersion,
  type EnvelopeFields,
  type Frame,
} from '../wire/frame.js';
import {
  challengeCodec,
  encodeFailure,
  goodbyeCodec,
  presenceCodec,
  proofCodec,
  welcomeCodec,
  type AgentView,
  type GoodbyeReason,
  type Hello,
  type PresenceEvent,
  type StatusAnswer,
} from '../wire/messages.js';
import { proofOf, proves } from '../wire/proof.js';
import { commandTable } from './commands/table.js';
import type { BrokerCore } from './core.js';
import { lifecycleMachine, type LifecycleEvent } from './lifecycle.machine.js';
import { checkedHello, newSession } from './greeting.js';
import { defaultLimits, type BrokerLimits } from './limits.js';
import { Outboxes } from './outboxes.js';
import { expiredPeers } from './presence.js';
import { Registry } from './registry.js';
import { Requests } from './requests.js';
import { sessionMachine, type SessionEffect, type SessionEvent } from './session.machine.js';
import { Sessions, type Session } from './sessions.js';

const nonceBytes = 32;

/** A peer that does not read must not hold up the end of the broker. */
const goodbyeMsMax = 500;
/** Time to read a GOODBYE before the sockets close under it. */
const goodbyeGraceMs = 50;

export interface BrokerParts {
  store: Store;
  listener: Listener;
  clock: Clock;
  /** The secret that proves a role, or undefined when the folder of the socket is proof enough. */
  secretOf: (role: string) => Buffer | undefined;
  version: string;
  limits?: Partial<BrokerLimits>;
  trace?: Trace;
}

/**
 * The broker's shell: it turns parts into frames, steps the machines of sessions, runs commands of live
 * sessions from the table, and performs effects. It decides nothing that a table or a pure function can.
 */
export class Broker implements BrokerCore, AsyncDisposable {
  readonly sessions = new Sessions();
  readonly requests: Requests;
  readonly limits: BrokerLimits;
  readonly clock: Clock;
  readonly #listener: Listener;
  readonly #outboxes: Outboxes;
  readonly #trace: Trace;
  readonly #secretOf: BrokerParts['secretOf'];
  readonly #version: string;
  readonly #startedMs: number;
  readonly #topicSeq = new Map<string, number>();
  #lifecycle = start(lifecycleMachine, undefined).snapshot;
  #ticker: Disposable | undefined;
  #closing: Promise<void> | undefined;
  #framesIn = 0;
  #framesCorrupt = 0;

  private constructor(
    readonly registry: Registry,
    parts: BrokerParts,
  ) {
    this.limits = { ...defaultLimits, ...parts.limits };
    this.requests = new Requests(this.limits);
    this.clock = parts.clock;
    this.#listener = parts.listener;
    this.#trace = parts.trace ?? noTrace;
    this.#secretOf = parts.secretOf;
    this.#version = parts.version;
    this.#startedMs = parts.clock.nowMs();
    this.#outboxes = new Outboxes({
      send: (peer, part) => this.#listener.send(peer, part),
      onGone: (peer) => this.#peerGone(peer),
      bytesMax: this.limits.outboxBytesMax,
      strangersMax: this.limits.strangersMax,
      strangerBytesMax: this.limits.strangerBytesMax,
      clock: this.clock,
    });
  }

  /** Loads the registry and begins to serve. The listener is bound and the store open: the caller owns both. */
  static async open(parts: BrokerParts): Promise<Broker> {
    const limits = { ...defaultLimits, ...parts.limits };
    const trace = parts.trace ?? noTrace;
    const registry = await Registry.load(parts.store, limits.agentsMax, (key) =>
      trace('error', 'a stored agent record is corrupt and was left out', { record: key }),
    );
    const broker = new Broker(registry, parts);
    broker.#step({ type: 'socket.bound' });
    return broker;
  }

  get isDraining(): boolean {
    return this.#lifecycle.matches('draining') || this.#lifecycle.matches('closed');
  }

  /** Refuses what is new, lets open requests end for at most `limits.drainMsMax`, then says goodbye to all. Idempotent. */
  drain(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain();
  }

  send(to: Session, frame: Frame): boolean {
    return this.#outboxes.offer(to.peer, encodeFrame(frame));
  }

  answer(
    to: Session,
    request: Frame,
    command: Command,
    body?: Buffer,
    fields: EnvelopeFields = {},
  ): void {
    this.#say(to.peer, command, { ...fields, correlation: request.envelope.id }, body);
  }

  reject(to: Session, id: string, error: BusError): void {
    this.#refuse(to.peer, id, error);
  }

  announce(change: PresenceEvent['change'], agent: string): void {
    const view = this.view(agent);
    if (view === undefined) return;
    const topic = `presence.${agent}.${change}`;
    const seq = (this.#topicSeq.get(agent) ?? 0) + 1;
    this.#topicSeq.set(agent, seq);
    const frame = makeFrame(
      Command.PUBLISH,
      { to: `topic:${topic}`, type: 'presence', seq },
      presenceCodec.encode({ change, agent: view }),
    );
    this.#listener.publish(topic, encodeFrame(frame));
    this.#trace('info', `agent ${change}`, { agent });
  }

  view(agent: string): AgentView | undefined {
    const record = this.registry.record(agent);
    if (record === undefined) return undefined;
    const session = this.sessions.liveOf(agent);
    if (session === undefined)
      return { record, state: 'offline', last_seen_ms: this.registry.lastSeenMs(agent), load: 0 };
    const silentMs = this.clock.monotonicMs() - session.lastHeardMs;
    return {
      record,
      state: silentMs > session.silenceMaxMs / 2 ? 'stale' : 'online',
      last_seen_ms: Math.round(this.clock.nowMs() - silentMs),
      load: this.requests.load(session.peer),
    };
  }

  status(): StatusAnswer {
    const online = this.registry
      .ids()
      .filter((id) => this.sessions.liveOf(id) !== undefined).length;
    return {
      version: this.#version,
      state: this.#lifecycle.value,
      started_ms: this.#startedMs,
      pid: process.pid,
      sessions: this.sessions.liveCount,
      agents_online: online,
      agents_known: this.registry.size,
      requests_open: this.requests.size,
      services: this.sessions.services(),
      frames_in: this.#framesIn,
      frames_out: this.#outboxes.framesOut,
      frames_corrupt: this.#framesCorrupt,
      rss_bytes: process.memoryUsage.rss(),
      messages: 0,
      message_bytes: 0,
      leases: 0,
      dead_letters: 0,
      oldest_ms: 0,
      accepted: 0,
      delivered: 0,
      settled: 0,
      redelivered: 0,
      duplicates: 0,
      publications: 0,
      refused: {},
      accept_p50_ms: 0,
      accept_p99_ms: 0,
      loop_lag_ms: 0,
      store_state: 'serving',
    };
  }

  // --- lifecycle

  #step(event: LifecycleEvent): void {
    const { snapshot, effects } = step(lifecycleMachine, this.#lifecycle, event);
    this.#lifecycle = snapshot;
    for (const effect of effects) {
      switch (effect.type) {
        case 'traffic.open':
          this.#listener.listen((peer, part) => this.#onPart(peer, part));
          this.#armTick(this.clock.monotonicMs());
          break;
        case 'traffic.refuse':
          // Sessions stay live while their open requests end; `isDraining` refuses whatever is new.
          this.#trace('info', 'draining', { requests: this.requests.size });
          break;
        case 'goodbye.broadcast':
          for (const session of this.sessions.all())
            this.#stepSession(session, { type: 'broker.drained' });
          break;
      }
    }
  }

  async #drain(): Promise<void> {
    this.#step({ type: 'drain.requested' });
    const until = this.clock.monotonicMs() + this.limits.drainMsMax;
    while (this.requests.size > 0 && this.clock.monotonicMs() < until) {
      await new Promise<void>((resolve) => void this.clock.after(20, resolve));
    }
    if (!this.#lifecycle.matches('closed')) {
      this.#step({ type: this.requests.size > 0 ? 'drain.timed_out' : 'requests.ended' });
    }
    this.#ticker?.[Symbol.dispose]();
    await this.#outboxes.flushed(goodbyeMsMax);
    // A client with `immediate` drops what it has not read yet when the connection goes.
    await new Promise<void>((resolve) => void this.clock.after(goodbyeGraceMs, resolve));
  }

  #armTick(previousMs: number): void {
    const intervalMs = this.limits.heartbeatMsMin;
    this.#ticker = this.clock.after(intervalMs, () => {
      const nowMs = this.clock.monotonicMs();
      this.#tick({ nowMs, previousMs, intervalMs });
      this.#armTick(nowMs);
    });
  }

  #tick(tick: { nowMs: number; previousMs: number; intervalMs: number }): void {
    for (const session of expiredPeers(this.sessions.all(), tick)) {
      this.#stepSession(session, { type: 'session.expired' });
    }
    for (const request of this.requests.expired(tick.nowMs)) {
      this.#refuse(
        request.requester,
        request.id,
        new BusError('DEADLINE_EXCEEDED', { ms: request.budgetMs }),
      );
    }
  }

  // --- what comes in

  #onPart(peer: PeerId, part: Buffer): void {
    const known = this.sessions.of(peer);
    if (known !== undefined) known.lastHeardMs = this.clock.monotonicMs();
    for (const decoded of decodeFrames(part)) {
      this.#framesIn += 1;
      try {
        if (decoded.ok) this.#onFrame(peer, decoded.frame);
        else this.#onCorrupt(peer, decoded);
      } catch (error) {
        // One bad frame costs itself, never the loop that serves everybody.
        this.#trace('error', 'a frame could not be handled', { detail: asBusError(error).message });
      }
    }
  }

  #onCorrupt(peer: PeerId, decoded: { corruption: string; id: string; version: number }): void {
    this.#framesCorrupt += 1;
    this.#trace('warn', 'a frame was corrupt', { part: decoded.corruption });
    if (decoded.corruption === 'version') {
      return this.#refuse(
        peer,
        '',
        new BusError('VERSION', { got: decoded.version, supported: protocolVersion }),
      );
    }
    if (decoded.id !== '')
      return this.#refuse(
        peer,
        decoded.id,
        new BusError('FRAME_CORRUPT', { part: decoded.corruption }),
      );
    const session = this.sessions.of(peer);
    if (session !== undefined) this.#stepSession(session, { type: 'frame.corrupt' });
    else this.#reset(peer, 'FRAME_CORRUPT');
  }

  #onFrame(peer: PeerId, frame: Frame): void {
    const session = this.sessions.of(peer);
    if (frame.command === Command.HELLO) return this.#onHello(peer, session, frame);
    if (session === undefined) return this.#reset(peer, 'UNKNOWN_SESSION');
    if (frame.command === Command.GOODBYE) return this.#stepSession(session, { type: 'peer.left' });
    if (frame.command === Command.PROOF) return this.#onProof(session, frame);
    const run = commandTable.get(frame.command);
    if (!session.snapshot.matches('live') || run === undefined) {
      const state = session.snapshot.value;
      return this.#refuse(
        peer,
        frame.envelope.id,
        new BusError('PROTOCOL_UNEXPECTED_EVENT', {
          event: Command[frame.command] || `command ${frame.command}`,
          state,
        }),
      );
    }
    this.#run(() => run(this, session, frame), session, frame);
  }

  #run(work: () => void | Promise<void>, session: Session, frame: Frame): void {
    const refuse = (error: unknown): void => {
      const coded = asBusError(error);
      if (coded.code === 'INTERNAL')
        this.#trace('error', 'a command failed', {
          command: Command[frame.command],
          detail: coded.message,
        });
      this.#refuse(session.peer, frame.envelope.id, coded);
    };
    try {
      const pending = work();
      if (pending !== undefined) pending.catch(refuse);
    } catch (error) {
      refuse(error);
    }
  }

  #onHello(peer: PeerId, known: Session | undefined, frame: Frame): void {
    let hello: Hello;
    try {
      hello = checkedHello(frame.body, known, this.clock.nowMs());
      this.#admit(known);
    } catch (error) {
      return this.#refuse(peer, frame.envelope.id, asBusError(error));
    }
    const older = this.sessions.liveOf(hello.agent);
    if (this.#isTakenName(hello)) {
      const { agent, role } = hello;
      return this.#refuse(peer, frame.envelope.id, new BusError('UNAUTHORISED', { agent, role }));
    }
    if (older !== undefined && older !== known) {
      if (older.incarnation > hello.incarnation) {
        return this.#refuse(
          peer,
          frame.envelope.id,
          new BusError('SUPERSEDED', { agent: hello.agent }),
        );
      }
      // A role that must prove itself displaces nobody before it has.
      if (this.#secretOf(hello.role) === undefined)
        this.#stepSession(older, { type: 'session.superseded' });
    }
    const session = known ?? this.#open(peer, hello);
    this.#stepSession(session, {
      type: 'peer.greeted',
      agent: hello.agent,
      proof: this.#secretOf(hello.role) !== undefined,
    });
  }

  /**
   * A name belongs to the role that registered it: otherwise whoever need not prove anything could take
   * the manager's name, also while the manager is away.
   */
  #isTakenName({ agent, role }: Hello): boolean {
    const owner = this.sessions.liveOf(agent)?.role ?? this.registry.record(agent)?.role;
    return owner !== undefined && owner !== role;
  }

  /** Throws BROKER_DRAINING, SESSIONS_FULL. */
  #admit(known: Session | undefined): void {
    if (this.isDraining) throw new BusError('BROKER_DRAINING');
    const limit = this.limits.sessionsMax;
    if (known === undefined && this.sessions.size >= limit)
      throw new BusError('SESSIONS_FULL', { limit });
  }

  #open(peer: PeerId, hello: Hello): Session {
    const session = newSession(peer, hello, this.limits, this.clock.monotonicMs());
    this.sessions.add(session);
    this.#outboxes.keep(peer);
    return session;
  }

  #onProof(session: Session, frame: Frame): void {
    const secret = this.#secretOf(session.role);
    if (secret === undefined || !session.snapshot.matches('proving')) {
      return this.#refuse(
        session.peer,
        frame.envelope.id,
        new BusError('PROTOCOL_UNEXPECTED_EVENT', {
          event: 'PROOF',
          state: session.snapshot.value,
        }),
      );
    }
    const expected = proofOf(secret, session.nonce, session.agent, session.incarnation);
    session.nonce = Buffer.alloc(0);
    let isProved = false;
    try {
      isProved = proves(proofCodec.decode(frame.body).hmac, expected);
    } catch (error) {
      this.#trace('warn', 'a proof could not be read', {
        agent: session.agent,
        detail: asBusError(error).message,
      });
    }
    if (!isProved) return this.#stepSession(session, { type: 'peer.misproved' });
    const older = this.sessions.liveOf(session.agent);
    // It may have come while this one was proving.
    if (older !== undefined && older.incarnation > session.incarnation) {
      return this.#stepSession(session, { type: 'peer.misproved' });
    }
    if (older !== undefined) this.#stepSession(older, { type: 'session.superseded' });
    this.#stepSession(session, { type: 'peer.proved' });
  }

  // --- sessions

  #stepSession(session: Session, event: SessionEvent): void {
    const { snapshot, effects } = step(sessionMachine, session.snapshot, event);
    session.snapshot = snapshot;
    for (const effect of effects) this.#perform(session, effect);
  }

  #perform(session: Session, effect: SessionEffect): void {
    switch (effect.type) {
      case 'challenge.send':
        session.nonce = randomBytes(nonceBytes);
        return this.#say(
          session.peer,
          Command.CHALLENGE,
          {},
          challengeCodec.encode({ nonce: session.nonce }),
        );
      case 'welcome.send':
        return this.#say(session.peer, Command.WELCOME, {}, this.#welcome(session));
      case 'refusal.send':
        this.#trace('warn', 'a proof was wrong', { agent: session.agent, role: session.role });
        return this.#refuse(
          session.peer,
          '',
          new BusError('UNAUTHORISED', { agent: session.agent, role: session.role }),
        );
      case 'reset.send':
        return this.#reset(session.peer, 'FRAME_CORRUPT');
      case 'goodbye.send':
        return this.#say(
          session.peer,
          Command.GOODBYE,
          {},
          goodbyeCodec.encode({ reason: effect.reason, reconnect_ms: 0 }),
        );
      case 'session.announce':
        this.sessions.announce(session);
        this.registry.seen(session.agent, this.clock.nowMs());
        return this.announce('joined', session.agent);
      case 'session.withdraw':
        return this.#withdraw(session, effect.reason);
      case 'session.forget':
        this.sessions.forget(session);
        return this.#outboxes.forget(session.peer);
    }
  }

  #withdraw(session: Session, reason: GoodbyeReason): void {
    const wasLast = this.sessions.withdraw(session);
    for (const orphan of this.requests.forget(session.peer)) {
      this.#refuse(
        orphan.requester,
        orphan.id,
        new BusError('RESPONDER_LOST', { agent: session.agent }),
      );
    }
    if (!wasLast) return;
    this.registry.seen(session.agent, this.clock.nowMs());
    // Told before the registry forgets an ephemeral agent, while there still is something to tell.
    this.announce(reason === 'expired' ? 'lost' : 'left', session.agent);
    this.registry.ended(session.agent, this.clock.nowMs());
    if (this.registry.record(session.agent) === undefined) this.#topicSeq.delete(session.agent);
  }

  #welcome(session: Session): Buffer {
    return welcomeCodec.encode({
      session: session.id,
      heartbeat_ms: session.heartbeatMs,
      frame_size_max: frameBytesMax,
      requests_max: this.limits.requestsPerSessionMax,
      topics_address: this.#listener.topicsAddress,
      broker_version: this.#version,
      window: 64,
      credit_messages_max: 1_024,
      credit_bytes_max: 8 * 1024 * 1024,
      lease_ms: 30_000,
      epoch: '',
    });
  }

  #peerGone(peer: PeerId): void {
    const session = this.sessions.of(peer);
    if (session !== undefined) this.#stepSession(session, { type: 'session.expired' });
  }

  // --- what goes out

  #say(peer: PeerId, command: Command, envelope: EnvelopeFields, body?: Buffer): void {
    if (!this.#outboxes.offer(peer, encodeFrame(makeFrame(command, envelope, body)))) {
      this.#trace('warn', 'an answer was dropped: the peer does not read', {
        agent: this.sessions.of(peer)?.agent,
      });
    }
  }

  #refuse(peer: PeerId, id: string, error: BusError): void {
    this.#say(peer, Command.REJECT, { correlation: id }, encodeFailure(error));
  }

  #reset(peer: PeerId, type: 'UNKNOWN_SESSION' | 'FRAME_CORRUPT'): void {
    this.#say(peer, Command.RESET, { type });
  }
}
