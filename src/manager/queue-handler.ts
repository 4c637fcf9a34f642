import { assertMayQueue, assertMayUseSession, isOwnSession } from '../task/requests/permissions.js';
import type { Client } from '../client/client.js';
import type { Incoming } from '../client/responder.js';
import { newId } from '../base/ids.js';
import { readWireTask } from '../delegation/task/schema.js';
import type { DelegatedTask, RunnerName } from '../delegation/task/shapes.js';
import { withStrategy } from '../delegation/manager/strategy.js';
import { BusError } from '../errors/bus-error.js';
import { parsePrompt } from '../prompt/grammar/parse.js';
import type { TaskBook } from '../task/book/book.js';
import { taskMessages, type Push, type TaskView } from '../task/requests/messages.js';
import type { Queues } from '../task/queue/queues.js';
import { viewOf } from '../task/requests/view.js';

interface QueueHandlerParts {
  client: Client;
  queues: Queues;
}

/** Queues as the bus asks for them: each agent its own, operators all of them. */
export class QueueHandler {
  readonly #client: Client;
  readonly #queues: Queues;

  constructor({ client, queues }: QueueHandlerParts) {
    this.#client = client;
    this.#queues = queues;
  }

  serveOn(client: Client): void {
    const { push, run, queue } = taskMessages;
    client.serve({
      [push.type]: async ({ body, from }) =>
        push.answer.encode(await this.#pushed(push.request.decode(body), from)),
      [run.type]: async ({ body, from }) => {
        const { owner: named, ...asked } = run.request.decode(body);
        const owner = await this.#ownerFor(named, from);
        return run.answer.encode(await this.#queues.run(owner, asked));
      },
      [queue.type]: async ({ body, from }: Incoming) => {
        const owner = await this.#ownerFor(queue.request.decode(body).owner, from);
        return queue.answer.encode(this.#queues.view(owner));
      },
    });
  }

  async #pushed({ owner: whose, task: asked, to_parent }: Push, from: string): Promise<TaskView> {
    const owner = await this.#ownerFor(whose, from);
    // As it came: what is absent is empty.
    const runner = asked.runner as RunnerName | '';
    const id = asked.id || newId('task');
    const task = withStrategy(readWireTask({ ...asked, id, runner: runner || 'prompt' }));
    assertPrompt(task);
    if (!isOwnSession(task.session, owner))
      assertMayUseSession(task.session, { agent: from, role: await this.#client.roleOf(from) });
    const pushed = { task, owner, to_parent };
    return viewOf(await this.#queues.push(pushed, (its) => enrolTask(this.#client, its)));
  }

  /** The broker is asked who it is that names another. Throws QUEUE_NOT_YOURS. */
  async #ownerFor(named: string, from: string): Promise<string> {
    const owner = named || from;
    if (owner !== from)
      assertMayQueue(owner, { agent: from, role: await this.#client.roleOf(from) });
    return owner;
  }
}

/** Refused before it is kept: what cannot be read fails wherever it runs. Throws PROMPT_INVALID, TOO_LARGE, TASK_INVALID. */
export function assertPrompt({ runner, task, action }: DelegatedTask): void {
  if (runner !== 'prompt') return;
  if (action !== null) throw new BusError('TASK_INVALID', { detail: 'a prompt has no action' });
  parsePrompt(task);
}

/** The agent of a task. Only its name is known. */
export async function enrolTask(client: Client, id: string): Promise<void> {
  await client.mail.enrol({
    ...{ id, alias: '', role: 'task', model: '', project: '', scope: [], overlays: {} },
    ...{ capabilities: [], protocol_versions: [] },
  });
}

/** What an earlier process enrolled for a task that it did not come to keep. */
export async function dismissOrphans(client: Client, book: TaskBook): Promise<void> {
  for (const { record } of await client.agents({ role: 'task' })) {
    const isOpen = book.index.openOne(record.id) !== undefined;
    if (!isOpen && !book.isDelivering(record.id)) await client.mail.dismiss(record.id);
  }
}
