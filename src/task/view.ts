import { stateOf } from './advance.js';
import { possibleChanges } from './changes.js';
import type { TaskView } from './messages.js';
import type { TaskRecord } from './record.js';

/** A record as others see it. */
export function viewOf(record: TaskRecord): TaskView {
  const { id, revision, task, parent, assignment, attempt, response, reviews, error } = record;
  const { asks, notes, created_ms, updated_ms, finished_ms, progress } = record;
  return {
    id,
    state: stateOf(record),
    revision,
    task,
    parent,
    assigned_to: assignment?.worker ?? '',
    attempt,
    response,
    reviews,
    error,
    asks,
    may: possibleChanges(record),
    notes,
    created_ms,
    updated_ms,
    finished_ms,
    progress,
  };
}
