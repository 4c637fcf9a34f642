import path from 'node:path';
import { attendCapability } from '../../src/attention/shapes.js';
import { systemClock } from '../../src/base/clock.js';
import type { Config } from '../../src/config/config.js';
import {
  delegationCapability,
  runnerCapability,
  type RunnerName,
} from '../../src/delegation/shapes.js';
import {
  promptSlotsCapability,
  promptSlotsDefault,
  slotsCapability,
} from '../../src/delegation/worker-pool.js';
import { BusError } from '../../src/errors/bus-error.js';
import type { Chat } from '../../src/model/chat.js';
import { openLog, traceTo } from '../../src/observe/log.js';
import type { Store } from '../../src/store/port.js';
import { executorLayout } from '../../src/store/layouts.js';
import { LevelStore } from '../../src/store/level-store.js';
import { isTcp } from '../../src/transport/address.js';
import { policyOf } from '../../src/attention/policy-file.js';
import { openClient } from '../../src/remote/open-client.js';
import { plainRecord, untilAccepted } from '../../src/client/registration.js';
import { generateOverlays } from '../overlay-process.js';
import { endOf, notifySystemd, untilStopped } from '../process.js';
import { Attendant } from '../../src/executor/attendant.js';
import { Book } from '../../src/executor/book.js';
import { Executor } from '../../src/executor/executor.js';
import { openSandbox } from '../../src/executor/open-sandbox.js';
import { OverlayWorks } from '../../src/executor/overlay-works.js';
import { PgcOnBus } from '../../src/executor/pgc-on-bus.js';
import { agentRunner } from '../../src/executor/runners/agent.js';
import { answerRunner } from '../../src/executor/runners/answer.js';
import { commandRunner } from '../../src/executor/runners/command.js';
import { modelRunner } from '../../src/executor/runners/model.js';
import { promptRunner } from '../../src/executor/runners/prompt.js';
import type { Runner } from '../../src/executor/runners/runner.js';
import { assertOutside, wallsOf, type Sandbox } from '../../src/executor/sandbox.js';

export const slotsDefault = 4;
const nameDefault = 'executor';

export interface ExecutorOptions {
  /** Of the agent; several executors of one broker have several. */
  name?: string | undefined;
  runners?: readonly RunnerName[] | undefined;
  slots?: number | undefined;
  root?: string | undefined;
  /** Where prompts read files; by default below the root. */
  reads?: string | undefined;
}

/** `sigma agent executor`: does the tasks that a manager assigns to it, until a signal stops it. */
export async function runExecutor(config: Config, options: ExecutorOptions): Promise<void> {
  const agent = options.name ?? nameDefault;
  const log = openLog(config, { service: agent });
  const stopped = untilStopped();
  const root = options.root ?? config.executor.root;
  if (root !== undefined) assertOutside(root, wallsOf(config, process.getuid?.() ?? 0));
  const sandbox: Sandbox = root === undefined ? { kind: 'off' } : await openSandbox(config);
  const policy = policyOf(config);
  const slots = {
    work: options.slots ?? config.executor.slots ?? slotsDefault,
    prompts: config.executor.promptSlots ?? promptSlotsDefault,
  };
  // Known before anything is received: a second executor of this name and home ends here.
  await using store = await LevelStore.open(path.join(config.home, 'executor', agent, 'store'), {
    layout: executorLayout,
    clock: systemClock,
    random: Math.random,
  });
  const runners = await runnersOf(config, options, { env: process.env, sandbox, store });
  const hasPrograms = runners.has('command') || runners.has('agent');
  if (hasPrograms && sandbox.kind !== 'on') log.warn(toldOf(sandbox), 'programs are not sandboxed');
  using works = new OverlayWorks(generateOverlays(config), log);
  const client = openClient(config, { agent, role: 'executor', isEphemeral: false }, traceTo(log));
  const executor = new Executor(
    {
      ...{ client, log, runners, book: new Book(store), clock: systemClock },
      attendant: root === undefined ? undefined : new Attendant({ policy, root, sandbox }),
      pgcFor: (its, how) => new PgcOnBus({ client, agent: its, works, ...how }),
    },
    slots,
  );
  const introduced = untilAccepted(client, traceTo(log), async () => {
    const capabilities = [
      delegationCapability,
      ...[...runners.keys()].map(runnerCapability),
      ...(root === undefined ? [] : [attendCapability]),
      slotsCapability(slots.work),
      ...(runners.has('prompt') ? [promptSlotsCapability(slots.prompts)] : []),
      ...(hasPrograms ? [sandboxCapability(sandbox)] : []),
    ];
    const more = { model: config.model?.model ?? '', protocol_versions: ['2.0'] };
    await client.register(plainRecord(agent, capabilities, more));
  }).then(async () => {
    if (client.state === 'closed') return;
    await executor.resume();
    await untilAccepted(client, traceTo(log), async () => {
      await executor.receive();
    });
    log.info({ runners: [...runners.keys()], slots }, 'serving');
    await notifySystemd('READY=1');
  });
  try {
    await Promise.race([introduced, stopped]);
    await endOf(stopped, [client], log);
  } finally {
    await executor.leave();
    await client.close();
  }
}

/** What others can know of how programs are started here. */
const sandboxCapability = ({ kind }: Sandbox): string => `sandbox:${kind}`;

function toldOf(sandbox: Sandbox): { code: string; detail?: string } {
  return sandbox.kind === 'missing'
    ? { code: 'SANDBOX_UNAVAILABLE', detail: sandbox.detail }
    : { code: 'SANDBOX_OFF' };
}

/** Those that can be: all of them, or the ones that were named. Throws NO_RUNNER for one that was named and lacks something. */
export async function runnersOf(
  config: Config,
  options: ExecutorOptions,
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
    prompt: isTcp(config.bus)
      ? 'over tcp each agent has keys, and the agent of a task has none: start the executor beside the broker'
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
  const { Chat } = await import('../../src/model/chat.js');
  return new Chat(model, { env });
}
