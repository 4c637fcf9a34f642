import type { Client } from '../../src/client/client.js';
import { readTask } from '../../src/delegation/task/schema.js';
import {
  taskMessages,
  taskService,
  type QueueAnswer,
  type Run,
  type RunAnswer,
  type TaskView,
} from '../../src/task/requests/messages.js';

interface Bodied<Q, A> {
  type: string;
  request: { encode(value: Q): Buffer };
  answer: { decode(bytes: Uint8Array): A };
}

/** The requests about queues that an agent sends to a manager. */
export class QueueHand {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  push(name: string, task = name, more: object = {}): Promise<TaskView> {
    const { to_parent = false, owner = '', ...fields } = more as Record<string, unknown>;
    const whole = readTask({ task, name, runner: 'prompt', ...fields }, '');
    const asked = { owner: String(owner), task: whole, to_parent: to_parent === true };
    return this.#ask(taskMessages.push, asked);
  }

  run(run: Partial<Run> = {}): Promise<RunAnswer> {
    const none = { owner: '', count: 0, concurrency: 0, timeout_ms: 0, key: '', supervised: false };
    return this.#ask(taskMessages.run, { ...none, ...run });
  }

  readonly queue = (owner = ''): Promise<QueueAnswer> => this.#ask(taskMessages.queue, { owner });

  async #ask<Q, A>(message: Bodied<Q, A>, request: Q): Promise<A> {
    const body = message.request.encode(request);

    const reply = await this.#client.request(`service:${taskService}`, message.type, body);
    return message.answer.decode(reply.body);
  }
}
