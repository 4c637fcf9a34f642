import { createHash } from 'node:crypto';

/** Who does something, and where in its conversation: the same place is the same action, however often it is done. */
export interface ActionPlace {
  task: string;
  attempt: number;
  /** `setup`, `teardown`, or the number of the answer. */
  step: string | number;
  /** Place of the command, or of the call in its answer. */
  at: number;
}

const digestChars = 20;

/** The id of what is done there: a name, then what follows from the place. Two places never share one. */
export function actionId(name: string, { task, attempt, step, at }: ActionPlace): string {
  const digest = createHash('sha256').update(JSON.stringify([task, attempt, step, at]));
  return `${name}-${digest.digest('hex').slice(0, digestChars)}`;
}
