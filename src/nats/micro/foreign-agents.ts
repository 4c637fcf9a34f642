import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { randomBytes } from 'node:crypto';
import { BoundedMap } from '../../base/bounded-map.js';
import type { Clock } from '../../base/clock.js';
import type { Trace } from '../../base/trace.js';
import { BusError } from '../../errors/bus-error.js';
import { foreignAgentIn, type ForeignAgent } from './foreign-info.js';
import { foreignLimits } from './limits.js';
import { agentsService, busKey, heartbeatIn, heartbeatSubjects } from './protocol.js';
import { prompted } from './prompt.js';

interface ForeignParts {
  connection: NatsConnection;
  /** Name of our bus: its own agents are not foreign. */
  bus: string;
  /** Answers come below this subject, which no other reads: see `inboxOf`. */
  inboxes: string;
  clock: Clock;
  trace: Trace;
  discoverMs?: number;
  silenceMs?: number;
}

/** One process of an agent. */
interface Instance {
  agent: ForeignAgent;
  /** It is gone when nothing was heard of it until then. */
  untilMs: number;
}

const inboxBytes = 16;
const questions = `$SRV.INFO.${agentsService}`;

/** Agents of others that speak the Synadia Agent Protocol on the same servers: who is there, and what they answer. */
export class ForeignAgents implements AsyncDisposable {
  readonly #parts: ForeignParts;
  /** Where answers to INFO and status come. */
  readonly #inbox: string;
  readonly #instances = new Map<string, Instance>();
  /** Ids that are ours, or of nothing that can be asked. */
  readonly #ignored = new BoundedMap<string, true>(foreignLimits.instancesMax);
  /** Until when the last heartbeat of an id counts: it may be there before who it is of. */
  readonly #beats = new BoundedMap<string, number>(foreignLimits.instancesMax);
  readonly #watchers = new Set<() => void>();
  readonly #ended = new AbortController();
  #lookups = 0;
  #shown = '';
  #sweeping: Disposable | undefined;
  #discoveredMs = -Infinity;

  /** The connection stays that of the caller. */
  constructor(parts: ForeignParts) {
    this.#parts = parts;
    this.#inbox = this.#newInbox();
    // First, so that no agent is missed that begins between.
    this.#subscribe(heartbeatSubjects, (msg) => this.#beaten(msg));
    this.#subscribe(this.#inbox, (msg) => {
      this.#introduced(msg);
      this.#beaten(msg);
    });
    this.#sweep();
  }

  /** By name; one agent may have several processes. */
  list(): ForeignAgent[] {
    const byName = new Map([...this.#instances.values()].map(({ agent }) => [agent.name, agent]));
    return [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  onChange(changed: () => void): Disposable {
    this.#watchers.add(changed);
    return { [Symbol.dispose]: () => void this.#watchers.delete(changed) };
  }

  /** Its answer as it comes. Throws UNKNOWN_AGENT, and what `prompted` throws. */
  async *ask(name: string, text: string, signal: AbortSignal): AsyncGenerator<string> {
    const agent = this.list().find((each) => each.name === name);
    if (agent === undefined) throw new BusError('UNKNOWN_AGENT', { agent: name });
    const parts = { ...this.#parts, inbox: this.#newInbox() };
    yield* prompted(parts, agent, text, AbortSignal.any([signal, this.#ended.signal]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sweeping?.[Symbol.dispose]();
    this.#watchers.clear();
    this.#ended.abort();
    await Promise.resolve();
  }

  /** Of many bits: who has answered one question cannot guess where another is answered. */
  #newInbox(): string {
    return `${this.#parts.inboxes}.${randomBytes(inboxBytes).toString('hex')}`;
  }

  #subscribe(subject: string, take: (msg: Msg) => void): void {
    const { connection, trace } = this.#parts;
    const callback = (error: Error | null, msg: Msg): void => {
      if (error === null) return take(msg);
      trace('error', 'foreign agents are not seen', { subject, detail: error.message });
    };
    const subscription = connection.subscribe(subject, { callback });
    const leave = (): void => (connection.isClosed() ? undefined : subscription.unsubscribe());
    this.#ended.signal.addEventListener('abort', leave, { once: true });
  }

  #sweep(): void {
    const { clock, discoverMs = foreignLimits.discoverMs } = this.#parts;
    const nowMs = clock.monotonicMs();
    this.#lookups = 0;
    for (const [id, { untilMs }] of this.#instances)
      if (untilMs < nowMs) this.#instances.delete(id);
    this.#changed();
    if (nowMs - this.#discoveredMs >= discoverMs) {
      this.#discoveredMs = nowMs;
      this.#question(questions);
    }
    const nextMs = Math.min(foreignLimits.sweepMs, discoverMs);
    this.#sweeping = clock.after(nextMs, () => this.#sweep());
  }

  #question(subject: string): void {
    const { connection, trace } = this.#parts;
    try {
      connection.publish(subject, '', { reply: this.#inbox });
    } catch (error) {
      trace('warn', 'foreign agents could not be asked who they are', { detail: String(error) });
    }
  }

  #beaten({ data }: Msg): void {
    const beat = heartbeatIn(data, foreignLimits.heartbeatBytesMax);
    if (beat === undefined || this.#ignored.has(beat.instance)) return;
    const untilMs = this.#until(beat.intervalMs);
    this.#beats.set(beat.instance, untilMs);
    const known = this.#instances.get(beat.instance);
    if (known !== undefined) known.untilMs = untilMs;
    else if (this.#lookups < foreignLimits.lookupsMax) {
      this.#lookups += 1;
      this.#question(`${questions}.${beat.instance}`);
    }
  }

  #until(intervalMs: number): number {
    const { intervalMsMin, intervalMsMax, beatsMissedMax } = foreignLimits;
    const believed = Math.min(intervalMsMax, Math.max(intervalMsMin, intervalMs));
    return this.#parts.clock.monotonicMs() + beatsMissedMax * believed;
  }

  #introduced({ data }: Msg): void {
    const found = foreignAgentIn(data);
    if (found === undefined) return;
    const { agent, instance, status } = found;
    if (agent.metadata[busKey] === this.#parts.bus) return this.#ignored.set(instance, true);
    if (!this.#instances.has(instance) && this.#isFull(agent)) return;
    // Heartbeats decide, where there are any: who answers without is there, too.
    const beatenMs = this.#beats.get(instance) ?? 0;
    const isBeating = beatenMs > this.#parts.clock.monotonicMs();
    const untilMs = isBeating ? beatenMs : this.#until(foreignLimits.intervalMsDefault);
    this.#instances.set(instance, { agent, untilMs });
    // How often it beats is then known before it has beaten.
    if (!isBeating && status !== undefined) this.#question(status);
    this.#changed();
  }

  #isFull({ name }: ForeignAgent): boolean {
    const { agentsMax, instancesMax } = foreignLimits;
    const agents = this.list();
    const isKnown = agents.some((each) => each.name === name);
    const isFull = this.#instances.size >= instancesMax || (!isKnown && agents.length >= agentsMax);
    if (isFull) this.#parts.trace('warn', 'too many foreign agents', { agentsMax, instancesMax });
    return isFull;
  }

  #changed(): void {
    const shown = JSON.stringify(this.list());
    if (shown === this.#shown) return;
    this.#shown = shown;
    for (const changed of this.#watchers) changed();
  }
}
