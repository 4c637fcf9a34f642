// Whoever pushes, starts and receives without a language model: an agent on the bus, by the same functions as `sigma`.
import { setTimeout as wait } from 'node:timers/promises';
import { receiveOne } from '../../../dist/services/mail/receive.js';
import { readTask } from '../../../dist/src/delegation/task/schema.js';
import { taskMessages, taskService } from '../../../dist/src/task/requests/messages.js';
import { connectTo, recordOf, untilTaken } from '../agent.mjs';

/** Before a wait that somebody's death ended is begun anew. */
const againMs = 200;

export class Parent {
  static async of(home, name) {
    const parent = new Parent();
    parent.name = name;
    parent.keys = 0;
    /** Messages that were read: one whose settling was lost with the broker comes again, under its number. */
    parent.read = new Set();
    parent.client = connectTo(home, name);
    await parent.client.ready({ withinMs: 30_000 });
    await untilTaken(() => parent.client.register(recordOf(name)));
    return parent;
  }

  close() {
    return this.client.close();
  }

  #ask({ type, request, answer }, body) {
    const asked = request.encode(body);
    const options = { isIdempotent: true, deadlineMs: 5_000 };
    return untilTaken(() =>
      this.client.request(`service:${taskService}`, type, asked, options),
    ).then((reply) => answer.decode(reply.body));
  }

  push(name, text, more = {}) {
    const id = `${name}-${this.name}`;
    const task = readTask({ task: text, runner: 'prompt', name, ...more }, id);
    return this.#ask(taskMessages.push, { owner: '', task, to_parent: false });
  }

  run(its = {}) {
    this.keys += 1;
    const key = `${this.name}-${this.keys}`;
    const whole = { owner: '', count: 0, concurrency: 0, timeout_ms: 0, supervised: false };
    return this.#ask(taskMessages.run, { ...whole, ...its, key });
  }

  queue() {
    return this.#ask(taskMessages.queue, { owner: '' });
  }

  /** What was said, as text; the code of what ended the wait. */
  async receive({ from = '', waitMs = 120_000 } = {}) {
    const queueOf = () => this.queue();
    for (;;) {
      try {
        const taken = await receiveOne(this.client, {
          ...{ agent: this.name, from, lifo: false, waitMs, queueOf },
        });
        const { seq } = taken.view;
        this.client.settle([seq]);
        if (this.read.has(seq)) continue;
        this.read.add(seq);
        return textOf(taken);
      } catch (error) {
        if (error.code === 'NOBODY_LEFT' || error.code === 'INBOX_EMPTY')
          return `${error.code}: ${error.message}`;
        if (error.retryable !== true) throw error;
        await wait(againMs);
      }
    }
  }
}

function textOf({ view, body }) {
  const { finished } = taskMessages;
  if (view.type !== finished.type) return Buffer.from(body).toString();
  const { state, response, error } = finished.codec.decode(body);
  return state === 'completed' ? response.result : `${state} ${error?.code}`;
}
