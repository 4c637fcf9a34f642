import { BoundedMap } from '../base/bounded-map.js';
import { backoffMs } from '../base/backoff.js';
import { IdSequence, isName } from '../base/ids.js';
import { pause } from '../base/pause.js';
import type { Clock } from '../base/clock.js';
import { noTrace, type Trace } from '../base/trace.js';
import { asBusError, BusError, RemoteError } from '../errors/bus-error.js';
import type { Link } from '../transport/port.js';
import {
  amend,
  Command,
  frameOf,
  makeFrame,
  newEnvelope,
  type EnvelopeFields,
  type Frame,
} from '../wire/frame.js';
import {
  agentRecordCodec,
  agentsAnswerCodec,
  agentsPageMax,
  agentsQueryCodec,
  blobRefCodec,
  creditCodec,
  decodeFailure,
  messageAnswerCodec,
  offerCodec,
  presenceCodec,
  settleCodec,
  statusAnswerCodec,
  takeCodec,
  topicsAnswerCodec,
  topicsQueryCodec,
  type AgentRecord,
  type AgentView,
  type MessageAnswer,
  type PresenceEvent,
  type Settle,
  type StatusAnswer,
  type Take,
  type Welcome,
} from '../wire/messages.js';
import { clientLimits, comebackBackoff, restoreBackoff } from './limits.js';
import { PendingRequests, type Ended, type PendingOptions } from './pending.js';
import type { Reply, RequestOptions } from './request.js';
import { blobReplyType, Responder, type Handler } from './responder.js';
import type { SubscribeOptions } from './follower.js';
import { Blobs } from './blobs.js';
import { Inbox, type MessageHandler, type Message, type ReceiveOptions } from './inbox.js';
import { Mail } from './mail.js';
import { Connection, type ClientState, type Identity } from './connection.js';
import { Poster, type Accepted, type PostOptions } from './poster.js';
import { Subscriptions, type Subscription } from './subscriptions.js';

/** The broker ends a wait for a message by itself; its answer needs a moment. */
const takeGraceMs = 2_000;

export interface ClientParts {
  link: Link;
  identity: Identity;
  clock: Clock;
  random: () => number;
  /** Answers a CHALLENGE. Read anew each time: the broker may have made the key after this process started. */
  secretOf?: () => Buffer | undefined;
  /** What the name is bound to, so that no other agent takes it; kept by the caller, for the next process needs it. */
  keyOf?: () => Buffer | undefined;
  heartbeatMs?: number;
  /** Time between two looks for lost publications. */
  checkMs?: number;
  trace?: Trace;
}

export type { ClientState, Identity };

/** A connection to the broker that mends itself. One object speaks for one agent. */
export class Client implements AsyncDisposable {
  readonly identity: Identity;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #connection: Connection;
  readonly #trace: Trace;
  readonly #pending: PendingRequests;
  readonly #ids = new IdSequence();
  readonly #responder: Responder;
  readonly #services = new Set<string>();
  readonly #subscriptions: Subscriptions;
  readonly #poster: Poster;
  readonly #inbox: Inbox;
  /** Values that are larger than a frame. Replies that are become one by themselves. */
  readonly blobs: Blobs;
  /** Stored messages, as far as this agent may look at them. */
  readonly mail: Mail;
  /** Ids of ended TAKEs, oldest first: a late message for one goes back. */
  readonly #takes = new BoundedMap<string, true>(clientLimits.takesMax);
  #record: AgentRecord | undefined;
  /** Counts sessions, so that work for an earlier one can stop. */
  #sessions = 0;

  private constructor(parts: ClientParts) {
    this.identity = parts.identity;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#trace = parts.trace ?? noTrace;
    this.#connection = new Connection({
      ...parts,
      trace: this.#trace,
      ids: this.#ids,
      held: () => this.#inbox.inFlightSeqs,
      onLive: (welcome) => this.#onLive(welcome),
      onLost: () => this.#onLost(),
      onEnded: (error) => this.#onEnded(error),
      onFrame: (frame) => this.#onFrame(frame),
      onRefused: (id, error) => this.#onRefused(id, error),
      onPublication: (topic, bytes) => this.#subscriptions.onPublication(topic, bytes),
    });
    this.#pending = new PendingRequests({
      clock: parts.clock,
      unavailable: () => this.trouble,
      whole: (reply, request) =>
        reply.type === blobReplyType ? this.#fetched(reply, request) : reply,
      again: (error, request) =>
        error.code === 'RESPONDER_LOST' && mayMove(request)
          ? this.#again(request, error)
          : undefined,
      onCancelled: (frame) => this.#onCancelled(frame),
    });
    this.#responder = new Responder({
      agent: parts.identity.agent,
      clock: parts.clock,
      trace: this.#trace,
      nextId: () => this.#ids.next(),
      send: (frame, reserve) => this.#connection.enqueue(frame, reserve),
      share: async (body) => blobRefCodec.encode(await this.blobs.offer(body)),
    });
    this.#subscriptions = new Subscriptions({
      link: parts.link,
      query: async (query) => {
        const body = topicsQueryCodec.encode(query);
        return topicsAnswerCodec.decode((await this.#askOnce('topics', body)).body);
      },
      isLive: () => this.state === 'live',
      clock: parts.clock,
      random: parts.random,
      trace: this.#trace,
      checkMs: parts.checkMs,
    });
    this.#poster = new Poster({
      clock: parts.clock,
      random: parts.random,
      send: (frame) => this.#connection.enqueue(frame),
      trouble: () => this.trouble,
    });
    this.#inbox = new Inbox({
      agent: parts.identity.agent,
      clock: parts.clock,
      trace: this.#trace,
      settle: (command, settle) => this.#settle(command, settle),
      nextId: () => this.#ids.next(),
      giveBack: (id, settle) => this.#giveBack(id, settle),
      grant: async (credit) => {
        await this.#ask(Command.CREDIT, {}, creditCodec.encode(credit));
      },
      regrant: (credit) => void this.#restore(Command.CREDIT, creditCodec.encode(credit)),
    });
    this.blobs = new Blobs({
      client: this,
      agent: parts.identity.agent,
      ...{ clock: parts.clock, random: parts.random, trace: this.#trace },
    });
    this.mail = new Mail((command, type, body) => this.#ask(command, { type }, body));
  }

  /** Begins to connect and returns at once; `ready` waits. Owns the link from now on. Throws INVALID_NAME. */
  static connect(parts: ClientParts): Client {
    for (const [what, name] of [
      ['agent id', parts.identity.agent],
      ['role', parts.identity.role],
    ] as const) {
      if (!isName(name)) throw new BusError('INVALID_NAME', { name, what });
    }
    const client = new Client(parts);
    client.#connection.open();
    return client;
  }

  get state(): ClientState {
    return this.#connection.state;
  }

  /** Why no request is possible now; undefined while live. */
  get trouble(): BusError | undefined {
    return this.#connection.trouble;
  }

  /** Calls on every change of state, beginning with the next one. */
  onState(watch: (state: ClientState) => void): Disposable {
    return this.#connection.onState(watch);
  }

  /** Resolves once live. Throws NO_BROKER after `withinMs`, or the reason why the broker refused for good. */
  ready(options: { withinMs: number }): Promise<void> {
    return this.#connection.ready(options.withinMs);
  }

  /** Publishes this agent's record; again by itself after every reconnect. Resolves when it is stored. */
  async register(record: Omit<AgentRecord, 'id' | 'role'>): Promise<void> {
    const whole = { ...record, id: this.identity.agent, role: this.identity.role };
    await this.#ask(Command.REGISTER, {}, agentRecordCodec.encode(whole));
    // Only after success: a refused record must not come back with the next session.
    this.#record = whole;
  }

  /** Answers requests of these types, addressed to this agent or to a service it offers. */
  serve(handlers: Record<string, Handler>): void {
    this.#responder.add(handlers);
  }

  /** Answers for these services from now on, and again after every reconnect. */
  async offer(services: string[]): Promise<void> {
    await this.#ask(Command.OFFER, {}, offerCodec.encode({ services }));
    for (const service of services) this.#services.add(service);
  }

  /**
   * Asks `agent:<id or alias>` or `service:<name>` and waits for the last reply. Throws what the
   * responder or the broker answered, NO_BROKER when not connected, DEADLINE_EXCEEDED, CANCELLED, BROKER_LOST.
   */
  request(to: string, type: string, body: Buffer, options: RequestOptions = {}): Promise<Reply> {
    const deadlineMs = Math.max(1, Math.round(options.deadlineMs ?? clientLimits.deadlineMs));
    const envelope = newEnvelope();
    envelope.id = this.#ids.next();
    envelope.to = to;
    envelope.type = type;
    // The broker puts the address in.
    envelope.reply_to = 'reply';
    envelope.deadline_ms = deadlineMs;
    const { isIdempotent, signal, onPartial } = options;
    // Written out: a spread costs more than the rest of this.
    const its = { deadlineMs, isIdempotent, signal, onPartial };
    return this.#await(frameOf(Command.SEND, envelope, body), its);
  }

  /** The body of a reply that is only named in it. */
  async #fetched(reply: Reply, { frame, options, expiresAtMs }: Ended): Promise<Reply> {
    const ref = blobRefCodec.decode(reply.body);
    const leftMs = Math.max(1, Math.round(expiresAtMs - this.#clock.monotonicMs()));
    const body = await this.blobs.fetch(ref, { ...options, deadlineMs: leftMs });
    return { ...reply, type: `${frame.envelope.type}.reply`, body };
  }

  /** One way, at most once. Throws NO_BROKER, BROKER_BUSY, TOO_LARGE. */
  send(to: string, type: string, body: Buffer): void {
    this.#assertLive();
    const frame = makeFrame(Command.SEND, { id: this.#ids.next(), to, type }, body);
    if (!this.#connection.enqueue(frame))
      throw new BusError('BROKER_BUSY', { limit: clientLimits.outboxBytesMax });
  }

  /**
   * Stores a durable message at the broker: once this resolves it is delivered until it is settled, whichever process
   * serves it. Retried across reconnects until its deadline. Throws the broker's rejection;
   * DEADLINE_EXCEEDED and NO_BROKER leave open whether it was accepted: post it again under its `id`.
   */
  post(to: string, type: string, body: Buffer, options: PostOptions = {}): Promise<Accepted> {
    if (this.state === 'closed')
      return Promise.reject(this.#connection.trouble ?? new BusError('CANCELLED'));
    return this.#poster.post(to, type, body, options.id ?? this.#ids.next(), options);
  }

  /** The durable answer to a message; its id is a function of that message, so that it is stored once. */
  reply(message: Message, type: string, body: Buffer, part = 0): Promise<Accepted> {
    const id = `re-${message.seq}-${part}`;
    const { replyTo, id: correlation } = message;
    if (replyTo === '') return Promise.reject(new BusError('UNKNOWN_REQUEST', { id: correlation }));
    return this.post(replyTo, type, body, { id, correlation, more: part > 0 });
  }

  /**
   * Waits for the durable reply to an earlier message of this agent, also of an earlier process, and
   * settles it. Throws INBOX_EMPTY after the deadline; the reply may still come. `isMore`: others follow.
   */
  async collect(
    id: string,
    options: { deadlineMs: number; from?: string; signal?: AbortSignal },
  ): Promise<Reply & { isMore: boolean }> {
    const { from: asker = this.identity.agent, ...waiting } = options;
    const want = { mailbox: `reply:${asker}`, correlation: id };
    const { view, body } = await this.take({ ...waiting, ...want });
    this.settle([view.seq]);
    const { from, type, seq } = view;
    const reply = { from, type, seq, body: Buffer.from(body) };
    if (reply.type === 'error') throw new RemoteError(decodeFailure(reply.body));
    return { ...reply, isMore: view.more };
  }

  /**
   * One message from a mailbox; waits at most `deadlineMs`. It is leased: settle it. Throws INBOX_EMPTY,
   * RESPONDER_LOST or AGENT_OFFLINE when `from` is absent, UNAUTHORISED.
   */
  async take(
    want: Partial<Take> & { deadlineMs: number; signal?: AbortSignal },
  ): Promise<MessageAnswer> {
    const { deadlineMs, mailbox = '', from = '', correlation = '', lifo = false } = want;
    const body = takeCodec.encode({ mailbox, from, correlation, lifo });
    const id = this.#ids.next();
    this.#takes.set(id, true);
    const frame = makeFrame(Command.TAKE, { id, deadline_ms: Math.round(deadlineMs) }, body);
    const options = { deadlineMs: deadlineMs + takeGraceMs, isIdempotent: true };
    const reply = await this.#await(
      frame,
      want.signal ? { ...options, signal: want.signal } : options,
    );
    return messageAnswerCodec.decode(reply.body);
  }

  /** Settles taken messages. False: not connected; they will be delivered again. */
  settle(seqs: number[]): boolean {
    return this.#settle(Command.ACK, { seqs, delay_ms: 0, reason: '', untouched: false });
  }

  /** Returns messages that were taken but not begun. */
  giveBack(seqs: number[]): boolean {
    return this.#settle(Command.NACK, { seqs, delay_ms: 0, reason: '', untouched: true });
  }

  /** Takes durable messages out of a mailbox, own by default, until disposed of; again after every reconnect. */
  receive(handle: MessageHandler, options: ReceiveOptions = {}): Promise<AsyncDisposable> {
    return this.#inbox.receive(handle, options);
  }

  /** Withdraws an earlier durable message, or notifies its worker. Throws UNKNOWN_REQUEST. */
  async cancel(id: string, from = ''): Promise<void> {
    await this.#ask(Command.CANCEL, { correlation: id, from });
  }

  /**
   * Publishes to the subscribers. Resolves with the position in its stream. Throws UNAUTHORISED, INVALID_NAME,
   * TOO_LARGE; BROKER_LOST leaves open whether it was published: a retry might publish twice.
   */
  async publish(topic: string, type: string, body: Buffer): Promise<number> {
    const envelope = { id: this.#ids.next(), to: `topic:${topic}`, type };
    const frame = makeFrame(Command.PUBLISH, envelope, body);
    return (await this.#await(frame, { deadlineMs: clientLimits.deadlineMs })).seq;
  }

  /**
   * Publications whose topic matches; `*` is one token, `>` the rest. In order within a stream and none
   * twice; missed publications are fetched, or reported as lost.
   */
  subscribe(
    pattern: string,
    onFrame: (topic: string, frame: Frame) => void,
    options?: SubscribeOptions,
  ): Subscription {
    return this.#subscriptions.add(pattern, onFrame, options);
  }

  /**
   * Joining, leaving and loss of agents; at first, and after every restart of the broker, how all of them are.
   * `onForgotten`: the broker no longer knows this agent. Of one that is not remembered this may be all that
   * is heard of its end.
   */
  onPresence(
    onEvent: (event: PresenceEvent) => void,
    onForgotten?: (agent: string) => void,
  ): Subscription {
    return this.subscribe(
      'presence.>',
      (_topic, frame) => onEvent(presenceCodec.decode(frame.body)),
      { onForgotten: (stream) => onForgotten?.(stream.slice('presence.'.length)) },
    );
  }

  /** What only an administrator may do; see `sigma.bus.Command.ADMIN`. Throws UNAUTHORISED. */
  admin(type: string, body: Buffer, deadlineMs: number = clientLimits.adminMs): Promise<Reply> {
    const frame = makeFrame(Command.ADMIN, { type, id: this.#ids.next() }, body);
    return this.#await(frame, { deadlineMs });
  }

  /** Every registered agent, reachable or not. */
  async agents(filter: { role?: string; project?: string } = {}): Promise<AgentView[]> {
    const all: AgentView[] = [];
    let after = '';
    do {
      const query = {
        role: filter.role ?? '',
        project: filter.project ?? '',
        after,
        limit: agentsPageMax,
      };
      const reply = await this.#ask(
        Command.QUERY,
        { type: 'agents' },
        agentsQueryCodec.encode(query),
      );
      const page = agentsAnswerCodec.decode(reply.body);
      all.push(...page.agents);
      after = page.next;
    } while (after !== '');
    return all;
  }

  /** The role of the agent connected under this name; empty: none is. */
  async roleOf(agent: string): Promise<string> {
    const asked = { type: 'role' };
    return (await this.#ask(Command.QUERY, asked, Buffer.from(agent))).body.toString();
  }

  /** Who uses the session of this agent, as it says of itself; the agent where it says nothing. To be shown, no proof. */
  async personOf(agent: string): Promise<string> {
    const asked = { type: 'person' };
    return (await this.#ask(Command.QUERY, asked, Buffer.from(agent))).body.toString() || agent;
  }

  async status(): Promise<StatusAnswer> {
    return statusAnswerCodec.decode((await this.#ask(Command.QUERY, { type: 'status' })).body);
  }

  /** Sends GOODBYE, fails open requests with CANCELLED, and closes the link. */
  async close(): Promise<void> {
    await this.#connection.goodbye();
    this.#subscriptions[Symbol.dispose]();
    this.#inbox[Symbol.dispose]();
    this.#poster[Symbol.dispose]();
    await this.#connection[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  // --- sessions

  #onLive(welcome: Welcome): void {
    this.#sessions += 1;
    // Looked up before: what is restored is asked anew.
    const unanswered = this.#pending.unanswered();
    void this.#restoreAll(welcome);
    for (const { frame, leftMs } of unanswered) {
      const graceMs = frame.command === Command.TAKE ? takeGraceMs : 0;
      this.#connection.say(amend(frame, { deadline_ms: Math.max(0, leftMs - graceMs) }));
    }
  }

  #onLost(): void {
    this.#poster.onLost();
    this.#inbox.onLost();
    this.#pending.interrupt(new BusError('BROKER_LOST'));
  }

  #onEnded(error: BusError): void {
    this.#poster.failAll(error);
    this.#pending.failAll(error);
  }

  /** Credit last: for the mailbox of a service it is refused before the service is offered. */
  async #restoreAll({ window, lease_ms, epoch }: Welcome): Promise<void> {
    const session = this.#sessions;
    this.#subscriptions.onSession(epoch);
    this.#poster.onSession(window);
    const record = this.#record && agentRecordCodec.encode(this.#record);
    const services = [...this.#services];
    await Promise.all([
      record !== undefined && this.#restore(Command.REGISTER, record),
      services.length > 0 && this.#restore(Command.OFFER, offerCodec.encode({ services })),
    ]);
    if (session === this.#sessions && this.state === 'live') this.#inbox.onSession(lease_ms);
  }

  /** Repeats registration and services until the broker accepts them or another session begins. */
  async #restore(command: Command, body: Buffer): Promise<void> {
    const session = this.#sessions;
    for (let attempt = 0; session === this.#sessions && this.state === 'live'; attempt += 1) {
      try {
        await this.#ask(command, {}, body);
        return;
      } catch (error) {
        const { code, retryable } = asBusError(error);
        this.#trace('warn', 'not restored', { command: Command[command], code });
        if (!retryable) return;
        const waitMs = restoreBackoff.baseMs + backoffMs(restoreBackoff, attempt, this.#random());
        await new Promise<void>((resolve) => void this.#clock.after(waitMs, resolve));
      }
    }
  }

  // --- what comes in

  #onFrame(frame: Frame): void {
    switch (frame.command) {
      case Command.CANCEL:
        if (frame.envelope.seq > 0) return this.#inbox.onCancel(frame.envelope.seq);
        return this.#responder.onCancel(frame.envelope.from, frame.envelope.correlation);
      case Command.ACCEPT:
        if (this.#poster.onAccept(frame.envelope.correlation, frame.envelope.seq)) return;
        if (this.#inbox.onAccept(frame.envelope.correlation, frame.envelope.seq)) return;
        return this.#settleRequest(frame);
      case Command.ANSWER:
        return this.#settleRequest(frame);
      case Command.DELIVER:
        if (frame.envelope.durable) return this.#onDurable(frame);
        return frame.envelope.correlation === ''
          ? this.#responder.onRequest(frame)
          : this.#onReply(frame);
      default:
        return;
    }
  }

  /** True when it concerned a request of ours. */
  #onRefused(id: string, error: BusError): boolean {
    return (
      this.#poster.onReject(id, error) || this.#inbox.onReject(id) || this.#pending.fail(id, error)
    );
  }

  #onReply(frame: Frame): void {
    const { correlation, from, type } = frame.envelope;
    if (type === 'error') {
      this.#pending.fail(correlation, new RemoteError(decodeFailure(frame.body)));
      return;
    }
    if (frame.envelope.more) return this.#pending.progress(correlation, frame.body);
    this.#pending.settle(correlation, { from, type, body: frame.body, seq: 0 });
  }

  #settleRequest(frame: Frame): void {
    const { correlation, type, seq } = frame.envelope;
    if (this.#pending.settle(correlation, { from: '', type, body: frame.body, seq })) return;
    if (frame.command !== Command.ANSWER || !this.#takes.has(correlation)) return;
    // The caller gave up or has a message: this one was never begun.
    const { view } = messageAnswerCodec.decode(frame.body);
    this.giveBack([view.seq]);
  }

  /** During the handshake earlier messages may be missing. Every message that our HELLO did not name comes again. */
  #onDurable(frame: Frame): void {
    if (this.state === 'live') this.#inbox.onDeliver(frame);
  }

  // --- what goes out

  /** False: not now. */
  #giveBack(id: string, settle: Settle): boolean {
    if (this.state !== 'live') return false;
    return this.#connection.enqueue(makeFrame(Command.NACK, { id }, settleCodec.encode(settle)));
  }

  /** False: not now. */
  #settle(command: Command, settle: Settle): boolean {
    if (this.state !== 'live') return false;
    return this.#connection.enqueue(makeFrame(command, {}, settleCodec.encode(settle)));
  }

  /** For requests that a later session repeats by itself. */
  #askOnce(type: string, body: Buffer): Promise<Reply> {
    const frame = makeFrame(Command.QUERY, { type, id: this.#ids.next() }, body);
    return this.#await(frame, { deadlineMs: clientLimits.deadlineMs });
  }

  #ask(command: Command, envelope: EnvelopeFields, body?: Buffer): Promise<Reply> {
    const frame = makeFrame(command, { ...envelope, id: this.#ids.next() }, body);
    return this.#await(frame, { deadlineMs: clientLimits.deadlineMs, isIdempotent: true });
  }

  /**
   * The responder is lost. Another process may have its name already, or will when a supervisor restarts it: an
   * idempotent request is sent there. Throws the first failure if none comes back.
   */
  async #again({ frame, options, expiresAtMs }: Ended, lost: BusError): Promise<Reply> {
    const { comebackMsMax, movesMax } = clientLimits;
    let error: unknown = lost;
    let moves = 0;
    let goneUntilMs = this.#clock.monotonicMs() + comebackMsMax;
    for (let attempt = 0; moves < movesMax; attempt += 1) {
      const nowMs = this.#clock.monotonicMs();
      const deadlineMs = Math.round(expiresAtMs - nowMs);
      if (asBusError(error).code !== 'RESPONDER_LOST' || deadlineMs < 1) throw error;
      const { to, type, reply_to } = frame.envelope;
      const fields = { id: this.#ids.next(), to, type, reply_to, deadline_ms: deadlineMs };
      try {
        const next = makeFrame(Command.SEND, fields, frame.body);
        return await this.#await(next, { ...options, deadlineMs, isMoved: true });
      } catch (another) {
        const { code } = asBusError(another);
        if (code === 'AGENT_OFFLINE' || code === 'NO_RESPONDER') {
          if (nowMs > goneUntilMs) throw error;
          const waitMs =
            comebackBackoff.baseMs + backoffMs(comebackBackoff, attempt, this.#random());
          await pause(this.#clock, Math.min(waitMs, deadlineMs), options.signal);
          continue;
        }
        moves += 1;
        goneUntilMs = this.#clock.monotonicMs() + comebackMsMax;
        error = another;
      }
    }
    throw error;
  }

  #await(frame: Frame, options: PendingOptions): Promise<Reply> {
    try {
      if (options.signal?.aborted === true) throw new BusError('CANCELLED');
      this.#assertLive();
      if (this.#connection.isLameDuck && frame.command === Command.SEND)
        throw new BusError('BROKER_DRAINING');
      const { requestsMax: limit } = this.#connection;
      if (this.#pending.size >= limit) throw new BusError('BROKER_BUSY', { limit });
      // Queued first: a request that cannot leave must not wait for an answer.
      if (!this.#connection.enqueue(frame))
        throw new BusError('BROKER_BUSY', { limit: clientLimits.outboxBytesMax });
    } catch (error) {
      return Promise.reject(asBusError(error));
    }
    return this.#pending.add(frame, options);
  }

  /** Best effort: tells the other side to stop as well. */
  #onCancelled(frame: Frame): void {
    const { id: correlation } = frame.envelope;
    const isKnownThere = frame.command === Command.SEND || frame.command === Command.TAKE;
    if (this.state !== 'live' || !isKnownThere) return;
    this.#connection.say(makeFrame(Command.CANCEL, { id: this.#ids.next(), correlation }));
  }

  #assertLive(): void {
    const { trouble } = this.#connection;
    if (trouble !== undefined) throw trouble;
  }
}

/** Only what may be asked twice, and what was not sent there by `#again`, which goes on by itself. */
function mayMove({ frame, options }: Ended): boolean {
  return frame.command === Command.SEND && options.isIdempotent === true && !options.isMoved;
}
