import { BusError } from '../errors/bus-error.js';
import { isOver, stateOf } from './advance.js';
import type { TaskRecord } from './record.js';
import { Finished } from './retention.js';

/** What is known of each task without a look at the disk. */
interface Line {
  id: string;
  state: string;
  parent: string;
}

export interface TaskQuery {
  /** Empty: all. */
  states: readonly string[];
  /** Empty: of all. */
  parent: string;
  /** Empty: from the first. */
  after: string;
  limit: number;
}

/** All tasks in the order in which they were delegated; the open ones whole. */
export class TaskIndex {
  readonly #lines = new Map<string, Line>();
  readonly #open = new Map<string, TaskRecord>();
  readonly #finished: Finished;

  constructor(limits: { finishedTasks: number; finishedMs: number }) {
    this.#finished = new Finished(limits);
  }

  /** Of records in any order. */
  load(records: readonly TaskRecord[]): void {
    for (const record of [...records].sort((a, b) => a.created_ms - b.created_ms))
      this.remember(record);
    this.#finished.load(records.filter((record) => isOver(record)));
  }

  remember(record: TaskRecord): void {
    const { id, parent, finished_ms } = record;
    this.#lines.set(id, { id, parent, state: stateOf(record) });
    if (isOver(record)) {
      this.#open.delete(id);
      this.#finished.add(id, finished_ms);
    } else this.#open.set(id, record);
  }

  /** Takes out what is finished and too old or too many, but for what somebody needs. */
  takeOld(nowMs: number, isNeeded: (id: string) => boolean): string[] {
    const old = this.#finished.take(
      nowMs,
      // What others still wait for is asked for its state.
      (id) => isNeeded(id) || this.#isAwaited(id),
    );
    for (const id of old) this.#lines.delete(id);
    return old;
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
  list({ states, parent, after, limit }: TaskQuery): string[] {
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

  /** Whether it holds up one that is open. */
  #isAwaited(id: string): boolean {
    for (const { task } of this.#open.values()) if (task.depends_on.includes(id)) return true;
    return false;
  }
}
