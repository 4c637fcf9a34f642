import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.js';
import type { Client } from '../../src/client/client.js';
import type { Config } from '../../src/config/config.js';
import { criticRole, criticService } from '../../src/critic/review/messages.js';
import type { Grounded } from '../../src/critic/review/reviews.js';
import { TreeGround } from '../../src/critic/artifact/tree-ground.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { LatticeQuestions } from '../../src/lattice/questions.js';
import { HealthServer } from '../../src/observe/health-server.js';
import type { LevelStore } from '../../src/store/level-store.js';
import { openLog, traceTo, type Logger } from '../../src/observe/log.js';
import { remoteAnalyses } from '../../src/remote/analyses.js';
import { Shards } from '../../src/remote/shards.js';
import { openClient } from '../../src/remote/open-client.js';
import { plainRecord, untilAccepted } from '../../src/client/registration.js';
import { noMail } from '../../src/wire/messages.js';
import { endOf, untilStopped } from '../process.js';
import { reportReady } from '../systemd.js';
import { CriticHandler } from '../../src/critic/serve/requests.js';
import { openCritic, openStore, type Critic } from '../../src/critic/serve/open-critic.js';

const storeWaitMs = 8_000;
const storeRetryMs = 500;

/** `sigma agent critic`: reviews artifacts, until a signal stops it. Throws STORE_LOCKED, CRITIC_POLICY_INVALID. */
export async function runCritic(config: Config): Promise<void> {
  const log = openLog(config, { service: 'critic' });
  const stopped = untilStopped();
  await using store = await storeInTime(config, log);
  const client = openClient(
    config,
    { agent: criticRole, role: criticRole, isEphemeral: false },
    traceTo(log),
  );
  try {
    const shards = new Shards(client, log);
    const critic = await openCritic(config, store, {
      env: process.env,
      ground: ({ root }) => groundOf(client, shards, root),
      onTrouble: (review, error) =>
        log.warn({ review, code: asBusError(error).code }, asBusError(error).message),
      onProgress: ({ id: review, done, total, report, next }) =>
        log.info(
          { review, done, total, mode: report?.mode ?? '', status: report?.status ?? '', next },
          report === null ? 'review goes on' : 'mode is over',
        ),
    });
    await using reviews = critic.reviews;
    new CriticHandler(client, critic).serveOn(client);
    await using health = await openHealth(config, critic, log);
    if (health !== undefined) log.info({ port: health.port }, 'telling how reviews fare');
    const introduced = untilAccepted(client, traceTo(log), () => introduce(client, log));
    await Promise.race([introduced, stopped]);
    // What an earlier process left is not behind what is asked now.
    void introduced.then(() => reviews.resume()).catch(() => undefined);
    await endOf(stopped, [client], log);
  } finally {
    await client.close();
  }
}

/** A review of the command line holds the store while it lasts; a second critic of this home ends here. */
async function storeInTime(config: Config, log: Logger): Promise<LevelStore> {
  for (const untilMs = performance.now() + storeWaitMs; ;)
    try {
      return await openStore(config);
    } catch (error) {
      if (asBusError(error).code !== 'STORE_LOCKED' || performance.now() >= untilMs) throw error;
      log.info('a review of another process holds the store');
      await delay(storeRetryMs);
    }
}

async function introduce(client: Client, log: Logger): Promise<void> {
  await client.register(plainRecord(criticRole, ['critique', noMail]));
  await client.offer([criticService]);
  log.info('serving');
  await reportReady();
}

/** Only trees that the lattice knows: no caller can have another folder opened. */
async function groundOf(client: Client, shards: Shards, root: string): Promise<Grounded> {
  if (root === '') return { ground: undefined, why: 'no tree is named that it is about' };
  const lattice = (await shards.lattices()).get(root);
  if (lattice === undefined)
    return {
      ground: undefined,
      why: `nothing of the code was looked up: the running lattice does not know the tree ${root}. Run \`sigma up\` on it, with a home of its own where another tree is served`,
    };
  const questions = new LatticeQuestions(lattice, systemClock);
  const analyses = remoteAnalyses(client, root);
  return { ground: await TreeGround.open(root, questions, analyses), why: '' };
}

/** Throws HTTP_ADDRESS. */
async function openHealth(
  { critic: settings }: Config,
  { reviews }: Critic,
  log: Logger,
): Promise<HealthServer | undefined> {
  const address = settings?.http ?? 'off';
  if (address === 'off') return undefined;
  const { samplesContentType, samplesText } = await import('../../src/observe/samples.js');
  const metrics = {
    contentType: samplesContentType,
    text: () =>
      samplesText([
        {
          name: 'sigma_critic_reviews_open',
          kind: 'gauge',
          help: 'Reviews under way or waiting',
          label: '',
          values: { '': reviews.openReviews },
        },
      ]),
  };
  return HealthServer.open({
    address,
    verdict: () => ({ isHealthy: true, isReady: true, state: 'serving', store: 'serving' }),
    metrics,
    trace: traceTo(log),
  });
}
