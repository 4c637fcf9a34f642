import { asBusError } from '../../../src/errors/bus-error.js';
import type { Operation, Store } from '../../../src/store/port.js';
import { SimulatedDisk, SimulatedStore, type Boundary } from '../disk.js';
import { SeededRandom } from '../random.js';
import { Process, SimulatedTime } from '../time.js';

/** Where a process ends, or its disk fails. After each end the power is cut in half of the trials. */
export const crashPoints = [
  'before commit',
  'after commit, before adopt',
  'commit rejected, on disk',
  'commit rejected, not on disk',
  'after perform, before settle',
  'during restart',
] as const;
export type CrashPoint = (typeof crashPoints)[number];

/**
 * Faults that a trial must find; each is planted from outside, nothing in src knows of them.
 *
 *     skip persist             one batch resolves, and is not written
 *     settle without perform   one effect counts as performed, and is not
 *     perform before persist   one batch resolves before it is written
 */
export const plants = ['skip persist', 'settle without perform', 'perform before persist'] as const;
export type Plant = (typeof plants)[number];

/** One process of a machine: it ends with a crash, or when the machine has done all. */
export interface Life {
  process: Process;
  store: Store;
  random: () => number;
  /** Of machines that hold real resources: called when the life is over. */
  onEnd: (() => void)[];
}

export interface Machine {
  name: string;
  /** Its batches are not synced: after a power cut the last ones may be missing. */
  isUnsynced?: boolean;
  /** Begins all that is to be done, or goes on with it; resolves when all is done. */
  live: (life: Life, trial: Trial) => Promise<void>;
  /** Ids of the effects that must have happened at the end, and no others. */
  expected: readonly string[];
  /** Ids of effects that may be missing: `live` says when. */
  optional?: readonly string[];
  /** What must not be left on disk. */
  leftovers: readonly string[];
}

/** Where a process of an earlier release ended. */
export interface Earlier {
  /** What it left on disk. */
  written: Record<string, string>;
  /** Effects that had happened, and those of them that cannot happen again. */
  happened: string[];
  settled: string[];
}

export interface Report {
  machine: string;
  point: CrashPoint;
  seed: number;
  /** Crashes and failures of the disk that happened. */
  strikes: number;
  lost: string[];
  doubled: string[];
  /** Effects that happened before what they follow from was on disk. */
  early: string[];
  again: number;
}

const lifeMs = 10 * 60_000;
const livesMax = 12;
/** A disk that fails is full for this long. */
const fullMs = 600;

const never = <T>(): Promise<T> => new Promise(() => undefined);

/** One machine on a faulty disk, through several processes. */
export class Trial {
  readonly lost: string[] = [];
  readonly doubled: string[] = [];
  readonly #early: string[] = [];
  /** What happened outside: how often under each id. A second time changes nothing. */
  readonly #outside = new Map<string, number>();
  readonly #settled = new Set<string>();
  readonly #time = new SimulatedTime();
  readonly #random: SeededRandom;
  readonly disk: SimulatedDisk;
  #strikes = 0;
  /** How often the point of the crash must be reached until it strikes, in this life. */
  #left = 0;
  #plantIn: number;
  #isCut = false;
  #isRefused = false;

  constructor(
    readonly machine: Machine,
    readonly point: CrashPoint,
    readonly seed: number,
    readonly plant?: Plant,
    readonly earlier?: Earlier,
  ) {
    this.#random = new SeededRandom(`${machine.name}/${point}/${seed}`);
    this.disk = new SimulatedDisk(this.#time, this.#random.fork('disk'));
    this.#plantIn = this.#random.int(1, 5);
    if (earlier === undefined) return;
    const { written, happened, settled } = earlier;
    this.disk.write(
      Object.entries(written).map(([key, text]) => {
        return { type: 'put', key, value: Buffer.from(text) };
      }),
    );
    for (const id of happened) this.#outside.set(id, 1);
    for (const id of settled) this.#settled.add(id);
  }

  /** The disk has refused a batch. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** No batch that was written can be missing. */
  get isWhole(): boolean {
    return !this.#isCut && !this.#isRefused;
  }

  hasHappened(id: string): boolean {
    return this.#outside.has(id);
  }

  /** An effect happens. `isOnDisk`: what it follows from. */
  async perform(
    { process }: Life,
    id: string,
    isOnDisk: (disk: ReadonlyMap<string, Buffer>) => boolean,
  ): Promise<void> {
    await process.pause(this.#random.between(0.1, 3));
    if (this.plant === 'settle without perform' && (this.#plantIn -= 1) === 0) return;
    const disk = this.machine.isUnsynced === true ? this.disk.image : this.disk.durable;
    if (!isOnDisk(disk)) this.#early.push(id);
    if (this.#settled.has(id) && this.machine.isUnsynced !== true)
      this.doubled.push(`${id} after it was settled`);
    this.#outside.set(id, (this.#outside.get(id) ?? 0) + 1);
    if (this.point !== 'after perform, before settle' || !this.#strikesNow()) return;
    process.kill();
    return never();
  }

  /** What came of an effect is known to be on disk: it must not happen once more. */
  settled(id: string): void {
    this.#settled.add(id);
  }

  async run(): Promise<Report> {
    for (let life = 1; life <= livesMax && !(await this.#live(life)); life += 1)
      if (life === livesMax) this.lost.push('the end: it never came');
    // What could not be deleted from a disk that failed is deleted by the next process.
    if (this.#isRefused) await this.#live(livesMax + 1);
    for (const id of this.machine.expected)
      if (!this.#outside.has(id)) this.lost.push(`${id} never happened`);
    for (const id of this.#outside.keys())
      if (![...this.machine.expected, ...(this.machine.optional ?? [])].includes(id))
        this.doubled.push(`${id} was not asked for`);
    for (const key of this.disk.image.keys())
      if (this.machine.leftovers.some((prefix) => key.startsWith(prefix)))
        this.lost.push(`${key} is left`);
    const { machine, point, seed, lost, doubled } = this;
    const again = [...this.#outside.values()].reduce((sum, count) => sum + count - 1, 0);
    return {
      ...{ machine: machine.name, point, seed, lost, doubled, again },
      ...{ early: this.#early, strikes: this.#strikes },
    };
  }

  /** One process; true: all is done. */
  async #live(number: number): Promise<boolean> {
    const random = this.#random.fork(`life ${number}`);
    const process = new Process(this.#time, `life ${number}`, random.fork('process'));
    this.disk.isFull = false;
    const disk = new SimulatedStore(process, this.disk, random.fork('store'));
    disk.keepsRejected = () => this.point === 'commit rejected, on disk';
    // The crash before counts: a mode of a review that ended three processes is not begun again.
    const struck = this.earlier === undefined ? 2 : 1;
    this.#left = number <= struck ? random.int(1, 5) : 0;
    disk.onBoundary = (boundary) => this.#atBoundary(boundary, process);
    if (this.point === 'during restart' && number === struck)
      process.run(random.between(0, 12), () => {
        this.#strikes += 1;
        process.kill();
      });
    const life: Life = {
      ...{ process, store: this.#planted(disk, process), random: random.next, onEnd: [] },
    };
    let isDone = false;
    this.machine.live(life, this).then(
      () => (isDone = true),
      (error: unknown) => {
        this.lost.push(`life ${number} broke: ${asBusError(error).stack ?? ''}`);
        isDone = true;
      },
    );
    await this.#time.runUntil(this.#time.nowMs + lifeMs, () => isDone || !process.isAlive);
    // What is settled without a sync is written by now.
    if (process.isAlive) await this.#time.runUntil(this.#time.nowMs + 5_000, () => false);
    const isOver = process.isAlive;
    process.kill();
    for (const end of life.onEnd) end();
    if (!isOver && random.chance(0.5)) {
      this.disk.cutPower();
      this.#isCut = true;
    }
    return isOver;
  }

  #atBoundary(boundary: Boundary, process: Process): void {
    const { point, machine } = this;
    const reached = machine.isUnsynced === true ? 'written' : 'synced';
    const isKill =
      (point === 'before commit' && boundary === 'before') ||
      ((point === 'after commit, before adopt' || point === 'during restart') &&
        boundary === reached);
    if (isKill && this.#strikesNow()) process.kill();
    const isRejection = point.startsWith('commit rejected') && boundary === 'before';
    if (!isRejection || !this.#strikesNow()) return;
    this.disk.isFull = true;
    this.#isRefused = true;
    this.#time.schedule(fullMs, () => (this.disk.isFull = false));
  }

  #strikesNow(): boolean {
    const isNow = (this.#left -= 1) === 0;
    if (isNow) this.#strikes += 1;
    return isNow;
  }

  #planted(store: Store, process: Process): Store {
    const { plant } = this;
    if (plant === undefined || plant === 'settle without perform') return store;
    const divert = async (
      operations: Operation[],
      write: (operations: Operation[]) => Promise<void>,
    ): Promise<void> => {
      const isPut = operations.some(({ type }) => type === 'put');
      if (!isPut || (this.#plantIn -= 1) !== 0) return write(operations);
      if (plant === 'perform before persist')
        process.run(100, () => void write(operations).catch(() => undefined));
      return Promise.resolve();
    };
    return {
      get state() {
        return store.state;
      },
      get: (key) => store.get(key),
      getMany: (keys) => store.getMany(keys),
      entries: (range) => store.entries(range),
      keys: (range) => store.keys(range),
      hasRoom: (bytes) => store.hasRoom(bytes),
      commit: (operations) => divert(operations, (all) => store.commit(all)),
      write: (operations) => divert(operations, (all) => store.write(all)),
      onReopened: (listener) => store.onReopened(listener),
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  }
}

/** Until it is taken: a disk that fails is waited for, as a caller does. */
export async function insist<T>({ process }: Life, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (asBusError(error).code !== 'STORE_UNAVAILABLE') throw error;
      await process.pause(200);
    }
  }
}
