import { factsKey, factsPrefix } from '../../store/keys.js';
import type { Operation, Store } from '../../store/port.js';
import { crc32 } from '../../wire/crc.js';
import { minerVersion, type FactsLanguage } from '../format/facts.js';

/** Facts wait in memory for a batch of this size, so that a large run is not a million small writes. */
const batchBytesMax = 4 * 1024 * 1024;
/** And no longer than this: a killed run loses the facts that wait. */
const batchMsMax = 500;
/** LevelDB does not check what it reads: each value begins with the CRC-32 of the rest. */
const checksumBytes = 4;
const staleBatch = 1_000;

interface FactsOf {
  language: FactsLanguage;
  blob: string;
}

/** By language, a digest of the rules that its facts depend on; none where the shipped rules apply. */
export type RuleDigests = Partial<Record<FactsLanguage, string>>;

/**
 * Mined facts by content: once per miner version, language, blob and rules of O2. Not synced; they can be
 * mined again.
 */
export class FactStore {
  readonly #store: Store;
  /** Keys only: asking LevelDB for each would read all facts just to see that they are there. */
  readonly #known: Set<string>;
  readonly #digests: RuleDigests;
  #waiting: Operation[] = [];
  #waitingBytes = 0;
  #flushedMs = performance.now();

  private constructor(
    store: Store,
    known: Set<string>,
    digests: RuleDigests,
    /** Facts of other miner versions that were there. */
    readonly removed: number,
  ) {
    this.#store = store;
    this.#known = known;
    this.#digests = digests;
  }

  /** Removes the facts of other miner versions: no run asks for them again. */
  static async open(store: Store, digests: RuleDigests = {}): Promise<FactStore> {
    const current = factsKey(minerVersion, '', '').replace(/\/+$/, '/');
    const known = new Set<string>();
    let removed = 0;
    let stale: Operation[] = [];
    const remove = async (): Promise<void> => {
      removed += stale.length;
      await store.write(stale);
      stale = [];
    };
    for await (const key of store.keys({ prefix: factsPrefix })) {
      if (key.startsWith(current)) known.add(key);
      else stale.push({ type: 'del', key });
      if (stale.length >= staleBatch) await remove();
    }
    await remove();
    return new FactStore(store, known, digests, removed);
  }

  /** Stored, or waiting to be. */
  has(of: FactsOf): boolean {
    return this.#known.has(this.#keyOf(of));
  }

  async put(of: FactsOf, facts: Buffer): Promise<void> {
    const key = this.#keyOf(of);
    this.#known.add(key);
    this.#waiting.push({ type: 'put', key, value: withChecksum(facts) });
    this.#waitingBytes += facts.length;
    const waitedMs = performance.now() - this.#flushedMs;
    if (this.#waitingBytes >= batchBytesMax || waitedMs >= batchMsMax) await this.flush();
  }

  async flush(): Promise<void> {
    const operations = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#flushedMs = performance.now();
    await this.#store.write(operations);
  }

  /** In the order of `wanted`; undefined for damaged facts. Does not see facts that still wait for `flush`. */
  async getMany(wanted: readonly FactsOf[]): Promise<(Buffer | undefined)[]> {
    const keys = wanted.map((of) => this.#keyOf(of));
    // One damaged block of LevelDB must not hide all the others.
    const each = (key: string): Promise<Buffer | undefined> =>
      this.#store.get(key).catch(() => undefined);
    const values = await this.#store.getMany(keys).catch(() => Promise.all(keys.map(each)));
    return values.map((value) => (value === undefined ? undefined : checked(value)));
  }

  /** Facts of contents that no file has any more. Resolves with their number. */
  async collect(used: Iterable<FactsOf>): Promise<number> {
    const keys = new Set<string>();
    for (const each of used) keys.add(this.#keyOf(each));
    const gone = [...this.#known].filter((key) => !keys.has(key));
    for (let at = 0; at < gone.length; at += staleBatch) {
      const batch = gone.slice(at, at + staleBatch);
      await this.#store.write(batch.map((key) => ({ type: 'del' as const, key })));
      for (const key of batch) this.#known.delete(key);
    }
    return gone.length;
  }

  #keyOf({ language, blob }: FactsOf): string {
    const digest = this.#digests[language];
    const key = factsKey(minerVersion, language, blob);
    return digest === undefined ? key : `${key}/${digest}`;
  }
}

function withChecksum(facts: Buffer): Buffer {
  const head = Buffer.alloc(checksumBytes);
  head.writeUInt32LE(crc32(facts));
  return Buffer.concat([head, facts]);
}

function checked(value: Buffer): Buffer | undefined {
  if (value.length < checksumBytes) return undefined;
  const facts = value.subarray(checksumBytes);
  return crc32(facts) === value.readUInt32LE() ? facts : undefined;
}
