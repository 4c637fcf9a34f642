import type { TaskRecord } from './record.js';
import type { TaskEvent } from './task.machine.js';

/** Fields of a record that change together with its state. */
export type Patch = Partial<
  Pick<
    TaskRecord,
    | 'task'
    | 'failed_workers'
    | 'response'
    | 'reviews'
    | 'iterations'
    | 'error'
    | 'asks'
    | 'progress'
    | 'reactions'
    | 'gates'
    | 'grants'
    | 'findings'
    | 'notes'
    | 'is_supervised'
  >
>;

/** An event of a task, and the fields of its record that change with it. */
export interface Transition {
  event: TaskEvent;
  patch: Patch;
}
