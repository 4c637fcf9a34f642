import { resolveName } from '../../../src/task/queue/queue.js';
import type { Command } from 'commander';
import { newId } from '../../../src/base/ids.js';
import type { Client } from '../../../src/client/client.js';
import { taskLimits } from '../../../src/delegation/task/shapes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { promptLimits } from '../../../src/prompt/grammar/shapes.js';
import type { QueueAnswer, QueueRow } from '../../../src/task/requests/messages.js';
import { withClient } from '../connect.js';
import {
  actorOf,
  configOf,
  handingOn,
  longDuration,
  wholeNumber,
  withCommon,
  type CommonOptions,
} from '../options.js';
import { printable, table } from '../../../src/render/terminal.js';
import { print } from '../output.js';
import { promptTask, type PromptOptions } from './prompt-text.js';
import { spanOf } from '../../../src/render/task.js';
import { Tasks } from '../../../src/remote/tasks.js';

interface AsOptions extends CommonOptions {
  as?: string;
}

interface RunOptions extends AsOptions {
  concurrency?: number;
  timeout?: number;
  supervised?: boolean;
  key?: string;
}

/** `push`, `queue`, `queue run` and `kill`: prompts that wait until they are started. */
export function addQueueCommands(sigma: Command): void {
  withAs(
    sigma
      .command('push')
      .argument('[prompt]', 'the prompt itself, or a file; - reads standard input'),
  )
    .description('add a prompt to a queue, to be started later')
    .option('--name <name>', 'name in the queue, for example for `sigma receive --from NAME`')
    .option('--model <model>', 'language model (default: the configured one)')
    .option('--timeout <duration>', 'limit from its start on (default: 10m)', longDuration)
    .option(
      '--tokens <n>',
      'token limit of the language model',
      wholeNumber(1, taskLimits.tokensMax),
    )
    .option('--id <id>', 'id of the task; pushing again under the same id makes no second task')
    .action(
      async (given: string | undefined, options: AsOptions & PromptOptions & { id?: string }) => {
        const task = await promptTask(given, options, options.id ?? newId('task'));
        await withQueue(options, async (tasks, owner, client) => {
          await makeKnown(client, owner);
          const view = await tasks.push({ owner, task, to_parent: false });
          print(options, view, () => {
            const called = view.task.name === '' ? '' : ` (${printable(view.task.name)})`;
            return `queued as ${printable(view.id)}${called}; start it: sigma queue run`;
          });
        });
      },
    );

  const queue = handingOn(withAs(sigma.command('queue')))
    .description('list the queue: queued and running prompts')
    .option('--all', 'also finished prompts')
    .action(async (options: AsOptions & { all?: boolean }) => {
      await withQueue(options, async (tasks, owner) => {
        const whole = await tasks.queue(owner);
        const rows = whole.rows.filter(
          ({ status, is_delivering }) =>
            options.all === true || status !== 'finished' || is_delivering,
        );
        print(options, { ...whole, rows }, () => listed({ ...whole, rows }));
      });
    });

  withAs(
    queue
      .command('run')
      .argument(
        '[n]',
        'most prompts to start, oldest first (default: all)',
        wholeNumber(1, promptLimits.count),
      ),
  )
    .description('start queued prompts')
    .option(
      '--concurrency <n>',
      'most prompts at a time, from now on',
      wholeNumber(1, promptLimits.concurrency),
    )
    .option('--timeout <duration>', 'limit for each prompt', longDuration)
    .option('--supervised', 'retry temporary failures; end all when one fails for good')
    .option('--key <key>', 'key; repeating the command under the same key starts nothing more')
    .action(async (count: number | undefined, options: RunOptions) => {
      const { concurrency = 0, timeout: timeout_ms = 0, supervised = false } = options;
      const key = options.key ?? newId('run');
      await withQueue(options, async (tasks, owner) => {
        const asked = { owner, count: count ?? 0, concurrency, timeout_ms, key, supervised };
        const answer = await tasks.run(asked);
        print(options, answer, () => {
          const { started, queued, running } = answer;
          const ids = started.map((id) => `  ${printable(id)}`);
          return [`${started.length} started, ${running} under way, ${queued} queued`, ...ids].join(
            '\n',
          );
        });
      });
    });

  withAs(sigma.command('kill').argument('<task>', 'its name in the queue, or its id'))
    .description('end a task and all tasks that it started')
    .option('--why <text>', 'why', '')
    .action(async (name: string, options: AsOptions & { why: string }) => {
      await withQueue(options, async (tasks, owner) => {
        const id = resolveName(await tasks.queue(owner), name);
        const text = options.why === '' ? 'KILLED' : `KILLED: ${options.why}`;
        const view = await tasks.change({ id, what: 'cancel', text });
        print(options, view, () => `${printable(id)}: ${printable(view.state)}`);
      });
    });
}

function withAs(command: Command): Command {
  return withCommon(command).option('--as <agent>', 'queue of this agent (default: operator)');
}

/** Default: the operator's on this machine; over tcp that of the agent of the identity. */
async function withQueue(
  options: AsOptions,
  work: (tasks: Tasks, owner: string, client: Client) => Promise<void>,
): Promise<void> {
  const config = configOf(options);
  const owner = actorOf(config, options.as);
  await withClient(config, (client) => work(new Tasks(client), owner, client), 'operator');
}

/** Results go to a mailbox. Asking it for a message that cannot exist creates it. */
async function makeKnown(client: Client, owner: string): Promise<void> {
  const nothing = { mailbox: `agent:${owner}`, correlation: newId('none'), deadlineMs: 0 };
  await client.take(nothing).catch((error: unknown) => {
    // What only its agent may look into is there already.
    const isKnown =
      error instanceof BusError && ['INBOX_EMPTY', 'UNAUTHORISED'].includes(error.code);
    if (!isKnown) throw error;
  });
}

function listed({ owner, rows, concurrency, supervised }: QueueAnswer): string {
  const bounds = [
    ...(concurrency > 0 ? [`${concurrency} at a time`] : []),
    ...(supervised ? ['supervised'] : []),
  ];
  const head = `Queue of ${printable(owner)}${bounds.length > 0 ? ` (${bounds.join(', ')})` : ''}`;
  if (rows.length === 0) return `${head}: nothing.`;
  const titles = ['NAME', 'STATUS', 'STATE', 'SINCE', 'ID', 'PROGRESS'];
  return `${head}\n${table([titles, ...rows.map(rowOf)])}`;
}

function rowOf(row: QueueRow): string[] {
  const { name, status, state, created_ms, started_ms, finished_ms, id, progress } = row;
  const sinceMs = finished_ms || started_ms || created_ms;
  const shown = row.is_delivering ? `${status} (its result is on its way)` : status;
  return [name || '-', shown, state, spanOf(Date.now() - sinceMs), id, progress].map(printable);
}
