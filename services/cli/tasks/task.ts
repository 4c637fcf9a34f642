import type { Command } from 'commander';
import type { Client } from '../../../src/client/client.js';
import type { TaskChange, TaskChangeName, TaskView } from '../../../src/task/requests/messages.js';
import { todoLimits, todoUpdateJsonSchema } from '../../../src/task/todo/sigma-task-update.js';
import { withClient } from '../connect.js';
import { wholeOf } from '../input.js';
import { actorOf, configOf, withCommon, type CommonOptions } from '../options.js';
import { printable } from '../../../src/render/terminal.js';
import { print, usage } from '../output.js';
import { renderTodos, waysOn } from '../../../src/render/task.js';
import { isAccepted, renderForReview } from './review-task.js';
import { Tasks } from '../../../src/remote/tasks.js';

interface UpdateOptions extends CommonOptions {
  answer?: string;
  accept?: boolean;
  refuse?: boolean;
  revise?: string | boolean;
  halt?: boolean;
  relax?: boolean;
  regenerate?: boolean;
  reassign?: boolean;
  outcome?: string;
  why?: string;
  list?: string;
  schema?: boolean;
}

/** `task update|review`: what is said to a task; the others are operations. */
export function addTaskCommands(sigma: Command): void {
  const task = sigma.command('task').description('list, show and control delegated tasks');
  task.action(() => {
    throw usage('name a command: list, show, update, cancel or review');
  });

  withCommon(task.command('update').argument('[id]', 'a task; - reads a SigmaTaskUpdate as JSON'))
    .description('answer a task, decide about it, or update the task list of an agent')
    .option('--answer <text>', 'answer its question')
    .option('--accept', 'accept its result')
    .option('--refuse', 'refuse its result')
    .option('--revise [why]', 'have it done again, with this advice')
    .option('--halt', 'end it, and block what depends on it')
    .option('--relax', 'if blocked: go on without the evidence')
    .option('--regenerate', 'if blocked: make the missing overlays first')
    .option('--reassign', 'if blocked: assign it to a worker again')
    .option('--outcome <done|failed>', 'if blocked: how the interrupted action ended')
    .option('--why <text>', 'reason for --refuse or --halt')
    .option('--list <agent>', 'update the list of this agent (default: operator)')
    .option('--schema', 'print the JSON Schema of a SigmaTaskUpdate; change nothing')
    .action(async (id: string | undefined, options: UpdateOptions) => {
      if (options.schema === true)
        return void process.stdout.write(`${JSON.stringify(todoUpdateJsonSchema(), null, 2)}\n`);
      if (id === undefined)
        throw usage('no task was given: name its id, or - for a SigmaTaskUpdate');
      if (id === '-') return updateList(options);
      await change(options, { id, ...changeIn(options) });
    });

  withCommon(task.command('review').argument('<id>'))
    .description('show the evidence of a result, then accept or refuse it')
    .option('--repo <dir>', 'root of the cited tree', '.')
    .action((id: string, options: CommonOptions & { repo: string }) => review(id, options));
}

/** The one change that the options name. Throws USAGE for none, or several. */
function changeIn(options: UpdateOptions): Pick<TaskChange, 'what' | 'text'> {
  const { answer, outcome, revise, why = '' } = options;
  if (outcome !== undefined && outcome !== 'done' && outcome !== 'failed')
    throw usage('--outcome is done or failed');
  const plain = ['accept', 'refuse', 'halt', 'relax', 'regenerate', 'reassign'] as const;
  const said: Pick<TaskChange, 'what' | 'text'>[] = [
    ...plain.filter((each) => options[each] === true).map((what) => ({ what, text: why })),
    ...(answer === undefined ? [] : [{ what: 'answer' as const, text: answer }]),
    ...(revise === undefined
      ? []
      : [{ what: 'revise' as const, text: typeof revise === 'string' ? revise : why }]),
    ...(outcome === undefined ? [] : [{ what: outcome, text: why } as const]),
  ];
  const [only] = said;
  if (only === undefined || said.length > 1)
    throw usage('give exactly one of --answer, --accept, --refuse, --revise, --halt, --relax, …');
  return only;
}

async function change(options: CommonOptions, asked: TaskChange): Promise<void> {
  const view = await withTasks(options, (tasks) => tasks.change(asked));
  print(options, view, () => saidOf(view, asked.what));
}

function saidOf({ id, state }: TaskView, what: TaskChangeName): string {
  return `${printable(id)}: ${what}, now ${printable(state)}`;
}

async function updateList(options: UpdateOptions): Promise<void> {
  const json = await wholeOf('-', todoLimits.documentBytes, 'the update');
  const owner = actorOf(configOf(options), options.list);
  const view = await withTasks(options, (tasks) => tasks.update(owner, json));
  print(options, view, () => renderTodos(view));
}

/** Shows what a person should look at; asks on a terminal. */
async function review(
  id: string,
  { repo, ...options }: CommonOptions & { repo: string },
): Promise<void> {
  await withTasks(options, async (tasks) => {
    const view = await tasks.show(id);
    const isOpen = view.may.includes('accept');
    const canAsk = isOpen && options.json !== true && process.stdin.isTTY && process.stdout.isTTY;
    const text = await renderForReview(view, repo);
    print(options, view, () => [text, ...(canAsk ? [] : waysOn(view))].join('\n'));
    if (!canAsk) return;
    const isGood = await isAccepted('Accept it?', { input: process.stdin, output: process.stdout });
    if (isGood === undefined) return void process.stdout.write('\nNothing was decided.\n');
    const what = isGood ? 'accept' : 'refuse';
    const now = await tasks.change({ id, what, text: '' });
    print(options, now, () => saidOf(now, what));
  });
}

function withTasks<T>(
  options: CommonOptions,
  work: (tasks: Tasks, client: Client) => Promise<T>,
): Promise<T> {
  return withClient(configOf(options), (client) => work(new Tasks(client), client));
}
