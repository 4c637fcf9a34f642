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

/** The states of the one record, as the documents name them. */
export function queueStateOf(state: string): 'queued' | 'running' | 'finished' {
  if (state === 'pending' || state === 'attending') return 'queued';
  return ['completed', 'failed', 'halted', 'cancelled', 'timed_out'].includes(state)
    ? 'finished'
    : 'running';
}

export function attentionStateOf(
  state: string,
): 'pending' | 'in_progress' | 'completed' | 'halted' {
  if (state === 'completed' || state === 'halted') return state;
  if (queueStateOf(state) === 'queued') return 'pending';
  return queueStateOf(state) === 'finished' ? 'halted' : 'in_progress';
}
