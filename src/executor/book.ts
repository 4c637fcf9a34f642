import type { Outcome } from '../delegation/worker/runner-outcome.js';
import type { Conflict } from '../delegation/worker/proposal-check.js';
import type { Gathered } from '../delegation/grounding/gathered.js';
import { idsOf, objectionTo } from '../delegation/task/assignment.js';
import type { Assignment, TaskResponse } from '../delegation/task/shapes.js';
import { workerMachine } from '../delegation/worker/worker.machine.js';
import type { BusError } from '../errors/bus-error.js';
import { restored, type StoredSnapshot } from '../machine/step.js';
import { damagedRecord } from '../store/damaged.js';
import { historyOfPrefix, historyPrefix, workKey, workPrefix } from '../store/keys.js';
import type { Operation, Store } from '../store/port.js';

/** One assignment as it stands on disk. */
export interface Kept {
  version: 1;
  assignment: Assignment;
  /** Of `delegation.worker`. */
  snapshot: StoredSnapshot;
  /** Unix time at which it was first claimed; 0: not yet. */
  startedMs: number;
  before: Gathered | null;
  outcome: Outcome | null;
  after: Gathered | null;
  conflicts: Conflict[];
  names: number;
  /** As it is sent, also again. */
  response: TaskResponse | null;
}

/** Assignments that an executor has in its hands, each change of them synced before anything follows from it. */
export class Book {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * A record that cannot be read is dropped, and reported as RECORD_DAMAGED: its manager hears nothing more of that attempt, and
   * assigns the task again when its lease is over. Throws STORE_UNAVAILABLE.
   */
  async all(onDamaged: (error: BusError) => void): Promise<Kept[]> {
    const found: Kept[] = [];
    const dropped: Operation[] = [];
    for await (const [key, value] of this.#store.entries({ prefix: workPrefix })) {
      try {
        found.push(decodeKept(key, value));
      } catch (error) {
        onDamaged(damagedRecord(key, error));
        dropped.push({ type: 'del', key });
      }
    }
    dropped.push(...(await this.#orphans(found)));
    // Not synced: what is found once more is dropped once more.
    if (dropped.length > 0) await this.#store.write(dropped);
    return found;
  }

  put(kept: Kept): Promise<void> {
    const { task, attempt } = kept.assignment;
    const value = Buffer.from(JSON.stringify(kept));
    return this.#store.commit([{ type: 'put', key: workKey(task.id, attempt), value }]);
  }

  /** With its history. */
  async delete({ task, attempt }: Assignment): Promise<void> {
    const gone: Operation[] = [{ type: 'del', key: workKey(task.id, attempt) }];
    const prefix = historyOfPrefix(task.id, attempt);
    for await (const key of this.#store.keys({ prefix })) gone.push({ type: 'del', key });
    await this.#store.commit(gone);
  }

  /** Of histories whose assignment is not there any more. */
  async #orphans(found: readonly Kept[]): Promise<Operation[]> {
    const kept = new Set(
      found.map(({ assignment: { task, attempt } }) => historyOfPrefix(task.id, attempt)),
    );
    const gone: Operation[] = [];
    for await (const key of this.#store.keys({ prefix: historyPrefix }))
      if (!kept.has(key.slice(0, key.lastIndexOf('/') + 1))) gone.push({ type: 'del', key });
    return gone;
  }
}

/** Throws Error for what this version could not go on with. */
function decodeKept(key: string, value: Buffer): Kept {
  const kept = JSON.parse(value.toString()) as Kept;
  if ((kept.version as number) !== 1) throw new Error(`it is of version ${kept.version}`);
  const { assignment } = kept;
  const ids = idsOf(assignment);
  if (ids === undefined || workKey(ids.task, ids.attempt) !== key)
    throw new Error('it is of another task');
  const objection = objectionTo(assignment);
  if (objection !== '') throw new Error(objection);
  if (!Array.isArray(kept.conflicts) || !Number.isFinite(kept.startedMs))
    throw new Error('a part of it is missing');
  restored(workerMachine, kept.snapshot);
  return kept;
}
