import type { Clock } from '../base/clock.js';
import type { BusError } from '../errors/bus-error.js';
import { unavailable } from './level-folder.js';
import type { Operation } from './port.js';

/**
 * Operations of one write to disk. Enough to share the cost of an fsync; with more, all callers wait for one
 * write, and nothing is encoded or answered while it is on its way.
 */
const groupOperationsMax = 256;
const groupBytesMax = 8 * 1024 * 1024;
/** A smaller group waits for the end of the turn, so that callers of one task share an fsync. */
const groupOperationsMin = 32;
/** Bytes that may wait for the disk before `hasRoom` says no. */
const waitingBytesMax = 64 * 1024 * 1024;

/** Takes the operations of one group as they come, and writes them together. */
export interface Batch {
  put(key: string, value: Buffer): unknown;
  del(key: string): unknown;
  write(options: { sync: boolean }): Promise<void>;
}

interface Group {
  batch: Batch;
  operations: number;
  bytes: number;
  /** An operation of the group needs fsync. */
  isSynced: boolean;
  done: Promise<void>;
  resolve: () => void;
  reject: (error: BusError) => void;
}

/**
 * Writes to one open database, or to a log: operations that come while a group is being written go into the
 * next one, in the order of the calls. All that ride together share one promise. Operations are encoded
 * when they are handed over, which overlaps with the fsync of the group before.
 *
 * A failure ends it: everything on board and waiting is rejected, and so is everything that follows.
 */
export class GroupCommit {
  readonly #newBatch: () => Batch;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #onFailed: (error: BusError) => void;
  /** Oldest first; the last one still takes riders. */
  #groups: Group[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | undefined;
  #failure: BusError | undefined;

  constructor(parts: {
    newBatch: () => Batch;
    path: string;
    clock: Clock;
    onFailed: (error: BusError) => void;
  }) {
    this.#newBatch = parts.newBatch;
    this.#path = parts.path;
    this.#clock = parts.clock;
    this.#onFailed = parts.onFailed;
  }

  /** See `Store.hasRoom`. */
  hasRoom(bytes: number): boolean {
    return this.#waitingBytes === 0 || this.#waitingBytes + bytes <= waitingBytesMax;
  }

  /** Rejects STORE_UNAVAILABLE; the rejection counts as handled without a listener. */
  add(operations: readonly Operation[], isSynced: boolean): Promise<void> {
    if (this.#failure !== undefined) return refused(this.#failure);
    if (operations.length === 0) return Promise.resolve();
    const bytes = bytesOf(operations);
    const group = this.#groupFor(operations.length, bytes);
    for (const each of operations) {
      if (each.type === 'put') group.batch.put(each.key, each.value);
      else group.batch.del(each.key);
    }
    group.operations += operations.length;
    group.bytes += bytes;
    group.isSynced ||= isSynced;
    this.#waitingBytes += bytes;
    this.#running ??= this.#run();
    return group.done;
  }

  /** Resolves when nothing is on its way, however it ended. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #groupFor(operations: number, bytes: number): Group {
    const last = this.#groups.at(-1);
    const isRoomy =
      last !== undefined &&
      last.operations + operations <= groupOperationsMax &&
      last.bytes + bytes <= groupBytesMax;
    if (isRoomy) return last;
    const group = newGroup(this.#newBatch());
    this.#groups.push(group);
    return group;
  }

  async #run(): Promise<void> {
    while (this.#groups.length > 0) {
      // Callers released by the last write return in this turn: together they cost one fsync.
      const [first] = this.#groups;
      if (this.#groups.length === 1 && (first?.operations ?? 0) < groupOperationsMin)
        await this.#clock.turn();
      const group = this.#groups.shift();
      if (group === undefined) break;
      try {
        // `sync` is false by default: a power cut would lose what was acknowledged.
        await group.batch.write({ sync: group.isSynced });
      } catch (error) {
        this.#fail([group, ...this.#groups], unavailable(this.#path, error));
        break;
      }
      this.#waitingBytes -= group.bytes;
      group.resolve();
    }
    this.#running = undefined;
  }

  #fail(groups: Group[], error: BusError): void {
    this.#failure = error;
    this.#groups = [];
    // First, so that a listener finds the store in the state `failed`.
    this.#onFailed(error);
    for (const each of groups) each.reject(error);
  }
}

/** Marks a rejection as handled. */
export function refused(error: BusError): Promise<never> {
  const rejection = Promise.reject(error);
  rejection.catch(ignore);
  return rejection;
}

const ignore = (): void => undefined;

function newGroup(batch: Batch): Group {
  let resolve: () => void = () => undefined;
  let reject: (error: BusError) => void = () => undefined;
  const done = new Promise<void>((onDone, onFailed) => {
    resolve = onDone;
    reject = onFailed;
  });
  done.catch(ignore);
  return { batch, operations: 0, bytes: 0, isSynced: false, done, resolve, reject };
}

export function bytesOf(operations: readonly Operation[]): number {
  let bytes = 0;
  for (const each of operations)
    bytes += each.key.length + (each.type === 'put' ? each.value.length : 0);
  return bytes;
}
