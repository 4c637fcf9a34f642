import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readTask } from '../../../dist/src/delegation/task/schema.js';
import { taskMessages, taskService } from '../../../dist/src/task/requests/messages.js';
import { finalStates } from '../../../dist/src/task/life/states.js';
import { connectTo, recordOf, untilTaken } from '../agent.mjs';

const deadlineMs = 5_000;

export const finals = new Set(finalStates);

/** Delegates, hears how it ended, and says what is to be done about what does not go on. */
export class Boss {
  /** By id: the ends that were told. */
  delivered = new Map();

  static async of(home, options = {}) {
    const boss = new Boss();
    boss.client = connectTo(home, 'boss', options);
    await boss.client.ready({ withinMs: 30_000 });
    await boss.client.register(recordOf('boss'));
    await boss.client.receive(({ type, body }) => {
      if (type !== taskMessages.finished.type) return;
      const view = taskMessages.finished.codec.decode(body);
      boss.delivered.set(view.id, [...(boss.delivered.get(view.id) ?? []), view.state]);
    });
    return boss;
  }

  /** The same task again is the same task: what was accepted before an answer was lost is not done twice. */
  async delegate(whole) {
    const { type, request } = taskMessages.delegate;
    const body = request.encode(readTask(whole, whole.id));
    await untilTaken(() => this.client.request(`service:${taskService}`, type, body));
  }

  async shown(id) {
    const { type, request, answer } = taskMessages.show;
    const body = request.encode({ id, wait_ms: 0, revision: 0 });
    const options = { deadlineMs, isIdempotent: true };
    const reply = await this.client.request(`service:${taskService}`, type, body, options);
    return answer.decode(reply.body);
  }

  /** All of them, page by page. */
  async list({ parent = '', states = [] }) {
    const { type, request, answer } = taskMessages.list;
    const tasks = [];
    for (let after = ''; ;) {
      const body = request.encode({ states, parent, after, limit: 100 });
      const options = { deadlineMs, isIdempotent: true };
      const reply = await this.client.request(`service:${taskService}`, type, body, options);
      const page = answer.decode(reply.body);
      tasks.push(...page.tasks);
      after = page.tasks.at(-1)?.id ?? '';
      if (!page.more || after === '') return tasks;
    }
  }

  async change(id, what) {
    const { type, request } = taskMessages.change;
    const body = request.encode({ id, what, text: '' });
    await this.client.request(`service:${taskService}`, type, body, { deadlineMs });
  }

  /**
   * As an operator would: looks whether the effect is there, and says so. Resolves with what blocks it: undefined, nothing;
   * OUTCOME_UNKNOWN, or else its code.
   */
  async resolve(id, isDone) {
    const view = await this.shown(id);
    if (view.state !== 'blocked') return undefined;
    const isUnknown = view.notes.some(({ text }) => text.includes('OUTCOME_UNKNOWN'));
    if (view.may.includes('done'))
      await this.change(id, isUnknown ? (isDone() ? 'done' : 'failed') : 'reassign');
    return isUnknown ? 'OUTCOME_UNKNOWN' : (view.error?.code ?? view.response?.reason ?? '');
  }

  /** Where tasks stand that did not end, and how they came there. */
  stories(ids) {
    return Promise.all(
      ids.map(async (id) => {
        const view = await this.shown(id).catch(({ code }) => ({ state: code, notes: [] }));
        const trail = view.notes.slice(-8).map(({ state, text }) => `${state} (${text})`);
        return `${id} ${view.state} ${view.asks ?? ''} ${view.progress ?? ''}: ${trail.join(', ')}`;
      }),
    );
  }
}

/** How often the first word of a line of that file is this one. */
export function linesOf(folder, word, file = 'effects') {
  const lines = readFileSync(path.join(folder, file), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith(`${word} `)).length;
}
