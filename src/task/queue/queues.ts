import { KeyedMutex } from '../../base/keyed-mutex.js';
import { failureOf } from '../../delegation/worker/task-response.js';
import type { DelegatedTask, TaskFailure } from '../../delegation/task/shapes.js';
import { asBusError, BusError, type ErrorData } from '../../errors/bus-error.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { damagedRecord } from '../../store/damaged.js';
import { queueKey, queuePrefix } from '../../store/keys.js';
import { del, put } from '../../store/operations.js';
import type { Store } from '../../store/port.js';
import { hasAgent, stateOf } from '../life/advance.js';
import type { Placement, TaskBook } from '../book/book.js';
import type { QueueAnswer, QueueRow, Run, RunAnswer } from '../requests/messages.js';
import { statusOf } from './queue.js';
import { QueueTurns } from './queue-turns.js';
import type { TaskRecord } from '../life/record.js';
import type { TaskEvent } from '../life/task.machine.js';
import type { TaskSummary } from '../book/task-index.js';

/** Limits of pushing. `depthMax`: levels below the first task; `queueMax`: open tasks of one owner; `treeMax`: tasks below one root, finished ones included. */
export interface QueueLimits {
  depthMax: number;
  queueMax: number;
  treeMax: number;
}
export const queueLimits: QueueLimits = { depthMax: 1, queueMax: 64, treeMax: 256 };
/** Starts (`/run`) that are kept of one owner; beyond it the oldest is dropped. */
const runsMax = 64;
/** Queues whose settings are kept; beyond it those without tasks are dropped. */
const queuesMax = 10_000;
/** Finished rows in one answer, the latest. */
const overRowsMax = 200;
/** Delegated tasks (never in the queue) in one answer, the latest. */
const delegatedRowsMax = 200;

/** One start under its key: the same key again returns the same answer. */
interface KeptRun {
  key: string;
  timeout_ms: number;
  supervised: boolean;
  answer: RunAnswer;
}

interface Settings {
  /** 0: no limit. */
  concurrency: number;
  supervised: boolean;
  runs: KeptRun[];
}

const noSettings: Settings = { concurrency: 0, supervised: false, runs: [] };

export interface QueuesParts {
  store: Store;
  limits?: { [Limit in keyof QueueLimits]?: number | undefined };
  onTrouble: (owner: string, error: unknown) => void;
}

/** The queues of agents over the tasks of a book: limits of pushing, starts, and tasks that end with their parent. */
export class Queues {
  readonly #parts: QueuesParts;
  readonly #limits: QueueLimits;
  readonly #settings = new Map<string, Settings>();
  /** Pushes below one task, or of one owner, one after the other: each is counted before the next is. */
  readonly #pushing = new KeyedMutex();
  readonly #running = new KeyedMutex();
  readonly #turns = new QueueTurns((owner) => this.#settings.get(owner)?.concurrency ?? 0);
  #book: TaskBook | undefined;

  private constructor(parts: QueuesParts) {
    this.#parts = parts;
    const { depthMax, queueMax, treeMax } = queueLimits;
    const { limits = {} } = parts;
    this.#limits = {
      depthMax: limits.depthMax ?? depthMax,
      queueMax: limits.queueMax ?? queueMax,
      treeMax: limits.treeMax ?? treeMax,
    };
  }

  /** Reads what an earlier process left. Throws STORE_UNAVAILABLE. */
  static async open(parts: QueuesParts): Promise<Queues> {
    const queues = new Queues(parts);
    for await (const [key, bytes] of parts.store.entries({ prefix: queuePrefix })) {
      const owner = key.slice(queuePrefix.length);
      try {
        queues.#settings.set(owner, JSON.parse(bytes.toString()) as Settings);
      } catch (error) {
        parts.onTrouble(owner, damagedRecord(key, error));
      }
    }
    return queues;
  }

  attach(book: TaskBook): void {
    this.#book = book;
    for (const record of book.open()) if (hadTurn(record)) this.#turns.restore(record);
  }

  /** Completes what an earlier process had begun: promised starts, and cancellations below finished tasks. */
  async resume(): Promise<void> {
    for (const { runs } of this.#settings.values())
      for (const run of runs) await this.#release(run);
    for (const { id, owner, parent } of this.attachedBook().open())
      if (this.isOver(owner) || this.isOver(parent))
        await this.#cancel(id, 'PARENT_OVER', { parent });
  }

  /**
   * Puts a task into the queue of `owner`, or of the owner's parent. The same task again returns the known record. `enrol` registers its agent on the bus before it is accepted. Throws NAME_TAKEN, QUEUE_FULL, TREE_FULL, SPAWN_DEPTH, PARENT_OVER, what
   * `enrol` throws, and as `TaskBook.begin`.
   */
  push(
    { task, owner, to_parent }: { task: DelegatedTask; owner: string; to_parent: boolean },
    enrol: (id: string) => Promise<void>,
  ): Promise<TaskRecord> {
    const heir = to_parent ? (this.summaryOfAgent(owner)?.parent ?? owner) : owner;
    return this.#begin(task, { owner: heir, parent: heir }, enrol, () => {
      const place = this.#placeIn(owner, to_parent);
      this.#checkQueue(place.owner, task);
      return place;
    });
  }

  /** Accepts a task outside a queue. Throws TREE_FULL, SPAWN_DEPTH, PARENT_OVER, what `enrol` throws, and as `TaskBook.begin`. */
  delegate(
    task: DelegatedTask,
    parent: string,
    enrol: (id: string) => Promise<void>,
  ): Promise<TaskRecord> {
    const own = { owner: '', parent };
    return this.#begin(task, own, enrol, () => ({ ...this.#placeIn(parent, false), owner: '' }));
  }

  /** Starts queued tasks, oldest first, once under its key. On disk before a task is started. Throws STORE_UNAVAILABLE. */
  run(owner: string, run: Omit<Run, 'owner'>): Promise<RunAnswer> {
    return this.#running.run(owner, async () => {
      const before = this.#settings.get(owner) ?? noSettings;
      const known = run.key === '' ? undefined : before.runs.find(({ key }) => key === run.key);
      const planned = known ?? this.#planned(owner, run);
      const { answer } = planned;
      const concurrency = run.concurrency || before.concurrency;
      const running = Math.min(answer.running, concurrency || Infinity);
      const kept = known ?? { ...planned, answer: { ...answer, running } };
      if (known === undefined) {
        const isGoingOn = answer.running > answer.started.length;
        await this.store(owner, {
          concurrency,
          supervised: run.supervised || (before.supervised && isGoingOn),
          runs: [...before.runs, kept].slice(-runsMax),
        });
      }
      await this.#release(kept);
      return kept.answer;
    });
  }

  /** The queue of an owner, with the tasks that it delegated: their results are awaited as well. */
  view(owner: string): QueueAnswer {
    const { concurrency, supervised } = this.#settings.get(owner) ?? noSettings;
    const line = this.summaryOfAgent(owner);
    const { index: lines } = this.attachedBook();
    const isQueued = line !== undefined && line.owner !== '';
    const siblings = isQueued ? this.#rows(lines.queueOf(line.owner)) : [];
    return {
      owner,
      rows: this.#rows(line === undefined ? this.summariesOf(owner) : lines.childrenOf(owner)),
      parent: line?.parent ?? '',
      siblings: siblings.filter(({ id }) => id !== owner),
      ...{ concurrency, supervised },
    };
  }

  /** Resolves when a started task may go on. Throws CANCELLED. */
  turn({ id, owner, order }: TaskRecord, signal: AbortSignal): Promise<void> {
    return owner === '' ? Promise.resolve() : this.#turns.turn({ id, owner, order }, signal);
  }

  /** After each change of a record. */
  taskChanged(record: TaskRecord): void {
    if (record.owner !== '' && statusOf(stateOf(record)) === 'finished')
      this.#turns.release(record);
  }

  /** Cancels what ends with a task: all tasks below it, and in a supervised queue its siblings if it failed. */
  async taskEnded(record: TaskRecord): Promise<void> {
    const { index: lines } = this.attachedBook();
    const { id, owner, is_supervised } = record;
    await this.#endBelow(record);
    if (!is_supervised || !['not_done', 'failed', 'halted', 'timed_out'].includes(stateOf(record)))
      return;
    for (const other of lines.queueOf(owner).filter(isOpen))
      await this.#cancel(other.id, 'SIBLING_FAILED', { task: id });
  }

  /** Before another attempt: tasks of earlier attempts are cancelled, for the new attempt does not know them. */
  async attemptStarting(record: TaskRecord): Promise<void> {
    if (record.attempt > 0) await this.#endBelow(record);
  }

  /** Drops the settings of owners without tasks. */
  forget(owners: Iterable<string>): void {
    const gone = [...new Set(owners)].filter(
      (owner) => this.#settings.has(owner) && this.#isUnused(owner),
    );
    for (const owner of gone) this.#settings.delete(owner);
    const operations = gone.map((owner) => del(queueKey(owner)));
    if (gone.length > 0) void this.#parts.store.write(operations).catch(() => undefined);
  }

  async #begin(
    task: DelegatedTask,
    { owner, parent }: Pick<Placement, 'owner' | 'parent'>,
    enrol: (id: string) => Promise<void>,
    place: () => Placement,
  ): Promise<TaskRecord> {
    const book = this.attachedBook();
    const root = this.summaryOfAgent(parent)?.root || parent;
    return this.#pushing.run(root, async () => {
      const known = book.index.summaryOf(task.id);
      // A known task keeps its place, even if its parent is over by now.
      if (known !== undefined)
        return book.begin(task, { owner, parent, depth: known.depth, root: known.root });
      const at = place();
      if (hasAgent({ ...at, task })) await enrol(task.id);
      const record = await book.begin(task, at);
      // The parent ended while this task was being written: no other code cancels it.
      if (!this.isOver(at.parent) && !this.isOver(at.owner)) return record;
      await this.#cancel(task.id, 'PARENT_OVER', { parent: at.parent });
      throw new BusError('PARENT_OVER', { parent: at.parent });
    });
  }

  /** Throws PARENT_OVER, SPAWN_DEPTH, TREE_FULL. */
  #placeIn(asker: string, isToParent: boolean): Placement {
    const task = this.summaryOfAgent(asker);
    if (task === undefined) return { owner: asker, parent: asker, depth: 0, root: '' };
    if (this.isOver(asker)) throw new BusError('PARENT_OVER', { parent: asker });
    if (isToParent) {
      const { parent, depth, root } = task;
      if (this.isOver(parent)) throw new BusError('PARENT_OVER', { parent });
      if (this.summaryOfAgent(parent) === undefined)
        return { owner: parent, parent, depth: 0, root: '' };
      this.#checkTree(root);
      return { owner: parent, parent, depth, root };
    }
    const { depthMax: limit } = this.#limits;
    const { depth } = task;
    if (depth >= limit) throw new BusError('SPAWN_DEPTH', { depth, limit });
    const root = task.root || task.id;
    this.#checkTree(root);
    return { owner: asker, parent: asker, depth: depth + 1, root };
  }

  #checkTree(root: string): void {
    const { treeMax: limit } = this.#limits;
    if (this.attachedBook().index.treeSize(root) >= limit)
      throw new BusError('TREE_FULL', { root, limit });
  }

  /** Throws NAME_TAKEN, QUEUE_FULL. */
  #checkQueue(owner: string, { name }: DelegatedTask): void {
    const { queueMax: limit } = this.#limits;
    const open = this.attachedBook()
      .index.queueOf(owner)
      .filter(({ state }) => statusOf(state) !== 'finished');
    const isTaken = open.some((each) => each.name === name || each.id === name);
    if (name !== '' && (isTaken || name === 'parent'))
      throw new BusError('NAME_TAKEN', { owner, name });
    if (open.length >= limit) throw new BusError('QUEUE_FULL', { owner, limit });
  }

  #planned(owner: string, { key, count, timeout_ms, supervised }: Omit<Run, 'owner'>): KeptRun {
    const open = this.attachedBook()
      .index.queueOf(owner)
      .filter(({ state }) => statusOf(state) !== 'finished');
    const queued = open.filter(({ state }) => state === 'queued');
    const started = queued.slice(0, count || queued.length).map(({ id }) => id);
    const running = open.length - queued.length + started.length;
    const answer = { started, queued: queued.length - started.length, running };
    return { key, timeout_ms, supervised, answer };
  }

  async #release({ timeout_ms, supervised, answer }: KeptRun): Promise<void> {
    const book = this.attachedBook();
    for (const id of answer.started) {
      if (book.stateOf(id) !== 'queued') continue;
      await book
        .decide(id, 'run', ({ task }) => ({
          event: { type: 'task.released', timeoutMs: timeout_ms },
          patch: {
            is_supervised: supervised,
            ...(timeout_ms > 0 && { task: { ...task, limits: { ...task.limits, timeout_ms } } }),
          },
        }))
        .catch(ignoreIfOver);
    }
  }

  async store(owner: string, settings: Settings): Promise<void> {
    await this.#parts.store.commit([put(queueKey(owner), settings)]);
    this.#settings.delete(owner);
    this.#settings.set(owner, settings);
    if (this.#settings.size > queuesMax)
      this.forget([...this.#settings.keys()].slice(0, this.#settings.size - queuesMax));
    this.#turns.serve(owner);
  }

  async #endBelow(record: TaskRecord): Promise<void> {
    const { id } = record;
    if (!hasAgent(record)) return;
    for (const child of this.attachedBook().index.childrenOf(id).filter(isOpen))
      if (stateOf(record) === 'not_done' && child.state === 'queued')
        await this.#passOver(child.id, id);
      else await this.#cancel(child.id, 'PARENT_OVER', { parent: id });
  }

  #isUnused(owner: string): boolean {
    return this.attachedBook().index.queueOf(owner).length === 0;
  }

  /** Cancels a task with this error, for the agent that gets its result. */
  async #cancel(id: string, code: ErrorCode, data: ErrorData): Promise<void> {
    await this.#end(id, { type: 'task.cancelled', reason: code }, failureOf(code, data));
  }

  async #end(id: string, event: TaskEvent, error: TaskFailure): Promise<void> {
    await this.attachedBook().send(id, event, { error }).catch(ignoreIfOver);
  }

  async #passOver(id: string, parent: string): Promise<void> {
    const why = `it was queued, and ${parent}, which would have started it, was not done itself`;
    const event = { type: 'task.declined', reason: 'NOT_DONE' } as const;
    await this.#end(id, event, failureOf('NOT_DONE', { why }));
  }

  #rows(lines: readonly TaskSummary[]): QueueRow[] {
    const rows = lines.map((line) => this.#rowOf(line));
    const over = rows.filter(({ status }) => status === 'finished');
    const dropped = new Set(over.slice(0, Math.max(0, over.length - overRowsMax)));
    return rows.filter((row) => !dropped.has(row));
  }

  #rowOf({ id, name, state, created_ms, started_ms, finished_ms }: TaskSummary): QueueRow {
    const book = this.attachedBook();
    return {
      ...{ id, name, status: statusOf(state), state, created_ms, started_ms, finished_ms },
      progress: book.index.openOne(id)?.progress ?? '',
      is_delivering: book.isDelivering(id),
    };
  }

  /** For an agent that is not a task: its queue, the open tasks that it delegated, and finished prompts. */
  summariesOf(owner: string): TaskSummary[] {
    const book = this.attachedBook();
    const { index: lines } = book;
    const isOpen = ({ state }: TaskSummary): boolean => statusOf(state) !== 'finished';
    const others = lines.childrenOf(owner).filter((line) => line.owner !== owner);
    const open = others.filter(isOpen).slice(-delegatedRowsMax);
    const over = others.filter(
      (line) => !isOpen(line) && (line.runner === 'prompt' || book.isDelivering(line.id)),
    );
    return [...lines.queueOf(owner), ...over, ...open].sort((a, b) => a.order - b.order);
  }

  /** The task whose agent has this id; undefined: the agent is not a task. */
  summaryOfAgent(agent: string): TaskSummary | undefined {
    const line = this.attachedBook().index.summaryOf(agent);
    const isOne = line?.runner === 'prompt' || Boolean(line?.owner) || Boolean(line?.root);
    return isOne ? line : undefined;
  }

  /** Whether the agent is a task that is over. */
  isOver(agent: string): boolean {
    const line = this.summaryOfAgent(agent);
    return line !== undefined && statusOf(line.state) === 'finished';
  }

  attachedBook(): TaskBook {
    if (this.#book === undefined) throw new Error('bug: no book is attached');
    return this.#book;
  }
}

/** Whether an earlier process had given it a place under the concurrency limit. */
function hadTurn(record: TaskRecord): boolean {
  const state = stateOf(record);
  if (record.owner === '' || state === 'queued') return false;
  const { isAttended } = record.snapshot.context;
  return state !== 'pending' || isAttended || record.attempt > 0;
}

function isOpen({ state }: TaskSummary): boolean {
  return statusOf(state) !== 'finished';
}

/** Ignores that the task has ended meanwhile. */
function ignoreIfOver(error: unknown): void {
  const { code } = asBusError(error);
  if (code !== 'TASK_STATE' && code !== 'NO_SUCH_TASK') throw error;
}
