import { z } from 'zod';
import { newId } from '../../base/ids.js';
import type { Client } from '../../client/client.js';
import { delegatedTaskSchema } from '../../delegation/task/schema.js';
import { BusError } from '../../errors/bus-error.js';
import { Tasks } from '../../remote/tasks.js';
import { counted, renderTodos, saidOf } from '../../render/task.js';
import { printable } from '../../render/terminal.js';
import type { TaskChange, TaskView } from '../../task/requests/messages.js';
import { retriedTask } from '../../task/requests/retry.js';
import type { TodoListView } from '../../task/todo/sigma-task-update.js';
import { todoLimits, todoUpdateSchema } from '../../task/todo/todo-update.js';
import { acts, forPeople, listing, plain, type Operation, type Reply } from '../operation.js';

/** What is said to tasks, and to lists of them. */

const updateOutput = z.looseObject({
  list: z.string(),
  todos: z.array(
    z.looseObject({
      id: z.string(),
      content: z.string(),
      status: z.string(),
      delegated_to: z.string(),
      task_id: z.string().describe('Of the task that it was delegated as; see task_status.'),
      result_summary: z.string(),
      result_of: z
        .string()
        .optional()
        .describe('The task whose checked result it holds; empty: its agent says so.'),
      task: z.looseObject({ state: z.string(), asks: z.string() }).nullable(),
    }),
  ),
  warnings: z.array(z.string()),
});

/** `sigma_task_update`: the list of this agent, which outlives it. */
export const sigmaTaskUpdate: Operation<typeof todoUpdateSchema> = {
  name: 'sigma_task_update',
  title: 'Update the list of tasks',
  description:
    'The list of tasks of this agent, kept by the manager: give entries that are new or changed, the others stay as they are. An entry that is `delegated` (with acceptance_criteria and delegated_to, its grounding by id) is handed to that worker and completes itself with the result. One entry at most is in_progress; a completed one says in result_summary what came of it: people see that as the word of this agent, and a result that a task was checked for stays as it is. An empty `todos` reads the list.',
  input: todoUpdateSchema,
  output: updateOutput,
  annotations: { ...acts, idempotentHint: true },
  doing: 'updating the list',
  async run({ todos, grounding, grounding_evidence }, { bus, signal }) {
    const client = await bus.client();
    const json = JSON.stringify({ todos, grounding, grounding_evidence });
    return updated(client, client.identity.agent, json, { signal });
  },
};

async function updated(
  client: Client,
  list: string,
  json: string,
  options: { signal: AbortSignal },
): Promise<Reply<TodoListView>> {
  const view = await new Tasks(client).update(list, Buffer.from(json), options);
  return {
    ...listing<TodoListView>(view, ['todos', 'warnings'], todosText),
    screen: renderTodos,
  };
}

function todosText({ list, todos, warnings }: TodoListView): string {
  return [
    `List of ${list}: ${counted(todos.length)}`,
    ...todos.map((todo) => {
      const { id, status, content, task_id, task } = todo;
      const how =
        task === null ? '' : `: ${[task.state, task.progress].filter(Boolean).join(', ')}`;
      const at = task_id === '' ? '' : ` (task ${task_id}${how})`;
      return `${status} ${id}: ${content}${at}${saidOf(list, todo)}`;
    }),
    ...warnings.map((each) => `note: ${each}`),
  ].join('\n');
}

const said = z.boolean().default(false);
const changeInput = z.strictObject({
  id: z.string().optional(),
  update: z.string().optional(),
  list: z.string().optional(),
  answer: z.string().optional(),
  ...{ accept: said, refuse: said, halt: said, relax: said, regenerate: said, reassign: said },
  revise: z.union([z.string(), z.literal(true)]).optional(),
  outcome: z.enum(['done', 'failed']).optional(),
  why: z.string().default(''),
});

/** `task update`: for people, any task; or the list of an agent, as a document. */
export const taskUpdate = forPeople({
  input: changeInput,
  command: 'task update',
  annotations: acts,
  help: 'answer a task, decide about it, or update the task list of an agent',
  arguments: [
    {
      ...{ field: 'id', argument: '[id]', help: 'a task; - reads a SigmaTaskUpdate as JSON' },
      source: {
        ...{ holds: 'text', names: '-', gives: 'update' },
        ...{ bytesMax: todoLimits.documentBytes, what: 'the update' },
      },
    },
  ],
  flags: {
    answer: { flag: '--answer <text>', help: 'answer its question' },
    accept: { flag: '--accept', help: 'accept its result' },
    refuse: { flag: '--refuse', help: 'refuse its result' },
    revise: { flag: '--revise [why]', help: 'have it done again, with this advice' },
    halt: { flag: '--halt', help: 'end it, and block what depends on it' },
    relax: { flag: '--relax', help: 'if blocked: go on without the evidence' },
    regenerate: { flag: '--regenerate', help: 'if blocked: make the missing overlays first' },
    reassign: { flag: '--reassign', help: 'if blocked: assign it to a worker again' },
    outcome: {
      flag: '--outcome <done|failed>',
      help: 'if blocked: how the interrupted action ended',
    },
    why: { flag: '--why <text>', help: 'reason for --refuse or --halt' },
    list: {
      flag: '--list <agent>',
      help: 'update the list of this agent (default: operator)',
    },
  },
  asks: 'bus',
  check(input) {
    if (input.update === undefined) changeIn(input);
  },
  async run(input, { bus, actor, signal }): Promise<Reply<TaskView> | Reply<TodoListView>> {
    const client = await bus.client();
    const { update, list = actor } = input;
    if (update !== undefined) return updated(client, list, update, { signal });
    const change = changeIn(input);
    return changed(await new Tasks(client).change(change), change.what);
  },
});

/** The one change that a person names. Throws USAGE for none, or several. */
function changeIn({ id, why, answer, revise, outcome, ...its }: ChangeInput): TaskChange {
  if (id === undefined) throw usage('no task was given: name its id, or - for a SigmaTaskUpdate');
  const plain = ['accept', 'refuse', 'halt', 'relax', 'regenerate', 'reassign'] as const;
  const named: TaskChange[] = [
    ...plain.filter((each) => its[each]).map((what) => ({ id, what, text: why })),
    ...(answer === undefined ? [] : [{ id, what: 'answer' as const, text: answer }]),
    ...(revise === undefined
      ? []
      : [{ id, what: 'revise' as const, text: revise === true ? why : revise }]),
    ...(outcome === undefined ? [] : [{ id, what: outcome, text: why }]),
  ];
  const [only] = named;
  if (only === undefined || named.length > 1)
    throw usage('give exactly one of --answer, --accept, --refuse, --revise, --halt, --relax, …');
  return only;
}

type ChangeInput = z.output<typeof changeInput>;

function usage(detail: string): BusError {
  return new BusError('USAGE', { detail });
}

const retryInput = z.strictObject({
  id: z.string(),
  limits: z
    .strictObject({ timeout_ms: delegatedTaskSchema.shape.limits.unwrap().shape.timeout_ms })
    .partial()
    .default({}),
});

/** `task retry`: what ended without a result, from where it was. */
export const taskRetry = forPeople({
  input: retryInput,
  command: 'task retry',
  annotations: acts,
  help: 'delegate a task again that ended without a result, with all that it was told and had found',
  arguments: ['id'],
  flags: {
    'limits.timeout_ms': { flag: '--timeout <duration>', help: 'for all attempts together' },
  },
  asks: 'bus',
  async run({ id, limits }, { bus }) {
    const tasks = new Tasks(await bus.client());
    const task = retriedTask(await tasks.show(id), newId('task'));
    const timeout_ms = limits.timeout_ms ?? task.limits.timeout_ms;
    const view = await tasks.delegate({ ...task, limits: { ...task.limits, timeout_ms } });
    return plain(view, `${printable(id)} is tried again as ${printable(view.id)}`);
  },
});

const cancelInput = z.strictObject({ id: z.string(), why: z.string().default('') });

/** `task cancel`: for people, any task; `kill` ends one's own. */
export const taskCancel = forPeople({
  input: cancelInput,
  command: 'task cancel',
  annotations: acts,
  help: 'cancel a task',
  arguments: ['id'],
  flags: { why: { flag: '--why <text>', help: 'why' } },
  asks: 'bus',
  async run({ id, why }, { bus }) {
    const view = await new Tasks(await bus.client()).change({ id, what: 'cancel', text: why });
    return changed(view, 'cancel');
  },
});

export function changed(view: TaskView, what: TaskChange['what']): Reply<TaskView> {
  return plain(view, `${printable(view.id)}: ${what}, now ${printable(view.state)}`);
}
