import { taskLimits, type DelegatedTask } from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import { isFinal } from '../life/states.js';
import type { TaskView } from './messages.js';

/**
 * A task that ended without a result, once more: with the answers and the advice that it was given, and what the last attempt came to. Throws TASK_STATE.
 */
export function retriedTask(
  { id, state, task, reviews, response, error }: TaskView,
  as: string,
): DelegatedTask {
  if (!isFinal(state) || state === 'completed')
    throw new BusError('TASK_STATE', { task: id, state, what: 'retry' });
  const findings = (reviews.at(-1)?.findings ?? []).map(({ code, text }) => `${code}: ${text}`);
  const came =
    response === null || response.result === '' ? '' : ` It had come to:\n${response.result}`;
  const ended = `An earlier attempt ended ${state}${error === null ? '' : `, ${error.text}`}.${came}`;
  const feedback = [...task.feedback, ...findings, ended]
    .slice(-taskLimits.feedback)
    .map((each) => each.slice(0, taskLimits.feedbackChars));
  return { ...task, id: as, feedback };
}
