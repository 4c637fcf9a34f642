import { createHash } from 'node:crypto';
import type { Client } from '../../src/client/client.js';
import { shardMessages, type MessageType } from '../../src/pgc/messages.js';
import type { Shard } from '../../src/pgc/shard.js';
import type { AgentRecord } from '../../src/wire/messages.js';

/** The registry record holds a few paths of the scope; the card holds all. */
const scopePathsMax = 16;
const scopeCharsMax = 1_500;

/** One shard as an agent on the bus. Its index can be exchanged while it answers. */
export class HostedShard {
  #shard: Shard;

  constructor(
    readonly client: Client,
    shard: Shard,
  ) {
    this.#shard = shard;
    const answer = <Q, A>(
      message: MessageType<Q, A>,
      run: (shard: Shard, request: Q) => Promise<A>,
    ): void => {
      client.serve({
        [message.type]: async ({ body }) =>
          message.answer.encode(await run(this.#shard, message.request.decode(body))),
      });
    };
    answer(shardMessages.card, (its) => its.card());
    answer(shardMessages.ask, (its, request) => its.ask(request));
    answer(shardMessages.hop, (its, request) => its.hop(request));
    answer(shardMessages.definitions, async (its, { symbols }) => ({
      definitions: await its.definitions(symbols),
    }));
    answer(shardMessages.callers, async (its, { symbols }) => ({
      sites: await its.callers(symbols),
    }));
    answer(shardMessages.expand, async (its, { anchors }) => ({
      expansions: await its.expand(anchors),
    }));
    answer(shardMessages.vocabulary, (its) => its.vocabulary());
    answer(shardMessages.locate, (its, request) => its.rankFiles(request));
    answer(shardMessages.read, (its, request) => its.readFiles(request));
  }

  get shard(): Shard {
    return this.#shard;
  }

  exchange(shard: Shard): void {
    const old = this.#shard;
    this.#shard = shard;
    old.index.close();
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** Stable over restarts, distinct for equally named trees in different places. */
export function agentIdOf(shard: { root: string; project: string; alias: string }): string {
  const { root, project, alias } = shard;
  const digest = createHash('sha256').update(`${root}\0${alias}`).digest('hex').slice(0, 8);
  return `pgc-${project.slice(0, 24)}-${alias.slice(0, 48)}-${digest}`
    .replace(/_+/g, '-')
    .replace(/-+/g, '-');
}

export function recordOf(shard: Shard, planVersion: string): Omit<AgentRecord, 'id' | 'role'> {
  const { alias, project, scope, version, overlays } = shard.index.info;
  return {
    alias,
    model: '',
    project,
    scope: boundedScope(scope),
    overlays: Object.fromEntries(
      Object.entries(overlays).map(([name, items]) => [name, { state: 'ready', version, items }]),
    ),
    capabilities: ['pgc', `plan:${planVersion}`],
    protocol_versions: ['1.0'],
  };
}

function boundedScope(scope: string[]): string[] {
  const kept: string[] = [];
  let chars = 0;
  for (const path of scope.slice(0, scopePathsMax)) {
    chars += path.length;
    if (chars > scopeCharsMax) break;
    kept.push(path);
  }
  return kept;
}
