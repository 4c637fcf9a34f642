import type { Audit, AuditOutcome } from '../base/audit.js';
import type { Clock } from '../base/clock.js';
import { SparseTrace } from '../base/sparse-trace.js';
import { noTrace, type Trace } from '../base/trace.js';
import { assert } from '../base/assert.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { start, step } from '../machine/step.js';
import type { Store, Upkeep } from '../store/port.js';
import type { Listener } from '../transport/port.js';
import {
  Command,
  envelopeOf,
  frameOf,
  makeFrame,
  type EnvelopeFields,
  type Frame,
} from '../wire/frame.js';
import {
  presenceCodec,
  messageAnswerCodec,
  messageViewCodec,
  type AgentRecord,
  type AgentView,
  type BackupAnswer,
  type PresenceEvent,
  type StatusAnswer,
} from '../wire/messages.js';
import { AcceptLatency } from './mail/accept-latency.js';
import type { BrokerCore, Speaker } from './core.js';
import { SessionHandler, type Claim, type ProofNeeded } from './session/session-handler.js';
import { Incoming } from './incoming.js';
import { lifecycleMachine, type LifecycleEvent } from './lifecycle.machine.js';
import { defaultLimits, type BrokerLimits } from './limits.js';
import { viewOf } from './mail/stored-message.js';
import type { StoredMessage } from './mail/mailbox.js';
import { Mailboxes } from './mail/mailboxes.js';
import { Outboxes } from './outboxes.js';
import { Permissions } from './session/permissions.js';
import { expiredPeers, isLate, type Tick } from './session/silence.js';
import { StrangerRates } from './session/rate-limit.js';
import { Registry } from './registry.js';
import { Requests } from './requests.js';
import { HomeNames } from './session/names.js';
import { Sessions, type Session } from './session/sessions.js';
import type { WaitingReceiver } from './mail/waiting-receivers.js';
import { Topics } from './topics.js';
import { Writer } from './writer.js';

const noBody = Buffer.alloc(0);

/** A peer that does not read must not hold up the end of the broker. */
const goodbyeMsMax = 500;
/** Time to read a GOODBYE before the sockets close under it. */
const goodbyeGraceMs = 50;

export interface BrokerParts {
  store: Store & Upkeep;
  listener: Listener;
  clock: Clock;
  random: () => number;
  proofFor: (claim: Claim) => ProofNeeded;
  /** The key of a name in the hands of a process of the broker's home; absent: there are no such keys. */
  keyOfName?: (agent: string) => Buffer | undefined;
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
  readonly #sparse: SparseTrace;
  readonly #parts: BrokerParts;
  readonly #writer: Writer;
  readonly #sessionHandler: SessionHandler;
  readonly #incoming: Incoming;
  readonly #startedMs: number;
  #mailboxes: Mailboxes | undefined;
  #lifecycle = start(lifecycleMachine, undefined).snapshot;
  readonly #permissions: Permissions;
  readonly #homeNames: HomeNames;
  #ticker: Disposable | undefined;
  #closing: Promise<void> | undefined;

  private constructor(
    readonly registry: Registry,
    parts: BrokerParts,
  ) {
    this.limits = { ...defaultLimits, ...parts.limits };
    this.requests = new Requests(this.limits, () => this.sessions.all());
    this.clock = parts.clock;
    this.#listener = parts.listener;
    this.#trace = parts.trace ?? noTrace;
    this.#sparse = new SparseTrace(this.#trace, parts.clock);
    this.#parts = parts;
    this.#homeNames = new HomeNames(parts.keyOfName, this.limits.agentsMax);
    this.#permissions = parts.permissions ?? new Permissions();
    const strangerRates = new StrangerRates(this.limits.strangersMax);
    this.topics = new Topics({
      limits: this.limits,
      publish: (topic, bytes) => this.#listener.publish(topic, bytes),
    });
    this.#startedMs = parts.clock.nowMs();
    this.#outboxes = new Outboxes({
      send: (peer, part) => this.#listener.send(peer, part),
      onGone: (peer) => this.#sessionHandler.onGone(peer),
      bytesMax: this.limits.outboxBytesMax,
      strangersMax: this.limits.strangersMax,
      strangerBytesMax: this.limits.strangerBytesMax,
      clock: this.clock,
    });
    this.#writer = new Writer(this.#outboxes, this.#sparse);
    this.#sessionHandler = new SessionHandler({
      core: this,
      writer: this.#writer,
      outboxes: this.#outboxes,
      listener: this.#listener,
      permissions: this.#permissions,
      strangerRates,
      proofFor: parts.proofFor,
      keyOfName: parts.keyOfName ?? (() => undefined),
      random: parts.random,
      version: parts.version,
      trace: this.#sparse,
    });
    this.#incoming = new Incoming({
      core: this,
      sessionHandler: this.#sessionHandler,
      strangerRates,
      writer: this.#writer,
      trace: this.#trace,
      sparse: this.#sparse,
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
      onDead: (message) => broker.#onDead(message),
      onReceived: (receiver, message) => void broker.#onReceived(receiver, message),
    });
    broker.#step({ type: 'socket.bound' });
    return broker;
  }

  get mailboxes(): Mailboxes {
    assert(this.#mailboxes, 'the broker serves before it is open');
    return this.#mailboxes;
  }

  get isDraining(): boolean {
    return this.#lifecycle.value === 'draining' || this.#lifecycle.value === 'closed';
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
    const isTaken = to.outbox.offer(frame);
    if (isTaken) this.#outboxes.framesOut += 1;
    return isTaken;
  }

  answer(
    to: Session,
    request: Frame,
    command: Command,
    body?: Buffer,
    fields: EnvelopeFields = {},
  ): void {
    const envelope = envelopeOf(fields);
    envelope.correlation = request.envelope.id;
    if (this.send(to, frameOf(command, envelope, body))) return;
    this.#sparse.log('warn', 'an answer was dropped: the peer does not read');
  }

  reject(to: Session, id: string, error: BusError): void {
    this.#writer.reject(to.peer, id, error);
  }

  async enroll(record: AgentRecord, isEphemeral: boolean): Promise<void> {
    const displaced = await this.registry.register(record, {
      isEphemeral,
      nowMs: this.clock.nowMs(),
      isStaying: ({ id, role }) =>
        // A hosted agent must stay reachable for messages until it is dismissed.
        this.sessions.liveOf(id) !== undefined ||
        this.#permissions.of(role).isTrusted ||
        this.isHostedRole(role),
      binding: this.sessions.liveOf(record.id)?.binding ?? '',
    });
    for (const agent of displaced) this.topics.forget(`presence.${agent}`);
  }

  async dismiss(agent: string, reason: string): Promise<void> {
    await this.registry.dismiss(agent);
    const session = this.sessions.liveOf(agent);
    if (session !== undefined) this.#sessionHandler.step(session, { type: 'session.superseded' });
    this.#sessionHandler.giveUpOn(agent);
    this.mailboxes.close([`agent:${agent}`, `reply:${agent}`], reason);
    this.topics.forget(`presence.${agent}`);
  }

  isProvenRole(role: string): boolean {
    return this.#parts.proofFor({ agent: role, role, isRemote: false }) !== 'none';
  }

  isHostedRole(role = ''): boolean {
    return this.#permissions.of(role).isHosted;
  }

  announce(change: PresenceEvent['change'], agent: string): void {
    const view = this.view(agent);
    if (view === undefined) return;
    const body = presenceCodec.encode({ change, agent: view });
    this.#publish(`presence.${agent}.${change}`, 'presence', body);
    this.#trace('info', `agent ${change}`, { agent });
  }

  audit(what: AuditOutcome, by: Speaker, to: string, frame: Frame, code = ''): void {
    const { audit } = this.#parts;
    const { agent: from, person } = by;
    if (audit === undefined || from === to) return;
    const { type, id, correlation, seq } = frame.envelope;
    const atMs = this.clock.nowMs();
    const { body } = frame;
    audit.record({ atMs, what, from, person, to, type, id, correlation, seq, code, body });
  }

  auditStored(what: AuditOutcome, message: StoredMessage, code = ''): void {
    const { from, mailbox: to, type, id, correlation, seq } = message;
    const entry = { atMs: this.clock.nowMs(), what, from, to, type, id, correlation, seq, code };
    this.#parts.audit?.record({ ...entry, person: '', body: noBody });
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
    const of_home = this.#homeNames.isOfHome(
      agent,
      session?.binding ?? this.registry.binding(agent),
    );
    if (session === undefined) {
      const last_seen_ms = this.registry.lastSeenMs(agent);
      return { record, state: 'offline', last_seen_ms, load: 0, of_home };
    }
    const silentMs = this.clock.monotonicMs() - session.lastHeardMs;
    return {
      record,
      state: silentMs > session.silenceMaxMs / 2 ? 'stale' : 'online',
      last_seen_ms: Math.round(this.clock.nowMs() - silentMs),
      load: session.toAnswer,
      of_home,
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
      requests: this.requests.opened,
      requests_open: this.requests.size,
      services: this.sessions.services(),
      frames_in: this.#incoming.frames,
      frames_out: this.#outboxes.framesOut,
      frames_corrupt: this.#incoming.framesCorrupt,
      rss_bytes: process.memoryUsage.rss(),
      messages: size.messages,
      message_bytes: size.bytes,
      leases: size.leases,
      dead_letters: size.dead,
      oldest_ms: size.oldestMs,
      ...counts,
      publications: this.topics.published,
      refused: { ...this.#listener.refusals(), ...this.#writer.refused },
      accept_p50_ms: this.acceptLatency.recent(0.5),
      accept_p99_ms: this.acceptLatency.recent(0.99),
      loop_lag_ms: this.#parts.loopLagMs?.() ?? 0,
      store_state: this.mailboxes.isLoading ? 'loading' : this.#parts.store.state,
    };
  }

  // --- lifecycle

  #step(event: LifecycleEvent): void {
    const { snapshot, effects } = step(lifecycleMachine, this.#lifecycle, event);
    this.#lifecycle = snapshot;
    for (const effect of effects) {
      switch (effect.type) {
        case 'traffic.open':
          this.#listener.listen((peer, part) => this.#incoming.onPart(peer, part));
          this.#armTick(this.clock.monotonicMs());
          break;
        case 'traffic.refuse':
          // Sessions stay live while their open requests end; `isDraining` rejects new ones.
          this.#trace('info', 'draining', { requests: this.requests.size });
          for (const session of this.sessions.all()) this.#sessionHandler.warnOfEnd(session);
          break;
        case 'goodbye.broadcast':
          for (const session of this.sessions.all())
            this.#sessionHandler.step(session, { type: 'broker.drained' });
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
    if (this.#lifecycle.value !== 'closed') {
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
    for (const { peer, id, mailbox } of this.mailboxes.receivers.expired(tick.nowMs))
      this.#writer.reject(peer, id, new BusError('INBOX_EMPTY', { mailbox }));
    for (const session of expiredPeers(this.sessions.all(), tick)) {
      this.#sessionHandler.step(session, { type: 'session.expired' });
    }
    for (const request of this.requests.expired(tick.nowMs)) {
      this.#writer.reject(
        request.requester.peer,
        request.id,
        new BusError('DEADLINE_EXCEEDED', { ms: request.budgetMs }),
      );
    }
  }

  #onDead(message: StoredMessage): void {
    const view = viewOf(message, this.clock.nowMs());
    this.#publish('sys.dead-letter', 'dead-letter', messageViewCodec.encode(view));
    this.auditStored('dead', message, message.reason);
  }

  async #onReceived(receiver: WaitingReceiver, message: StoredMessage): Promise<void> {
    const { peer, id } = receiver;
    try {
      const body = messageAnswerCodec.encode(await this.mailboxes.read(message));
      this.#writer.write(peer, Command.ANSWER, { correlation: id }, body);
    } catch (error) {
      const coded = asBusError(error);
      this.mailboxes.undoTake(receiver, message);
      // Settled or cancelled during the read.
      if (coded.code !== 'NO_SUCH_MESSAGE') return this.#writer.reject(peer, id, coded);
      this.#writer.reject(peer, id, new BusError('INBOX_EMPTY', { mailbox: receiver.mailbox }));
    }
  }

  /** Publishes agents of an earlier run as offline. */
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
}
