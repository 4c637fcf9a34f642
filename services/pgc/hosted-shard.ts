import { createHash } from 'node:crypto';
import { systemClock } from '../../src/base/clock.js';
import { within } from '../../src/base/within.js';
import type { Client } from '../../src/client/client.js';
import { BusError } from '../../src/errors/bus-error.js';
import { noProse } from '../../src/lattice/prose/port.js';
import { wordsOfShard } from '../../src/lattice/prose/prose-questions.js';
import { shardMessages, type MessageType } from '../../src/pgc/serve/messages.js';
import type { Shard } from '../../src/pgc/serve/shard.js';
import type { ServedShard } from '../../src/pgc/serve/shard-source.js';
import type { AgentRecord } from '../../src/wire/messages.js';
import { optionsOf } from '../asking-options.js';

/** The registry record holds a few paths of the scope; the card holds all. */
const scopePathsMax = 16;
const scopeCharsMax = 1_500;

/** Asks the host of a shard to finish its current answers, because another host is about to take the shard over. */
export const handOverType = 'pgc.hand_over';
/** Requests that take longer are sent again by their callers. */
export const finishMsMax = 10_000;
/** The other host must register within this time; else the shard stays here. */
const greetMsMax = 3_000;

/** Access to one shard of the pool. */
interface ShardAccess {
  /** The encoded answer. */
  card(): Promise<Buffer>;
  /** Opens the shard if needed. */
  use<T>(work: (shard: Shard) => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** One shard as an agent on the bus. */
export class HostedShard {
  #answering = 0;
  #onIdle: (() => void) | undefined;
  /** During a takeover: resolves when the shard stays here after all. */
  #stays: Promise<void> | undefined;

  constructor(
    readonly client: Client,
    access: ShardAccess,
    prose = noProse,
  ) {
    const answer = <Q, A>(
      message: MessageType<Q, A>,
      run: (shard: Shard, request: Q) => Promise<A>,
    ): void => {
      client.serve({
        [message.type]: ({ body, signal }) =>
          this.#answered(() =>
            access.use(
              async (shard) =>
                message.answer.encode(await run(shard, message.request.decode(body))),
              signal,
            ),
          ),
      });
    };
    client.serve({
      [shardMessages.card.type]: () => this.#answered(() => access.card()),
      [handOverType]: (request) => {
        // A sign of life, because finishing may take a while.
        request.progress(Buffer.alloc(0));
        return this.#handOver();
      },
    });
    const { ask } = shardMessages;
    client.serve({
      [ask.type]: (incoming) =>
        this.#answered(async () => {
          // The shard need not stay open while a model writes.
          const use = <T>(work: (shard: Shard) => Promise<T>): Promise<T> =>
            access.use(work, incoming.signal);
          const request = ask.request.decode(incoming.body);
          const answer = await prose.ask(request, optionsOf(incoming), {
            by: (wanted) => use((shard) => shard.ask(wanted)),
            known: (words) => use(async ({ index }) => wordsOfShard(index)(words)),
          });
          return ask.answer.encode(answer);
        }),
    });
    answer(shardMessages.hop, (shard, request) => shard.hop(request));
    answer(shardMessages.definitions, async (shard, { symbols }) => ({
      definitions: await shard.definitions(symbols),
    }));
    answer(shardMessages.callers, async (shard, { symbols }) => ({
      sites: await shard.callers(symbols),
    }));
    answer(shardMessages.citeCalls, async (shard, { callee, sites }) => ({
      citations: await shard.citeCalls(callee, sites),
    }));
    answer(shardMessages.expand, async (shard, { anchors }) => ({
      expansions: await shard.expand(anchors),
    }));
    answer(shardMessages.vocabulary, (shard) => shard.vocabulary());
    answer(shardMessages.locate, (shard, request) => shard.rankFiles(request));
    answer(shardMessages.read, (shard, request) => shard.readFiles(request));
  }

  /** Another host has taken the shard over, or the broker refused it. */
  get isGone(): boolean {
    return this.client.state === 'closed';
  }

  close(): Promise<void> {
    return this.client.close();
  }

  async #answered(work: () => Promise<Buffer>): Promise<Buffer> {
    // Not started: when the other host has registered, the broker tells the callers, who ask that host.
    while (this.#stays !== undefined) await this.#stays;
    if (this.isGone) throw new BusError('SUPERSEDED', { agent: this.client.identity.agent });
    this.#answering += 1;
    try {
      return await work();
    } finally {
      this.#answering -= 1;
      if (this.#answering === 0) this.#onIdle?.();
    }
  }

  /** Replies when all started requests are answered; later ones wait for the other host. */
  async #handOver(): Promise<Buffer> {
    let stay: (() => void) | undefined;
    const stays = new Promise<void>((resolve) => (stay = resolve));
    this.#stays = stays;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#answering === 0) resolve();
    });
    await within(systemClock, finishMsMax, idle);
    systemClock.after(greetMsMax, () => {
      if (this.#stays === stays) this.#stays = undefined;
      stay?.();
    });
    return Buffer.alloc(0);
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

export function recordOf(
  shard: Omit<ServedShard, 'version' | 'bytes'>,
  planVersion: string,
): Omit<AgentRecord, 'id' | 'role'> {
  const { alias, project, scope, indexVersion: version, overlays } = shard;
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
