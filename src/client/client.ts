import { backoffMs } from '../base/backoff.js';
import { IdSequence, isName } from '../base/ids.js';
import type { Clock } from '../base/clock.js';
import { noTrace, type Trace } from '../base/trace.js';
import { within } from '../base/within.js';
import { asBusError, BusError, RemoteError } from '../errors/bus-error.js';
import { isErrorCode, type ErrorCode } from '../errors/catalogue.js';
import { start, step } from '../machine/step.js';
import { Outbox } from '../transport/outbox.js';
import type { Link, SendOutcome } from '../transport/port.js';
import {
  amend,
  Command,
  decodeFrames,
  encodeFrame,
  makeFrame,
  protocolVersion,
  type EnvelopeFields,
  type Frame,
} from '../wire/frame.js';
import {
  agentRecordCodec,
  agentsAnswerCodec,
  agentsPageMax,
  agentsQueryCodec,
  blobRefCodec,
  challengeCodec,
  creditCodec,
  decodeFailure,
  goodbyeCodec,
  helloCodec,
  messageAnswerCodec,
  offerCodec,
  presenceCodec,
  proofCodec,
  settleCodec,
  statusAnswerCodec,
  takeCodec,
  topicsAnswerCodec,
  topicsQueryCodec,
  welcomeCodec,
  type AgentRecord,
  type AgentView,
  type MessageAnswer,
  type PresenceEvent,
  type Settle,
  type StatusAnswer,
  type Take,
  type Welcome,
} from '../wire/messages.js';
import { proofOf } from '../wire/proof.js';
import {
  connectionMachine,
  type ConnectionEffect,
  type ConnectionEvent,
} from './connection.machine.js';
import { Heartbeat } from './heartbeat.js';
import { clientLimits, greetingBackoff, restoreBackoff } from './limits.js';
import { PendingRequests, type Reply } from './pending.js';
import { gather, type Ask, type Gathered, type GatherOptions } from './gather.js';
import { blobReplyType, Responder, type Handler } from './responder.js';
import type { SubscribeOptions } from './follower.js';
import type { BlobCache } from './blob-cache.js';
import { Blobs } from './blobs.js';
import { Inbox, type MessageHandler, type Message, type ReceiveOptions } from './inbox.js';
import { Mail } from './mail.js';
import { Poster, type Accepted, type PostOptions } from './poster.js';
import { Subscriptions, type Subscription } from './subscriptions.js';

const noWelcome = { window: 0, lease_ms: 30_000, epoch: '' };

/** The broker ends a wait for a message by itself; its answer needs a moment. */
const takeGraceMs = 2_000;

/** A link that takes nothing must not hold up the end of a process. */
const closingMsMax = 500;

/** Refusals that a second greeting would not change. */
const finalCodes = new Set<ErrorCode>([
  'VERSION',
  'INVALID_NAME',
  'UNAUTHORISED',
  'SUPERSEDED',
  'MALFORMED_PAYLOAD',
]);

export interface Identity {
  agent: string;
  role: string;
  /** Forgotten by the broker when it leaves, instead of being listed as offline. */
  isEphemeral: boolean;
}

export interface ClientParts {
  link: Link;
  identity: Identity;
  clock: Clock;
  random: () => number;
  /** Answers a CHALLENGE. Read anew each time: the broker may have made the key after this process started. */
  secretOf?: () => Buffer | undefined;
  heartbeatMs?: number;
  /** Time between two looks for lost publications. */
  checkMs?: number;
  /** Where fetched blobs are kept; without one they are fetched each time. */
  blobCache?: BlobCache;
  trace?: Trace;
}

export interface RequestOptions {
  deadlineMs?: number;
  /** May be delivered twice: then it survives the loss of the connection, within its deadline. */
  isIdempotent?: boolean;
  signal?: AbortSignal;
  /** Parts of the answer, or progress, as they come. */
  onPartial?: (body: Buffer) => void;
}

/** What the client is doing: `live` is the only state in which anything is answered. */
export type ClientState = 'connecting' | 'greeting' | 'live' | 'away' | 'closed';

/** A connection to the broker that mends itself. One object speaks for one agent. */
export class Client implements AsyncDisposable {
  readonly identity: Identity;
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #trace: Trace;
  readonly #secretOf: () => Buffer | undefined;
  readonly #incarnation: number;
  readonly #pending: PendingRequests;
  readonly #ids = new IdSequence();
  readonly #responder: Responder;
  readonly #outbox: Outbox;
  readonly #services = new Set<string>();
  readonly #subscriptions: Subscriptions;
  readonly #heartbeat: Heartbeat;
  readonly #poster: Poster;
  readonly #inbox: Inbox;
  /** Values that are larger than a frame. Replies that are become one by themselves. */
  readonly blobs: Blobs;
  /** Stored messages, as far as this agent may look at them. */
  readonly mail: Mail;
  readonly #watchers = new Set<(state: ClientState) => void>();
  #snapshot = start(connectionMachine, undefined).snapshot;
  #record: AgentRecord | undefined;
  #refusal: BusError | undefined;
  #proof: Buffer = Buffer.alloc(0);
  #requestsMax: number = clientLimits.requestsMax;
  #greeting: Disposable | undefined;
  /** The broker goes away soon: what is open may end, nothing new is asked. */
  #isLameDuck = false;
  #welcome: Welcome | undefined;
  /** Counts sessions, so that work for an earlier one notices that it is over. */
  #sessions = 0;

  private constructor(parts: ClientParts) {
    this.identity = parts.identity;
    this.#link = parts.link;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#trace = parts.trace ?? noTrace;
    this.#secretOf = parts.secretOf ?? (() => undefined);
    this.#incarnation = parts.clock.nowMs();
    this.#pending = new PendingRequests(parts.clock, () => this.trouble);
    this.#responder = new Responder({
      agent: parts.identity.agent,
      clock: parts.clock,
      trace: this.#trace,
      nextId: () => this.#ids.next(),
      send: (frame) => this.#enqueue(frame),
      share: async (body) => blobRefCodec.encode(await this.blobs.offer(body)),
    });
    this.#outbox = new Outbox({
      send: (part) => this.#sendPart(part),
      // Unanswered requests are sent again by the next session; the rest has failed already.
      onGone: () => undefined,
      bytesMax: clientLimits.outboxBytesMax,
      clock: parts.clock,
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
      send: (frame) => this.#enqueue(frame),
      trouble: () => this.trouble,
    });
    this.#inbox = new Inbox({
      agent: parts.identity.agent,
      clock: parts.clock,
      trace: this.#trace,
      settle: (command, settle) => this.#settle(command, settle),
      giveBack: (settle) => this.#giveBack(settle),
      grant: async (credit) => {
        await this.#ask(Command.CREDIT, {}, creditCodec.encode(credit));
      },
      regrant: (credit) => void this.#restore(Command.CREDIT, creditCodec.encode(credit)),
    });
    this.blobs = new Blobs({
      client: this,
      agent: parts.identity.agent,
      ...(parts.blobCache !== undefined && { cache: parts.blobCache }),
      ...{ clock: parts.clock, random: parts.random, trace: this.#trace },
    });
    this.mail = new Mail((command, type, body) => this.#ask(command, { type }, body));
    this.#heartbeat = new Heartbeat({
      clock: parts.clock,
      intervalMs: parts.heartbeatMs ?? clientLimits.heartbeatMs,
      isLive: () => this.state === 'live',
      onDue: () => this.#say(makeFrame(Command.PING, { id: this.#ids.next() })),
      onSilence: () => this.#step({ type: 'broker.silent' }),
    });
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
    client.#link.open({
      onUp: () => client.#step({ type: 'link.up' }),
      onDown: () => client.#step({ type: 'link.down' }),
      onPart: (part) => client.#onPart(part),
      onPublication: (topic, bytes) => client.#subscriptions.onPublication(topic, bytes),
    });
    client.#heartbeat.start();
    return client;
  }

  get state(): ClientState {
    return this.#snapshot.value;
  }

  /** Why nothing can be asked now; undefined while live. */
  get trouble(): BusError | undefined {
    return this.state === 'live' ? undefined : this.#unavailable();
  }

  /** Calls on every change of state, beginning with the next one. */
  onState(watch: (state: ClientState) => void): Disposable {
    this.#watchers.add(watch);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watch) };
  }

  /** Resolves once live. Throws NO_BROKER after `withinMs`, or the reason why the broker refused for good. */
  async ready(options: { withinMs: number }): Promise<void> {
    if (this.state === 'live') return;
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: BusError): void => {
        timer[Symbol.dispose]();
        watching[Symbol.dispose]();
        if (error === undefined) resolve();
        else reject(error);
      };
      const timer = this.#clock.after(options.withinMs, () => settle(this.#unavailable()));
      const watching = this.onState((state) => {
        if (state === 'live') settle();
        if (state === 'closed') settle(this.#unavailable());
      });
      if (this.state === 'closed') settle(this.#unavailable());
    });
  }

  /** Publishes this agent's record; again by itself after every reconnect. Resolves when it is stored. */
  async register(record: Omit<AgentRecord, 'id' | 'role'>): Promise<void> {
    const whole = { ...record, id: this.identity.agent, role: this.identity.role };
    await this.#ask(Command.REGISTER, {}, agentRecordCodec.encode(whole));
    // Only now: a record that was refused must not come back with the next session.
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
  async request(
    to: string,
    type: string,
    body: Buffer,
    options: RequestOptions = {},
  ): Promise<Reply> {
    const deadlineMs = Math.max(1, Math.round(options.deadlineMs ?? clientLimits.deadlineMs));
    if (options.signal?.aborted === true) throw new BusError('CANCELLED');
    const frame = makeFrame(
      Command.SEND,
      {
        id: this.#ids.next(),
        to,
        type,
        reply_to: `agent:${this.identity.agent}`,
        deadline_ms: deadlineMs,
      },
      body,
    );
    const reply = await this.#await(frame, { ...options, deadlineMs });
    if (reply.type !== blobReplyType) return reply;
    const ref = blobRefCodec.decode(reply.body);
    return {
      ...reply,
      type: `${type}.reply`,
      body: await this.blobs.fetch(ref, { ...options, deadlineMs }),
    };
  }

  /** Asks many at once and waits until nobody is left to wait for. */
  gather(asks: Ask[], options: Omit<GatherOptions, 'clock'>): Promise<Gathered[]> {
    return gather(this, asks, { ...options, clock: this.#clock });
  }

  /** One way, at most once. Throws NO_BROKER, BROKER_BUSY, TOO_LARGE. */
  send(to: string, type: string, body: Buffer): void {
    this.#assertLive();
    const frame = makeFrame(Command.SEND, { id: this.#ids.next(), to, type }, body);
    if (!this.#enqueue(frame))
      throw new BusError('BROKER_BUSY', { limit: clientLimits.outboxBytesMax });
  }

  /**
   * Stores a durable message at the broker: once this resolves it is delivered until it is settled, whoever
   * is there now. Tried over reconnects until its deadline. Throws what the broker refused it with;
   * DEADLINE_EXCEEDED and NO_BROKER leave open whether it was accepted: post it again under its `id`.
   */
  post(to: string, type: string, body: Buffer, options: PostOptions = {}): Promise<Accepted> {
    if (this.state === 'closed') return Promise.reject(this.#unavailable());
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
   * One message out of a mailbox, waiting for it at most `deadlineMs`. It is leased: settle it. Throws
   * INBOX_EMPTY, RESPONDER_LOST or AGENT_OFFLINE when `from` is not there, UNAUTHORISED.
   */
  async take(
    want: Partial<Take> & { deadlineMs: number; signal?: AbortSignal },
  ): Promise<MessageAnswer> {
    const { deadlineMs, mailbox = '', from = '', correlation = '', lifo = false } = want;
    const body = takeCodec.encode({ mailbox, from, correlation, lifo });
    const id = this.#ids.next();
    const frame = makeFrame(Command.TAKE, { id, deadline_ms: Math.round(deadlineMs) }, body);
    const options = { deadlineMs: deadlineMs + takeGraceMs, isIdempotent: true };
    const reply = await this.#await(
      frame,
      want.signal ? { ...options, signal: want.signal } : options,
    );
    return messageAnswerCodec.decode(reply.body);
  }

  /** Messages that were taken are done with. False: not connected; they will be given out again. */
  settle(seqs: number[]): boolean {
    return this.#settle(Command.ACK, { seqs, delay_ms: 0, reason: '', untouched: false });
  }

  /** Takes durable messages out of a mailbox, own by default, until disposed of; again after every reconnect. */
  receive(handle: MessageHandler, options: ReceiveOptions = {}): Promise<AsyncDisposable> {
    return this.#inbox.receive(handle, options);
  }

  /** Takes back an earlier durable message, or tells whoever works on it. Throws UNKNOWN_REQUEST. */
  async cancel(id: string, from = ''): Promise<void> {
    await this.#ask(Command.CANCEL, { correlation: id, from });
  }

  /**
   * Tells whoever subscribes. Resolves with its position in its stream. Throws UNAUTHORISED, INVALID_NAME,
   * TOO_LARGE; BROKER_LOST leaves open whether it was published: asked again by itself it might be twice.
   */
  async publish(topic: string, type: string, body: Buffer): Promise<number> {
    const envelope = { id: this.#ids.next(), to: `topic:${topic}`, type };
    const frame = makeFrame(Command.PUBLISH, envelope, body);
    return (await this.#await(frame, { deadlineMs: clientLimits.deadlineMs })).seq;
  }

  /**
   * Publications whose topic matches; `*` is one token, `>` the rest. In order within a stream and none
   * twice; what is missed is fetched, and told where it is gone.
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

  async status(): Promise<StatusAnswer> {
    return statusAnswerCodec.decode((await this.#ask(Command.QUERY, { type: 'status' })).body);
  }

  /** Says goodbye, fails what is open with CANCELLED, and closes the link. */
  async close(): Promise<void> {
    if (this.state !== 'closed') {
      // What was said just now still leaves: an ACK that is dropped would have its message delivered again.
      if (this.state === 'live') await within(this.#clock, closingMsMax, this.#outbox.flushed());
      this.#step({ type: 'client.closed' });
      await within(this.#clock, closingMsMax, this.#outbox.flushed());
    }
    this.#greeting?.[Symbol.dispose]();
    this.#heartbeat[Symbol.dispose]();
    this.#subscriptions[Symbol.dispose]();
    this.#inbox[Symbol.dispose]();
    this.#poster[Symbol.dispose]();
    await this.#link[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  // --- connection

  #step(event: ConnectionEvent): void {
    if (!this.#snapshot.can(event)) {
      return this.#trace('debug', 'event dropped', { state: this.#snapshot.value, on: event.type });
    }
    const before = this.#snapshot.value;
    const { snapshot, effects } = step(connectionMachine, this.#snapshot, event);
    this.#snapshot = snapshot;
    for (const effect of effects) this.#perform(effect);
    if (snapshot.value === before) return;
    this.#trace('debug', 'connection changed', {
      from: before,
      to: snapshot.value,
      on: event.type,
    });
    for (const watch of [...this.#watchers]) watch(this.state);
  }

  #perform(effect: ConnectionEffect): void {
    switch (effect.type) {
      case 'hello.send':
        return this.#say(makeFrame(Command.HELLO, { id: this.#ids.next() }, this.#hello()));
      case 'proof.send':
        return this.#say(
          makeFrame(
            Command.PROOF,
            { id: this.#ids.next() },
            proofCodec.encode({ hmac: this.#proof }),
          ),
        );
      case 'goodbye.send':
        return this.#say(
          makeFrame(Command.GOODBYE, {}, goodbyeCodec.encode({ reason: 'left', reconnect_ms: 0 })),
        );
      case 'greeting.arm': {
        this.#greeting?.[Symbol.dispose]();
        // Half fixed, half jittered: a greeting is never repeated at once, and a herd spreads out.
        const waitMs =
          greetingBackoff.baseMs + backoffMs(greetingBackoff, effect.attempt, this.#random());
        this.#greeting = this.#clock.after(waitMs, () => this.#step({ type: 'greeting.due' }));
        return;
      }
      case 'return.arm':
        this.#greeting?.[Symbol.dispose]();
        this.#greeting = this.#clock.after(effect.reconnectMs, () =>
          this.#step({ type: 'greeting.due' }),
        );
        return;
      case 'state.replay':
        return this.#replay();
      case 'requests.interrupt':
        this.#outbox.clear();
        this.#poster.onLost();
        this.#inbox.onLost();
        return this.#pending.interrupt(new BusError('BROKER_LOST'));
      case 'requests.fail':
        this.#poster.failAll(this.#unavailable());
        return this.#pending.failAll(this.#unavailable());
    }
  }

  #replay(): void {
    this.#greeting?.[Symbol.dispose]();
    this.#refusal = undefined;
    this.#sessions += 1;
    this.#isLameDuck = false;
    void this.#restoreAll();
    for (const { frame, leftMs } of this.#pending.unanswered()) {
      this.#say(amend(frame, { deadline_ms: leftMs }));
    }
  }

  /** Credit last: for the mailbox of a service it is refused before the service is offered. */
  async #restoreAll(): Promise<void> {
    const session = this.#sessions;
    const { window, lease_ms, epoch } = this.#welcome ?? noWelcome;
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

  /** What the broker knew of us before, until it accepts it or another session begins. */
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

  #hello(): Buffer {
    return helloCodec.encode({
      agent: this.identity.agent,
      role: this.identity.role,
      incarnation: this.#incarnation,
      protocol_min: protocolVersion,
      protocol_max: protocolVersion,
      heartbeat_ms: this.#heartbeat.intervalMs,
      ephemeral: this.identity.isEphemeral,
      held: this.#inbox.heldSeqs.sort((a, b) => a - b).slice(0, this.#welcome?.credit_messages_max),
    });
  }

  // --- what comes in

  #onPart(part: Buffer): void {
    this.#heartbeat.heard();
    for (const decoded of decodeFrames(part)) {
      try {
        if (decoded.ok) this.#onFrame(decoded.frame);
        // Whose answer it was cannot be known. Greeting again makes the broker forget nothing and has
        // every idempotent request asked again.
        else this.#step({ type: 'broker.reset' });
      } catch (error) {
        this.#trace('error', 'a frame could not be handled', { detail: asBusError(error).message });
      }
    }
  }

  #onFrame(frame: Frame): void {
    switch (frame.command) {
      case Command.WELCOME: {
        const welcome = welcomeCodec.decode(frame.body);
        this.#welcome = welcome;
        this.#heartbeat.intervalMs = welcome.heartbeat_ms;
        this.#requestsMax = Math.min(clientLimits.requestsMax, welcome.requests_max);
        this.#link.connectTopics(welcome.topics_address);
        return this.#step({ type: 'broker.welcomed' });
      }
      case Command.CHALLENGE: {
        const { nonce } = challengeCodec.decode(frame.body);
        const secret = this.#secretOf();
        // Without a secret an empty proof goes out and the broker says who may not do what.
        this.#proof =
          secret === undefined
            ? Buffer.alloc(0)
            : proofOf(secret, nonce, this.identity.agent, this.#incarnation);
        return this.#step({ type: 'broker.challenged' });
      }
      case Command.RESET:
        return this.#step({ type: 'broker.reset' });
      case Command.GOODBYE: {
        const { reason, reconnect_ms } = goodbyeCodec.decode(frame.body);
        return this.#step(
          reason === 'superseded'
            ? { type: 'broker.superseded' }
            : { type: 'broker.drained', reconnectMs: reconnect_ms },
        );
      }
      case Command.NOTICE:
        this.#isLameDuck = true;
        return;
      case Command.CANCEL:
        if (frame.envelope.seq > 0) return this.#inbox.onCancel(frame.envelope.seq);
        return this.#responder.onCancel(frame.envelope.from, frame.envelope.correlation);
      case Command.ACCEPT:
        if (this.#poster.onAccept(frame.envelope.correlation, frame.envelope.seq)) return;
        if (this.#inbox.onAccept(frame.envelope.correlation)) return;
        return this.#settleRequest(frame);
      case Command.ANSWER:
        return this.#settleRequest(frame);
      case Command.REJECT:
        return this.#onReject(frame);
      case Command.DELIVER:
        if (frame.envelope.durable) return this.#onDurable(frame);
        return frame.envelope.correlation === ''
          ? void this.#responder.onRequest(frame)
          : this.#onReply(frame);
      default:
        return;
    }
  }

  #onReject(frame: Frame): void {
    const failure = decodeFailure(frame.body);
    const { correlation } = frame.envelope;
    const error = new RemoteError(failure);
    if (this.#poster.onReject(correlation, error) || this.#inbox.onReject(correlation)) return;
    if (this.#pending.fail(correlation, error)) return;
    if (this.state === 'live' || !isErrorCode(failure.code)) {
      return this.#trace('debug', 'a frame was refused', { code: failure.code });
    }
    this.#refusal = new RemoteError(failure);
    this.#step({
      type: 'broker.refused',
      code: failure.code,
      isFinal: finalCodes.has(failure.code),
    });
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
    this.#pending.settle(correlation, { from: '', type, body: frame.body, seq: seq });
  }

  /** While we greet, something may be missing before it. Whatever our HELLO did not name comes again. */
  #onDurable(frame: Frame): void {
    if (this.state === 'live') this.#inbox.onDeliver(frame);
  }

  // --- what goes out

  /** Undefined: not now. */
  #giveBack(settle: Settle): string | undefined {
    if (this.state !== 'live') return undefined;
    const id = this.#ids.next();
    const isOut = this.#enqueue(makeFrame(Command.NACK, { id }, settleCodec.encode(settle)));
    return isOut ? id : undefined;
  }

  /** False: not now. */
  #settle(command: Command, settle: Settle): boolean {
    if (this.state !== 'live') return false;
    return this.#enqueue(makeFrame(command, {}, settleCodec.encode(settle)));
  }

  /** For what a later session asks anew by itself. */
  #askOnce(type: string, body: Buffer): Promise<Reply> {
    const frame = makeFrame(Command.QUERY, { type, id: this.#ids.next() }, body);
    return this.#await(frame, { deadlineMs: clientLimits.deadlineMs });
  }

  #ask(command: Command, envelope: EnvelopeFields, body?: Buffer): Promise<Reply> {
    const frame = makeFrame(command, { ...envelope, id: this.#ids.next() }, body);
    return this.#await(frame, { deadlineMs: clientLimits.deadlineMs, isIdempotent: true });
  }

  async #await(frame: Frame, options: RequestOptions & { deadlineMs: number }): Promise<Reply> {
    this.#assertLive();
    if (this.#isLameDuck && frame.command === Command.SEND) throw new BusError('BROKER_DRAINING');
    if (this.#pending.size >= this.#requestsMax) {
      throw new BusError('BROKER_BUSY', { limit: this.#requestsMax });
    }
    // Queued before it is remembered: what cannot leave must not wait for an answer.
    if (!this.#enqueue(frame)) {
      throw new BusError('BROKER_BUSY', { limit: clientLimits.outboxBytesMax });
    }
    return this.#pending.add(frame, {
      deadlineMs: options.deadlineMs,
      isIdempotent: options.isIdempotent ?? false,
      signal: options.signal,
      onPartial: options.onPartial,
      // The other side may stop as well; that it hears of it is not certain.
      onCancelled: () => {
        const { id: correlation } = frame.envelope;
        if (this.state !== 'live' || frame.command !== Command.SEND) return;
        this.#say(makeFrame(Command.CANCEL, { id: this.#ids.next(), correlation }));
      },
    });
  }

  #assertLive(): void {
    if (this.state !== 'live') throw this.#unavailable();
  }

  #unavailable(): BusError {
    const { code } = this.#snapshot.context;
    if (this.state === 'closed' && code === 'CANCELLED') return new BusError('CANCELLED');
    if (this.state === 'closed' && code === 'SUPERSEDED')
      return new BusError('SUPERSEDED', { agent: this.identity.agent });
    return this.state === 'connecting'
      ? (this.#link.refusal ?? new BusError('NO_BROKER', { address: this.#link.address }))
      : (this.#refusal ?? new BusError('NO_BROKER', { address: this.#link.address }));
  }

  /** False when the outbox is full. Throws TOO_LARGE. */
  #enqueue(frame: Frame): boolean {
    return this.#outbox.offer(encodeFrame(frame));
  }

  /** For what is said again by itself: a greeting, a ping, a replay. */
  #say(frame: Frame): void {
    if (!this.#enqueue(frame)) {
      this.#trace('warn', 'a frame was dropped: the link takes nothing', {
        command: Command[frame.command],
      });
    }
  }

  async #sendPart(part: Buffer): Promise<SendOutcome> {
    const outcome = await this.#link.send(part);
    if (outcome === 'sent') this.#heartbeat.sent();
    return outcome;
  }
}
