import type { Config } from '../../config/config.js';
import type { RunnerName } from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import type { Chat } from '../../model/chat.js';
import type { Store } from '../../store/port.js';
import { isNetwork } from '../../transport/address.js';
import type { Sandbox } from '../sandbox.js';
import { agentRunner } from './agent.js';
import { answerRunner } from './answer.js';
import { commandRunner } from './command.js';
import { modelRunner } from './model.js';
import { promptRunner } from './prompt.js';
import type { Runner } from './runner.js';

export interface ExecutorOptions {
  /** Of the agent; several executors of one broker have several. */
  name?: string | undefined;
  runners?: readonly RunnerName[] | undefined;
  slots?: number | undefined;
  root?: string | undefined;
  /** Where prompts read files; by default below the root. */
  reads?: string | undefined;
}

/** All runners that can work here, or those of `options`. Throws NO_RUNNER for one of these that lacks something. */
export async function runnersOf(
  config: Config,
  options: Pick<ExecutorOptions, 'runners' | 'root' | 'reads'>,
  { env, sandbox, store }: { env: NodeJS.ProcessEnv; sandbox: Sandbox; store: Store },
): Promise<ReadonlyMap<RunnerName, Runner>> {
  const { executor, model } = config;
  const { runners: wanted = executor.runners, root = executor.root } = options;
  const settings =
    root === undefined
      ? undefined
      : { root, environment: executor.environment ?? [], env, sandbox };
  const noRoot = 'name the folder it may work in: `executor.root` in config.json, or --root';
  const possible: Record<RunnerName, Runner | string> = {
    answer: answerRunner,
    command: settings === undefined ? noRoot : commandRunner(settings),
    model:
      model === undefined
        ? 'name its endpoint: `model` in config.json, or SIGMA_MODEL_BASE_URL and SIGMA_MODEL'
        : modelRunner(await chatWith(model, env)),
    prompt: isNetwork(config.bus)
      ? 'over tcp and NATS each agent has keys, and the agent of a task has none: start the executor beside the broker'
      : promptRunner({ config, store, root: options.reads ?? executor.reads ?? root, env }),
    agent:
      executor.agent === undefined
        ? 'name its program: `executor.agent` in config.json'
        : settings === undefined
          ? noRoot
          : agentRunner(settings, executor.agent, executor.agentAttends === true),
  };
  const found = new Map<RunnerName, Runner>();
  for (const [name, runner] of Object.entries(possible) as [RunnerName, Runner | string][]) {
    if (typeof runner !== 'string') {
      if (wanted === undefined || wanted.includes(name)) found.set(name, runner);
    } else if (wanted?.includes(name) === true)
      throw new BusError('NO_RUNNER', { runner: name, detail: runner });
  }
  return found;
}

/** The package of the endpoint is read by those that have one. */
async function chatWith(
  model: NonNullable<Config['model']>,
  env: NodeJS.ProcessEnv,
): Promise<Chat> {
  const { Chat } = await import('../../model/chat.js');
  return new Chat(model, { env });
}
