import type { Command } from 'commander';
import { newId } from '../../../src/base/ids.js';
import type { Client } from '../../../src/client/client.js';
import { taskLimits } from '../../../src/delegation/task/shapes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { withClient } from '../connect.js';
import {
  actorOf,
  configOf,
  longDuration,
  wholeNumber,
  withCommon,
  type CommonOptions,
} from '../options.js';
import { printable } from '../../../src/render/terminal.js';
import { print } from '../output.js';
import { promptTask, type PromptOptions } from './prompt-text.js';
import { Tasks } from '../../../src/remote/tasks.js';

interface AsOptions extends CommonOptions {
  as?: string;
}

/** `push`: a prompt that waits until it is started. */
export function addPushCommand(sigma: Command): void {
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
