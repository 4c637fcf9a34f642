import { randomBytes } from 'node:crypto';
import type { Audit, AuditOutcome } from '../base/audit.js';
import type { Clock } from '../base/clock.js';
import { noTrace, type Trace } from '../base/trace.js';
import { assert } from '../base/assert.js';
import { newId } from '../base/ids.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { start, step } from '../machine/step.js';
import type { Store, Upkeep } from '../store/port.js';
import type { Listener, PeerId } from '../transport/port.js';
import { parseAddress } from '../wire/address.js';
import {
  Command,
  decodeFrames,
  encodeFrame,
  frameBytesMax,
  headBytes,
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
  messageAnswerCodec,
  messageViewCodec,
  type AgentView,
  type BackupAnswer,
  type GoodbyeReason,
  type Hello,
  type PresenceEvent,
  type StatusAnswer,
} from '../wire/messages.js';
import { proofOf, proves } from '../wire/proof.js';
import { AcceptLatency } from './accept-latency.js';
import { ownsMailbox } from './commands/settle.js';
import { commandTable } from './commands/table.js';
import type { BrokerCore } from './core.js';
import { lifecycleMachine, type LifecycleEvent } from './lifecycle.machine.js';
import { checkedHello, newSession } from './greeting.js';
import { defaultLimits, type BrokerLimits } from './limits.js';
import { viewOf } from './letters.js';
import type { Letter } from './mailbox.js';
import { Mailboxes } from './mailboxes.js';
import { Outboxes } from './outboxes.js';
import { Permissions } from './permissions.js';
import { expiredPeers, isLate, type Tick } from './presence.js';
import { StrangerRates } from './rate-limit.js';
import { Registry } from './registry.js';
import { Requests } from './requests.js';
import { sessionMachine, type SessionEffect, type SessionEvent } from './session.machine.js';
import { Sessions, type Session } from './sessions.js';
import type { Taker } from './takers.js';
import { Topics } from './topics.js';

const noBody = Buffer.alloc(0);
const nonceBytes = 32;

/** A peer that does not read must not hold up the end of the broker. */
const goodbyeMsMax = 500;
/** When clients of a broker that goes away come back. */
const reconnectMsMin = 500;
const reconnectMsMax = 3_000;
/** Time to read a GOODBYE before the sockets close under it. */
const goodbyeGraceMs = 50;

/** Who somebody says to be. `isRemote`: the claim came over the network. */
export interface Claim {
  agent: string;
  role: string;
  isRemote: boolean;
}

/** none: the folder of the socket is proof enough. A secret: it must be shown. refused: nothing would prove it. */
export type ProofNeeded = 'none' | Buffer | 'refused';

export interface BrokerParts {
  store: Store & Upkeep;
  listener: Listener;
  clock: Clock;
  random: () => number;
  proofFor: (claim: Claim) => ProofNeeded;
  permissions?: Permissions;
  audit?: Audit;
  /** How late timers ran lately, in milliseconds. */
  loopLagMs?: () => number;
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
  readonly acceptLatency = new AcceptLatency();
  readonly requests: Requests;
  readonly topics: Topics;
  readonly limits: BrokerLimits;
  readonly clock: Clock;
  readonly #listener: Listener;
  readonly #outboxes: Outboxes;
  readonly #trace: Trace;
  readonly #parts: BrokerParts;
  readonly #permissions: Permissions;
  readonly #strangerRates: StrangerRates;
  readonly #epoch = newId('epoch');
  readonly #startedMs: number;
  readonly #refused = new Map<string, number>();
  #mailboxes: Mailboxes | undefined;
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
    this.#parts = parts;
    this.#permissions = parts.permissions ?? new Permissions();
    this.#strangerRates = new StrangerRates(this.limits.strangersMax);
    this.topics = new Topics({
      limits: this.limits,
      publish: (topic, bytes) => this.#listener.publish(topic, bytes),
    });
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
    for (const agent of registry.ids()) broker.#seed(agent);
    broker.#mailboxes = await Mailboxes.open({
      store: parts.store,
      clock: parts.clock,
      random: parts.random,
      limits,
      trace,
      deliver: (peer, frame) => broker.#outboxes.offer(peer, frame),
      onDead: (letter) => broker.#onDead(letter),
      onTaken: (taker, letter) => void broker.#onTaken(taker, letter),
    });
    broker.#step({ type: 'socket.bound' });
    return broker;
  }

  get mailboxes(): Mailboxes {
    assert(this.#mailboxes, 'the broker serves before it is open');
    return this.#mailboxes;
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
    const body = presenceCodec.encode({ change, agent: view });
    this.#publish(`presence.${agent}.${change}`, 'presence', body);
    this.#trace('info', `agent ${change}`, { agent });
  }

  audit(what: AuditOutcome, from: string, to: string, frame: Frame, code = ''): void {
    const { audit } = this.#parts;
    if (audit === undefined || from === to) return;
    const { type, id, correlation, seq } = frame.envelope;
    const atMs = this.clock.nowMs();
    const { body } = frame;
    audit.record({ atMs, what, from, to, type, id, correlation, seq: seq, code, body });
  }

  auditLetter(what: AuditOutcome, letter: Letter, code = ''): void {
    const { from, mailbox: to, type, id, correlation, seq } = letter;
    const entry = { atMs: this.clock.nowMs(), what, from, to, type, id, correlation, seq, code };
    this.#parts.audit?.record({ ...entry, body: noBody });
  }

  async backup(folder: string): Promise<BackupAnswer> {
    const { entries, bytes, elapsedMs } = await this.#parts.store.backup(folder);
    return { entries, bytes, elapsed_ms: Math.round(elapsedMs) };
  }

  compact(): Promise<void> {
    return this.#parts.store.compact();
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
    const { counts, size } = this.mailboxes;
    return {
      version: this.#parts.version,
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
      messages: size.messages,
      message_bytes: size.bytes,
      leases: size.leases,
      dead_letters: size.dead,
      oldest_ms: size.oldestMs,
      ...counts,
      publications: this.topics.published,
      refused: { ...this.#listener.refusals(), ...Object.fromEntries(this.#refused) },
      accept_p50_ms: this.acceptLatency.recent(0.5),
      accept_p99_ms: this.acceptLatency.recent(0.99),
      loop_lag_ms: this.#parts.loopLagMs?.() ?? 0,
      store_state: this.#parts.store.state,
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
          for (const session of this.sessions.all()) this.#warnOfEnd(session);
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

  #tick(tick: Tick): void {
    this.mailboxes.tick(isLate(tick));
    for (const { peer, id, mailbox } of this.mailboxes.takers.expired(tick.nowMs))
      this.#refuse(peer, id, new BusError('INBOX_EMPTY', { mailbox }));
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
    const nowMs = this.clock.monotonicMs();
    if (known !== undefined) known.lastHeardMs = nowMs;
    else {
      const retryAfterMs = this.#strangerRates.take(peer, 1, part.length, nowMs);
      if (retryAfterMs > 0)
        return this.#refuse(
          peer,
          '',
          new BusError('RATE_LIMITED', { agent: 'a stranger', retryAfterMs }),
        );
    }
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
    const bytes = frame.body.length + headBytes;
    const retryAfterMs = session.rate.take(1, bytes, this.clock.monotonicMs());
    if (retryAfterMs > 0) {
      const { agent } = session;
      const limited = new BusError('RATE_LIMITED', { agent, retryAfterMs });
      return this.#refuse(peer, frame.envelope.id, limited);
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
      if (frame.command === Command.SEND)
        this.audit('refused', session.agent, frame.envelope.to, frame, coded.code);
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
      hello = checkedHello(frame.body, known, this.limits, this.clock.nowMs());
      this.#admit(known);
    } catch (error) {
      return this.#refuse(peer, frame.envelope.id, asBusError(error));
    }
    const isRemote = this.#listener.isRemote(peer);
    const mustProve = this.#parts.proofFor({ ...hello, isRemote }) !== 'none';
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
      if (!mustProve) this.#stepSession(older, { type: 'session.superseded' });
    }
    const session = known ?? this.#open(peer, hello);
    session.held = hello.held;
    if (session.snapshot.matches('live')) return this.#greetAgain(session, hello);
    this.#stepSession(session, {
      type: 'peer.greeted',
      agent: hello.agent,
      proof: mustProve,
    });
  }

  /** Something was lost between us. Taken back before it is welcomed, delivered again after. */
  #greetAgain(session: Session, { agent, held }: Hello): void {
    this.mailboxes.takeBack(session.peer, new Set(held));
    this.#stepSession(session, { type: 'peer.greeted', agent, proof: false });
    this.#adopt(session);
    this.mailboxes.resume(session.peer);
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
    const session = newSession(peer, hello, {
      limits: this.limits,
      rights: this.#permissions.of(hello.role),
      isRemote: this.#listener.isRemote(peer),
      nowMs: this.clock.monotonicMs(),
    });
    this.#strangerRates.forget(peer);
    this.sessions.add(session);
    this.#outboxes.keep(peer);
    return session;
  }

  #onProof(session: Session, frame: Frame): void {
    const secret = this.#parts.proofFor(session);
    if (secret === 'none' || !session.snapshot.matches('proving')) {
      return this.#refuse(
        session.peer,
        frame.envelope.id,
        new BusError('PROTOCOL_UNEXPECTED_EVENT', {
          event: 'PROOF',
          state: session.snapshot.value,
        }),
      );
    }
    const { nonce, agent, incarnation } = session;
    session.nonce = Buffer.alloc(0);
    let isProved = false;
    try {
      const { hmac } = proofCodec.decode(frame.body);
      isProved = secret !== 'refused' && proves(hmac, proofOf(secret, nonce, agent, incarnation));
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
          goodbyeCodec.encode({
            reason: effect.reason,
            reconnect_ms: this.#reconnectMs(effect.reason),
          }),
        );
      case 'session.announce':
        this.sessions.announce(session);
        this.#adopt(session);
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
    this.mailboxes.sessionEnded(session.peer);
    for (const orphan of this.requests.forget(session.peer)) {
      this.#refuse(
        orphan.requester,
        orphan.id,
        new BusError('RESPONDER_LOST', { agent: session.agent }),
      );
    }
    if (!wasLast) return;
    for (const { peer, id } of this.mailboxes.takers.agentLost(session.agent))
      this.#refuse(peer, id, new BusError('RESPONDER_LOST', { agent: session.agent }));
    this.registry.seen(session.agent, this.clock.nowMs());
    // Told before the registry forgets an ephemeral agent, while there still is something to tell.
    this.announce(reason === 'expired' ? 'lost' : 'left', session.agent);
    this.registry.ended(session.agent, this.clock.nowMs());
    if (this.registry.record(session.agent) === undefined)
      this.topics.forget(`presence.${session.agent}`);
  }

  #welcome(session: Session): Buffer {
    return welcomeCodec.encode({
      session: session.id,
      heartbeat_ms: session.heartbeatMs,
      frame_size_max: frameBytesMax,
      requests_max: this.limits.requestsPerSessionMax,
      topics_address: this.#listener.topicsAddress,
      broker_version: this.#parts.version,
      window: this.limits.windowMax,
      credit_messages_max: this.limits.creditMessagesMax,
      credit_bytes_max: this.limits.creditBytesMax,
      lease_ms: this.limits.leaseMs,
      epoch: this.#epoch,
    });
  }

  /** What its agent still works on stays leased to it, over the end of the session that was given it. */
  #adopt(session: Session): void {
    const { held, peer } = session;
    session.held = [];
    this.mailboxes.adopt(peer, held, (mailbox) => {
      const { kind, name } = parseAddress(mailbox);
      return kind === 'service' ? session.rights.mayOffer(name) : ownsMailbox(session, mailbox);
    });
  }

  #onDead(letter: Letter): void {
    const view = viewOf(letter, this.clock.nowMs());
    this.#publish('sys.dead-letter', 'dead-letter', messageViewCodec.encode(view));
    this.auditLetter('dead', letter, letter.reason);
  }

  async #onTaken(taker: Taker, letter: Letter): Promise<void> {
    const { peer, id } = taker;
    try {
      const body = messageAnswerCodec.encode(await this.mailboxes.read(letter));
      this.#say(peer, Command.ANSWER, { correlation: id }, body);
    } catch (error) {
      const coded = asBusError(error);
      this.mailboxes.untaken(taker, letter);
      // Settled or cancelled while it was read: as if it had never been there.
      if (coded.code !== 'NO_SUCH_MESSAGE') return this.#refuse(peer, id, coded);
      this.#refuse(peer, id, new BusError('INBOX_EMPTY', { mailbox: taker.mailbox }));
    }
  }

  #warnOfEnd(session: Session): void {
    const body = goodbyeCodec.encode({
      reason: 'draining',
      reconnect_ms: this.#reconnectMs('draining'),
    });
    this.#say(session.peer, Command.NOTICE, { type: 'lame_duck' }, body);
  }

  /** Jittered, so that not all come back in the same moment. */
  #reconnectMs(reason: GoodbyeReason): number {
    if (reason !== 'draining') return 0;
    return Math.round(reconnectMsMin + this.#parts.random() * (reconnectMsMax - reconnectMsMin));
  }

  /** Agents of an earlier run are there for late joiners too. */
  #seed(agent: string): void {
    const view = this.view(agent);
    if (view === undefined) return;
    const frame = makeFrame(
      Command.PUBLISH,
      { type: 'presence' },
      presenceCodec.encode({ change: 'left', agent: view }),
    );
    this.topics.seed(`presence.${agent}.left`, frame);
  }

  #publish(topic: string, type: string, body: Buffer): void {
    this.topics.publish(topic, makeFrame(Command.PUBLISH, { type }, body));
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
    this.#refused.set(error.code, (this.#refused.get(error.code) ?? 0) + 1);
    this.#say(peer, Command.REJECT, { correlation: id }, encodeFailure(error));
  }

  #reset(peer: PeerId, type: 'UNKNOWN_SESSION' | 'FRAME_CORRUPT'): void {
    this.#say(peer, Command.RESET, { type });
  }
}
