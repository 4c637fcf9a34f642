import { readTask } from '../../src/delegation/task/schema.js';
import type { DelegatedTask, TaskResponse } from '../../src/delegation/task/shapes.js';
import { BusError } from '../../src/errors/bus-error.js';
import {
  taskMessages,
  taskService,
  type Push,
  type QueueAnswer,
  type QueueRow,
  type Run,
  type TaskView,
} from '../../src/task/requests/messages.js';
import { Desk } from './desk.js';
import { eventually } from './eventually.js';

const none: Omit<TaskView, 'id' | 'state' | 'task' | 'parent'> = {
  ...{ revision: 1, assigned_to: '', attempt: 0, response: null, reviews: [], error: null },
  ...{ asks: '', may: [], notes: [], created_ms: 1, updated_ms: 1, finished_ms: 0, progress: '' },
  ...{ gates: [], findings: [], iterations: [], owner: '', depth: 0 },
};

/**
 * A scripted manager for prompts, on a real broker. It records requests, enrols the agents of tasks, and answers as the
 * test says.
 */
export class PromptDesk {
  readonly pushes: { from: string; push: Push }[] = [];
  readonly runs: { from: string; run: Run }[] = [];
  readonly delegated: { from: string; task: DelegatedTask }[] = [];
  /** Errors for pushed tasks, by the name of the task. */
  readonly refusals = new Map<string, BusError>();
  /** Answers by the agent that asks. */
  readonly queues = new Map<string, Partial<QueueAnswer>>();
  /** Called before a request is answered. */
  onAsked: (type: string, from: string, name: string) => void | Promise<void> = () => undefined;

  private constructor(readonly desk: Desk) {}

  static async open(home: string): Promise<PromptDesk> {
    const its = new PromptDesk(await Desk.open(home));
    const { push, run, queue, delegate } = taskMessages;
    its.desk.client.serve({
      [push.type]: async ({ body, from }) => {
        const asked = push.request.decode(body);
        its.pushes.push({ from, push: asked });
        await its.onAsked(push.type, from, asked.task.name);
        const refused = its.refusals.get(asked.task.name);
        if (refused !== undefined) throw refused;
        const { task } = asked;
        return push.answer.encode({ ...none, id: task.id, state: 'queued', task, parent: from });
      },
      [run.type]: async ({ body, from }) => {
        its.runs.push({ from, run: run.request.decode(body) });
        await its.onAsked(run.type, from, '');
        const ids = its.queued(from).map(({ task }) => task.id);
        return run.answer.encode({ started: ids, queued: 0, running: ids.length });
      },
      [queue.type]: async ({ from }) => {
        await its.onAsked(queue.type, from, '');
        return queue.answer.encode(its.#queueOf(from));
      },
      [delegate.type]: async ({ body, from }) => {
        const task = delegate.request.decode(body);
        its.delegated.push({ from, task });
        await its.onAsked(delegate.type, from, task.name);
        return delegate.answer.encode({
          ...none,
          id: task.id,
          state: 'pending',
          task,
          parent: from,
        });
      },
    });
    await its.desk.client.offer([taskService]);
    return its;
  }

  /** The tasks that an agent pushed, without repetitions. */
  queued(agent: string): Push[] {
    const own = this.pushes.filter(({ from }) => from === agent).map(({ push }) => push);
    return [...new Map(own.map((each) => [each.task.id, each])).values()];
  }

  async enrol(id: string): Promise<void> {
    await this.desk.client.mail.enrol({
      ...{ id, role: 'task', alias: '', model: '', project: '', scope: [], overlays: {} },
      ...{ capabilities: [], protocol_versions: [] },
    });
  }

  /** Assigns a prompt to the executor and enrols its agent. */
  async assign(id: string, task: string, more: Record<string, unknown> = {}): Promise<void> {
    await this.enrol(id);
    await this.desk.assign({ id, task, runner: 'prompt', ...more });
  }

  async done(id: string, task: string, more: Record<string, unknown> = {}): Promise<TaskResponse> {
    await this.assign(id, task, more);
    return this.desk.response(id);
  }

  /** Sends a text from one task to another. */
  async say(from: string, to: string, text: string, id: string): Promise<void> {
    await this.enrol(from);
    await this.desk.client.post(`agent:${to}`, 'text', Buffer.from(text), { from, id });
  }

  /** Sends the message by which a manager reports a finished task. */
  async finish(from: string, to: string, result: string): Promise<void> {
    await this.enrol(from);
    const { type, codec } = taskMessages.finished;
    const task = readTask({ task: 'x', runner: 'prompt' }, from);
    const response = { task_id: from, status: 'completed' as const, result, attempt: 1 };
    const body = codec.encode({
      ...{ ...none, id: from, state: 'completed', task, parent: to },
      response: response as TaskResponse,
    });
    await this.desk.client.post(`agent:${to}`, type, body, { from, id: `${from}-finished` });
  }

  /** Waits until `count` messages are in the mailbox of an agent. */
  async waiting(agent: string, count: number): Promise<void> {
    await eventually(async () => {
      const page = await this.desk.client.mail.inbox({ mailbox: `agent:${agent}` });
      if (page.messages.length !== count) throw new Error(`${page.messages.length} wait`);
    });
  }

  #queueOf(agent: string): QueueAnswer {
    const rows = this.queued(agent).map(({ task: { id, name } }): QueueRow => ({
      ...{ id, name, status: 'running', state: 'running', created_ms: 1, started_ms: 1 },
      ...{ finished_ms: 0, progress: '', is_delivering: false },
    }));
    return {
      ...{ owner: agent, rows, parent: 'me', siblings: [], concurrency: 0, supervised: false },
      ...this.queues.get(agent),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.desk[Symbol.asyncDispose]();
  }
}
