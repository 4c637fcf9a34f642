import { factsKey, factsPrefix, prefixEnd } from '../../store/keys.js';
import type { Operation, Range, Store } from '../../store/port.js';
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
  readonly #digests: RuleDigests;
  /** Keys of this run: LevelDB need not be asked for them. */
  readonly #put = new Set<string>();
  #waiting: Operation[] = [];
  #waitingBytes = 0;
  #flushedMs = performance.now();

  private constructor(
    store: Store,
    digests: RuleDigests,
    /** Facts of other miner versions that were there. */
    readonly removed: number,
    /** No facts were there: what an earlier run knew of them does not hold. */
    readonly isNew: boolean,
  ) {
    this.#store = store;
    this.#digests = digests;
  }

  /** Removes the facts of other miner versions: no run asks for them again. Those of this version are not looked at. */
  static async open(store: Store, digests: RuleDigests = {}): Promise<FactStore> {
    const after = prefixEnd(currentPrefix);
    const older = await remove(store, { prefix: factsPrefix }, currentPrefix);
    const newer = await remove(store, { prefix: factsPrefix, after }, prefixEnd(factsPrefix));
    const isNew = (await firstKey(store, { prefix: currentPrefix })) === undefined;
    return new FactStore(store, digests, older + newer, isNew);
  }

  /** Stored, or waiting to be. Reads the facts, so who knows it already should not ask. */
  async has(of: FactsOf): Promise<boolean> {
    const key = this.#keyOf(of);
    if (this.#put.has(key)) return true;
    if (this.isNew) return false;
    return this.#store.get(key).then(
      (value) => value !== undefined,
      // Damaged facts are mined again.
      () => false,
    );
  }

  async put(of: FactsOf, facts: Buffer): Promise<void> {
    const key = this.#keyOf(of);
    this.#put.add(key);
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
    const isGone = (key: string): boolean => !keys.has(key);
    return remove(this.#store, { prefix: currentPrefix }, prefixEnd(currentPrefix), isGone);
  }

  #keyOf({ language, blob }: FactsOf): string {
    const digest = this.#digests[language];
    const key = factsKey(minerVersion, language, blob);
    return digest === undefined ? key : `${key}/${digest}`;
  }
}

const currentPrefix = factsKey(minerVersion, '', '').replace(/\/+$/, '/');

async function firstKey(store: Store, range: Range): Promise<string | undefined> {
  for await (const key of store.keys({ ...range, limit: 1 })) return key;
  return undefined;
}

/** Removes the keys of a range before `end`, those that `isGone` alone. Resolves with their number. */
async function remove(
  store: Store,
  range: Range,
  end: string,
  isGone: (key: string) => boolean = () => true,
): Promise<number> {
  let removed = 0;
  let batch: Operation[] = [];
  const flush = async (): Promise<void> => {
    removed += batch.length;
    await store.write(batch);
    batch = [];
  };
  for await (const key of store.keys(range)) {
    if (key >= end) break;
    if (isGone(key)) batch.push({ type: 'del', key });
    if (batch.length >= staleBatch) await flush();
  }
  await flush();
  return removed;
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
