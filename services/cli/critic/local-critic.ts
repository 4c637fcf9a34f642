import { newId } from '../../../src/base/ids.js';
import { userName } from '../../../src/base/user-name.js';
import type { Config } from '../../../src/config/config.js';
import type { Grounded } from '../../../src/critic/review/reviews.js';
import type { CritiqueRequest } from '../../../src/critic/shapes.js';
import { TreeGround } from '../../../src/critic/artifact/tree-ground.js';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { LatticeQuestions } from '../../../src/lattice/questions.js';
import { openShards } from '../../../src/pgc/serve/open-shards.js';
import type { LevelStore } from '../../../src/store/level-store.js';
import { listed } from '../../../src/critic/serve/requests.js';
import { openCritic, openStore, storeOf } from '../../../src/critic/serve/open-critic.js';
import { artifactsListedMax, type CriticPort } from '../../../src/remote/critic.js';
import { latticeOf, localAnalyses } from '../local.js';

/** In this process, with the store of the home and the built index of a tree. Throws CRITIC_ELSEWHERE, CRITIC_POLICY_INVALID. */
export async function withLocalCritic<T>(
  config: Config,
  work: (critic: CriticPort) => Promise<T>,
): Promise<T> {
  await using store = await opened(config);
  const critic = await openCritic(config, store, {
    env: process.env,
    ground: (request) => groundOf(config, request),
    // About records of other reviews: a request for one of them reports it.
    onTrouble: () => undefined,
  });
  const { reviews, history } = critic;
  await using _ = reviews;
  return await work({
    critique: (request, options = {}) => interruptible(reviews, request, options),
    history: (artifact) => history.of(artifact),
    finished: (id) => reviews.finished(id),
    list: () => Promise.resolve(listed(critic, { after: '', limit: artifactsListedMax })),
    // Without a broker, write access to the store is the proof; the name of the user is recorded.
    ratify: ({ artifact, by, ...said }) => {
      const user = userName();
      return history.ratify(artifact, { ...said, by: by === user ? by : `${by} (${user})` });
    },
  });
}

/** At Ctrl-C the mode under way is cut, and what is known is the answer. */
async function interruptible(
  reviews: Awaited<ReturnType<typeof openCritic>>['reviews'],
  request: CritiqueRequest,
  { onProgress, signal }: NonNullable<Parameters<CriticPort['critique']>[1]>,
): ReturnType<CriticPort['critique']> {
  const id = request.id === '' ? newId('review') : request.id;
  const onSignal = (): void => reviews.stop(id, 'CANCELLED', true);
  process.once('SIGINT', onSignal);
  try {
    return await reviews.review(
      { ...request, id },
      { ...(onProgress && { onProgress }), ...(signal && { signal }) },
    );
  } finally {
    process.off('SIGINT', onSignal);
  }
}

async function opened(config: Config): Promise<LevelStore> {
  try {
    return await openStore(config);
  } catch (error) {
    if (asBusError(error).code !== 'STORE_LOCKED') throw error;
    throw new BusError('CRITIC_ELSEWHERE', { path: storeOf(config) }, { cause: error });
  }
}

/** The built index of the tree that is named. */
async function groundOf(config: Config, { root }: CritiqueRequest): Promise<Grounded> {
  if (root === '') return { ground: undefined, why: 'no tree is named that it is about' };
  const opened = await openShards(root, config.home);
  const questions = new LatticeQuestions(...latticeOf(opened));
  return {
    ground: await TreeGround.open(root, questions, await localAnalyses(config, root)),
    why: '',
  };
}
