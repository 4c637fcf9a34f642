import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../src/client/client.js';
import { inTrace } from '../src/base/trace-context.js';
import { plainRecord } from '../src/client/registration.js';
import type { Config } from '../src/config/config.js';
import { asBusError, BusError } from '../src/errors/bus-error.js';
import { traceTo, type Logger } from '../src/observe/log.js';
import { isListening } from '../src/transport/probe.js';
import type { AskingOptions, Questions } from '../src/lattice/questions.js';
import { askingOver } from '../src/operations/asking.js';
import type { LeftPlaces } from '../src/operations/explore/left.js';
import type { Asking } from '../src/operations/operation.js';
import type { Analyses } from '../src/pgc/analyse/analyses.js';
import type { StatesRequest } from '../src/pgc/serve/messages.js';
import type { Answer, AskRequest } from '../src/pgc/shapes.js';
import { noMail } from '../src/wire/messages.js';
import { withClient } from '../src/remote/with-client.js';
import type { CriticPort } from '../src/remote/critic.js';
import { remoteIdentity } from '../src/remote/identity.js';
import { openClient } from '../src/remote/open-client.js';

/** A broker that accepts connections greets within this, or something is wrong with it. */
const greetingMsMax = 3_000;
/** Between two looks for a broker while there is none. */
const retryMs = 1_000;
/** Servers of one project at the same time, each under a name of its own; one more takes over the last. */
const serversMax = 16;

/**
 * This server as one agent on the bus, for all callers of its tools. Opened when there is a broker, also a later
 * one; from then on the client mends itself.
 */
export class Bus implements Asking, AsyncDisposable {
  readonly #asking: Asking;
  readonly #config: Config;
  readonly #log: Logger;
  /** The project this server works for, without links. */
  readonly folder: string;
  readonly #as: string | undefined;
  readonly #role: string;
  readonly #person: string | undefined;
  readonly #name: string;
  readonly #capabilities: string[];
  readonly #watchers = new Set<() => void>();
  readonly #ended = new AbortController();
  #client: Client | undefined;
  #opening: Promise<Client> | undefined;
  #running = 0;

  /**
   * `folder`: the project this server works for. `as`: the agent's name, otherwise it follows from the folder, behind `name` or the
   * role. `role`: over ipc; a proven one only with the `person` who uses this server, because a model decides only for itself.
   * `reads`: it has use for messages of others.
   */
  constructor(parts: {
    config: Config;
    log: Logger;
    folder: string;
    as: string | undefined;
    role: string;
    reads: boolean;
    name?: string;
    person?: string;
  }) {
    this.#config = parts.config;
    this.#log = parts.log;
    this.folder = realpathSync(parts.folder);
    this.#as = parts.as;
    this.#role = parts.role;
    this.#person = parts.person;
    this.#name = parts.name ?? parts.role;
    this.#capabilities = [parts.role, ...(parts.reads ? [] : [noMail])];
    const { home } = parts.config;
    this.#asking = askingOver(() => this.client(), { home, folder: this.folder });
    void this.#attend();
  }

  get left(): LeftPlaces | undefined {
    return this.#asking.left;
  }

  audit(...wanted: Parameters<Asking['audit']>): ReturnType<Asking['audit']> {
    return this.#asking.audit(...wanted);
  }

  /** Calls under way. */
  get calls(): number {
    return this.#running;
  }

  /** Why it cannot be asked now; undefined: it can. */
  get trouble(): BusError | undefined {
    if (this.#client !== undefined) return this.#client.trouble;
    return new BusError('NO_BROKER', { address: this.#config.bus });
  }

  /** Calls when `trouble` may be another one. */
  onState(watch: () => void): Disposable {
    this.#watchers.add(watch);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watch) };
  }

  /** What a person says by way of this server, as they would say it on the command line. */
  async asPerson<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (this.#person !== undefined) return work(await this.client());
    return withClient(this.#config, work);
  }

  async critic(): Promise<CriticPort> {
    return this.#asking.critic();
  }

  async running<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }

  questions(folder?: string): Promise<Questions> {
    return this.#asking.questions(folder);
  }

  analyses(): Promise<Analyses> {
    return this.#asking.analyses();
  }

  locator(): ReturnType<Asking['locator']> {
    return this.#asking.locator();
  }

  states(request: StatesRequest, options: AskingOptions): ReturnType<Asking['states']> {
    return this.#asking.states(request, options);
  }

  askAgent(agent: string, request: AskRequest, options: AskingOptions): Promise<Answer> {
    return this.#asking.askAgent(agent, request, options);
  }

  /** A client that can ask now. Throws NO_BROKER at once when no broker listens, and a final refusal by the broker. */
  async client(): Promise<Client> {
    const client = this.#client;
    if (client?.state === 'closed') {
      // A name that was given must be chosen again; a name of ours is replaced by the next free one.
      if (this.#as !== undefined) throw client.trouble ?? new BusError('CANCELLED');
      this.#client = undefined;
    }
    if (this.#client === undefined) return this.#open();
    if (this.#client.trouble === undefined) return this.#client;
    await this.#assertListening();
    await this.#client.ready({ withinMs: greetingMsMax });
    return this.#client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#opening?.catch(() => undefined);
    await this.#client?.close();
  }

  /** Others should see this agent as soon as there is a broker, not when it first asks. */
  async #attend(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      try {
        await this.#open();
        return;
      } catch (error) {
        const { code, retryable } = asBusError(error);
        if (!retryable) this.#log.error({ code }, 'the broker refuses this server');
        if (!retryable) return;
      }
      const { signal } = this.#ended;
      await delay(retryMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  #open(): Promise<Client> {
    if (this.#client !== undefined) return Promise.resolve(this.#client);
    // What keeps the connection up is of no trace, although a call may have opened it.
    this.#opening ??= inTrace('', () => this.#connect()).finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #connect(): Promise<Client> {
    await this.#assertListening();
    const remote = remoteIdentity(this.#config, this.#as);
    const agent = remote?.agent ?? this.#as ?? (await this.#freeName());
    const person = this.#person;
    // A person's server is not expected back under its name.
    const isEphemeral = person !== undefined && remote === undefined;
    const identity = { agent, role: remote?.role ?? this.#role, isEphemeral, person };
    const client = openClient(this.#config, identity, traceTo(this.#log));
    try {
      await client.ready({ withinMs: greetingMsMax });
      const project = path.basename(this.folder);
      await client.register(plainRecord(agent, this.#capabilities, { project }));
    } catch (error) {
      // What refused us for good is said to every call, and not asked for again.
      if (client.state !== 'closed' || this.#as === undefined) {
        await client.close();
        throw error;
      }
    }
    if (this.#ended.signal.aborted) {
      await client.close();
      throw new BusError('CANCELLED');
    }
    this.#client = client;
    client.onState(() => this.#stateChanged());
    this.#stateChanged();
    if (client.trouble !== undefined) throw client.trouble;
    this.#log.info({ agent }, 'on the bus');
    return client;
  }

  #stateChanged(): void {
    for (const watch of this.#watchers) watch();
  }

  /** The same for every server of this folder, unless an earlier one is at work under it. */
  async #freeName(): Promise<string> {
    const digest = createHash('sha256').update(this.folder).digest('hex').slice(0, 12);
    const role = this.#role;
    const own = `${this.#name}-${digest}`;
    const names = Array.from({ length: serversMax }, (_, at) =>
      at === 0 ? own : `${own}-${at + 1}`,
    );
    const agents = await withClient(this.#config, (client) => client.agents({ role }));
    const taken = new Set(
      agents.filter(({ state }) => state === 'online').map(({ record }) => record.id),
    );
    return names.find((name) => !taken.has(name)) ?? names.at(-1) ?? own;
  }

  async #assertListening(): Promise<void> {
    const { bus: address } = this.#config;
    if (!(await isListening(address))) throw new BusError('NO_BROKER', { address });
  }
}
