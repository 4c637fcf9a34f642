import { createHash } from 'node:crypto';

/** A place in the conversation of a task: an action repeated at the same place is the same action. */
export interface ActionPlace {
  task: string;
  attempt: number;
  /** `setup`, `teardown`, or the number of the answer. */
  step: string | number;
  /** Place of the command, or of the call in its answer. */
  at: number;
}

const digestChars = 20;

/** The id of an action: a name and a digest of the place. */
export function actionId(name: string, { task, attempt, step, at }: ActionPlace): string {
  const digest = createHash('sha256').update(JSON.stringify([task, attempt, step, at]));
  return `${name}-${digest.digest('hex').slice(0, digestChars)}`;
}
