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
  /** What its name is bound to, as `session/names.ts` makes it; empty: nothing. */
  binding: string;
}

/**
 * Every agent that registered and was not forgotten. Whether an agent is online is known from its
 * session, not from here.
 */
export class Registry {
  readonly #entries = new Map<string, Entry>();
  readonly #byAlias = new Map<string, Set<string>>();
  /** Records being written or deleted; the counts include them already. */
  readonly #coming = new Set<string>();
  readonly #leaving = new Set<string>();
  readonly #store: Store;
  readonly #agentsMax: number;

  private constructor(store: Store, agentsMax: number) {
    this.#store = store;
    this.#agentsMax = agentsMax;
  }

  /** A record that fails its checksum is skipped and reported. */
  static async load(
    store: Store,
    agentsMax: number,
    onCorrupt: (key: string) => void,
  ): Promise<Registry> {
    const registry = new Registry(store, agentsMax);
    for await (const [key, value] of store.entries({ prefix: agentPrefix })) {
      try {
        const { body, envelope } = decodeFrame(value);
        const entry = { isEphemeral: false, lastSeenMs: envelope.stored_ms };
        const binding = envelope.correlation;
        registry.#remember({ ...entry, binding, record: agentRecordCodec.decode(body) });
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

  /** What the name is bound to; empty: nothing. */
  binding(id: string): string {
    return this.#entries.get(id)?.binding ?? '';
  }

  lastSeenMs(id: string): number {
    return this.#entries.get(id)?.lastSeenMs ?? 0;
  }

  /** Ids in order. */
  ids(): string[] {
    return [...this.#entries.keys()].sort();
  }

  /** Ids of agents with this alias. */
  withAlias(alias: string): string[] {
    return [...(this.#byAlias.get(alias) ?? [])];
  }

  /** Resolves when the record is on disk, with the agent that it displaced. Throws TOO_LARGE, REGISTRY_FULL, STORE_UNAVAILABLE; then nothing has changed. */
  async register(
    record: AgentRecord,
    options: {
      isEphemeral: boolean;
      nowMs: number;
      /** Empty: what it is bound to already stays. */
      binding?: string;
      /** Never displaced: it is connected, or its role must persist. */
      isStaying: (record: AgentRecord) => boolean;
    },
  ): Promise<string[]> {
    const body = agentRecordCodec.encode(record);
    if (body.length > recordBytesMax) {
      throw new BusError('TOO_LARGE', {
        what: 'the record of an agent',
        bytes: body.length,
        limit: recordBytesMax,
      });
    }
    const binding = options.binding || this.binding(record.id);
    // Bounded by the number of sessions. An agent that is stored already stays stored.
    const isStored = this.#entries.get(record.id)?.isEphemeral === false;
    if (options.isEphemeral && !isStored) {
      this.#remember({ record, binding, isEphemeral: true, lastSeenMs: options.nowMs });
      return [];
    }
    const stays = this.#entries.has(record.id) && !this.#leaving.has(record.id);
    const isNew = !stays && !this.#coming.has(record.id);
    const forgotten = isNew ? this.#overflow(options.isStaying) : [];
    const frame = makeFrame(
      Command.REGISTER,
      { id: record.id, from: record.id, correlation: binding, stored_ms: options.nowMs },
      body,
    );
    const value = encodeFrame(frame);
    if (!this.#store.hasRoom(value.length))
      throw new BusError('STORE_UNAVAILABLE', { path: 'bus/store', detail: 'too much waits' });
    if (isNew) this.#coming.add(record.id);
    for (const id of forgotten) this.#leaving.add(id);
    try {
      await this.#store.commit([
        { type: 'put', key: agentKey(record.id), value },
        ...forgotten.map((id) => ({ type: 'del' as const, key: agentKey(id) })),
      ]);
    } finally {
      if (isNew) this.#coming.delete(record.id);
      for (const id of forgotten) this.#leaving.delete(id);
    }
    // Only after the write: an unstored agent must not be listed.
    this.#remember({ record, binding, isEphemeral: false, lastSeenMs: options.nowMs });
    for (const id of forgotten) this.#forget(id);
    return forgotten;
  }

  /** Resolves when the record is deleted on disk. Throws STORE_UNAVAILABLE; then it stays. */
  async dismiss(id: string): Promise<void> {
    if (!this.#entries.has(id)) return;
    await this.#store.commit([{ type: 'del', key: agentKey(id) }]);
    this.#forget(id);
  }

  seen(id: string, nowMs: number): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.lastSeenMs = nowMs;
  }

  /** Its session is over. An ephemeral agent is forgotten; a registered one stays listed. */
  ended(id: string, nowMs: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.lastSeenMs = nowMs;
    if (entry.isEphemeral) this.#forget(id);
  }

  #remember(entry: Entry): void {
    const { record } = entry;
    this.#forget(record.id);
    this.#entries.set(record.id, entry);
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

  /** The agent to forget for a new one: the offline one that was seen longest ago. Throws REGISTRY_FULL. */
  #overflow(isStaying: (record: AgentRecord) => boolean): string[] {
    const staying = this.#entries.size - this.#leaving.size;
    const excess = staying + this.#coming.size + 1 - this.#agentsMax;
    if (excess <= 0) return [];
    const offline = [...this.#entries].filter(
      ([id, { record }]) => !this.#leaving.has(id) && !isStaying(record),
    );
    if (offline.length < excess) throw new BusError('REGISTRY_FULL', { limit: this.#agentsMax });
    return offline
      .sort(([, a], [, b]) => a.lastSeenMs - b.lastSeenMs)
      .slice(0, excess)
      .map(([id]) => id);
  }
}
