import { factsKey, factsPrefix } from '../store/keys.js';
import type { Operation, Store } from '../store/port.js';
import { minerVersion, type FactsLanguage } from './facts.js';

/** Facts wait in memory for a batch of this size, so that a large run is not a million small writes. */
const batchBytesMax = 4 * 1024 * 1024;
const staleBatch = 1_000;

export interface FactsOf {
  language: FactsLanguage;
  blob: string;
}

/** Mined facts by content: once per miner version, language and blob. Not synced; they can be mined again. */
export class FactStore {
  readonly #store: Store;
  /** Keys only: asking LevelDB for each would read all facts just to see that they are there. */
  readonly #known: Set<string>;
  #waiting: Operation[] = [];
  #waitingBytes = 0;

  private constructor(store: Store, known: Set<string>) {
    this.#store = store;
    this.#known = known;
  }

  /** Removes the facts of other miner versions, which nobody will ask for again. */
  static async open(store: Store): Promise<FactStore> {
    const current = factsKey(minerVersion, '', '').replace(/\/+$/, '/');
    const known = new Set<string>();
    let stale: Operation[] = [];
    for await (const key of store.keys({ prefix: factsPrefix })) {
      if (key.startsWith(current)) known.add(key);
      else stale.push({ type: 'del', key });
      if (stale.length < staleBatch) continue;
      await store.write(stale);
      stale = [];
    }
    if (stale.length > 0) await store.write(stale);
    return new FactStore(store, known);
  }

  /** Stored, or waiting to be. */
  has(of: FactsOf): boolean {
    return this.#known.has(keyOf(of));
  }

  async put(of: FactsOf, facts: Buffer): Promise<void> {
    const key = keyOf(of);
    this.#known.add(key);
    this.#waiting.push({ type: 'put', key, value: facts });
    this.#waitingBytes += facts.length;
    if (this.#waitingBytes >= batchBytesMax) await this.flush();
  }

  async flush(): Promise<void> {
    const operations = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    await this.#store.write(operations);
  }

  /** In the order asked for. Does not see what still waits for `flush`. */
  async getMany(wanted: readonly FactsOf[]): Promise<(Buffer | undefined)[]> {
    return this.#store.getMany(wanted.map(keyOf));
  }

  /** Facts of contents that no file has any more. Resolves with their number. */
  async collect(used: Iterable<FactsOf>): Promise<number> {
    const keys = new Set<string>();
    for (const each of used) keys.add(keyOf(each));
    const gone = [...this.#known].filter((key) => !keys.has(key));
    for (let at = 0; at < gone.length; at += staleBatch) {
      const batch = gone.slice(at, at + staleBatch);
      await this.#store.write(batch.map((key) => ({ type: 'del' as const, key })));
      for (const key of batch) this.#known.delete(key);
    }
    return gone.length;
  }

  async remove(of: FactsOf): Promise<void> {
    this.#known.delete(keyOf(of));
    await this.#store.write([{ type: 'del', key: keyOf(of) }]);
  }
}

function keyOf({ language, blob }: FactsOf): string {
  return factsKey(minerVersion, language, blob);
}
