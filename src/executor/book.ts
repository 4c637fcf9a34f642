import type { Clock } from '../base/clock.js';
import type { Outcome } from '../delegation/worker/runner-outcome.js';
import type { Conflict } from '../delegation/worker/proposal-check.js';
import type { Gathered } from '../delegation/grounding/gathered.js';
import { idsOf, objectionTo } from '../delegation/task/assignment.js';
import type { Assignment, TaskResponse } from '../delegation/task/shapes.js';
import { workerMachine } from '../delegation/worker/worker.machine.js';
import { asBusError } from '../errors/bus-error.js';
import { logDeletion } from '../machine/log.js';
import { persist, type Patience } from '../machine/persist.js';
import { Records } from '../machine/records.js';
import { restored, type StoredSnapshot } from '../machine/step.js';
import { historyPrefix, workKey, workPrefix } from '../store/keys.js';
import type { Logger } from '../observe/log.js';
import { del } from '../store/operations.js';
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

/** Assignments that an executor has in its hands, each with the history of its prompt. */
export class Book {
  readonly #store: Store;
  readonly #records: Records<Kept>;

  constructor(store: Store, clock: Clock, log: Logger) {
    this.#store = store;
    this.#records = new Records<Kept>({
      ...{ store, clock, random: Math.random },
      prefix: workPrefix,
      idOf,
      decode: decodeKept,
      onTrouble: (task, error) => {
        const { code, message } = asBusError(error);
        log.error({ code, task }, message);
      },
    });
  }

  /**
   * A record that cannot be read is dropped, and reported as RECORD_DAMAGED: its manager hears nothing more of that attempt, and
   * assigns the task again when its lease is over. Throws STORE_UNAVAILABLE.
   */
  async all(): Promise<Kept[]> {
    const { records: found, damaged } = await this.#records.read();
    const dropped = damaged.map((id) => del(workPrefix + id));
    dropped.push(...(await this.#orphans(found)));
    // Not synced: what is found once more is dropped once more.
    if (dropped.length > 0) await this.#store.write(dropped);
    return found;
  }

  turn<T>(kept: Kept, work: () => Promise<T>): Promise<T> {
    return this.#records.turn(idOf(kept), work);
  }

  /** In its turn: on disk when it resolves; what is over is deleted with its history. Throws STORE_UNAVAILABLE. */
  async write(kept: Kept, isOver = false, patience?: Patience): Promise<void> {
    const prefix = `${historyPrefix}${idOf(kept)}/`;
    const more = isOver ? await persist(() => logDeletion(this.#store, prefix), patience) : [];
    await this.#records.write({ record: kept, more, isDeleted: isOver }, patience);
  }

  /** Of histories whose assignment is not there any more. */
  async #orphans(found: readonly Kept[]): Promise<Operation[]> {
    const kept = new Set(found.map((each) => historyPrefix + idOf(each)));
    const gone: Operation[] = [];
    for await (const key of this.#store.keys({ prefix: historyPrefix }))
      if (!kept.has(key.slice(0, key.lastIndexOf('/')))) gone.push(del(key));
    return gone;
  }
}

function idOf({ assignment: { task, attempt } }: Kept): string {
  return workKey(task.id, attempt).slice(workPrefix.length);
}

/** Throws Error for what this version could not go on with. */
function decodeKept(value: Buffer, key: string): Kept {
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
