import { KeyedMutex } from '../../base/keyed-mutex.js';
import { failureOf } from '../../delegation/worker/task-response.js';
import type { DelegatedTask } from '../../delegation/task/shapes.js';
import { asBusError, BusError, type ErrorData } from '../../errors/bus-error.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { damagedRecord } from '../../store/damaged.js';
import { queueKey, queuePrefix } from '../../store/keys.js';
import type { Store } from '../../store/port.js';
import { hasAgent, stateOf } from '../life/advance.js';
import type { Placement, TaskBook } from '../book/book.js';
import type { QueueAnswer, QueueRow, Run, RunAnswer } from '../requests/messages.js';
import { statusOf } from './queue.js';
import { QueueTurns } from './queue-turns.js';
import type { TaskRecord } from '../life/record.js';
import type { TaskSummary } from '../book/task-index.js';

/** How far tasks may push tasks. `queueMax`: open ones of one owner; `treeMax`: below one task, ever. */
export interface QueueLimits {
  depthMax: number;
  queueMax: number;
  treeMax: number;
}
export const queueLimits: QueueLimits = { depthMax: 1, queueMax: 64, treeMax: 256 };
/** Starts that are remembered of one owner; the oldest is forgotten. */
const runsMax = 64;
/** Queues of which something is remembered; of more, one without tasks is forgotten. */
const queuesMax = 10_000;
/** Rows of a queue that are over, the latest. */
const overRowsMax = 200;
/** Rows of what was delegated by the owner of a queue and never stood in it, the latest. */
const delegatedRowsMax = 200;

/** What was asked for by one start: done again, it is the same. */
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

/** The queues of agents over the tasks of a book: who may push what where, what is started when, and what ends with what. */
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

  /** Completes what an earlier process had begun: starts that were promised, ends of what is over. */
  async resume(): Promise<void> {
    for (const { runs } of this.#settings.values())
      for (const run of runs) await this.#release(run);
    for (const { id, owner, parent } of this.attachedBook().open())
      if (this.isOver(owner) || this.isOver(parent))
        await this.#cancel(id, 'PARENT_OVER', { parent });
  }

  /**
   * A task into the queue of `owner`, or of whoever gets the owner's result. The same task again is the same task. `enrol`
   * makes it known on the bus, before it is there. Throws NAME_TAKEN, QUEUE_FULL, TREE_FULL, SPAWN_DEPTH, PARENT_OVER, what
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

  /** A task that is not queued. Throws TREE_FULL, SPAWN_DEPTH, PARENT_OVER, what `enrol` throws, and as `TaskBook.begin`. */
  delegate(
    task: DelegatedTask,
    parent: string,
    enrol: (id: string) => Promise<void>,
  ): Promise<TaskRecord> {
    const own = { owner: '', parent };
    return this.#begin(task, own, enrol, () => ({ ...this.#placeIn(parent, false), owner: '' }));
  }

  /** Starts what is queued, oldest first; once under its key. On disk before anything is started. Throws STORE_UNAVAILABLE. */
  run(owner: string, run: Omit<Run, 'owner'>): Promise<RunAnswer> {
    return this.#running.run(owner, async () => {
      const before = this.#settings.get(owner) ?? noSettings;
      const known = run.key === '' ? undefined : before.runs.find(({ key }) => key === run.key);
      const kept = known ?? this.#planned(owner, run);
      if (known === undefined) {
        const isGoingOn = kept.answer.running > kept.answer.started.length;
        await this.store(owner, {
          concurrency: run.concurrency || before.concurrency,
          supervised: run.supervised || (before.supervised && isGoingOn),
          runs: [...before.runs, kept].slice(-runsMax),
        });
      }
      await this.#release(kept);
      return kept.answer;
    });
  }

  /** Also what the owner delegated: that is waited for as well. */
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

  /** Resolves when one that was started may go on. Throws CANCELLED. */
  turn({ id, owner, order }: TaskRecord, signal: AbortSignal): Promise<void> {
    return owner === '' ? Promise.resolve() : this.#turns.turn({ id, owner, order }, signal);
  }

  /** After each change of a record. */
  taskChanged(record: TaskRecord): void {
    if (record.owner !== '' && statusOf(stateOf(record)) === 'finished')
      this.#turns.release(record);
  }

  /** What ends with it: all that it pushed or delegated, and where it failed for good in a supervised queue, the others there. */
  async taskEnded(record: TaskRecord): Promise<void> {
    const { index: lines } = this.attachedBook();
    const { id, owner, is_supervised } = record;
    await this.#endBelow(record);
    if (!is_supervised || !['failed', 'halted', 'timed_out'].includes(stateOf(record))) return;
    for (const other of lines.queueOf(owner).filter(isOpen))
      await this.#cancel(other.id, 'SIBLING_FAILED', { task: id });
  }

  /** Before one more attempt, which knows nothing of those before: what they began and nobody waits for ends. */
  async attemptStarting(record: TaskRecord): Promise<void> {
    if (record.attempt > 0) await this.#endBelow(record);
  }

  /** The last tasks of these owners are known no more. */
  forget(owners: Iterable<string>): void {
    const gone = [...new Set(owners)].filter(
      (owner) => this.#settings.has(owner) && this.#isUnused(owner),
    );
    for (const owner of gone) this.#settings.delete(owner);
    const operations = gone.map((owner) => ({ type: 'del', key: queueKey(owner) }) as const);
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
      // Of one that is known, what was decided then holds, whatever has become of those above it.
      if (known !== undefined)
        return book.begin(task, { owner, parent, depth: known.depth, root: known.root });
      const at = place();
      if (hasAgent({ ...at, task })) await enrol(task.id);
      const record = await book.begin(task, at);
      // It ended while this one was on its way to the disk: then nobody else cancels it.
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
    await this.#parts.store.commit([
      { type: 'put', key: queueKey(owner), value: Buffer.from(JSON.stringify(settings)) },
    ]);
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
      await this.#cancel(child.id, 'PARENT_OVER', { parent: id });
  }

  #isUnused(owner: string): boolean {
    return this.attachedBook().index.queueOf(owner).length === 0;
  }

  /** With what was said of it, for whoever gets its result. */
  async #cancel(id: string, code: ErrorCode, data: ErrorData): Promise<void> {
    const event = { type: 'task.cancelled', reason: code } as const;
    await this.attachedBook()
      .send(id, event, { error: failureOf(code, data) })
      .catch(ignoreIfOver);
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

  /** Of an agent that is no task: its queue, the latest that it delegated and waits for, and prompts that are over. */
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

  /** The task whose agent is called so. */
  summaryOfAgent(agent: string): TaskSummary | undefined {
    const line = this.attachedBook().index.summaryOf(agent);
    const isOne = line?.runner === 'prompt' || Boolean(line?.owner) || Boolean(line?.root);
    return isOne ? line : undefined;
  }

  /** Whether it is a task that is over: nobody hears what it is told. */
  isOver(agent: string): boolean {
    const line = this.summaryOfAgent(agent);
    return line !== undefined && statusOf(line.state) === 'finished';
  }

  attachedBook(): TaskBook {
    if (this.#book === undefined) throw new Error('bug: no queue is kept yet');
    return this.#book;
  }
}

/** Of one that was started by an earlier process: from its first look for a worker on. */
function hadTurn(record: TaskRecord): boolean {
  const state = stateOf(record);
  if (record.owner === '' || state === 'queued') return false;
  const { isAttended } = record.snapshot.context;
  return state !== 'pending' || isAttended || record.attempt > 0;
}

function isOpen({ state }: TaskSummary): boolean {
  return statusOf(state) !== 'finished';
}

/** It ended by itself meanwhile. */
function ignoreIfOver(error: unknown): void {
  const { code } = asBusError(error);
  if (code !== 'TASK_STATE' && code !== 'NO_SUCH_TASK') throw error;
}
