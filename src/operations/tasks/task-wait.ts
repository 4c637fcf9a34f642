import type { Gate } from '../../attention/shapes.js';
import type { Client } from '../../client/client.js';
import { asBusError } from '../../errors/bus-error.js';
import { Tasks } from '../../remote/tasks.js';
import { stepLine } from '../../render/task.js';
import type { TaskView } from '../../task/requests/messages.js';
import { judgedHere } from '../gates.js';
import { unwanted, type Call } from '../operation.js';

/** As long as the call may take; the task goes on in any case, unless its caller wants it no more. */
export async function waitedForOwn(client: Client, view: TaskView, call: Call): Promise<TaskView> {
  try {
    return await waited(client, view, call);
  } catch (error) {
    if (call.signal.reason === unwanted)
      await new Tasks(client).change({ id: view.id, what: 'cancel', text: 'CANCELLED' });
    throw error;
  }
}

/** As long as the call may take; the task goes on in any case. Where the person can be asked, they judge what it waits for. */
export async function waited(client: Client, view: TaskView, call: Call): Promise<TaskView> {
  const tasks = new Tasks(client);
  const { waitMs, signal } = call;
  const untilMs = performance.now() + waitMs;
  const say = (now: TaskView): void => call.tell(stepLine(now));
  for (let now = view; ;) {
    now = await tasks.follow(now, say, { withinMs: untilMs - performance.now(), signal });
    const gate = now.gates.find(isOpen);
    const leftMs = untilMs - performance.now();
    if (gate === undefined || call.ask === undefined || leftMs <= 0) return now;
    if (!(await isJudged(tasks, now, gate, { ...call, waitMs: leftMs }))) return now;
    now = await tasks.show(now.id, { signal });
  }
}

/** Here, or elsewhere meanwhile. False: the person here said nothing. */
async function isJudged(tasks: Tasks, view: TaskView, gate: Gate, call: Call): Promise<boolean> {
  const over = new AbortController();
  const signal = AbortSignal.any([call.signal, over.signal]);
  const here = judgedHere(gate, { ...call, signal }).catch((error: unknown) => {
    // Of two words the other came first.
    if (asBusError(error).code === 'GATE_JUDGED') return true;
    throw error;
  });
  const elsewhere = isClosed(
    gate,
    tasks.revisions(view, { alsoAsking: true, withinMs: call.waitMs, signal }),
  );
  for (const each of [here, elsewhere]) each.catch(() => undefined);
  try {
    return await Promise.race([here, elsewhere]);
  } finally {
    over.abort();
  }
}

/** True when it is, or is waited for no longer. */
async function isClosed({ id }: Gate, revisions: AsyncIterable<TaskView>): Promise<boolean> {
  for await (const { gates } of revisions)
    if (!gates.some((each) => each.id === id && isOpen(each))) break;
  return true;
}

function isOpen({ state }: Gate): boolean {
  return state === 'open';
}
