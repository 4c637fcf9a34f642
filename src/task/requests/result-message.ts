import type { TaskView } from './messages.js';

/** The outcome of a task as a message for its parent: a model, a person or a program. */
export interface ResultMessage {
  /** The task. */
  from: string;
  /** Its name in the queue; empty: none. */
  name: string;
  success: boolean;
  /** Set when it succeeded. */
  result?: string;
  /** Set otherwise. */
  error?: { code: string; text: string; retryable: boolean };
  /** Set otherwise: the result so far; may be empty. */
  partial_output?: string;
}

/** Source of the fields: the design of queues, "failed tasks still deliver messages". */
export function resultMessage({
  id,
  state,
  task,
  response,
  error,
  progress = '',
}: Pick<TaskView, 'id' | 'state' | 'task' | 'response' | 'error'> &
  Partial<Pick<TaskView, 'progress'>>): ResultMessage {
  const from = { from: id, name: task.name };
  const said = response?.result ?? '';
  if (state === 'completed') return { ...from, success: true, result: said };
  const known = error ?? { code: state.toUpperCase(), text: `it is ${state}`, retryable: false };
  // One that was ended from outside gave no result: what it told last is all there is.
  const left = said === '' && progress !== '' ? `When it ended: ${progress}` : said;
  return { ...from, success: false, error: known, partial_output: left };
}
