import { BusError } from '../../errors/bus-error.js';
import type { QueueAnswer, QueueRow } from '../requests/messages.js';
import { isFinal } from '../life/states.js';

/** The status of a task in its queue. */
export function statusOf(state: string): QueueRow['status'] {
  if (['queued', 'pending', 'attending'].includes(state)) return 'queued';
  return isFinal(state) ? 'finished' : 'running';
}

/** Whether its result may still arrive: it was started, and its result is not delivered. */
function isUnderWay({ state, status, is_delivering }: QueueRow): boolean {
  return status === 'finished' ? is_delivering : state !== 'queued';
}

export interface ExpectedAnswers {
  /** An agent may still send a message. */
  isAnswerPossible: boolean;
  /** A task that could send it is under way: it will end, and tell of that. */
  isUnderWay: boolean;
  /** Pushed, and not started. */
  queued: number;
}

/**
 * Whether a message for the owner of a queue can still arrive. `from`: the id of the only sender wanted; empty: any. An owner without tasks in its queue may get a message at any time, and so may one that has received all results; but if the owner is a task itself, only its own tasks count.
 */
export function expectedAnswers(queue: QueueAnswer, from: string): ExpectedAnswers {
  const { rows, siblings, parent } = queue;
  const queued = rows.filter(({ state }) => state === 'queued').length;
  if (from !== '') {
    const row = [...rows, ...siblings].find(({ id }) => id === from);
    // The broker knows whether a sender outside this queue exists.
    const isAtWork = row !== undefined && isUnderWay(row);
    return { isAnswerPossible: row === undefined || isAtWork, isUnderWay: isAtWork, queued };
  }
  const isWaiting = parent === '' ? queued > 0 : rows.length > 0;
  const isAtWork = rows.some(isUnderWay);
  return { isAnswerPossible: !isWaiting || isAtWork, isUnderWay: isAtWork, queued };
}

/**
 * The id for a name: `parent`, an own task, or a sibling; an open one first, then the latest. Another name is returned unchanged. Throws AMBIGUOUS_ALIAS when several open tasks have the name: names of delegated prompts need not be unique.
 */
export function resolveName(queue: QueueAnswer, name: string): string {
  // Tasks without a name are not meant.
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
