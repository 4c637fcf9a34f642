import { BusError } from '../../errors/bus-error.js';
import { isOver, stateOf } from '../life/advance.js';
import type { TaskRecord } from '../life/record.js';
import { statusOf } from '../queue/queue.js';
import type {
  QueueCounts,
  TaskRow,
  TaskRowsAnswer,
  TaskRowsQuery,
  TasksQuery,
} from '../requests/messages.js';

/** Of a text in a row. */
const rowChars = 200;
/** Names of workers in one answer. */
const workersMax = 1_000;

/** What the manager keeps in memory of each task. */
export interface TaskSummary extends TaskRow {
  root: string;
  depth: number;
  order: number;
}

/** A summary of each task in the order in which they were accepted, and the whole record of each open one. */
export class TaskIndex {
  readonly #lines = new Map<string, TaskSummary>();
  readonly #open = new Map<string, TaskRecord>();
  readonly #limits: { finishedTasks: number; finishedMs: number };
  /** When each that is over ended, in this order: the oldest are found without a look at the others. */
  #endedMs = new Map<string, number>();
  /** Ids by owner of the queue, by parent (who gets the result), and by root (the first task above them). */
  readonly #byOwner = new IdGroups();
  readonly #byParent = new IdGroups();
  readonly #byRoot = new IdGroups();

  constructor(limits: { finishedTasks: number; finishedMs: number }) {
    this.#limits = limits;
  }

  /** Takes records in any order. */
  load(records: readonly TaskRecord[]): void {
    for (const record of [...records].sort(
      (a, b) => a.created_ms - b.created_ms || a.order - b.order,
    ))
      this.remember(record);
    this.#endedMs = new Map([...this.#endedMs].sort(([, a], [, b]) => a - b));
  }

  remember(record: TaskRecord): void {
    const { id, parent, owner, root, depth, order, finished_ms, created_ms, started_ms } = record;
    const { name, runner, criticality, task } = record.task;
    this.#byOwner.add(owner, id);
    this.#byParent.add(parent, id);
    this.#byRoot.add(root, id);
    this.#lines.set(id, {
      ...{ id, name, runner, parent, owner, root, depth, order, state: stateOf(record) },
      ...{ created_ms, started_ms, finished_ms, criticality, attempt: record.attempt },
      ...{ worker: record.assignment?.worker ?? '', asks: record.asks.slice(0, rowChars) },
      text: task.slice(0, rowChars),
    });
    if (isOver(record)) {
      this.#open.delete(id);
      if (!this.#endedMs.has(id)) this.#endedMs.set(id, finished_ms);
    } else this.#open.set(id, record);
  }

  /** Removes and returns finished tasks that are too old or too many, except those still needed. */
  takeOld(nowMs: number, isNeeded: (id: string) => boolean): TaskSummary[] {
    const { finishedTasks, finishedMs } = this.#limits;
    let surplus = this.#endedMs.size - finishedTasks;
    const old: string[] = [];
    for (const [id, endedMs] of this.#endedMs) {
      if (surplus <= 0 && endedMs >= nowMs - finishedMs) break;
      surplus -= 1;
      // A dependant still asks for its state; an open tree still counts it.
      if (!isNeeded(id) && !this.#isAwaited(id) && !this.#isCounted(id)) old.push(id);
    }
    const lines = this.#linesOf(old);
    for (const { id, owner, parent, root } of lines) {
      this.#lines.delete(id);
      this.#endedMs.delete(id);
      this.#byOwner.remove(owner, id);
      this.#byParent.remove(parent, id);
      this.#byRoot.remove(root, id);
    }
    return lines;
  }

  summaryOf(id: string): TaskSummary | undefined {
    return this.#lines.get(id);
  }

  /** The queue of this agent, in the order in which its tasks were accepted. */
  queueOf(owner: string): TaskSummary[] {
    return this.#linesOf(this.#byOwner.of(owner)).sort((a, b) => a.order - b.order);
  }

  /** Tasks that an agent pushed or delegated, finished ones included. */
  childrenOf(agent: string): TaskSummary[] {
    const ids = new Set([...this.#byOwner.of(agent), ...this.#byParent.of(agent)]);
    return this.#linesOf(ids);
  }

  /** Tasks below this one, finished ones included. */
  treeSize(root: string): number {
    return this.#byRoot.of(root).size;
  }

  #linesOf(ids: Iterable<string>): TaskSummary[] {
    return [...ids].flatMap((id) => this.#lines.get(id) ?? []);
  }

  get size(): number {
    return this.#lines.size;
  }

  get openSize(): number {
    return this.#open.size;
  }

  has(id: string): boolean {
    return this.#lines.has(id);
  }

  open(): TaskRecord[] {
    return [...this.#open.values()];
  }

  openOne(id: string): TaskRecord | undefined {
    return this.#open.get(id);
  }

  stateOf(id: string): string | undefined {
    return this.#lines.get(id)?.state;
  }

  /** By state. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { state } of this.#lines.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
    return counts;
  }

  /** Ids, at most `limit`, behind `after`. Throws NO_SUCH_TASK of `after`. */
  list({ states, parent, after, limit }: TasksQuery): string[] {
    // Deleted meanwhile: an empty page would look like the end.
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

  /** Latest first. */
  rows({ states, worker, text, offset, limit }: TaskRowsQuery): TaskRowsAnswer {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const answer: TaskRowsAnswer = { rows: [], total: 0, states: {}, workers: [] };
    const workers = new Set<string>();
    for (const line of [...this.#lines.values()].reverse()) {
      if (line.worker !== '' && workers.size < workersMax) workers.add(line.worker);
      if (worker !== '' && line.worker !== worker) continue;
      if (words.length > 0 && !hasAll(line, words)) continue;
      answer.states[line.state] = (answer.states[line.state] ?? 0) + 1;
      if (states.length > 0 && !states.includes(line.state)) continue;
      if (answer.total >= offset && answer.rows.length < limit) answer.rows.push(line);
      answer.total += 1;
    }
    return { ...answer, workers: [...workers].sort() };
  }

  /** Queues that hold tasks, finished ones included, by the name of their owner. */
  queues(): QueueCounts[] {
    return [...this.#byOwner.names()].sort().map((owner) => {
      const counts = { owner, queued: 0, running: 0, finished: 0 };
      for (const { state } of this.#linesOf(this.#byOwner.of(owner))) counts[statusOf(state)] += 1;
      return counts;
    });
  }

  /** While its root or the owner of its queue is open, it counts towards their limits. */
  #isCounted(id: string): boolean {
    const { root = '', owner = '' } = this.#lines.get(id) ?? {};
    return this.#open.has(root) || this.#open.has(owner);
  }

  /** Whether an open task depends on it. */
  #isAwaited(id: string): boolean {
    for (const { task } of this.#open.values()) if (task.depends_on.includes(id)) return true;
    return false;
  }
}

function hasAll({ id, name, parent, owner, text }: TaskSummary, words: readonly string[]): boolean {
  const all = `${id} ${name} ${parent} ${owner} ${text}`.toLowerCase();
  return words.every((each) => all.includes(each));
}

/** Ids by a name; the empty name has none. */
class IdGroups {
  readonly #ids = new Map<string, Set<string>>();

  of(name: string): ReadonlySet<string> {
    return this.#ids.get(name) ?? new Set();
  }

  names(): Iterable<string> {
    return this.#ids.keys();
  }

  add(name: string, id: string): void {
    if (name === '') return;
    const ids = this.#ids.get(name) ?? new Set();
    this.#ids.set(name, ids.add(id));
  }

  remove(name: string, id: string): void {
    const ids = this.#ids.get(name);
    ids?.delete(id);
    if (ids?.size === 0) this.#ids.delete(name);
  }
}
