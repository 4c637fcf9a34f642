import { backoffMs } from '../base/backoff.js';
import { BoundedMap } from '../base/bounded-map.js';
import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import type { AssignmentEvent } from '../delegation/manager.machine.js';
import type { DelegatedTask } from '../delegation/shapes.js';
import { deedKey, deedPrefix, taskKey, taskNumbersKey, taskPrefix } from '../store/keys.js';
import { damagedRecord } from '../store/damaged.js';
import type { Operation, Store } from '../store/port.js';
import {
  advance,
  advanceAssignment,
  begun,
  isOver,
  stateOf,
  type Advanced,
  type Deed,
} from './advance.js';
import { counted, noNumbers, type TaskNumbers } from './numbers.js';
import { decodeRecord, encodeRecord, type TaskRecord } from './record.js';
import { Finished } from './retention.js';
import type { TaskEvent, TimerName } from './task.machine.js';

/** Tasks that are not finished. */
export const openTasksMax = 10_000;
/** Finished ones that are kept, and for how long. */
export const finishedTasksMax = 10_000;
export const finishedMsMax = 7 * 24 * 3_600_000;
/** How long a person may take over a decision, a question or a block. */
export const decisionMs = 24 * 3_600_000;
/** A worker that had a task when the manager ended has so long to say that it still does. */
const graceMs = 30_000;
const deedBackoff = { baseMs: 200, capMs: 30_000 };
/** What fell due and could not be written is tried again after this. */
const timerRetryMs = 1_000;

/** What an event changes beside the state. */
export type Patch = Partial<
  Pick<
    TaskRecord,
    'task' | 'failed_workers' | 'response' | 'reviews' | 'error' | 'asks' | 'progress' | 'reactions'
  >
>;

export interface BookParts {
  store: Store;
  clock: Clock;
  random: () => number;
  /**
   * Does what a record asks for, when that is on disk; at least once, in order for each task. A throw has it tried again:
   * whatever it does must be such that a second time changes nothing.
   */
  perform: (record: TaskRecord, deed: Deed) => Promise<void>;
  /** After each change of a record. */
  onKept: (record: TaskRecord) => void;
  onTrouble: (id: string, error: unknown) => void;
  limits?: Partial<BookLimits>;
}

export interface BookLimits {
  openTasks: number;
  finishedTasks: number;
  finishedMs: number;
}

const defaultLimits: BookLimits = {
  openTasks: openTasksMax,
  finishedTasks: finishedTasksMax,
  finishedMs: finishedMsMax,
};

/** What is known of each task without a look at the disk. */
interface Line {
  id: string;
  state: string;
  parent: string;
  created_ms: number;
  finished_ms: number;
  dependsOn: readonly string[];
}

interface Pending {
  key: string;
  deed: Deed;
}

interface Doubt {
  bytes: Buffer;
  record: TaskRecord;
  pending: readonly Pending[];
}

/**
 * All tasks of a manager, durable: an event is stepped, its outcome and what follows from it are on disk in one batch,
 * and only then anything is done. Events of one task come one after the other.
 */
export class TaskBook implements AsyncDisposable {
  readonly #parts: BookParts;
  readonly #lines = new Map<string, Line>();
  readonly #open = new Map<string, TaskRecord>();
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #deeds = new Map<string, Pending[]>();
  readonly #doing = new Map<string, Promise<void>>();
  readonly #timers = new Map<string, Disposable>();
  readonly #waiters = new Map<string, Set<() => void>>();
  /** Of commits that failed: at most those that were under way at once. */
  readonly #doubts = new Map<string, Doubt>();
  readonly #closing = new AbortController();
  readonly #limits: BookLimits;
  readonly #finished: Finished;
  #reopened: Disposable | undefined;
  #nextDeed = 0;
  #numbers: TaskNumbers = noNumbers;
  /** Tasks that were counted as finished, of late. */
  readonly #ended = new BoundedMap<string, true>(openTasksMax);
  #isResumed = false;
  /** Tasks that are on their way to the disk. */
  #beginning = 0;

  private constructor(parts: BookParts) {
    this.#parts = parts;
    this.#limits = { ...defaultLimits, ...parts.limits };
    this.#finished = new Finished(this.#limits);
  }

  /** Reads what an earlier process left. Throws STORE_UNAVAILABLE. */
  static async open(parts: BookParts): Promise<TaskBook> {
    const book = new TaskBook(parts);
    await book.#read();
    book.#reopened = parts.store.onReopened(() => {
      for (const id of book.#doubts.keys())
        book
          .#inTurn(id, () => book.#settleDoubt(id))
          .catch((error: unknown) => parts.onTrouble(id, error));
    });
    return book;
  }

  /** Goes on with what an earlier process left. */
  resume(): void {
    this.#isResumed = true;
    for (const record of this.#open.values()) this.#arm(record);
    for (const id of this.#deeds.keys()) this.#work(id);
  }

  /** All that are not finished. */
  open(): TaskRecord[] {
    return [...this.#open.values()];
  }

  /** Sums over all that were ever finished. */
  get numbers(): TaskNumbers {
    return this.#numbers;
  }

  /** Nothing changes any more: who waits for a change gives up. */
  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  get openTasks(): number {
    return this.#open.size;
  }

  /** By state. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { state } of this.#lines.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
    return counts;
  }

  /** Accepts a task; on disk when this resolves. The same task again is the same task. Throws TASK_EXISTS, TASKS_FULL, NO_SUCH_TASK of a dependency. */
  async begin(task: DelegatedTask, parent: string): Promise<TaskRecord> {
    return this.#inTurn(task.id, async () => {
      await this.#settleDoubt(task.id);
      const known = await this.#find(task.id);
      if (known !== undefined) {
        if (known.parent !== parent || JSON.stringify(known.asked) !== JSON.stringify(task))
          throw new BusError('TASK_EXISTS', { task: task.id });
        return known;
      }
      const { openTasks, finishedTasks } = this.#limits;
      // Finished ones are more than their limit while nobody can be told of their end.
      const isCrowded = this.#lines.size + this.#beginning >= openTasks + finishedTasks;
      if (isCrowded || this.#open.size + this.#beginning >= openTasks)
        throw new BusError('TASKS_FULL', { limit: openTasks });
      for (const each of task.depends_on)
        if (!this.#lines.has(each)) throw new BusError('NO_SUCH_TASK', { task: each });
      const nowMs = this.#parts.clock.nowMs();
      const { timeout_ms, attempts_max } = task.limits;
      const first = begun(
        {
          kind: 'task',
          version: 1,
          id: task.id,
          task,
          asked: task,
          parent,
          failed_workers: [],
          response: null,
          reviews: [],
          error: null,
          asks: '',
          progress: '',
          notes: [{ at_ms: nowMs, state: 'pending', text: 'delegated' }],
          reactions: [],
          created_ms: nowMs,
          updated_ms: nowMs,
          finished_ms: 0,
        },
        { timeoutMs: timeout_ms, triesMax: attempts_max, decisionMs },
      );
      this.#beginning += 1;
      try {
        return await this.#keep(first);
      } finally {
        this.#beginning -= 1;
      }
    });
  }

  /** Throws NO_SUCH_TASK. */
  async get(id: string): Promise<TaskRecord> {
    const record = await this.#find(id);
    if (record === undefined) throw new BusError('NO_SUCH_TASK', { task: id });
    return record;
  }

  /** Ids in the order in which they were delegated, at most `limit`, behind `after`. Throws NO_SUCH_TASK of `after`. */
  list(query: {
    states: readonly string[];
    parent: string;
    after: string;
    limit: number;
  }): string[] {
    const { states, parent, after, limit } = query;
    // Forgotten by now: an empty page would look like the end.
    if (after !== '' && !this.#lines.has(after))
      throw new BusError('NO_SUCH_TASK', { task: after });
    const ids: string[] = [];
    let isBehind = after === '';
    for (const line of this.#lines.values()) {
      if (!isBehind) {
        isBehind = line.id === after;
        continue;
      }
      if (states.length > 0 && !states.includes(line.state)) continue;
      if (parent !== '' && line.parent !== parent) continue;
      ids.push(line.id);
      if (ids.length >= limit) break;
    }
    return ids;
  }

  stateOf(id: string): string | undefined {
    return this.#lines.get(id)?.state;
  }

  /** Open tasks that this one holds up. */
  dependantsOf(id: string): string[] {
    return [...this.#open.keys()].filter((each) => this.#lines.get(each)?.dependsOn.includes(id));
  }

  /** Open tasks that a worker has. */
  assignedTo(worker: string): TaskRecord[] {
    return [...this.#open.values()].filter(
      ({ assignment }) => assignment?.worker === worker && assignment.snapshot.status === 'active',
    );
  }

  /** One event of a task. Throws NO_SUCH_TASK, TASK_STATE (not possible in its state), STORE_UNAVAILABLE. */
  send(id: string, event: TaskEvent, patch: Patch = {}): Promise<TaskRecord> {
    return this.#step(id, event.type, patch, (record, nowMs) => advance(record, event, nowMs));
  }

  /** One event of the assignment with this fencing token. Throws STALE_ATTEMPT as well. */
  sendAssignment(
    id: string,
    attempt: number,
    event: AssignmentEvent,
    patch: Patch = {},
  ): Promise<TaskRecord> {
    return this.#step(id, event.type, patch, (record, nowMs) =>
      advanceAssignment(record, attempt, event, nowMs),
    );
  }

  /** What changes nothing about its state. Throws NO_SUCH_TASK, STORE_UNAVAILABLE. */
  amend(id: string, patch: Patch): Promise<TaskRecord> {
    return this.#step(id, 'amend', patch, (record, nowMs) => ({
      record: { ...record, revision: record.revision + 1, updated_ms: nowMs },
      deeds: [],
    }));
  }

  /** Resolves when the revision is above this one, the task is over, the signal is given, or the book is closed: see `isClosed`. */
  async changed(id: string, revision: number, signal: AbortSignal): Promise<TaskRecord> {
    for (;;) {
      const record = await this.get(id);
      const isEnough = record.revision > revision || isOver(record);
      if (isEnough || signal.aborted || this.isClosed) return record;
      // It changed while it was read: nobody would wake this one.
      if (this.#open.get(id) !== record) continue;
      await new Promise<void>((resolve) => {
        const waiters = this.#waiters.get(id) ?? new Set();
        const wake = (): void => {
          waiters.delete(wake);
          if (waiters.size === 0) this.#waiters.delete(id);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiters.set(id, waiters.add(wake));
        signal.addEventListener('abort', wake, { once: true });
      });
    }
  }

  /** What is under way is finished; the rest waits for the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#reopened?.[Symbol.dispose]();
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    for (const waiters of this.#waiters.values()) for (const wake of [...waiters]) wake();
    await Promise.allSettled([...this.#turns.values(), ...this.#doing.values()]);
  }

  async #step(
    id: string,
    what: string,
    patch: Patch,
    move: (record: TaskRecord, nowMs: number) => Advanced,
  ): Promise<TaskRecord> {
    return this.#inTurn(id, async () => {
      await this.#settleDoubt(id);
      const record = { ...(await this.get(id)), ...patch };
      try {
        return await this.#keep(move(record, this.#parts.clock.nowMs()));
      } catch (error) {
        if (error instanceof BusError && error.code === 'PROTOCOL_UNEXPECTED_EVENT')
          throw new BusError(
            'TASK_STATE',
            { task: id, state: stateOf(record), what },
            { cause: error },
          );
        throw error;
      }
    });
  }

  /** On disk first; only then it is true. */
  async #keep({ record, deeds }: Advanced): Promise<TaskRecord> {
    const { id } = record;
    const pending = deeds.map((deed): Pending => {
      this.#nextDeed += 1;
      return { key: deedKey(id, this.#nextDeed), deed };
    });
    const { store } = this.#parts;
    const bytes = encodeRecord(record);
    const isServing = store.state === 'serving';
    const isEnd = isOver(record) && !this.#ended.has(id);
    if (isEnd) this.#count(record);
    const written = store.commit([
      { type: 'put', key: taskKey(id), value: bytes },
      // Also when it was counted by a batch that failed.
      ...(isOver(record) ? [numbersOperation(this.#numbers)] : []),
      ...pending.map(({ key, deed }): Operation => ({
        type: 'put',
        key,
        value: Buffer.from(JSON.stringify(deed)),
      })),
    ]);
    try {
      await written;
    } catch (error) {
      if (isServing) this.#doubts.set(id, { bytes, record, pending });
      throw error;
    }
    this.#adopt(record, pending);
    return record;
  }

  /** Once, also when its last batch had to be written twice. */
  #count(record: TaskRecord): void {
    this.#ended.set(record.id, true);
    this.#numbers = counted(this.#numbers, record);
  }

  /** What was rejected while it was being written may be on disk all the same: then it is true. */
  async #settleDoubt(id: string): Promise<void> {
    const doubt = this.#doubts.get(id);
    if (doubt === undefined) return;
    const found = await this.#parts.store.get(taskKey(id));
    this.#doubts.delete(id);
    if (found?.equals(doubt.bytes)) this.#adopt(doubt.record, doubt.pending);
  }

  #adopt(record: TaskRecord, pending: readonly Pending[]): void {
    const { id } = record;
    this.#remember(record);
    if (pending.length > 0) this.#deeds.set(id, [...(this.#deeds.get(id) ?? []), ...pending]);
    if (isOver(record)) this.#forgetOld();
    this.#parts.onKept(record);
    this.#work(id);
    for (const wake of [...(this.#waiters.get(id) ?? [])]) wake();
  }

  #remember(record: TaskRecord): void {
    const { id, parent, created_ms, finished_ms, task } = record;
    const line = { id, parent, created_ms, finished_ms, dependsOn: task.depends_on };
    this.#lines.set(id, { ...line, state: stateOf(record) });
    if (isOver(record)) {
      this.#open.delete(id);
      this.#finished.add(id, finished_ms);
    } else this.#open.set(id, record);
    this.#arm(record);
  }

  /** One timer a task: the earliest of its own. */
  #arm({ id, timers }: TaskRecord): void {
    this.#timers.get(id)?.[Symbol.dispose]();
    this.#timers.delete(id);
    if (this.#closing.signal.aborted || !this.#isResumed) return;
    const [first] = Object.entries(timers).sort(([, a], [, b]) => a - b);
    if (first === undefined) return;
    const [name, atMs] = first as [TimerName, number];
    const { clock } = this.#parts;
    this.#timers.set(
      id,
      clock.after(atMs - clock.nowMs(), () => void this.#due(id, name)),
    );
  }

  async #due(id: string, timer: TimerName): Promise<void> {
    try {
      await this.#step(id, timer, {}, (record, nowMs) => {
        // It was set anew or cleared while this waited for its turn.
        const atMs = record.timers[timer];
        if (atMs === undefined || atMs > nowMs) return { record, deeds: [] };
        const cleared: TaskRecord = {
          ...record,
          timers: Object.fromEntries(
            Object.entries(record.timers).filter(([name]) => name !== timer),
          ),
        };
        return timer === 'lease'
          ? advanceAssignment(cleared, cleared.attempt, { type: 'lease.expired' }, nowMs)
          : advance(cleared, { type: 'timer.due', timer }, nowMs);
      });
    } catch (error) {
      this.#parts.onTrouble(id, error);
      // Nothing else would ever wake it.
      await this.#pause(timerRetryMs);
      const record = this.#open.get(id);
      if (record !== undefined) this.#arm(record);
    }
  }

  /** Does what is to be done for one task, in order. */
  #work(id: string): void {
    if (this.#doing.has(id) || this.#closing.signal.aborted || !this.#isResumed) return;
    const doing = this.#doAll(id).finally(() => {
      this.#doing.delete(id);
      if ((this.#deeds.get(id)?.length ?? 0) > 0) this.#work(id);
    });
    this.#doing.set(id, doing);
  }

  async #doAll(id: string): Promise<void> {
    for (;;) {
      const [next] = this.#deeds.get(id) ?? [];
      if (next === undefined) {
        this.#deeds.delete(id);
        return;
      }
      if (!(await this.#do(id, next))) return;
      const rest = (this.#deeds.get(id) ?? []).slice(1);
      if (rest.length === 0) this.#deeds.delete(id);
      else this.#deeds.set(id, rest);
      // Not synced: done twice is as good as once.
      await this.#parts.store.write([{ type: 'del', key: next.key }]).catch(() => undefined);
    }
  }

  /** Until it is done; false: this process ends first. */
  async #do(id: string, { deed }: Pending): Promise<boolean> {
    const { random, perform, onTrouble } = this.#parts;
    for (let attempt = 0; !this.#closing.signal.aborted; attempt += 1) {
      try {
        const record = await this.#find(id);
        // Of a record that was damaged, nothing can be done.
        if (record === undefined) return true;
        await perform(record, deed);
        return true;
      } catch (error) {
        onTrouble(id, error);
      }
      await this.#pause(backoffMs(deedBackoff, attempt, random()));
    }
    return false;
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        timer[Symbol.dispose]();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.#parts.clock.after(ms, end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  async #find(id: string): Promise<TaskRecord | undefined> {
    const open = this.#open.get(id);
    if (open !== undefined || !this.#lines.has(id)) return open;
    const bytes = await this.#parts.store.get(taskKey(id));
    return bytes && decodeRecord(bytes);
  }

  /** One after the other for each task. */
  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(id) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.catch(() => undefined);
    this.#turns.set(id, settled);
    void settled.then(() => {
      if (this.#turns.get(id) === settled) this.#turns.delete(id);
    });
    return mine;
  }

  /** What is finished, and too old or too many. */
  #forgetOld(): void {
    // What others still wait for is asked for its state; and whoever waits for its end has not heard of it.
    const isNeeded = (id: string): boolean =>
      this.#deeds.has(id) || this.dependantsOf(id).length > 0;
    const old = this.#finished.take(this.#parts.clock.nowMs(), isNeeded);
    if (old.length === 0) return;
    for (const id of old) this.#lines.delete(id);
    const gone = old.map((id): Operation => ({ type: 'del', key: taskKey(id) }));
    void this.#parts.store.write(gone).catch(() => undefined);
  }

  async #read(): Promise<void> {
    const { store, clock, onTrouble } = this.#parts;
    const records: TaskRecord[] = [];
    const numbers = await store.get(taskNumbersKey);
    try {
      if (numbers !== undefined)
        this.#numbers = { ...noNumbers, ...(JSON.parse(numbers.toString()) as TaskNumbers) };
    } catch (error) {
      // Sums over what was; they are counted from nothing again.
      onTrouble('', damagedRecord(taskNumbersKey, error));
    }
    for await (const [key, bytes] of store.entries({ prefix: taskPrefix })) {
      try {
        records.push(decodeRecord(bytes));
      } catch (error) {
        onTrouble(key.slice(taskPrefix.length), damagedRecord(key, error));
      }
    }
    for await (const [key, bytes] of store.entries({ prefix: deedPrefix })) {
      const [id = '', n = ''] = key.slice(deedPrefix.length).split('/');
      this.#nextDeed = Math.max(this.#nextDeed, Number.parseInt(n, 16));
      try {
        const deed = JSON.parse(bytes.toString()) as Deed;
        this.#deeds.set(id, [...(this.#deeds.get(id) ?? []), { key, deed }]);
      } catch (error) {
        onTrouble(id, damagedRecord(key, error));
      }
    }
    // Only now: what falls due at once adds to what is to be done.
    const nowMs = clock.nowMs();
    for (const record of records.sort((a, b) => a.created_ms - b.created_ms)) {
      const { lease } = record.timers;
      // Nobody could say that it was alive while nobody listened.
      const timers =
        lease === undefined
          ? record.timers
          : { ...record.timers, lease: Math.max(lease, nowMs + graceMs) };
      this.#remember({ ...record, timers });
    }
    this.#finished.load(records.filter((record) => isOver(record)));
    this.#forgetOld();
  }
}

function numbersOperation(numbers: TaskNumbers): Operation {
  return { type: 'put', key: taskNumbersKey, value: Buffer.from(JSON.stringify(numbers)) };
}
