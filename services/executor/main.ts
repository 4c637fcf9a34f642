import { policyOf } from '../../src/attention/policy/policy-file.js';
import path from 'node:path';
import { attendCapability } from '../../src/attention/shapes.js';
import { systemClock } from '../../src/base/clock.js';
import type { Config } from '../../src/config/config.js';
import { delegationCapability, runnerCapability } from '../../src/delegation/task/shapes.js';
import {
  promptSlotsCapability,
  promptSlotsDefault,
  slotsCapability,
} from '../../src/delegation/manager/worker-pool.js';
import { openLog, traceTo } from '../../src/observe/log.js';
import { executorLayout } from '../../src/store/layouts.js';
import { LevelStore } from '../../src/store/level-store.js';
import { openClient } from '../../src/remote/open-client.js';
import { plainRecord, untilAccepted } from '../../src/client/registration.js';
import { generateOverlays } from '../overlay-process.js';
import { endOf, untilStopped } from '../process.js';
import { reportReady } from '../systemd.js';
import { runnersOf, type ExecutorOptions } from '../../src/executor/runners/available.js';
import { Attendant } from '../../src/executor/attendant.js';
import { Book } from '../../src/executor/book.js';
import { Executor } from '../../src/executor/executor.js';
import { openSandbox } from '../../src/executor/open-sandbox.js';
import { OverlayWorks } from '../../src/executor/overlay-works.js';
import { PgcOnBus } from '../../src/executor/pgc-on-bus.js';
import { assertOutside, wallsOf, type Sandbox } from '../../src/executor/sandbox.js';

export const slotsDefault = 4;
const nameDefault = 'executor';

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
      ...{ client, log, runners, book: new Book(store, systemClock, log), clock: systemClock },
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
    await reportReady();
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
