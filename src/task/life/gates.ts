import type { Gate } from '../../attention/shapes.js';
import { stateOf } from './advance.js';
import type { TaskRecord } from './record.js';

/** The session whose approvals count for a task. */
export function sessionOf({ task, parent }: Pick<TaskRecord, 'task' | 'parent'>): string {
  return task.session || parent;
}

/** The state of a gate now: an open gate of a task that has gone on is no longer open. */
export function currentGateState({ state }: Gate, record: TaskRecord): Gate['state'] {
  if (state !== 'open' || stateOf(record) === 'attending') return state;
  return record.snapshot.context.reason === 'GATE_EXPIRED' ? 'expired' : 'void';
}

/** The gates of a task with their current states. */
export function gatesOf(record: TaskRecord): Gate[] {
  return record.gates.map((gate) => ({ ...gate, state: currentGateState(gate, record) }));
}
