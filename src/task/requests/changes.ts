import { failureOf } from '../../delegation/worker/task-response.js';
import { taskLimits } from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import { stateOf } from '../life/advance.js';
import { isFinal } from '../life/states.js';
import type { Patch } from '../life/transition.js';
import { clarificationPatch, relaxed, unblocked } from '../life/patches.js';
import { withPersonJudgement } from '../station/critique-station.js';
import type { TaskChange, TaskChangeName } from './messages.js';
import type { TaskRecord } from '../life/record.js';
import type { TaskEvent } from '../life/task.machine.js';

/** Changes that a caller may request, by state; `cancel` in every open state. */
const possible: Readonly<Record<string, readonly TaskChangeName[]>> = {
  clarifying: ['answer'],
  deciding: ['accept', 'refuse', 'revise', 'halt'],
  blocked: ['relax', 'regenerate', 'reassign', 'done', 'failed'],
};

export function possibleChanges(record: Pick<TaskRecord, 'snapshot'>): TaskChangeName[] {
  const state = stateOf(record);
  return isFinal(state) ? [] : [...(possible[state] ?? []), 'cancel'];
}

/** The transition of a requested change. For `regenerate` the overlays are built before. Throws TASK_STATE, USAGE, TOO_LARGE. */
export function transitionOf(
  record: TaskRecord,
  { what, text }: Pick<TaskChange, 'what' | 'text'>,
  person: string,
): { event: TaskEvent; patch: Patch } {
  const { id, task } = record;
  const by = `${what} by ${person}${text === '' ? '' : `: ${text}`}`;
  if (!possibleChanges(record).includes(what))
    throw new BusError('TASK_STATE', { task: id, state: stateOf(record), what });
  const limit = taskLimits.clarificationChars;
  if (text.length > limit)
    throw new BusError('TOO_LARGE', {
      what: 'the text',
      bytes: text.length,
      unit: 'characters',
      limit,
    });
  switch (what) {
    case 'cancel':
      return cancellation(text, person);
    case 'answer':
      if (text.trim() === '') throw new BusError('USAGE', { detail: 'the answer is empty' });
      return {
        event: { type: 'clarification.given', by },
        patch: clarificationPatch(record, text),
      };
    case 'accept':
    case 'refuse':
    case 'revise':
    case 'halt':
      return {
        event: { type: 'decision.made', judgement: what, by },
        patch: {
          asks: '',
          ...(what === 'halt' ? {} : withPersonJudgement(record, what, person)),
          ...(what === 'accept' ? { error: null } : {}),
          ...(what === 'refuse' ? refusal(record) : {}),
          ...(what === 'revise' && text !== ''
            ? { task: { ...task, feedback: [...task.feedback, text].slice(-taskLimits.feedback) } }
            : {}),
        },
      };
    case 'relax': {
      const { event, patch } = relaxed(record);
      return { event: { ...event, by } as TaskEvent, patch };
    }
    case 'regenerate':
    case 'reassign':
      return { event: { type: 'block.resolved', by }, patch: unblocked };
    case 'done':
    case 'failed':
      return {
        event: { type: 'outcome.reported', outcome: what, by },
        patch: what === 'done' ? { ...unblocked } : { asks: '' },
      };
  }
}

/** A text `KILLED: why` becomes the error KILLED with the name of the caller. Any other text is the reason itself. */
function cancellation(text: string, by: string): { event: TaskEvent; patch: Patch } {
  const killed = /^KILLED(?:: *(.*))?$/s.exec(text);
  if (killed === null)
    return { event: { type: 'task.cancelled', reason: text || 'CANCELLED' }, patch: {} };
  const { code, text: killedBy, retryable } = failureOf('KILLED', { by });
  const why = killed[1] ?? '';
  const said = why === '' ? killedBy : `${killedBy}: ${why}`;
  return {
    event: { type: 'task.cancelled', reason: code },
    patch: { error: { code, text: said, retryable } },
  };
}

/** A conditional critique that a person refuses becomes a refused one. */
function refusal({ error }: TaskRecord): Patch {
  if (error?.code !== 'CRITIQUE_CONDITIONAL') return {};
  const prefix = failureOf('CRITIQUE_CONDITIONAL', { detail: '' }).text;
  const detail = error.text.startsWith(prefix) ? error.text.slice(prefix.length) : error.text;
  return { error: failureOf('CRITIQUE_REFUSED', { detail }) };
}
