import { BusError } from '../../errors/bus-error.js';
import type { QueueAnswer, QueueRow } from '../requests/messages.js';
import { isFinal } from '../life/states.js';

/** The view of a queue on the states of a task. */
export function statusOf(state: string): QueueRow['status'] {
  if (['queued', 'pending', 'attending'].includes(state)) return 'queued';
  return isFinal(state) ? 'finished' : 'running';
}

/** Whether what it was pushed for may still come: it was started, and its result is not delivered. */
function isUnderWay({ state, status, is_delivering }: QueueRow): boolean {
  return status === 'finished' ? is_delivering : state !== 'queued';
}

export interface ExpectedAnswers {
  /** Somebody may still answer. */
  isAnswerPossible: boolean;
  /** Pushed, and not started. */
  queued: number;
}

/**
 * Who could still answer the owner of a queue. `from`: an id, of which alone a message is wanted; empty: of anybody. Whoever
 * never pushed anything may hear of anybody at any time, and so may whoever has received all that it pushed, unless it is a
 * task: its siblings and its parent know of it, but owe it nothing.
 */
export function expectedAnswers(queue: QueueAnswer, from: string): ExpectedAnswers {
  const { rows, siblings, parent } = queue;
  const queued = rows.filter(({ state }) => state === 'queued').length;
  if (from !== '') {
    const row = [...rows, ...siblings].find(({ id }) => id === from);
    // Whoever is no task of this queue is looked for by the broker.
    return { isAnswerPossible: row === undefined || isUnderWay(row), queued };
  }
  const isWaiting = parent === '' ? queued > 0 : rows.length > 0;
  return { isAnswerPossible: !isWaiting || rows.some(isUnderWay), queued };
}

/**
 * The id behind a name: `parent`, an own task, or one of the same queue; the open one first, then the latest. Else as it is.
 * Throws AMBIGUOUS_ALIAS where several open ones are called so: prompts that never stood in a queue may be.
 */
export function resolveName(queue: QueueAnswer, name: string): string {
  // Many have no name: whoever names nobody means none of those.
  if (name === '') return '';
  if (name === 'parent' && queue.parent !== '') return queue.parent;
  for (const rows of [queue.rows, queue.siblings]) {
    if (rows.some(({ id }) => id === name)) return name;
    const called = rows.filter((row) => row.name === name).reverse();
    const open = called.filter(({ status }) => status !== 'finished');
    if (open.length > 1)
      throw new BusError('AMBIGUOUS_ALIAS', {
        alias: name,
        agents: open.map(({ id }) => id).join(', '),
      });
    const found = open[0] ?? called[0];
    if (found !== undefined) return found.id;
  }
  return name;
}
