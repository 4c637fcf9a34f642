import { createHash } from 'node:crypto';
import type { Client } from '../../client/client.js';
import { untilAccepted } from '../../client/registration.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import type { AgentView } from '../../wire/messages.js';
import type { Host, Plan } from './host.js';
import { placed, type Room } from './placement.js';
import type { HostBus } from './take-over.js';

/** Many shards come and go together. */
const settleMs = 300;
/** A look without any news: what was missed, or failed, is made good. */
const lookEveryMs = 10_000;
const readyMsMax = 5_000;
/** Hosts that share one tree. */
const hostsMax = 64;

const mebibyte = 1024 ** 2;
const holderPrefix = 'host:';
const servicePattern = /^shares\.([0-9a-f]{16})\.(\d{1,9})$/;

/** What the shards of a host that shares its tree say of themselves. */
export const heldBy = (agent: string): string => `${holderPrefix}${agent}`;

interface Parts {
  host: Pick<Host, 'plan' | 'isServing' | 'take'>;
  bus: HostBus;
  /** This host, on a connection of its own. */
  agent: string;
  /** For open shards. */
  roomBytes: number;
}

/**
 * One of the hosts that serve a tree together: it takes the shards that fall to it when no host serves them, or one of the others does.
 * It keeps what no longer falls to it until the other takes it, so that each shard is served all the time. Hosts share
 * a tree when their plans are the same: the bus says who they are, and how much room they have.
 */
export class TreeShare implements AsyncDisposable {
  readonly #parts: Parts;
  #client: Client | undefined;
  #offered = '';
  #looking: Promise<void> | undefined;
  #isStale = false;
  /** Shards that hosts with another plan serve. */
  #ofOthers = 0;
  #settling: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** After its host has read the index. Resolves when its first shards are served. Throws what trying again does not help. */
  async begin(): Promise<void> {
    const { host, bus } = this.#parts;
    const plan = host.plan as Plan;
    this.#assertOpen();
    await untilAccepted(await this.#join(plan), bus.trace, () => this.#look());
    if (!this.#isClosed) this.#timer = setInterval(() => void this.#lookAgain(), lookEveryMs);
  }

  /** Its host looks for a newer index all the time, and says when it may have one. */
  async indexChanged(): Promise<void> {
    const { plan } = this.#parts.host;
    if (this.#timer !== undefined && plan && this.#serviceOf(plan) !== this.#offered)
      await this.#lookAgain();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#settling);
    // A look that is under way ends with its host, which takes nothing more then.
    await this.#client?.close();
  }

  /** Those with another plan are others: this host leaves them with its session. */
  async #join(plan: Plan): Promise<Client> {
    const { agent, bus } = this.#parts;
    await this.#client?.close();
    this.#assertOpen();
    const client = bus.connect({ agent, role: 'pgc', isEphemeral: true });
    this.#client = client;
    client.onPresence(({ agent: { record } }) => {
      if (record.project === plan.project) this.#soon();
    });
    this.#offered = this.#serviceOf(plan);
    return client;
  }

  #soon(): void {
    if (this.#timer === undefined || this.#settling !== undefined) return;
    this.#settling = setTimeout(() => {
      this.#settling = undefined;
      void this.#lookAgain();
    }, settleMs);
  }

  /** One look at a time; what comes meanwhile is looked at after it. */
  async #lookAgain(): Promise<void> {
    this.#isStale = true;
    this.#looking ??= this.#lookUntilFresh().finally(() => (this.#looking = undefined));
    await this.#looking;
  }

  async #lookUntilFresh(): Promise<void> {
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      try {
        await this.#look();
      } catch (error) {
        // The next look is soon.
        const { code } = asBusError(error);
        this.#parts.bus.trace('debug', 'the shards could not be shared just now', { code });
      }
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new BusError('INTERRUPTED');
  }

  async #look(): Promise<void> {
    this.#assertOpen();
    const { host, agent, bus } = this.#parts;
    const { plan } = host;
    if (plan === undefined) return;
    const service = this.#serviceOf(plan);
    const client =
      this.#client !== undefined && service === this.#offered
        ? this.#client
        : await this.#join(plan);
    await client.ready({ withinMs: readyMsMax });
    await client.offer([service]);
    const hosts = await hostsOf(client, groupOf(plan));
    const agents = await client.agents({ role: 'pgc', project: plan.project });
    const holders = new Map(
      agents.filter(({ state }) => state !== 'offline').map((it) => [it.record.id, holderOf(it)]),
    );
    const isFellow = (holder: string): boolean => hosts.some(({ id }) => id === holder);
    const isFree = (id: string): boolean => !holders.has(id) || isFellow(holders.get(id) ?? '');
    const wanted = [...placed(plan.shards, hosts)]
      .filter(([, its]) => its === agent)
      .map(([alias]) => ({ alias, id: plan.idOf.get(alias) }))
      .filter(({ id }) => id !== undefined && !host.isServing(id) && isFree(id));
    this.#warnOfOthers([...holders.values()].filter((it) => it !== '' && !isFellow(it)).length);
    if (wanted.length === 0) return;
    bus.trace('info', 'shards fall to this host', { shards: wanted.length, hosts: hosts.length });
    const aliases = wanted.map(({ alias }) => alias);
    await host.take(aliases, (id) => holders.get(id) ?? '');
  }

  /** Once for each number: it may be so for long. */
  #warnOfOthers(shards: number): void {
    if (shards === this.#ofOthers) return;
    this.#ofOthers = shards;
    if (shards > 0)
      this.#parts.bus.trace('warn', 'hosts with another plan of this project serve shards', {
        shards,
      });
  }

  #serviceOf(plan: Plan): string {
    const room = Math.max(1, Math.round(this.#parts.roomBytes / mebibyte));
    return `shares.${groupOf(plan)}.${room}`;
  }
}

/** The host that asks is one of them. */
async function hostsOf(client: Client, group: string): Promise<Room[]> {
  const { services } = await client.status();
  const hosts = services.flatMap(({ name, agents }) => {
    const [, its, room = ''] = servicePattern.exec(name) ?? [];
    return its === group ? agents.map((id) => ({ id, bytes: Number(room) * mebibyte })) : [];
  });
  return hosts.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, hostsMax);
}

/** The same for all whose plans are the same: they compute the same. */
function groupOf({ root, shards }: Plan): string {
  const all = shards.map(({ alias, lines }) => `${alias}\0${lines ?? ''}`).sort();
  return createHash('sha256')
    .update([root, ...all].join('\0'))
    .digest('hex')
    .slice(0, 16);
}

function holderOf({ record }: AgentView): string {
  const found = record.capabilities.find((each) => each.startsWith(holderPrefix));
  return found?.slice(holderPrefix.length) ?? '';
}
