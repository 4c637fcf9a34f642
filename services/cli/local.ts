import { systemClock } from '../../src/base/clock.js';
import type { Config } from '../../src/config/config.js';
import { Lattice } from '../../src/lattice/lattice.js';
import { ProseQuestions, wordsOfShard } from '../../src/lattice/prose/prose-questions.js';
import type { AskingOptions, Questions } from '../../src/lattice/questions.js';
import { BusError } from '../../src/errors/bus-error.js';
import { TreeAnalyses, type Analyses } from '../../src/pgc/analyse/analyses.js';
import { openIndex } from '../../src/pgc/search/open-index.js';
import { lazyCardOf } from '../../src/pgc/search/card/card.js';
import { openShards } from '../../src/pgc/serve/open-shards.js';
import type { Answer, AskRequest } from '../../src/pgc/shapes.js';
import { Engine } from '../../src/pgc/search/vectors/engine.js';
import { proseOf } from '../prose.js';

/** Runs `work` with the built index of a tree, without a broker. Throws INDEX_*. */
export async function withIndex<T>(
  config: Config,
  repo: string,
  work: (questions: Questions) => Promise<T>,
  reads: 'names' | 'meaning',
): Promise<T> {
  await using engine = reads === 'meaning' ? await openEngine(config) : undefined;
  const { shards } = await openShards(repo, config.home, engine);
  const lattice = new Lattice(shards, () => shards.map(({ index }) => lazyCardOf(index)));
  const trees = shards.map(({ index }) => index.info);
  const analyses = localAnalyses(config, repo);
  return await work(new ProseQuestions(proseOf(config), lattice, systemClock, trees, analyses));
}

/** The analyses of a built index, which is opened once, when the first is asked for. */
export function localAnalyses(config: Config, repo: string): Analyses {
  let tree: ReturnType<typeof openIndex> | undefined;
  return new TreeAnalyses(() => (tree ??= openIndex(repo, config.home)));
}

/** What reads questions by their meaning, as configured; it starts meanwhile. Close it. */
export function openEngine({ home, embedding }: Config): Promise<Engine> {
  return Engine.open({ home, settings: embedding, env: process.env, starts: true });
}

/** The answer of one shard of a built index. Throws INDEX_*, UNKNOWN_AGENT. */
export async function askShard(
  config: Config,
  repo: string,
  agent: string,
  request: AskRequest,
  options: AskingOptions,
): Promise<Answer> {
  await using engine = await openEngine(config);
  const { shards } = await openShards(repo, config.home, engine);
  const shard = shards.find((each) => each.agent === agent);
  if (shard === undefined) throw new BusError('UNKNOWN_AGENT', { agent });
  return await proseOf(config).ask(request, options, {
    answer: (its) => shard.ask(its),
    known: wordsOfShard(shard.index),
  });
}
