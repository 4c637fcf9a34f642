import { BusError } from '../errors/bus-error.js';
import { agentKey, agentPrefix } from '../store/keys.js';
import type { Store } from '../store/port.js';
import { Command, decodeFrame, encodeFrame, makeFrame } from '../wire/frame.js';
import { agentRecordCodec, recordBytesMax, type AgentRecord } from '../wire/messages.js';

interface Entry {
  record: AgentRecord;
  /** Not on disk, and gone with its session. */
  isEphemeral: boolean;
  lastSeenMs: number;
}

/**
 * Every agent that ever registered and was not forgotten. Presence is not kept here: whether an agent is
 * online is known from its session alone.
 */
export class Registry {
  readonly #entries = new Map<string, Entry>();
  readonly #byAlias = new Map<string, Set<string>>();
  readonly #store: Store;
  readonly #agentsMax: number;

  private constructor(store: Store, agentsMax: number) {
    this.#store = store;
    this.#agentsMax = agentsMax;
  }

  /** A record that fails its checksum is left out and reported; the others are served. */
  static async load(
    store: Store,
    agentsMax: number,
    onCorrupt: (key: string) => void,
  ): Promise<Registry> {
    const registry = new Registry(store, agentsMax);
    for await (const [key, value] of store.entries({ prefix: agentPrefix })) {
      try {
        registry.#remember(agentRecordCodec.decode(decodeFrame(value).body), false, 0);
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        onCorrupt(key);
      }
    }
    return registry;
  }

  get size(): number {
    return this.#entries.size;
  }

  record(id: string): AgentRecord | undefined {
    return this.#entries.get(id)?.record;
  }

  lastSeenMs(id: string): number {
    return this.#entries.get(id)?.lastSeenMs ?? 0;
  }

  /** Ids in order. */
  ids(): string[] {
    return [...this.#entries.keys()].sort();
  }

  /** Ids that carry this alias. */
  withAlias(alias: string): string[] {
    return [...(this.#byAlias.get(alias) ?? [])];
  }

  /** Resolves when the record is on disk. Throws TOO_LARGE. */
  async register(
    record: AgentRecord,
    options: { isEphemeral: boolean; nowMs: number },
  ): Promise<void> {
    const body = agentRecordCodec.encode(record);
    if (body.length > recordBytesMax) {
      throw new BusError('TOO_LARGE', {
        what: 'the record of an agent',
        bytes: body.length,
        limit: recordBytesMax,
      });
    }
    const isKnown = this.#entries.has(record.id);
    this.#remember(record, options.isEphemeral, options.nowMs);
    if (options.isEphemeral) return;
    const frame = makeFrame(Command.REGISTER, { id: record.id, from: record.id }, body);
    const forgotten = isKnown ? [] : this.#overflow(record.id);
    await this.#store.commit([
      { type: 'put', key: agentKey(record.id), value: encodeFrame(frame) },
      ...forgotten.map((id) => ({ type: 'del' as const, key: agentKey(id) })),
    ]);
  }

  seen(id: string, nowMs: number): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.lastSeenMs = nowMs;
  }

  /** Its session is over. Ephemeral agents are forgotten, others stay listed. */
  ended(id: string, nowMs: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.lastSeenMs = nowMs;
    if (entry.isEphemeral) this.#forget(id);
  }

  #remember(record: AgentRecord, isEphemeral: boolean, lastSeenMs: number): void {
    this.#forget(record.id);
    this.#entries.set(record.id, { record, isEphemeral, lastSeenMs });
    if (record.alias === '') return;
    const ids = this.#byAlias.get(record.alias) ?? new Set();
    this.#byAlias.set(record.alias, ids.add(record.id));
  }

  #forget(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    const ids = this.#byAlias.get(entry.record.alias);
    ids?.delete(id);
    if (ids?.size === 0) this.#byAlias.delete(entry.record.alias);
  }

  /** The ids to forget so that the registry stays within its limit: those seen longest ago. */
  #overflow(newest: string): string[] {
    const excess = this.#entries.size - this.#agentsMax;
    if (excess <= 0) return [];
    const oldest = [...this.#entries]
      .filter(([id]) => id !== newest)
      .sort(([, a], [, b]) => a.lastSeenMs - b.lastSeenMs)
      .slice(0, excess)
      .map(([id]) => id);
    for (const id of oldest) this.#forget(id);
    return oldest;
  }
}
