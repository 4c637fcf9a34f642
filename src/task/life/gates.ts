import type { Gate } from '../../attention/shapes.js';
import { stateOf } from './advance.js';
import type { TaskRecord } from './record.js';

/** Whose approvals count for a task. */
export function sessionOf({ task, parent }: Pick<TaskRecord, 'task' | 'parent'>): string {
  return task.session || parent;
}

/** An open gate of a task that has gone on is open no longer. */
export function currentGateState({ state }: Gate, record: TaskRecord): Gate['state'] {
  if (state !== 'open' || stateOf(record) === 'attending') return state;
  return record.snapshot.context.reason === 'GATE_EXPIRED' ? 'expired' : 'void';
}

/** As they are now. */
export function gatesOf(record: TaskRecord): Gate[] {
  return record.gates.map((gate) => ({ ...gate, state: currentGateState(gate, record) }));
}
