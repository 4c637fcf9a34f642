import { failureOf } from '../../delegation/worker/task-response.js';
import { taskLimits } from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import { stateOf } from '../life/advance.js';
import type { Patch } from '../life/transition.js';
import { clarificationPatch, withoutRequiredEvidence } from '../life/patches.js';
import { withPersonJudgement } from '../station/critique-station.js';
import type { TaskChange, TaskChangeName } from './messages.js';
import type { TaskRecord } from '../life/record.js';
import type { TaskEvent } from '../life/task.machine.js';

/** What may be said to a task, by its state; `cancel` to every open one. */
const possible: Readonly<Record<string, readonly TaskChangeName[]>> = {
  clarifying: ['answer'],
  deciding: ['accept', 'refuse', 'revise', 'halt'],
  blocked: ['relax', 'regenerate', 'reassign', 'done', 'failed'],
};
const finals = new Set(['completed', 'failed', 'halted', 'cancelled', 'timed_out']);

export function possibleChanges(record: Pick<TaskRecord, 'snapshot'>): TaskChangeName[] {
  const state = stateOf(record);
  return finals.has(state) ? [] : [...(possible[state] ?? []), 'cancel'];
}

/** The event and the patch of a change. Throws TASK_STATE, USAGE, TOO_LARGE. `regenerate` is done before it is told. */
export function transitionOf(
  record: TaskRecord,
  { what, text }: Pick<TaskChange, 'what' | 'text'>,
  by: string,
): { event: TaskEvent; patch: Patch } {
  const { id, task } = record;
  if (!possibleChanges(record).includes(what))
    throw new BusError('TASK_STATE', { task: id, state: stateOf(record), what });
  const limit = taskLimits.clarificationChars;
  if (text.length > limit)
    throw new BusError('TOO_LARGE', { what: 'the text', bytes: text.length, limit });
  switch (what) {
    case 'cancel':
      return cancellation(text, by);
    case 'answer':
      if (text.trim() === '') throw new BusError('USAGE', { detail: 'the answer is empty' });
      return { event: { type: 'clarification.given' }, patch: clarificationPatch(record, text) };
    case 'accept':
    case 'refuse':
    case 'revise':
    case 'halt':
      return {
        event: { type: 'decision.made', judgement: what },
        patch: {
          asks: '',
          ...(what === 'halt' ? {} : withPersonJudgement(record, what, by)),
          ...(what === 'accept' ? { error: null } : {}),
          ...(what === 'refuse' ? refusal(record) : {}),
          ...(what === 'revise' && text !== ''
            ? { task: { ...task, feedback: [...task.feedback, text].slice(-taskLimits.feedback) } }
            : {}),
        },
      };
    case 'relax':
      return {
        event: { type: 'block.resolved' },
        patch: { ...unblocked, task: withoutRequiredEvidence(task) },
      };
    case 'regenerate':
    case 'reassign':
      return { event: { type: 'block.resolved' }, patch: unblocked };
    case 'done':
    case 'failed':
      return {
        event: { type: 'outcome.reported', outcome: what },
        patch: what === 'done' ? { ...unblocked } : { asks: '' },
      };
  }
}

/** `KILLED`, and why behind it: who did that is told with it. Any other text is why, in words. */
function cancellation(text: string, by: string): { event: TaskEvent; patch: Patch } {
  const killed = /^KILLED(?:: *(.*))?$/s.exec(text);
  if (killed === null)
    return { event: { type: 'task.cancelled', reason: text || 'CANCELLED' }, patch: {} };
  const { code, text: told, retryable } = failureOf('KILLED', { by });
  const why = killed[1] ?? '';
  const said = why === '' ? told : `${told}: ${why}`;
  return {
    event: { type: 'task.cancelled', reason: code },
    patch: { error: { code, text: said, retryable } },
  };
}

/** What was to be ratified only is refused now. */
function refusal({ error }: TaskRecord): Patch {
  if (error?.code !== 'CRITIQUE_CONDITIONAL') return {};
  const told = failureOf('CRITIQUE_CONDITIONAL', { detail: '' }).text;
  const detail = error.text.startsWith(told) ? error.text.slice(told.length) : error.text;
  return { error: failureOf('CRITIQUE_REFUSED', { detail }) };
}

const unblocked: Patch = { asks: '', error: null, progress: '' };
