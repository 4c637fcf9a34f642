import { BoundedMap } from '../../base/bounded-map.js';
import { BusError } from '../../errors/bus-error.js';
import type { AssignmentEvent } from '../../delegation/manager/manager.machine.js';
import type { DelegatedTask } from '../../delegation/task/shapes.js';
import type { DurableParts } from '../../machine/outbox.js';
import { Records, type Change } from '../../machine/records.js';
import { deedPrefix, taskKey, taskNumbersKey, taskPrefix } from '../../store/keys.js';
import { damagedRecord } from '../../store/damaged.js';
import { del, put } from '../../store/operations.js';
import {
  advance,
  advanceAssignment,
  beginTask,
  isOver,
  stateOf,
  type Advanced,
  type SideEffect,
} from '../life/advance.js';
import { counted, noNumbers, type TaskNumbers } from '../numbers/numbers.js';
import { decodeRecord, encodeRecord, type TaskRecord } from '../life/record.js';
import { TaskIndex } from './task-index.js';
import type { TaskEvent, TimerName } from '../life/task.machine.js';
import type { Patch, Transition } from '../life/transition.js';
import type { TasksQuery } from '../requests/messages.js';

/** Time that a person has for a decision, a question or a block. */
export const decisionMs = 24 * 3_600_000;
/** Time that a worker has after a restart of the manager to renew its lease. */
const graceMs = 30_000;

/** Where a task stands: the owner of its queue, and the tasks above it. */
export interface Placement {
  owner: string;
  parent: string;
  depth: number;
  root: string;
}

export interface BookParts extends DurableParts {
  /**
   * Performs an effect once it is on disk: at least once, in order for each task, again when it throws. A second time must change nothing.
   */
  perform: (record: TaskRecord, effect: SideEffect) => Promise<void>;
  /** After each change of a record. */
  onChanged: (record: TaskRecord) => void;
  /** Called with the owners of finished tasks that were deleted. */
  onForgotten?: (owners: string[]) => void;
  /** Whether a critic reviews its result; decided once, when it is accepted. Absent: no task is reviewed. */
  isCritiqued?: (task: DelegatedTask) => boolean;
  limits?: Partial<BookLimits>;
}

const defaultLimits = {
  /** One more is refused TASKS_FULL. */
  openTasks: 10_000,
  /** Of finished tasks that are kept; the oldest are deleted. */
  finishedTasks: 10_000,
  finishedMs: 7 * 24 * 3_600_000,
};
type BookLimits = typeof defaultLimits;

/**
 * All tasks of a manager, durable. An event is stepped, its record and effects are written in one batch, and only then the effects are performed. Events of one task are handled one after the other.
 */
export class TaskBook implements AsyncDisposable {
  readonly #parts: BookParts;
  readonly #index: TaskIndex;
  readonly #records: Records<TaskRecord, SideEffect>;
  readonly #limits: BookLimits;
  #numbers: TaskNumbers = noNumbers;
  #changes = 0;
  /** Tasks that were counted as finished lately. */
  readonly #ended = new BoundedMap<string, true>(defaultLimits.openTasks);
  /** `order` of the last task that was accepted. */
  #order = 0;
  /** Tasks that are being written for the first time. */
  #beginning = 0;

  private constructor(parts: BookParts) {
    this.#parts = parts;
    this.#limits = { ...defaultLimits, ...parts.limits };
    this.#index = new TaskIndex(this.#limits);
    this.#records = new Records({
      ...parts,
      prefix: taskPrefix,
      idOf: ({ id }) => id,
      encode: encodeRecord,
      decode: decodeRecord,
      find: (id) => this.#find(id),
      adopt: ({ record }) => this.#adopt(record),
      outbox: { prefix: deedPrefix, perform: parts.perform },
      timers: { of: ({ timers }) => timers, due: this.#due },
    });
  }

  /** Reads what an earlier process left. Throws STORE_UNAVAILABLE. */
  static async open(parts: BookParts): Promise<TaskBook> {
    const book = new TaskBook(parts);
    await book.#read();
    return book;
  }

  /** Continues what an earlier process left: timers and pending effects. */
  resume(): void {
    this.#records.resume(this.#index.open());
  }

  /** All open tasks. */
  open(): TaskRecord[] {
    return this.#index.open();
  }

  /** Sums over all tasks that ever finished. */
  get numbers(): TaskNumbers {
    return this.#numbers;
  }

  /** Of all records, since this process has them. */
  get changes(): number {
    return this.#changes;
  }

  /** No record changes any more; a caller that waits for a change gives up. */
  get isClosed(): boolean {
    return this.#records.isClosed;
  }

  get openTasks(): number {
    return this.#index.openSize;
  }

  /** By state. */
  counts(): Map<string, number> {
    return this.#index.counts();
  }

  /** Accepts a task; on disk when this resolves. The same task a second time returns the known record. Throws TASK_EXISTS, TASKS_FULL, NO_SUCH_TASK (a dependency), STORE_UNAVAILABLE. */
  async begin(task: DelegatedTask, at: string | Placement): Promise<TaskRecord> {
    const place = typeof at === 'string' ? { owner: '', parent: at, depth: 0, root: '' } : at;
    const { owner, parent } = place;
    return this.#records.turn(task.id, async () => {
      const known = await this.#find(task.id);
      if (known !== undefined) {
        const isSame = known.parent === parent && known.owner === owner;
        if (!isSame || JSON.stringify(known.asked) !== JSON.stringify(task))
          throw new BusError('TASK_EXISTS', { task: task.id });
        return known;
      }
      const { openTasks, finishedTasks } = this.#limits;
      // Finished tasks exceed their limit while their results cannot be delivered.
      const isCrowded = this.#index.size + this.#beginning >= openTasks + finishedTasks;
      if (isCrowded || this.#index.openSize + this.#beginning >= openTasks)
        throw new BusError('TASKS_FULL', { limit: openTasks });
      for (const each of task.depends_on)
        if (!this.#index.has(each)) throw new BusError('NO_SUCH_TASK', { task: each });
      const nowMs = this.#parts.clock.nowMs();
      const { timeout_ms, attempts_max } = task.limits;
      const isQueued = owner !== '';
      const note = isQueued
        ? { at_ms: nowMs, state: 'queued', text: 'pushed' }
        : { at_ms: nowMs, state: 'pending', text: 'delegated' };
      this.#order += 1;
      const first = beginTask(
        {
          kind: 'task',
          version: 1,
          id: task.id,
          task,
          asked: task,
          ...place,
          failed_workers: [],
          response: null,
          reviews: [],
          iterations: [],
          error: null,
          asks: '',
          progress: '',
          notes: [note],
          reactions: [],
          ...{ gates: [], grants: [], findings: [] },
          ...{ order: this.#order, started_ms: 0, is_supervised: false, not_before_ms: 0 },
          created_ms: nowMs,
          updated_ms: nowMs,
          finished_ms: 0,
        },
        {
          ...{ timeoutMs: timeout_ms, triesMax: attempts_max, decisionMs, isQueued },
          isCritiqued: this.#parts.isCritiqued?.(task) === true,
        },
      );
      this.#beginning += 1;
      try {
        return await this.#records.write(this.#changeOf(first));
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

  /** Ids in the order in which they were delegated. Throws NO_SUCH_TASK of `after`. */
  list(query: TasksQuery): string[] {
    return this.#index.list(query);
  }

  stateOf(id: string): string | undefined {
    return this.#index.stateOf(id);
  }

  /** Summaries of all tasks, from memory. */
  get index(): Pick<
    TaskIndex,
    'summaryOf' | 'queueOf' | 'childrenOf' | 'treeSize' | 'openOne' | 'rows' | 'queues'
  > {
    return this.#index;
  }

  /** The task is over, and its result is not delivered yet. */
  isDelivering(id: string): boolean {
    return this.#records.outbox.has(id) && this.#index.openOne(id) === undefined;
  }

  /** Sends an event to a task. Throws NO_SUCH_TASK, TASK_STATE (not possible in its state), STORE_UNAVAILABLE. */
  send(id: string, event: TaskEvent, patch: Patch = {}): Promise<TaskRecord> {
    return this.#step(id, event.type, patch, (record, nowMs) => advance(record, event, nowMs));
  }

  /** Sends an event to the assignment with this fencing token. Throws STALE_ATTEMPT as well. */
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

  /** Sends the transition that `decide` computes from the record as it is when its turn comes. Throws what `decide` throws, too. */
  decide(
    id: string,
    what: string,
    decide: (record: TaskRecord) => Transition,
  ): Promise<TaskRecord> {
    return this.#step(id, what, {}, (record, nowMs) => {
      const { event, patch } = decide(record);
      return advance({ ...record, ...patch }, event, nowMs);
    });
  }

  /** Changes the sums without the end of a task; on disk when this resolves. Throws STORE_UNAVAILABLE. */
  async updateNumbers(change: (numbers: TaskNumbers) => TaskNumbers): Promise<void> {
    this.#numbers = change(this.#numbers);
    await this.#parts.store.commit([put(taskNumbersKey, this.#numbers)]);
  }

  /** Changes fields of a record but not its state. Throws NO_SUCH_TASK, STORE_UNAVAILABLE. */
  amend(id: string, patch: Patch | ((record: TaskRecord) => Patch)): Promise<TaskRecord> {
    return this.#step(id, 'amend', {}, (record, nowMs) => {
      const changed = typeof patch === 'function' ? patch(record) : patch;
      const { revision } = record;
      return {
        record: { ...record, ...changed, revision: revision + 1, updated_ms: nowMs },
        sideEffects: [],
      };
    });
  }

  /** Resolves when the revision is above this one, the task is over, the signal aborts, or the book is closed (see `isClosed`). */
  changed(id: string, revision: number, signal: AbortSignal): Promise<TaskRecord> {
    const isEnough = (record: TaskRecord): boolean => record.revision > revision || isOver(record);
    return this.#records.changed(id, () => this.get(id), isEnough, signal);
  }

  /** Effects being performed are finished; the rest waits for the next process. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#records[Symbol.asyncDispose]();
  }

  #step(
    id: string,
    what: string,
    patch: Patch,
    move: (record: TaskRecord, nowMs: number) => Advanced,
  ): Promise<TaskRecord> {
    return this.#records.turn(id, async () => {
      const record = { ...(await this.get(id)), ...patch };
      try {
        const change = this.#changeOf(move(record, this.#parts.clock.nowMs()));
        return await this.#records.write(change);
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

  #changeOf({ record, sideEffects }: Advanced): Change<TaskRecord, SideEffect> {
    if (!isOver(record)) return { record, effects: sideEffects };
    // Counted once, also when its last batch has to be written twice.
    if (!this.#ended.has(record.id)) this.#numbers = counted(this.#numbers, record);
    this.#ended.set(record.id, true);
    return { record, effects: sideEffects, more: [put(taskNumbersKey, this.#numbers)] };
  }

  #adopt(record: TaskRecord): void {
    this.#changes += 1;
    this.#index.remember(record);
    this.#parts.onChanged(record);
    if (isOver(record)) this.#forgetOld();
  }

  readonly #due = (
    record: TaskRecord,
    timer: string,
    nowMs: number,
  ): Change<TaskRecord, SideEffect> => {
    const timers = Object.fromEntries(
      Object.entries(record.timers).filter(([name]) => name !== timer),
    );
    const cleared: TaskRecord = { ...record, timers };
    return this.#changeOf(
      timer === 'lease'
        ? advanceAssignment(cleared, cleared.attempt, { type: 'lease.expired' }, nowMs)
        : advance(cleared, { type: 'timer.due', timer: timer as TimerName }, nowMs),
    );
  };

  async #find(id: string): Promise<TaskRecord | undefined> {
    const open = this.#index.openOne(id);
    if (open !== undefined || !this.#index.has(id)) return open;
    return this.#records.load(id);
  }

  /** Deletes finished tasks that are too old or too many. */
  #forgetOld(): void {
    // Its result is not delivered yet.
    const isNeeded = (id: string): boolean => this.#records.outbox.has(id);
    const old = this.#index.takeOld(this.#parts.clock.nowMs(), isNeeded);
    if (old.length === 0) return;
    const gone = old.map(({ id }) => del(taskKey(id)));
    this.#parts.onForgotten?.(old.map(({ owner }) => owner));
    void this.#parts.store.write(gone).catch(() => undefined);
  }

  async #read(): Promise<void> {
    const { store, clock, onTrouble } = this.#parts;
    const numbers = await store.get(taskNumbersKey);
    try {
      if (numbers !== undefined)
        this.#numbers = { ...noNumbers, ...(JSON.parse(numbers.toString()) as TaskNumbers) };
    } catch (error) {
      // Counting begins at zero again.
      onTrouble('', damagedRecord(taskNumbersKey, error));
    }
    const { records } = await this.#records.read();
    this.#order = records.reduce((last, { order }) => Math.max(last, order), 0);
    const nowMs = clock.nowMs();
    this.#index.load(records.map((record) => withGrace(record, nowMs)));
    this.#forgetOld();
  }
}

/** No worker could renew its lease while the manager was down. */
function withGrace(record: TaskRecord, nowMs: number): TaskRecord {
  const { lease } = record.timers;
  if (lease === undefined) return record;
  return { ...record, timers: { ...record.timers, lease: Math.max(lease, nowMs + graceMs) } };
}
