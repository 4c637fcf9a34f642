import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import { backupStore } from './backup.js';
import { GroupCommit, refused } from './group-commit.js';
import { prefixEnd, schemaKey } from './keys.js';
import { settleLayout, type Layout } from './layout.js';
import { bounds, openLevel, probe, unavailable, walk, type Db } from './level-folder.js';
import type { BackupReport, Operation, Range, Store, StoreState, Upkeep } from './port.js';

/** Between two attempts to open a failed store again. */
const reopenBackoff = { baseMs: 250, capMs: 10_000 };

/** Less than this is soon full again; opening alone rewrites up to a write buffer. */
const probeBytesDefault = 4 * 1024 * 1024;

export interface StoreOptions {
  layout: Layout;
  clock: Clock;
  random: () => number;
  /** Space that must be there before a failed store is opened again. */
  probeBytes?: number;
}

type Life =
  | { state: 'serving'; db: Db; commits: GroupCommit }
  | { state: 'failed'; why: BusError }
  | { state: 'closed' };

/**
 * LevelDB. Its lock file is the guard that one process at a time owns the folder.
 *
 * An open LevelDB that failed to write once must not be used again: it refuses what follows even when
 * there is space again, or worse, it writes behind a torn record of its log, where reopening does not
 * find it. Hence after any failed write: reject, close, wait for space, open anew.
 */
export class LevelStore implements Store, Upkeep {
  readonly #path: string;
  readonly #options: StoreOptions;
  readonly #listeners = new Set<() => void>();
  #life: Life = { state: 'closed' };
  #reopening: Promise<void> | undefined;
  #endPause: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  private constructor(path: string, options: StoreOptions) {
    this.#path = path;
    this.#options = options;
  }

  /**
   * Throws STORE_LOCKED, STORE_SCHEMA or
   * STORE_UNAVAILABLE. The folder is created with mode 0700.
   */
  static async open(path: string, options: StoreOptions): Promise<LevelStore> {
    const store = new LevelStore(path, options);
    store.#serve(await store.#openDb());
    return store;
  }

  get state(): StoreState {
    return this.#life.state === 'serving' ? 'serving' : 'failed';
  }

  onReopened(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  get(key: string): Promise<Buffer | undefined> {
    return this.#using(({ db }) => db.get(key));
  }

  getMany(keys: string[]): Promise<(Buffer | undefined)[]> {
    return this.#using(({ db }) => db.getMany(keys));
  }

  entries(range: Range): AsyncIterable<[string, Buffer]> {
    return walk(this.#path, () => this.#serving().db.iterator(bounds(range)));
  }

  keys(range: Range): AsyncIterable<string> {
    return walk(this.#path, () => this.#serving().db.keys(bounds(range)));
  }

  hasRoom(bytes: number): boolean {
    return this.#life.state !== 'serving' || this.#life.commits.hasRoom(bytes);
  }

  commit(operations: Operation[]): Promise<void> {
    return this.#add(operations, true);
  }

  write(operations: Operation[]): Promise<void> {
    return this.#add(operations, false);
  }

  async backup(folder: string): Promise<BackupReport> {
    const { db } = this.#serving();
    return backupStore({ db, path: this.#path }, folder, this.#options.clock);
  }

  async compact(): Promise<void> {
    await this.#using(({ db }) => db.compactRange('', prefixEnd('')));
    // LevelDB does not say that a compaction failed; it refuses the next write instead.
    const version = Buffer.from(String(this.#options.layout.version));
    await this.commit([{ type: 'put', key: schemaKey, value: version }]);
  }

  /** What was handed over before is written, unless the store has failed. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #add(operations: Operation[], isSynced: boolean): Promise<void> {
    if (this.#life.state === 'serving') return this.#life.commits.add(operations, isSynced);
    return refused(this.#refusal());
  }

  async #using<T>(work: (serving: Life & { state: 'serving' }) => Promise<T>): Promise<T> {
    const serving = this.#serving();
    try {
      return await work(serving);
    } catch (error) {
      throw unavailable(this.#path, error);
    }
  }

  #serving(): Life & { state: 'serving' } {
    if (this.#life.state === 'serving') return this.#life;
    throw this.#refusal();
  }

  #refusal(): BusError {
    return this.#life.state === 'failed' ? this.#life.why : unavailable(this.#path, 'it is closed');
  }

  async #openDb(): Promise<Db> {
    const { layout } = this.#options;
    const db = await openLevel(this.#path, { writeBufferBytes: layout.writeBufferBytes });
    try {
      await settleLayout(db, this.#path, layout);
      return db;
    } catch (error) {
      await db.close();
      throw error;
    }
  }

  #serve(db: Db): void {
    const commits = new GroupCommit({
      newBatch: () => db.batch(),
      path: this.#path,
      clock: this.#options.clock,
      onFailed: (why) => this.#fail(db, why),
    });
    this.#life = { state: 'serving', db, commits };
  }

  #fail(db: Db, why: BusError): void {
    // No caller is left while it closes.
    if (this.#life.state !== 'serving') return;
    this.#life = { state: 'failed', why };
    this.#reopening = this.#reopen(db);
  }

  async #reopen(failed: Db): Promise<void> {
    const { clock, random, probeBytes = probeBytesDefault } = this.#options;
    // Ends walks and backups that are under way.
    await failed.close().catch(() => undefined);
    for (let attempt = 0; this.#isFailed(); attempt += 1) {
      const db = await this.#tryOpening(probeBytes);
      if (db === undefined) await this.#pause(clock, backoffMs(reopenBackoff, attempt, random()));
      else if (this.#isFailed()) this.#serveAgain(db);
      else await db.close();
    }
  }

  async #tryOpening(probeBytes: number): Promise<Db | undefined> {
    try {
      await probe(this.#path, probeBytes);
      return await this.#openDb();
    } catch (error) {
      // For any cause, callers see the store as unavailable for a while.
      const why = error instanceof BusError ? (error.cause ?? error.message) : error;
      if (this.#isFailed()) this.#life = { state: 'failed', why: unavailable(this.#path, why) };
      return undefined;
    }
  }

  #serveAgain(db: Db): void {
    this.#serve(db);
    for (const listener of [...this.#listeners]) listener();
  }

  #isFailed(): boolean {
    return this.#life.state === 'failed';
  }

  #pause(clock: Clock, ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#isFailed()) return resolve();
      const timer = clock.after(ms, resolve);
      this.#endPause = () => {
        timer[Symbol.dispose]();
        resolve();
      };
    });
  }

  async #close(): Promise<void> {
    const life = this.#life;
    this.#life = { state: 'closed' };
    this.#endPause?.();
    if (life.state === 'serving') {
      await life.commits.idle();
      await life.db.close();
    }
    await this.#reopening;
  }
}
