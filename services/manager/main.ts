import { policyOf } from '../../src/attention/policy/policy-file.js';
import path from 'node:path';
import { systemClock } from '../../src/base/clock.js';
import type { Client } from '../../src/client/client.js';
import type { Config } from '../../src/config/config.js';
import { KeptJournals } from '../../src/lattice/query/kept-journals.js';
import type { Trace } from '../../src/base/trace.js';
import { HealthServer, type Verdict } from '../../src/observe/health-server.js';
import { openLog, traceTo, type Logger } from '../../src/observe/log.js';
import { latticeService, troublePrefix } from '../../src/pgc/serve/messages.js';
import { managerLayout, tasksLayout } from '../../src/store/layouts.js';
import { LevelStore } from '../../src/store/level-store.js';
import { noticeWaysOf } from '../notices.js';
import { proseOf } from '../prose.js';
import { remoteIdentityOf } from '../../src/remote/identity.js';
import { openClient } from '../../src/remote/open-client.js';
import { plainRecord, untilAccepted } from '../../src/client/registration.js';
import { generateOverlays } from '../overlay-process.js';
import type { MakeOverlays } from '../../src/manager/overlay-maker.js';
import { inOffice, type Office } from '../office.js';
import { endOf, untilStopped } from '../process.js';
import { reportReady } from '../systemd.js';
import { Shards } from '../../src/remote/shards.js';
import { attentionParts } from '../../src/manager/risk.js';
import { QuestionHandler } from '../../src/manager/question-handler.js';
import type { NoticeCounts } from '../../src/manager/gate-notices.js';
import { KeptTasks } from '../../src/manager/kept-tasks.js';
import { TaskHandler } from '../../src/manager/task-handler.js';

const who = { agent: 'manager', role: 'manager' };

/**
 * `sigma agent manager`: answers questions over all shards and manages tasks, until a signal stops it; on NATS, while it leads. Throws
 * KEYS_MISSING, KEY_FILE_INVALID, NATS_*.
 */
export async function runManager(config: Config): Promise<void> {
  const log = openLog(config, { service: 'manager' });
  // One that waits to lead would learn it when it does.
  remoteIdentityOf(config, who);
  const stopped = untilStopped();
  const folder = path.join(config.home, 'manager', 'tasks');
  const openLocal = (): Promise<LevelStore> => openTasks(folder);
  const parts = {
    name: 'manager',
    role: who.role,
    layout: tasksLayout,
    folder,
    log,
    stopped,
    openLocal,
  };
  await inOffice(config, parts, (office) => manage(config, office, log));
}

async function manage(config: Config, { open, nats, ended }: Office, log: Logger): Promise<void> {
  const noticeWays = noticeWaysOf(config, process.env);
  // Known before anything is served: a second manager of this home ends here.
  let onChange = (): void => undefined;
  await using journals = await KeptJournals.open({
    openStore: () => openStore(config),
    clock: systemClock,
    onChange: (trouble) => {
      if (trouble === undefined) log.info('queries survive a restart');
      else log.warn({ code: trouble.code, path: storeOf(config) }, trouble.message);
      onChange();
    },
  });
  const client = openClient(config, { ...who, isEphemeral: false }, traceTo(log));
  const shards = new Shards(client, log);
  const { home } = config;
  new QuestionHandler({ shards, client, journals, home, prose: proseOf(config) }).serveOn(client);
  const generate = generateOverlays(config);
  const makeOverlays: MakeOverlays = async (...tree) => (await generate(...tree)) === undefined;
  const tasks = new KeptTasks({
    open: async () => {
      const store = await open();
      try {
        const attention = attentionParts(config);
        const { upstream } = policyOf(config);
        const own = { client, store, shards, log, config };
        const parts = { ...own, attention, noticeWays, upstream, makeOverlays };
        return [await TaskHandler.open(parts), store] as const;
      } catch (error) {
        // On NATS the next attempt has the same one.
        if (nats === undefined) await store[Symbol.asyncDispose]();
        throw error;
      }
    },
    log,
  });
  const introduced = untilAccepted(client, traceTo(log), () => introduce(client, journals, log));
  // Who asks for the status reads it there.
  onChange = () => void introduced.then(() => register(client, journals)).catch(() => undefined);
  void introduced.then(() => tasks.begin());
  await using health = await openHealth(config, tasks, traceTo(log));
  if (health !== undefined) log.info({ port: health.port }, 'serving metrics of tasks');
  try {
    await Promise.race([introduced, ended]);
    await endOf(ended, [client], log);
  } finally {
    // What waits for a broker that is gone ends with the client, not before.
    const ended = tasks[Symbol.asyncDispose]();
    await client.close();
    await ended;
  }
}

/** Throws HTTP_ADDRESS. */
async function openHealth(
  { managerHttp: address }: Config,
  tasks: KeptTasks,
  trace: Trace,
): Promise<HealthServer | undefined> {
  if (address === 'off') return undefined;
  const { samplesContentType, samplesText } = await import('../../src/observe/samples.js');
  const { samplesOf } = await import('../../src/task/numbers/samples.js');
  const metrics = {
    contentType: samplesContentType,
    text: () => {
      const { handler } = tasks;
      if (handler === undefined) return samplesText([]);
      return samplesText([...samplesOf(handler.numbers()), noticesSample(handler.notices)]);
    },
  };
  const verdict = (): Verdict => {
    const isReady = tasks.handler !== undefined;
    const store = isReady ? 'serving' : 'opening';
    return { isHealthy: true, isReady, state: 'serving', store };
  };
  return HealthServer.open({ address, verdict, metrics, trace });
}

function noticesSample(values: NoticeCounts) {
  return {
    ...{ name: 'sigma_gate_notices_total', help: 'Notices of waiting gates.' },
    ...({ kind: 'counter', label: 'outcome', values } as const),
  };
}

/** Throws as `openStore`. */
function openTasks(folder: string): Promise<LevelStore> {
  return LevelStore.open(folder, { layout: tasksLayout, clock: systemClock, random: Math.random });
}

/** Where queries under way are kept. Throws STORE_LOCKED, STORE_SCHEMA, STORE_UNAVAILABLE. */
function openStore(config: Config): Promise<LevelStore> {
  return LevelStore.open(storeOf(config), {
    layout: managerLayout,
    clock: systemClock,
    random: Math.random,
  });
}

function storeOf({ home }: Config): string {
  return path.join(home, 'manager', 'store');
}

function register(client: Client, { trouble }: KeptJournals): Promise<void> {
  const troubles = trouble === undefined ? [] : [troublePrefix + trouble.code];
  return client.register(plainRecord('manager', ['lattice', ...troubles]));
}

async function introduce(client: Client, journals: KeptJournals, log: Logger): Promise<void> {
  await register(client, journals);
  await client.offer([latticeService]);
  log.info('serving');
  await reportReady();
}
