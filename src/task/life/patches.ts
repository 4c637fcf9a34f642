import { failureOf } from '../../delegation/worker/task-response.js';
import {
  taskLimits,
  type DelegatedTask,
  type TaskFailure,
  type TaskResponse,
} from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import type { TaskRecord } from './record.js';
import type { Patch, Transition } from './transition.js';

export const unblocked: Patch = { asks: '', error: null, progress: '' };

/** Among the reactions of a task that goes on although one that it depends on was not done. */
export const withoutDependency = 'without-dependency';

/** A blocked task goes on without what cannot be had: its evidence, or another task. What was done already is not done again. */
export function relaxed({ task, response, error, reactions }: TaskRecord): Transition {
  if (error?.code === 'DEPENDENCY_FAILED')
    return {
      event: { type: 'block.resolved' },
      patch: { ...unblocked, reactions: [...reactions, withoutDependency] },
    };
  const isUngrounded = error?.code === 'PGC_FAILED' || error?.code === 'OVERLAYS_MISSING';
  // Words of one who could not go on are no result.
  const isDone = isUngrounded && response?.status === 'blocked' && response.partial;
  return {
    event: { type: isDone ? 'result.kept' : 'block.resolved' },
    patch: { ...unblocked, task: withoutEvidence(task, error?.code === 'PGC_FAILED') },
  };
}

/** `isSilent`: the PGC cannot be asked, so that it is not. */
function withoutEvidence(task: DelegatedTask, isSilent: boolean): DelegatedTask {
  if (task.grounding === null) return task;
  const strategy = isSilent ? 'none' : task.grounding.strategy;
  const grounding = { ...task.grounding, strategy, overlay_hints: [], evidence_required: false };
  return { ...task, grounding };
}

/** The caller's answer to the question of a worker. Throws TOO_LARGE. */
export function clarificationPatch({ task, response, asks }: TaskRecord, answer: string): Patch {
  const question = asks || (response?.clarification_request ?? '');
  const clarifications = [...task.clarifications, { question, answer }];
  if (clarifications.length > taskLimits.clarifications)
    throw new BusError('TOO_LARGE', {
      what: 'a list',
      unit: 'clarifications',
      bytes: clarifications.length,
      limit: taskLimits.clarifications,
    });
  return { task: { ...task, clarifications }, asks: '' };
}

/** What a response changes in the record. */
export function responsePatch(response: TaskResponse): Patch {
  const [first] = response.errors;
  const patch: Patch = { response, progress: '' };
  if (response.status === 'needs_clarification') patch.asks = response.clarification_request;
  if (response.status === 'failed' || response.status === 'blocked')
    patch.error = first ?? failureIn(response);
  return patch;
}

/** A worker that gives a code alone may have said more in its result. */
function failureIn({ reason, result }: TaskResponse): TaskFailure {
  const known = failureOf(reason);
  return known.text === reason && result !== '' ? { ...known, text: result } : known;
}
