import type { Conflict } from '../../src/delegation/check-claims.js';
import type { Gathered } from '../../src/delegation/gathered.js';
import type { Outcome } from '../../src/delegation/outcome.js';
import type { Assignment, TaskResponse } from '../../src/delegation/shapes.js';
import type { StoredSnapshot } from '../../src/machine/step.js';
import { workKey, workPrefix } from '../../src/store/keys.js';
import type { Store } from '../../src/store/port.js';

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

  async all(): Promise<Kept[]> {
    const found: Kept[] = [];
    for await (const [, value] of this.#store.entries({ prefix: workPrefix }))
      found.push(JSON.parse(value.toString()) as Kept);
    return found;
  }

  put(kept: Kept): Promise<void> {
    const { task, attempt } = kept.assignment;
    const value = Buffer.from(JSON.stringify(kept));
    return this.#store.commit([{ type: 'put', key: workKey(task.id, attempt), value }]);
  }

  delete({ task, attempt }: Assignment): Promise<void> {
    return this.#store.commit([{ type: 'del', key: workKey(task.id, attempt) }]);
  }
}
