import { isOnlyAsked } from '../../base/asked.js';
import { answer } from '../../delegation/worker/extractive-answer.js';
import { BusError } from '../../errors/bus-error.js';
import type { Runner } from './runner.js';

/** Without a model: what the PGC says, and nothing else. Throws NOT_DONE for what is more than a question. */
export const answerRunner: Runner = ({ task, gathered, pgc, progress }) => {
  if (task.kind !== 'question' && !isOnlyAsked(task.task))
    throw new BusError('NOT_DONE', { why: needsAgent });
  progress('asking the PGC');
  return answer(task, gathered, pgc);
};

/** Why an order was not carried out. */
export const needsAgent =
  'it orders a change, and the index can only tell; an agent that works below a folder can do it: `executor.agent` and ' +
  '`executor.root` in config.json. If it was meant as a question, delegate it with --kind question';
