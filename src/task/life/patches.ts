import { taskLimits, type DelegatedTask, type TaskResponse } from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import type { TaskRecord } from './record.js';
import type { Patch } from './transition.js';

/** The task without the evidence that cannot be had. */
export function withoutRequiredEvidence(task: DelegatedTask): DelegatedTask {
  if (task.grounding === null) return task;
  const grounding = { ...task.grounding, overlay_hints: [], evidence_required: false };
  return { ...task, grounding };
}

/** The caller's answer to the question of a worker. Throws TOO_LARGE. */
export function clarificationPatch({ task, response, asks }: TaskRecord, answer: string): Patch {
  const question = asks || (response?.clarification_request ?? '');
  const clarifications = [...task.clarifications, { question, answer }];
  if (clarifications.length > taskLimits.clarifications)
    throw new BusError('TOO_LARGE', {
      what: 'a list of clarifications',
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
    patch.error = first ?? { code: response.reason, text: response.result, retryable: false };
  return patch;
}
