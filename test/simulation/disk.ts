import { BusError } from '../../src/errors/bus-error.js';
import type {
  BackupReport,
  Operation,
  Range,
  Store,
  StoreState,
  Upkeep,
} from '../../src/store/port.js';
import type { SeededRandom } from './random.js';
import type { Process, SimulatedTime } from './time.js';

interface Batch {
  operations: Operation[];
  isSynced: boolean;
}

/** Where a crash may strike: before a batch reaches the disk, when it has, and when it is synced. */
export type Boundary = 'before' | 'written' | 'synced';

/**
 * What stays when processes end: batches in the order of the calls, each whole or not at all. The page
 * cache keeps what is written over the end of a process; a power cut keeps what is synced, and of a run of
 * batches that are not, a prefix.
 */
export class SimulatedDisk {
  isFull = false;
  /** Of the commits before which LevelDB begins a new log file: what the old one held unsynced is not synced with it. */
  rotateShare = 0;
  readonly #base = new Map<string, Buffer>();
  #batches: Batch[] = [];
  #image = new Map<string, Buffer>();

  constructor(
    readonly time: SimulatedTime,
    readonly random: SeededRandom,
  ) {}

  get image(): ReadonlyMap<string, Buffer> {
    return this.#image;
  }

  /** What a power cut leaves at least. */
  get durable(): ReadonlyMap<string, Buffer> {
    const kept = new Map(this.#base);
    for (const { operations, isSynced } of this.#batches) if (isSynced) apply(kept, operations);
    return kept;
  }

  write(operations: Operation[]): Batch {
    const batch = { operations, isSynced: false };
    this.#batches.push(batch);
    apply(this.#image, operations);
    return batch;
  }

  sync(batch: Batch): void {
    if (this.random.chance(this.rotateShare)) {
      batch.isSynced = true;
      const before = this.#batches.slice(0, this.#batches.indexOf(batch));
      // The memory buffer behind the old log goes into a table soon.
      this.time.schedule(this.random.between(20, 800), () => {
        for (const each of before) each.isSynced = true;
        this.#fold();
      });
      return;
    }
    for (const each of this.#batches) {
      each.isSynced = true;
      if (each === batch) break;
    }
    this.#fold();
  }

  /** Whoever opens a LevelDB first brings its log into a synced table. */
  opened(): void {
    for (const each of this.#batches) each.isSynced = true;
    this.#fold();
  }

  cutPower(): number {
    let lost = 0;
    const survivors: Batch[] = [];
    let isRunOver = false;
    for (const batch of this.#batches) {
      if (batch.isSynced) isRunOver = false;
      else isRunOver ||= this.random.chance(0.5);
      if (batch.isSynced || !isRunOver) survivors.push(batch);
      else lost += 1;
    }
    this.#batches = survivors;
    this.#image = new Map(this.#base);
    for (const { operations } of survivors) apply(this.#image, operations);
    return lost;
  }

  #fold(): void {
    let count = 0;
    for (const batch of this.#batches) {
      if (!batch.isSynced) break;
      apply(this.#base, batch.operations);
      count += 1;
    }
    this.#batches.splice(0, count);
  }
}

function apply(to: Map<string, Buffer>, operations: Operation[]): void {
  for (const each of operations) {
    if (each.type === 'put') to.set(each.key, Buffer.from(each.value));
    else to.delete(each.key);
  }
}

interface Group {
  operations: Operation[];
  isSynced: boolean;
  resolve: (() => void)[];
  reject: ((error: BusError) => void)[];
}

/** Operations that wait for the disk before there is no room for new ones. */
const waitingMax = 24;
/** Entries of a walk that are read at once. */
const walkChunk = 20;

/** Store over a simulated disk: groups of batches, latencies, failures, reopening. */
export class SimulatedStore implements Store, Upkeep {
  state: StoreState = 'serving';
  /** Called at every boundary of a batch; it may kill the process or cut the power. */
  onBoundary: (boundary: Boundary) => void = () => undefined;
  /** Whether a group that was rejected is on the disk all the same. */
  keepsRejected: () => boolean = () => this.random.chance(0.5);
  /** For planted bugs: this commit resolves without having been synced. */
  skipsSync: () => boolean = () => false;
  readonly #listeners = new Set<() => void>();
  #waiting: Group | undefined;
  #isWriting = false;

  constructor(
    readonly process: Process,
    readonly disk: SimulatedDisk,
    readonly random: SeededRandom,
  ) {
    disk.opened();
  }

  onReopened(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async get(key: string): Promise<Buffer | undefined> {
    return (await this.getMany([key]))[0];
  }

  async getMany(keys: string[]): Promise<(Buffer | undefined)[]> {
    this.#check();
    await this.process.pause(this.#readMs());
    this.#check();
    return keys.map((key) => this.disk.image.get(key));
  }

  async *entries(range: Range): AsyncGenerator<[string, Buffer]> {
    this.#check();
    const found = [...this.disk.image]
      .filter(([key]) => key.startsWith(range.prefix) && key > (range.after ?? ''))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, range.limit);
    for (const [at, entry] of found.entries()) {
      if (at % walkChunk === 0) await this.process.pause(this.#readMs());
      this.#check();
      yield entry;
    }
    if (found.length === 0) await this.process.pause(this.#readMs());
    this.#check();
  }

  async *keys(range: Range): AsyncGenerator<string> {
    for await (const [key] of this.entries(range)) yield key;
  }

  hasRoom(): boolean {
    return (this.#waiting?.operations.length ?? 0) < waitingMax;
  }

  commit(operations: Operation[]): Promise<void> {
    return this.#add(operations, true);
  }

  write(operations: Operation[]): Promise<void> {
    return this.#add(operations, false);
  }

  backup(): Promise<BackupReport> {
    return Promise.reject(unavailable());
  }

  compact(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  #add(operations: Operation[], isSynced: boolean): Promise<void> {
    if (!this.process.isAlive) return new Promise(() => undefined);
    if (this.state === 'failed') return refused();
    if (operations.length === 0) return Promise.resolve();
    const group = (this.#waiting ??= {
      operations: [],
      isSynced: false,
      resolve: [],
      reject: [],
    });
    group.operations.push(...operations);
    group.isSynced ||= isSynced;
    const done = new Promise<void>((resolve, reject) => {
      group.resolve.push(resolve);
      group.reject.push(reject);
    });
    done.catch(() => undefined);
    if (!this.#isWriting) this.#write();
    return done;
  }

  #write(): void {
    this.#isWriting = true;
    this.process.run(this.random.between(0.01, 1), () => {
      const group = this.#waiting;
      this.#waiting = undefined;
      if (group === undefined) {
        this.#isWriting = false;
        return;
      }
      this.onBoundary('before');
      if (this.#isDead()) return;
      if (this.disk.isFull) return this.#fail(group);
      const batch = this.disk.write(group.operations);
      this.onBoundary('written');
      if (this.#isDead()) return;
      if (!group.isSynced || this.skipsSync()) return this.#done(group);
      this.process.run(this.#syncMs(), () => {
        this.disk.sync(batch);
        this.onBoundary('synced');
        if (!this.#isDead()) this.#done(group);
      });
    });
  }

  #done(group: Group): void {
    for (const resolve of group.resolve) resolve();
    if (this.#waiting !== undefined) this.#write();
    else this.#isWriting = false;
  }

  /** The group on board may have reached the disk all the same. */
  #fail(group: Group): void {
    if (this.keepsRejected()) this.disk.write(group.operations);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#isWriting = false;
    this.state = 'failed';
    this.#reopen();
    for (const each of [group, ...(waiting === undefined ? [] : [waiting])])
      for (const reject of each.reject) reject(unavailable());
  }

  #reopen(): void {
    this.process.run(this.random.between(50, 500), () => {
      if (this.disk.isFull) return this.#reopen();
      this.disk.opened();
      this.state = 'serving';
      for (const listener of [...this.#listeners]) listener();
    });
  }

  /** Anything may have happened at a boundary. */
  #isDead(): boolean {
    return !this.process.isAlive;
  }

  #check(): void {
    if (this.state === 'failed') throw unavailable();
  }

  #readMs(): number {
    return this.random.between(0.02, this.random.chance(0.1) ? 40 : 2);
  }

  #syncMs(): number {
    return this.random.between(0.2, this.random.chance(0.03) ? 300 : 8);
  }
}

function unavailable(): BusError {
  return new BusError('STORE_UNAVAILABLE', { path: 'simulated', detail: 'the disk is full' });
}

function refused(): Promise<never> {
  const rejection = Promise.reject(unavailable());
  rejection.catch(() => undefined);
  return rejection;
}
