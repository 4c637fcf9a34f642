import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import type { IdSequence } from '../base/ids.js';
import type { Trace } from '../base/trace.js';
import { within } from '../base/within.js';
import { asBusError, BusError, RemoteError } from '../errors/bus-error.js';
import { isErrorCode, type ErrorCode } from '../errors/catalogue.js';
import { start, step } from '../machine/step.js';
import { Outbox } from '../transport/outbox.js';
import type { Link, SendOutcome } from '../transport/port.js';
import { Command, makeFrame, PartReader, protocolVersion, type Frame } from '../wire/frame.js';
import {
  challengeCodec,
  decodeFailure,
  goodbyeCodec,
  helloCodec,
  proofCodec,
  welcomeCodec,
  type Welcome,
} from '../wire/messages.js';
import { proofOf } from '../wire/proof.js';
import {
  connectionMachine,
  type ConnectionEffect,
  type ConnectionEvent,
} from './connection.machine.js';
import { Heartbeat } from './heartbeat.js';
import { clientLimits, greetingBackoff } from './limits.js';

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
  /** Who uses it, as that person is called; absent: no person does. */
  person?: string | undefined;
}

/** What the client is doing: `live` is the only state in which anything is answered. */
export type ClientState = 'connecting' | 'greeting' | 'live' | 'away' | 'closed';

/** Prefix of ids in the handshake: a rejection with it concerns the handshake. */
const greetingPrefix = 'greeting-';

export interface ConnectionParts {
  link: Link;
  identity: Identity;
  clock: Clock;
  random: () => number;
  secretOf?: (() => Buffer | undefined) | undefined;
  keyOf?: (() => Buffer | undefined) | undefined;
  heartbeatMs?: number | undefined;
  trace: Trace;
  ids: IdSequence;
  /** What this agent still works on, for the next greeting. */
  held: () => number[];
  onLive: (welcome: Welcome) => void;
  /** The session is over; another may come. */
  onLost: () => void;
  /** None will. */
  onEnded: (error: BusError) => void;
  /** Frames that are not part of the handshake or the farewell. */
  onFrame: (frame: Frame) => void;
  /** REJECT. False: it belongs to no request of ours. */
  onRefused: (id: string, error: BusError) => boolean;
  onPublication: (topic: string, bytes: Buffer) => void;
}

/** The connection to the broker: handshake, proof, heartbeats, and reconnects until it is refused for good. */
export class Connection implements AsyncDisposable {
  readonly #parts: ConnectionParts;
  readonly #clock: Clock;
  readonly #link: Link;
  readonly #outbox: Outbox;
  readonly #heartbeat: Heartbeat;
  readonly #incarnation: number;
  readonly #watchers = new Set<(state: ClientState) => void>();
  #snapshot = start(connectionMachine, undefined).snapshot;
  #refusal: BusError | undefined;
  #proof: Buffer = Buffer.alloc(0);
  #greeting: Disposable | undefined;
  #welcome: Welcome = welcomeCodec.decode(Buffer.alloc(0));
  /** The broker drains: open requests may end, new ones are not sent. */
  isLameDuck = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
    this.#link = parts.link;
    this.#incarnation = parts.clock.nowMs();
    this.#outbox = new Outbox({
      send: (part) => this.#sendPart(part),
      // Unanswered requests are sent again by the next session; the rest has failed already.
      onGone: () => undefined,
      bytesMax: clientLimits.outboxBytesMax,
      clock: parts.clock,
    });
    this.#heartbeat = new Heartbeat({
      clock: parts.clock,
      intervalMs: parts.heartbeatMs ?? clientLimits.heartbeatMs,
      isLive: () => this.state === 'live',
      onDue: () => this.say(makeFrame(Command.PING, { id: parts.ids.next() })),
      onSilence: () => this.#step({ type: 'broker.silent' }),
    });
  }

  /** Begins to connect. */
  open(): void {
    this.#link.open({
      onUp: () => this.#step({ type: 'link.up' }),
      onDown: () => this.#step({ type: 'link.down' }),
      onPart: (part) => this.#onPart(part),
      onPublication: this.#parts.onPublication,
    });
    this.#heartbeat.start();
  }

  get state(): ClientState {
    return this.#snapshot.value;
  }

  /** Why no request is possible now; undefined while live. */
  get trouble(): BusError | undefined {
    return this.state === 'live' ? undefined : this.#unavailable();
  }

  get requestsMax(): number {
    return Math.min(clientLimits.requestsMax, this.#welcome.requests_max);
  }

  /** Calls on every change of state, beginning with the next one. */
  onState(watch: (state: ClientState) => void): Disposable {
    this.#watchers.add(watch);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watch) };
  }

  /** Resolves once live. Throws NO_BROKER after `withinMs`, or the reason why the broker refused for good. */
  async ready(withinMs: number): Promise<void> {
    if (this.state === 'live') return;
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: BusError): void => {
        timer[Symbol.dispose]();
        watching[Symbol.dispose]();
        if (error === undefined) resolve();
        else reject(error);
      };
      const timer = this.#clock.after(withinMs, () => settle(this.#unavailable()));
      const watching = this.onState((state) => {
        if (state === 'live') settle();
        if (state === 'closed') settle(this.#unavailable());
      });
      if (this.state === 'closed') settle(this.#unavailable());
    });
  }

  /** `reserve`: bytes that this frame may use beyond the limit. False when the outbox is full. Throws TOO_LARGE. */
  enqueue(frame: Frame, reserve = 0): boolean {
    return this.#outbox.offer(frame, reserve);
  }

  /** For frames that are repeated anyway: HELLO, PING, a replay. */
  say(frame: Frame): void {
    if (!this.enqueue(frame)) {
      this.#parts.trace('warn', 'a frame was dropped: the link takes nothing', {
        command: Command[frame.command],
      });
    }
  }

  async #sendPart(part: Buffer): Promise<SendOutcome> {
    const outcome = await this.#link.send(part);
    if (outcome === 'sent') this.#heartbeat.sent();
    return outcome;
  }

  /** Flushes the outbox if possible, and sends GOODBYE. */
  async goodbye(): Promise<void> {
    if (this.state === 'closed') return;
    // An ACK that is dropped would have its message delivered again.
    if (this.state === 'live') await within(this.#clock, closingMsMax, this.#outbox.flushed());
    this.#step({ type: 'client.closed' });
    await within(this.#clock, closingMsMax, this.#outbox.flushed());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#greeting?.[Symbol.dispose]();
    this.#heartbeat[Symbol.dispose]();
    await this.#link[Symbol.asyncDispose]();
  }

  #step(event: ConnectionEvent): void {
    if (!this.#snapshot.can(event)) {
      return this.#parts.trace('debug', 'event dropped', {
        state: this.#snapshot.value,
        on: event.type,
      });
    }
    const before = this.#snapshot.value;
    const { snapshot, effects } = step(connectionMachine, this.#snapshot, event);
    this.#snapshot = snapshot;
    for (const effect of effects) this.#perform(effect);
    if (snapshot.value === before) return;
    this.#parts.trace('debug', 'connection changed', {
      from: before,
      to: snapshot.value,
      on: event.type,
    });
    for (const watch of [...this.#watchers]) watch(this.state);
  }

  #perform(effect: ConnectionEffect): void {
    switch (effect.type) {
      case 'hello.send':
        return this.say(makeFrame(Command.HELLO, { id: this.#greetingId() }, this.#hello()));
      case 'proof.send':
        return this.say(
          makeFrame(
            Command.PROOF,
            { id: this.#greetingId() },
            proofCodec.encode({ hmac: this.#proof }),
          ),
        );
      case 'goodbye.send':
        return this.say(
          makeFrame(Command.GOODBYE, {}, goodbyeCodec.encode({ reason: 'left', reconnect_ms: 0 })),
        );
      case 'greeting.arm': {
        this.#greeting?.[Symbol.dispose]();
        // Half fixed, half jittered: a greeting is never repeated at once, and a herd spreads out.
        const waitMs =
          greetingBackoff.baseMs + backoffMs(greetingBackoff, effect.attempt, this.#parts.random());
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
        this.#greeting?.[Symbol.dispose]();
        this.#refusal = undefined;
        this.isLameDuck = false;
        return this.#parts.onLive(this.#welcome);
      case 'requests.interrupt':
        this.#outbox.clear();
        return this.#parts.onLost();
      case 'requests.fail':
        return this.#parts.onEnded(this.#unavailable());
    }
  }

  #greetingId(): string {
    return `${greetingPrefix}${this.#parts.ids.next()}`;
  }

  #hello(): Buffer {
    return helloCodec.encode({
      agent: this.#parts.identity.agent,
      role: this.#parts.identity.role,
      incarnation: this.#incarnation,
      protocol_min: protocolVersion,
      protocol_max: protocolVersion,
      heartbeat_ms: this.#heartbeat.intervalMs,
      ephemeral: this.#parts.identity.isEphemeral,
      person: this.#parts.identity.person ?? '',
      key: this.#parts.keyOf?.() ?? Buffer.alloc(0),
      held: this.#parts
        .held()
        .sort((a, b) => a - b)
        .slice(0, this.#welcome.credit_messages_max || undefined),
    });
  }

  #onPart(part: Buffer): void {
    this.#heartbeat.heard();
    const reader = new PartReader(part);
    for (let decoded = reader.next(); decoded !== undefined; decoded = reader.next()) {
      try {
        if (decoded.ok) this.#onFrame(decoded.frame);
        // The answer cannot be assigned. Another HELLO loses nothing and has
        // every idempotent request asked again.
        else this.#step({ type: 'broker.reset' });
      } catch (error) {
        const detail = asBusError(error).message;
        this.#parts.trace('error', 'a frame could not be handled', { detail });
      }
    }
  }

  #onFrame(frame: Frame): void {
    switch (frame.command) {
      case Command.WELCOME:
        this.#welcome = welcomeCodec.decode(frame.body);
        this.#heartbeat.intervalMs = this.#welcome.heartbeat_ms;
        this.#link.connectTopics(this.#welcome.topics_address);
        return this.#step({ type: 'broker.welcomed' });
      case Command.CHALLENGE: {
        const { nonce } = challengeCodec.decode(frame.body);
        const secret = this.#parts.secretOf?.();
        const { agent } = this.#parts.identity;
        // Without a secret an empty proof goes out, and the broker names the missing right.
        this.#proof =
          secret === undefined ? Buffer.alloc(0) : proofOf(secret, nonce, agent, this.#incarnation);
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
        this.isLameDuck = true;
        return;
      case Command.REJECT:
        return this.#onReject(frame);
      default:
        return this.#parts.onFrame(frame);
    }
  }

  #onReject(frame: Frame): void {
    const error = new RemoteError(decodeFailure(frame.body));
    const { code } = error.failure;
    const { correlation } = frame.envelope;
    if (this.#parts.onRefused(correlation, error)) return;
    // Other rejections during the handshake concern earlier frames.
    const isGreeting = correlation === '' || correlation.startsWith(greetingPrefix);
    if (this.state === 'live' || !isGreeting || !isErrorCode(code))
      return this.#parts.trace('debug', 'a frame was refused', { code });
    this.#refusal = error;
    this.#step({ type: 'broker.refused', code, isFinal: finalCodes.has(code) });
  }

  #unavailable(): BusError {
    const { code } = this.#snapshot.context;
    if (this.state === 'closed' && code === 'CANCELLED') return new BusError('CANCELLED');
    if (this.state === 'closed' && code === 'SUPERSEDED')
      return new BusError('SUPERSEDED', { agent: this.#parts.identity.agent });
    return this.state === 'connecting'
      ? (this.#link.refusal ?? new BusError('NO_BROKER', { address: this.#link.address }))
      : (this.#refusal ?? new BusError('NO_BROKER', { address: this.#link.address }));
  }
}
