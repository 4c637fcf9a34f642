import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Client } from '../../../src/client/client.js';
import { taskLimits } from '../../../src/delegation/task/shapes.js';
import { promptLimits } from '../../../src/prompt/grammar/shapes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { taskMessages } from '../../../src/task/requests/messages.js';
import { receiveOne } from '../../../src/remote/receive.js';
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
import { followed, goesOn, printOutcome } from './task-outcome.js';
import { isOver, Tasks } from '../../../src/remote/tasks.js';

const mainName = 'main';
/** Its result is stored right after its end. */
const resultMs = 10_000;

interface RunOptions extends CommonOptions, PromptOptions {
  concurrency?: number;
  wait?: boolean;
}

/** `run`: a prompt, now. */
export function addRunCommand(sigma: Command): void {
  withCommon(
    sigma
      .command('run')
      .argument('[prompt]', 'the prompt itself, or a file; - reads standard input'),
  )
    .description('run a prompt with its /read, /push and /run commands')
    .option('--name <name>', 'name of the task', mainName)
    .option('--model <model>', 'language model (default: the configured one)')
    .option('--timeout <duration>', 'limit for everything (default: 10m)', longDuration)
    .option(
      '--tokens <n>',
      'token limit of the language model',
      wholeNumber(1, taskLimits.tokensMax),
    )
    .option(
      '--concurrency <n>',
      'most pushed prompts at a time',
      wholeNumber(1, promptLimits.concurrency),
    )
    .option('--to <agent>', 'run it on this executor')
    .option('--wait', 'follow it until it is over or asks something (default on a terminal)')
    .option('--no-wait', 'return as soon as the manager has accepted it')
    .option('--as <agent>', 'delegate as this agent, which gets the result as a message')
    .action((given: string | undefined, options: RunOptions) => run(given, options));
}

async function run(given: string | undefined, options: RunOptions): Promise<void> {
  const { wait = process.stdout.isTTY, concurrency, name = mainName } = options;
  const config = configOf(options);
  const id = `${name}-${randomBytes(4).toString('hex')}`;
  const task = await promptTask(given, options, id);
  const owner = actorOf(config, options.as);
  const known = { isAccepted: false };
  const accepted = (): void => void (known.isAccepted = true);
  try {
    await withClient(
      config,
      async (client) => {
        const tasks = new Tasks(client);
        // Before it can push anything.
        if (concurrency !== undefined) await tasks.run({ ...setting, owner: id, concurrency });
        const view =
          client.identity.agent === owner
            ? await tasks.delegate(task)
            : await tasks.delegateAs(owner, task, accepted);
        accepted();
        if (!wait) return print(options, view, () => `runs as ${printable(view.id)}`);
        const now = await followed(client, view);
        if (isOver(now)) await takeResult(client, owner, id);
        printOutcome(options, now);
      },
      'operator',
    );
  } catch (error) {
    throw known.isAccepted ? goesOn(error, id) : error;
  }
}

const setting = { count: 0, timeout_ms: 0, key: '', supervised: false };

/** The result was shown here, so it leaves the mailbox; other messages of the task stay there. */
export async function takeResult(
  client: Client,
  agent: string,
  id: string,
  withinMs = resultMs,
): Promise<void> {
  const own = { agent, from: id, lifo: true };
  const queueOf = (): ReturnType<Tasks['queue']> => new Tasks(client).queue(agent);
  const untilMs = performance.now() + withinMs;
  const others: number[] = [];
  try {
    for (;;) {
      const waitMs = Math.max(0, Math.floor(untilMs - performance.now()));
      const { view } = await receiveOne(client, { ...own, waitMs, queueOf });
      if (view.type === taskMessages.finished.type) return void client.settle([view.seq]);
      // Kept until the result is found, which is stored after it; then it is there again.
      others.push(view.seq);
    }
  } catch (error) {
    // It stays there, or another reader has it already.
    if (!(error instanceof BusError)) throw error;
  } finally {
    client.giveBack(others);
  }
}
