import { z } from 'zod';
import { newId } from '../base/ids.js';
import { printable } from '../render/terminal.js';
import { renderQueue } from '../render/queue.js';
import { Tasks } from '../remote/tasks.js';
import { promptLimits } from '../prompt/grammar/shapes.js';
import { resolveName } from '../task/queue/queue.js';
import type { QueueAnswer, RunAnswer, TaskView } from '../task/requests/messages.js';
import { nameCharsMax } from './shapes.js';
import { acts, listing, looks, plain, type Operation, type Reply } from './operation.js';

/** Queues of prompts, for people and models: looked at, started, ended. */

const limitSecondsMax = 30 * 86_400;

const rowOutput = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string().describe('queued, running or finished.'),
  state: z.string(),
  progress: z.string(),
  is_delivering: z.boolean().describe('It is over, and its result is on its way to you.'),
});

const queueInput = z.strictObject({
  all: z.boolean().default(false).describe('Also what is finished.'),
});

/** `queue`: looks. */
export const queue: Operation<typeof queueInput> = {
  name: 'queue',
  title: 'Look at the queue',
  description:
    'What you pushed: queued, running, finished; where you are a task yourself also what stands in the same queue as you. Looking starts nothing and receives nothing.',
  input: queueInput,
  output: z.looseObject({
    owner: z.string(),
    parent: z.string().describe('Who gets your result; empty: you are no task.'),
    concurrency: z.int().describe('So many at a time; 0: no limit.'),
    rows: z.array(rowOutput),
    siblings: z.array(rowOutput),
  }),
  annotations: looks,
  doing: 'asking for the queue',
  cli: {
    command: 'queue',
    help: 'list the queue: queued and running prompts',
    arguments: [],
    flags: { all: { flag: '--all', help: 'also finished prompts' } },
    asks: 'as an agent',
  },
  async run({ all }, { bus, signal, actor }) {
    const whole = await new Tasks(await bus.client()).queue(actor, { signal });
    const shown = whole.rows.filter(
      ({ status, is_delivering }) => all || status !== 'finished' || is_delivering,
    );
    const value: QueueAnswer = { ...whole, rows: shown };
    return listing<QueueAnswer>(value, ['rows', 'siblings'], renderQueue);
  },
};

const queueRunInput = z.strictObject({
  count: z
    .int()
    .min(0)
    .max(promptLimits.count)
    .default(0)
    .describe('So many at most, oldest first; 0: all.'),
  concurrency: z
    .int()
    .min(0)
    .max(promptLimits.concurrency)
    .default(0)
    .describe('So many at a time, from now on; 0: as it is.'),
  limit_seconds: z
    .number()
    .min(0.001)
    .max(limitSecondsMax)
    .optional()
    .describe('For each of them.'),
  supervised: z
    .boolean()
    .default(false)
    .describe('What passes by itself is tried again; what does not ends the whole queue.'),
  key: z
    .string()
    .max(nameCharsMax)
    .optional()
    .describe('Said again under the same key, nothing more is started.'),
});

/** `queue_run`: starts, and waits for nothing. */
export const queueRun: Operation<typeof queueRunInput> = {
  name: 'queue_run',
  title: 'Start what is queued',
  description:
    'Start prompts of your queue, oldest first, and return at once. Their results come as messages, each when it is there: receive waits for one.',
  input: queueRunInput,
  output: z.looseObject({ started: z.array(z.string()), queued: z.int(), running: z.int() }),
  annotations: acts,
  doing: 'starting what is queued',
  cli: {
    command: 'queue run',
    help: 'start queued prompts',
    arguments: ['count'],
    flags: {
      concurrency: {
        flag: '--concurrency <n>',
        help: 'most prompts at a time, from now on; 0: as it is',
      },
      limit_seconds: { flag: '--timeout <duration>', help: 'limit for each prompt' },
      supervised: {
        flag: '--supervised',
        help: 'retry temporary failures; end all when one fails for good',
      },
      key: {
        flag: '--key <key>',
        help: 'key; repeating the command under the same key starts nothing more',
      },
    },
    asks: 'as an agent',
  },
  async run({ count, concurrency, limit_seconds = 0, supervised, key }, { bus, signal, actor }) {
    const answer = await new Tasks(await bus.client()).run(
      {
        ...{ owner: actor, count, concurrency, supervised },
        timeout_ms: Math.round(limit_seconds * 1_000),
        key: key ?? newId('run'),
      },
      { signal },
    );
    return listing<RunAnswer>(
      answer,
      ['started'],
      ({ started, queued, running }: RunAnswer) =>
        [
          [
            `${started.length} started`,
            ...(running < started.length ? [`${running} at a time`] : []),
            `${queued} left in the queue`,
          ].join(', '),
          ...started.map((id) => `  ${printable(id)}`),
        ].join('\n'),
      { rest: () => 'Call queue.' },
    );
  },
};

const killInput = z.strictObject({
  task: z
    .string()
    .min(1, 'it must not be empty')
    .max(nameCharsMax)
    .describe('Its name in your queue, or its id.'),
  why: z.string().max(500).default(''),
});

/** `kill`: ends a task, and all below it. */
export const kill: Operation<typeof killInput> = {
  name: 'kill',
  title: 'End a task',
  description:
    'End a task that you pushed or delegated, and all that it pushed. It tells you that it was killed, with what it had done so far.',
  input: killInput,
  output: z.looseObject({ id: z.string(), state: z.string() }),
  annotations: { ...acts, destructiveHint: true, idempotentHint: true },
  doing: 'ending the task',
  cli: {
    command: 'kill',
    help: 'end a task and all tasks that it started',
    arguments: ['task'],
    flags: { why: { flag: '--why <text>', help: 'why' } },
    asks: 'as an agent',
  },
  async run({ task, why }, { bus, signal, actor }): Promise<Reply<TaskView>> {
    const tasks = new Tasks(await bus.client());
    const id = resolveName(await tasks.queue(actor, { signal }), task);
    const text = why === '' ? 'KILLED' : `KILLED: ${why}`;
    const view = await tasks.change({ id, what: 'cancel', text });
    return {
      ...plain<TaskView>(view, `${printable(id)}: ${printable(view.state)}`),
      structure: ({ state }) => ({ id, state }),
    };
  },
};
