import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../base/clock.js';
import { foreignRole } from '../../base/prover.js';
import type { Trace } from '../../base/trace.js';
import { givenWithin } from '../../base/within.js';
import { BusError } from '../../errors/bus-error.js';
import type { AgentView } from '../../wire/messages.js';
import { Kept, type Wanted } from './kept.js';
import { gatewayLimits, microLimits } from './limits.js';
import {
  ackChunk,
  agentsQueue,
  agentsService,
  agentSubject,
  busKey,
  heartbeatOf,
  promptIn,
  protocolVersion,
  responseChunks,
  type AgentIdentity,
} from './protocol.js';
import { Microservice, type Endpoint, type ServiceRequest } from './service.js';

/** The program that our agents are agents of, as others see it. */
const harness = 'sigma';

/** Our agents, for those that see them from outside. */
export interface AgentsPort {
  agents(): readonly AgentView[];
  onChange(changed: () => void): Disposable;
  /** What a text to it is for; undefined: it takes none, and is not shown. */
  describe(agent: AgentView): string | undefined;
  /** Its answer as it comes. */
  ask(agent: string, text: string, signal: AbortSignal): AsyncIterable<string>;
}

interface GatewayParts {
  connection: NatsConnection;
  /** Name of our bus: they are its agents. */
  bus: string;
  /** Of the product. */
  version: string;
  port: AgentsPort;
  clock: Clock;
  trace: Trace;
  heartbeatMs?: number;
}

/** Each of our agents as one of the Synadia Agent Protocol: found, asked and watched by any program that speaks it. */
export class AgentsGateway implements AsyncDisposable {
  readonly #parts: GatewayParts;
  readonly #heartbeatMs: number;
  readonly #kept: Kept;
  readonly #services = new Map<string, Microservice>();
  readonly #watching: Disposable;
  #timer: Disposable | undefined;

  private constructor(parts: GatewayParts) {
    const { port, clock, trace } = parts;
    this.#parts = parts;
    this.#heartbeatMs = parts.heartbeatMs ?? gatewayLimits.heartbeatMs;
    this.#kept = new Kept({
      ...{ what: 'agents for others', limit: gatewayLimits.agentsMax, clock, trace },
      wanted: () => this.#wanted(),
    });
    this.#watching = port.onChange(() => void this.#kept.refresh());
  }

  /** The connection stays that of the caller. */
  static async open(parts: GatewayParts): Promise<AgentsGateway> {
    const gateway = new AgentsGateway(parts);
    await gateway.#kept.refresh();
    gateway.#beatAgain();
    return gateway;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watching[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
    await this.#kept[Symbol.asyncDispose]();
  }

  #wanted(): Map<string, Wanted> {
    const { port, bus } = this.#parts;
    const wanted = new Map<string, Wanted>();
    for (const view of port.agents()) {
      const { id, role, alias, project } = view.record;
      const description = port.describe(view);
      if (role === foreignRole || view.state === 'offline' || description === undefined) continue;
      const identity = { agent: harness, owner: bus, name: id };
      const metadata = {
        ...{ agent: harness, owner: bus, session: id, protocol_version: protocolVersion },
        ...{ [busKey]: bus, role, alias, project },
      };
      const print = JSON.stringify([description, metadata]);
      wanted.set(id, { print, begin: () => this.#begin(identity, description, metadata) });
    }
    return wanted;
  }

  async #begin(
    identity: AgentIdentity,
    description: string,
    metadata: Record<string, string>,
  ): Promise<AsyncDisposable> {
    const { connection, clock, trace, version } = this.#parts;
    const { name } = identity;
    const bytesMax = Math.min(
      connection.info?.max_payload ?? Infinity,
      microLimits.requestBytesMax,
    );
    const endpoint = (verb: 'prompt' | 'status', its: Pick<Endpoint, 'handle'>): Endpoint => ({
      ...{ name: verb, subject: agentSubject(verb, identity), queueGroup: agentsQueue, ...its },
    });
    const service: Microservice = await Microservice.start({
      ...{ connection, clock, trace, version, description, metadata, name: agentsService },
      endpoints: [
        {
          ...endpoint('prompt', { handle: (request) => this.#answer(name, request) }),
          ...{ isStream: true, metadata: { max_payload: `${bytesMax}B`, attachments_ok: 'false' } },
        },
        endpoint('status', {
          handle: ({ respond }) => respond(this.#heartbeat(identity, service.id)),
        }),
      ],
    });
    this.#services.set(name, service);
    this.#beat(name, service);
    return {
      [Symbol.asyncDispose]: () => {
        this.#services.delete(name);
        return service[Symbol.asyncDispose]();
      },
    };
  }

  async #answer(name: string, { body, signal, respond }: ServiceRequest): Promise<void> {
    const { clock, port } = this.#parts;
    const text = promptIn(body);
    respond(ackChunk);
    const alive = setInterval(() => respond(ackChunk), gatewayLimits.keepAliveMs);
    using limited = givenWithin(clock, gatewayLimits.answerMs, signal);
    const limit = gatewayLimits.answerBytesMax;
    let bytes = 0;
    try {
      for await (const part of port.ask(name, text, limited.signal)) {
        bytes += Buffer.byteLength(part);
        if (bytes > limit) throw new BusError('TOO_LARGE', { what: 'the answer', bytes, limit });
        for (const chunk of responseChunks(part, gatewayLimits.chunkCharsMax)) respond(chunk);
      }
    } finally {
      clearInterval(alive);
    }
  }

  #beatAgain(): void {
    this.#timer = this.#parts.clock.after(this.#heartbeatMs, () => {
      for (const [name, service] of this.#services) this.#beat(name, service);
      this.#beatAgain();
    });
  }

  #beat(name: string, service: Microservice): void {
    const { connection, bus, trace } = this.#parts;
    const identity = { agent: harness, owner: bus, name };
    if (service.isStopped || connection.isClosed()) return;
    try {
      connection.publish(agentSubject('hb', identity), this.#heartbeat(identity, service.id));
    } catch (error) {
      trace('warn', 'a heartbeat could not be sent', { agent: name, detail: String(error) });
    }
  }

  #heartbeat(identity: AgentIdentity, instance: string): string {
    const { clock } = this.#parts;
    return heartbeatOf(identity, { instance, intervalMs: this.#heartbeatMs }, clock.nowMs());
  }
}
