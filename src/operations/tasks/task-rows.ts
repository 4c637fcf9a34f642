import { z } from 'zod';
import { Tasks } from '../../remote/tasks.js';
import { eventsOf, isPassing, type Told } from '../../render/story-events.js';
import { renderTask } from '../../render/task.js';
import { renderQueue } from '../../render/queue.js';
import { line } from '../../render/terminal.js';
import type {
  QueueAnswer,
  QueueCounts,
  TaskRowsAnswer,
  TaskView,
} from '../../task/requests/messages.js';
import { nameCharsMax, offsetInput } from '../shapes.js';
import { listing, looks, plain, type Operation } from '../operation.js';

/** Tasks and queues for pages: all of a manager, page by page, and one with what happened to it. */

const pageMax = 500;
const words = z.string().max(nameCharsMax).default('');

const findInput = z.strictObject({
  states: z.array(z.string().max(nameCharsMax)).max(20).default([]),
  worker: words.describe('Only of this agent.'),
  text: words.describe('Words of its id, its name, who asked, or the beginning of its text.'),
  offset: offsetInput,
  limit: z.int().min(1).max(pageMax).default(100),
});

/** `find_tasks`: latest first. */
export const findTasks: Operation<typeof findInput> = {
  name: 'find_tasks',
  title: 'Find tasks',
  description: 'A page of all tasks, latest first, by state, worker and words.',
  input: findInput,
  output: z.looseObject({ rows: z.array(z.looseObject({ id: z.string() })), total: z.int() }),
  annotations: looks,
  doing: 'asking the manager',
  isTool: false,
  async run(query, { bus }) {
    const found = await new Tasks(await bus.client()).rows(query);
    return listing<TaskRowsAnswer>(
      found,
      ['rows'],
      ({ rows }) => rows.map(({ id, state, text }) => line`${id}: ${state}, ${text}`).join('\n'),
      { total: found.total },
    );
  },
};

export interface TaskHistory {
  task: TaskView;
  /** All that happened to it, in order of time, in words. */
  events: Told[];
}

const historyInput = z.strictObject({ id: z.string().max(nameCharsMax) });

/** `task_history`: one task without those below it. */
export const taskHistory: Operation<typeof historyInput> = {
  name: 'task_history',
  title: 'What happened to a task',
  description: 'A task in whole, with all that happened to it in order of time.',
  input: historyInput,
  output: z.looseObject({ task: z.looseObject({}), events: z.array(z.looseObject({})) }),
  annotations: looks,
  doing: 'asking the manager',
  isTool: false,
  async run({ id }, { bus }) {
    const task = await new Tasks(await bus.client()).show(id);
    const told = eventsOf(task, (agent) => (isPassing(agent) ? 'a command line' : agent));
    const events = told.sort((a, b) => a.at_ms - b.at_ms);
    return plain<TaskHistory>({ task, events }, renderTask(task));
  },
};

export interface PromptQueues {
  queues: QueueCounts[];
  /** The one that was asked for. */
  queue: QueueAnswer | null;
}

const queuesInput = z.strictObject({
  owner: words.describe('Also the rows of the queue of this agent.'),
});

/** `prompt_queues`: of all agents. */
export const promptQueues: Operation<typeof queuesInput> = {
  name: 'prompt_queues',
  title: 'Queues of prompts',
  description: 'Which agents have a queue, with how many prompts; one of them with its rows.',
  input: queuesInput,
  output: z.looseObject({ queues: z.array(z.looseObject({ owner: z.string() })) }),
  annotations: looks,
  doing: 'asking for the queues',
  isTool: false,
  asks: 'as operator',
  async run({ owner }, { bus }) {
    const tasks = new Tasks(await bus.client());
    const queues = await tasks.queues();
    const queue = owner === '' ? null : await tasks.queue(owner);
    return listing<PromptQueues>({ queues, queue }, ['queues'], (its) =>
      [
        ...its.queues.map(
          (each) =>
            line`${each.owner}: ${each.queued} queued, ${each.running} running, ${each.finished} finished`,
        ),
        ...(its.queue === null ? [] : ['', renderQueue(its.queue)]),
      ].join('\n'),
    );
  },
};
