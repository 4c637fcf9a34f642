import { systemClock } from '../../src/base/clock.js';
import type { Config } from '../../src/config/config.js';
import { Lattice } from '../../src/lattice/lattice.js';
import { ProseQuestions, wordsOfShard } from '../../src/lattice/prose/prose-questions.js';
import type { AskingOptions, LatticeQuestions, Questions } from '../../src/lattice/questions.js';
import { BusError } from '../../src/errors/bus-error.js';
import type { Analyses } from '../../src/pgc/analyse/analyses.js';
import { openIndex } from '../../src/pgc/search/open-index.js';
import type { Locator } from '../../src/pgc/search/locate/locate.js';
import type { TreeStates } from '../../src/pgc/plan/tree-state.js';
import { realRoot } from '../../src/pgc/source/source-tree.js';
import { openShards, type OpenedShards } from '../../src/pgc/serve/open-shards.js';
import type { Answer, AskRequest } from '../../src/pgc/shapes.js';
import { LeftPlaces } from '../../src/operations/explore/left.js';
import type { Asking } from '../../src/operations/operation.js';
import { usage } from './output.js';
import { proseOf } from '../prose.js';

/** The built index of a tree as something to ask, without a broker; its parts are opened when they are first needed. */
export function askingIndex(config: Config, repo: string): Asking {
  let questions: Promise<Questions> | undefined;
  let states: TreeStates | undefined;
  const ask = async (): Promise<Questions> =>
    new ProseQuestions(proseOf(config), ...latticeOf(await openShards(repo, config.home)));
  const noAgents = (): Promise<never> =>
    Promise.reject(usage('this asks agents: leave out --repo'));
  return {
    client: noAgents,
    asPerson: noAgents,
    critic: noAgents,
    audit: () => Promise.resolve(undefined),
    folder: process.cwd(),
    left: new LeftPlaces(config.home),
    questions: () => (questions ??= ask()),
    analyses: () => localAnalyses(config, repo),
    locator: async () => {
      const { Locator: opening } = await import('../../src/pgc/search/locate/locate.js');
      return locatorOf(await opening.open(repo, config.home));
    },
    states: async ({ paths, compares }) => {
      const { TreeStates } = await import('../../src/pgc/plan/tree-state.js');
      states ??= new TreeStates(config.home);
      const state = await states.of(await realRoot(repo), compares ? paths : undefined);
      return state === undefined ? [] : [state];
    },
    askAgent: (agent, request, options) => askShard(config, repo, agent, request, options),
  };
}

function locatorOf(locator: Locator): Pick<Questions, 'locate'> {
  return {
    locate: ({ title = '', text: description, ...wanted }) =>
      locator.locate({ title, description }, wanted),
  };
}

/** Runs `work` with the built index of a tree, without a broker. Throws INDEX_*. */
export async function withIndex<T>(
  config: Config,
  repo: string,
  work: (questions: Questions) => Promise<T>,
): Promise<T> {
  return work(await askingIndex(config, repo).questions());
}

/** Of these shards, as questions in this process need it. */
export function latticeOf({
  shards,
  cards,
}: Pick<OpenedShards, 'shards' | 'cards'>): ConstructorParameters<typeof LatticeQuestions> {
  const lattice = new Lattice(shards, cards);
  const trees = shards.map(({ index }) => index.info);
  return [lattice, systemClock, trees];
}

/** The analyses of a built index, which is opened once, when the first is asked for. */
export async function localAnalyses(config: Config, repo: string): Promise<Analyses> {
  const { TreeAnalyses } = await import('../../src/pgc/analyse/analyses.js');
  let tree: ReturnType<typeof openIndex> | undefined;
  return new TreeAnalyses(() => (tree ??= openIndex(repo, config.home)));
}

/** The answer of one shard of a built index. Throws INDEX_*, UNKNOWN_AGENT. */
async function askShard(
  config: Config,
  repo: string,
  agent: string,
  request: AskRequest,
  options: AskingOptions,
): Promise<Answer> {
  const { shards } = await openShards(repo, config.home);
  const shard = shards.find((each) => each.agent === agent);
  if (shard === undefined) throw new BusError('UNKNOWN_AGENT', { agent });
  return proseOf(config).ask(request, options, {
    answer: (its) => shard.ask(its),
    known: wordsOfShard(shard.index),
  });
}
