import type { Client } from '../../src/client/client.js';
import { BusError } from '../../src/errors/bus-error.js';
import type { TaskView } from '../../src/task/requests/messages.js';
import { FailureWith, print, printable } from './output.js';
import { renderTask, stepLine } from './render-task.js';
import { isAsking, isOver, Tasks } from './tasks.js';

/** Follows a task on standard error, and says how to come back to it when that ends early. */
export async function followed(client: Client, view: TaskView): Promise<TaskView> {
  let last = '';
  const say = (now: TaskView): void => {
    const line = stepLine(now);
    if (line !== last) process.stderr.write(`${line}\n`);
    last = line;
  };
  return await new Tasks(client).follow(view, say);
}

/** With the way back to a task that goes on although this command does not. */
export function goesOn(error: unknown, id: string): FailureWith {
  const hint = `The task goes on. Come back to it with: sigma task show ${printable(id)} --wait`;
  return new FailureWith(error, { id }, hint);
}

/** What became of a task; 1 when it ended badly or waits for a word. */
export function printOutcome(options: { json?: boolean }, view: TaskView): void {
  const asks = view.asks || `it is ${view.state}`;
  const waits = new BusError('TASK_WAITS', { task: view.id, asks });
  const { code, text, retryable } = waits.toFailure();
  const isWaiting = !isOver(view) && isAsking(view);
  const isBad = isWaiting || (isOver(view) && view.state !== 'completed');
  const error = view.error ?? (isWaiting ? { code, text, retryable } : null);
  print({ json: options.json === true }, { ...view, error }, () => renderTask(view));
  if (isBad) process.exitCode = 1;
}
