import { answer } from '../../../src/delegation/worker/extractive-answer.js';
import type { Runner } from './runner.js';

/** Without a model: what the PGC says, and nothing else. */
export const answerRunner: Runner = ({ task, gathered, pgc, progress }) => {
  progress('asking the PGC');
  return answer(task, gathered, pgc);
};
