import { systemClock } from '../../src/base/clock.js';
import type { Config } from '../../src/config/config.js';
import { Lattice } from '../../src/lattice/lattice.js';
import { ProseQuestions, wordsOfShard } from '../../src/lattice/prose/prose-questions.js';
import type { AskingOptions, LatticeQuestions, Questions } from '../../src/lattice/questions.js';
import { BusError } from '../../src/errors/bus-error.js';
import type { Analyses } from '../../src/pgc/analyse/analyses.js';
import { openIndex } from '../../src/pgc/search/open-index.js';
import type { Locator } from '../../src/pgc/search/locate/locate.js';
import { openShards, type OpenedShards } from '../../src/pgc/serve/open-shards.js';
import type { Answer, AskRequest } from '../../src/pgc/shapes.js';
import { Engine } from '../../src/pgc/search/vectors/engine.js';
import { judgeOf } from '../../src/pgc/search/vectors/judge.js';
import type { Asking } from '../../src/operations/operation.js';
import { usage } from './output.js';
import { proseOf } from '../prose.js';

/** The built index of a tree as something to ask, without a broker; its parts are opened when they are first needed. */
export function askingIndex(config: Config, repo: string): Asking & AsyncDisposable {
  let engine: Promise<Engine> | undefined;
  let questions: Promise<Questions> | undefined;
  const ask = async (reads?: 'meaning'): Promise<Questions> => {
    if (reads === 'meaning') engine ??= openEngine(config);
    const opened = await openShards(repo, config.home, await engine);
    return new ProseQuestions(proseOf(config), ...latticeOf(opened));
  };
  const noAgents = (): Promise<never> =>
    Promise.reject(usage('this asks agents: leave out --repo'));
  return {
    client: noAgents,
    asPerson: noAgents,
    critic: noAgents,
    folder: process.cwd(),
    questions: (reads) => (questions ??= ask(reads)),
    analyses: () => localAnalyses(config, repo),
    locator: async () => {
      engine ??= openEngine(config);
      const { Locator: opening } = await import('../../src/pgc/search/locate/locate.js');
      return locatorOf(await opening.open(repo, config.home), await engine);
    },
    askAgent: async (agent, request, options) => {
      engine ??= openEngine(config);
      return askShard(config, repo, await engine, agent, request, options);
    },
    [Symbol.asyncDispose]: async () => {
      await (await engine)?.[Symbol.asyncDispose]();
    },
  };
}

/** One report after the other: how much of it is read by its meaning is a matter of time. */
function locatorOf(locator: Locator, engine: Engine): Pick<Questions, 'locate'> {
  const reranker = judgeOf(engine);
  let last: Promise<unknown> = Promise.resolve();
  return {
    locate: ({ title = '', text: description, ...wanted }) => {
      const next = last.then(() =>
        locator.locate({ title, description }, { ...wanted, ...(reranker && { reranker }) }),
      );
      last = next.catch(() => undefined);
      return next;
    },
  };
}

/** Runs `work` with the built index of a tree, without a broker. Throws INDEX_*. */
export async function withIndex<T>(
  config: Config,
  repo: string,
  work: (questions: Questions) => Promise<T>,
): Promise<T> {
  await using index = askingIndex(config, repo);
  return await work(await index.questions());
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

/** What reads questions by their meaning, as configured; it starts meanwhile. Close it. */
export function openEngine({ home, embedding }: Config): Promise<Engine> {
  return Engine.open({ home, settings: embedding, env: process.env, starts: true });
}

/** The answer of one shard of a built index. Throws INDEX_*, UNKNOWN_AGENT. */
async function askShard(
  config: Config,
  repo: string,
  engine: Engine,
  agent: string,
  request: AskRequest,
  options: AskingOptions,
): Promise<Answer> {
  const { shards } = await openShards(repo, config.home, engine);
  const shard = shards.find((each) => each.agent === agent);
  if (shard === undefined) throw new BusError('UNKNOWN_AGENT', { agent });
  return proseOf(config).ask(request, options, {
    answer: (its) => shard.ask(its),
    known: wordsOfShard(shard.index),
  });
}
