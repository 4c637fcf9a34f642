import type { TaskView } from './messages.js';

/** What a task came to, for whoever reads a message: a model, a person, a program. */
export interface ResultMessage {
  /** The task. */
  from: string;
  /** What it was called in its queue; empty: nothing. */
  name: string;
  success: boolean;
  /** Of one that succeeded. */
  result?: string;
  /** Of any other. */
  error?: { code: string; text: string; retryable: boolean };
  /** Of any other: what it had done by then; empty: nothing is known. */
  partial_output?: string;
}

/** Source of the fields: the design of queues, "failed tasks still deliver messages". */
export function resultMessage({
  id,
  state,
  task,
  response,
  error,
}: Pick<TaskView, 'id' | 'state' | 'task' | 'response' | 'error'>): ResultMessage {
  const from = { from: id, name: task.name };
  const said = response?.result ?? '';
  if (state === 'completed') return { ...from, success: true, result: said };
  const known = error ?? { code: state.toUpperCase(), text: `it is ${state}`, retryable: false };
  return { ...from, success: false, error: known, partial_output: said };
}
