import type { Msg, MsgHdrs, NatsConnection, Subscription } from '@nats-io/transport-node';
import { randomBytes } from 'node:crypto';
import { assert } from '../../base/assert.js';
import type { Clock } from '../../base/clock.js';
import type { Trace } from '../../base/trace.js';
import { within } from '../../base/within.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { needed } from '../connect.js';
import { errorHeaders, statusOf } from './errors.js';
import { microLimits } from './limits.js';
import { isReplySubject } from './subjects.js';

export interface ServiceRequest {
  body: Uint8Array;
  headers: MsgHdrs | undefined;
  /** Aborts when the service has stopped. */
  signal: AbortSignal;
  /** Sends an answer, or a part of it. */
  respond: (body: Uint8Array | string) => void;
}

export interface Endpoint {
  name: string;
  subject: string;
  /** Of the endpoints of one group one gets a request; absent: `q`. */
  queueGroup?: string;
  metadata?: Readonly<Record<string, string>>;
  /** Its answers, also failed ones, end with an empty message. */
  isStream?: true;
  /** What it throws is sent as an error. */
  handle: (request: ServiceRequest) => void | Promise<void>;
}

export interface ServiceParts {
  connection: NatsConnection;
  clock: Clock;
  trace: Trace;
  name: string;
  version: string;
  description: string;
  metadata: Readonly<Record<string, string>>;
  endpoints: readonly Endpoint[];
}

interface Counts {
  requests: number;
  errors: number;
  lastError: string;
  ms: number;
}

type Verb = 'PING' | 'INFO' | 'STATS';

const namePattern = /^[A-Za-z0-9_-]+$/;
const nanosPerMs = 1e6;

/** One instance of a micro service of NATS (ADR-32): `nats micro list` and its kin see, ask and count it. */
export class Microservice implements AsyncDisposable {
  /** Of this instance. */
  readonly id = randomBytes(11).toString('hex').toUpperCase();
  readonly #parts: ServiceParts;
  readonly #headers: () => MsgHdrs;
  readonly #started = new Date().toISOString();
  readonly #counts: readonly (readonly [Endpoint, Counts])[];
  readonly #subscriptions: Subscription[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #stopped: Promise<void> | undefined;

  private constructor(parts: ServiceParts, headers: () => MsgHdrs) {
    const { name, endpoints } = parts;
    const names = [name, ...endpoints.map((each) => each.name)];
    assert(
      names.every((each) => namePattern.test(each)),
      'names of services are one plain word',
    );
    this.#parts = parts;
    this.#headers = headers;
    this.#counts = endpoints.map(
      (each) => [each, { requests: 0, errors: 0, lastError: '', ms: 0 }] as const,
    );
  }

  /** The connection stays that of the caller. */
  static async start(parts: ServiceParts): Promise<Microservice> {
    const { headers } = await needed(import('@nats-io/transport-node'));
    const service = new Microservice(parts, headers);
    for (const [endpoint, counts] of service.#counts) {
      const queue = endpoint.queueGroup ?? 'q';
      service.#subscribe(endpoint.subject, queue, (msg) => service.#serve(endpoint, counts, msg));
    }
    // Last: who is told of it can ask it.
    for (const verb of ['PING', 'INFO', 'STATS'] as const)
      for (const which of ['', `.${parts.name}`, `.${parts.name}.${service.id}`])
        service.#subscribe(`$SRV.${verb}${which}`, '', (msg) =>
          service.#reply(msg, JSON.stringify(service.#said(verb))),
        );
    // What is started can be found. Without a connection it can once there is one again.
    const known = parts.connection.flush().catch(() => undefined);
    await within(parts.clock, microLimits.startMs, known);
    return service;
  }

  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** Takes no further requests; those under way may end. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#stopped ??= this.#drain();
    return this.#stopped;
  }

  async #drain(): Promise<void> {
    const { clock } = this.#parts;
    // A connection that is closed has none left to drain.
    await Promise.allSettled(this.#subscriptions.map((each) => each.drain()));
    const ended = (): Promise<unknown> => Promise.all(this.#running);
    if (await within(clock, microLimits.drainMs, ended())) return;
    this.#stopping.abort();
    await within(clock, microLimits.drainMs, ended());
  }

  #subscribe(subject: string, queue: string, take: (msg: Msg) => void): void {
    const callback = (error: Error | null, msg: Msg): void => {
      if (error === null) return take(msg);
      this.#parts.trace('error', 'a micro service lost a subject', {
        ...{ subject, detail: error.message },
      });
      void this[Symbol.asyncDispose]();
    };
    this.#subscriptions.push(this.#parts.connection.subscribe(subject, { queue, callback }));
  }

  #said(verb: Verb): object {
    const { name, version, description, metadata } = this.#parts;
    const type = `io.nats.micro.v1.${verb.toLowerCase()}_response`;
    const its = { type, name, id: this.id, version, metadata };
    if (verb === 'PING') return its;
    const endpoints = this.#counts.map(([endpoint, counts]) => ({
      ...{ name: endpoint.name, subject: endpoint.subject },
      queue_group: endpoint.queueGroup ?? 'q',
      ...(verb === 'INFO' ? { metadata: endpoint.metadata ?? {} } : statsOf(counts)),
    }));
    if (verb === 'INFO') return { ...its, description, endpoints };
    return { ...its, started: this.#started, endpoints };
  }

  #serve(endpoint: Endpoint, counts: Counts, msg: Msg): void {
    counts.requests += 1;
    const begunMs = this.#parts.clock.monotonicMs();
    const isRefused = this.#running.size >= microLimits.requestsAtOnce;
    const work = this.#handled(endpoint, msg, isRefused)
      .catch((error: unknown) => this.#fail(counts, msg, asBusError(error)))
      .finally(() => {
        counts.ms += this.#parts.clock.monotonicMs() - begunMs;
        if (endpoint.isStream === true) this.#reply(msg, '');
        this.#running.delete(work);
      });
    this.#running.add(work);
  }

  async #handled(endpoint: Endpoint, msg: Msg, isRefused: boolean): Promise<void> {
    const { data: body, headers } = msg;
    const limit = microLimits.requestBytesMax;
    if (isRefused) throw new BusError('BROKER_BUSY', { limit: microLimits.requestsAtOnce });
    if (body.length > limit)
      throw new BusError('TOO_LARGE', { what: 'the request', bytes: body.length, limit });
    const respond = (part: Uint8Array | string): void => this.#reply(msg, part);
    await endpoint.handle({ body, headers, respond, signal: this.#stopping.signal });
  }

  #fail(counts: Counts, msg: Msg, error: BusError): void {
    counts.errors += 1;
    counts.lastError = `${statusOf(error)}: ${error.message}`;
    const { code, text, ...more } = error.toFailure();
    const body = JSON.stringify({ error: code.toLowerCase(), message: text, ...more });
    this.#reply(msg, body, errorHeaders(this.#headers(), error));
  }

  /** At most once, as all of NATS: an asker that is gone, or a lost connection, is no failure of the service. */
  #reply({ reply = '' }: Msg, body: Uint8Array | string, headers?: MsgHdrs): void {
    const { connection, trace } = this.#parts;
    if (!isReplySubject(reply)) return;
    try {
      connection.publish(reply, body, headers && { headers });
    } catch (error) {
      trace('warn', 'an answer could not be sent', { detail: asBusError(error).message });
    }
  }
}

function statsOf({ requests, errors, lastError, ms }: Counts): object {
  const nanos = Math.round(ms * nanosPerMs);
  return {
    ...{ num_requests: requests, num_errors: errors, last_error: lastError },
    processing_time: nanos,
    average_processing_time: requests === 0 ? 0 : Math.round(nanos / requests),
  };
}
