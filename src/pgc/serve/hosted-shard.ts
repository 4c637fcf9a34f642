import { createHash } from 'node:crypto';
import { systemClock } from '../../base/clock.js';
import { within } from '../../base/within.js';
import type { Client } from '../../client/client.js';
import type { Incoming } from '../../client/responder.js';
import { BusError } from '../../errors/bus-error.js';
import { indexState, shardMessages, type MessageType } from './messages.js';
import type { Shard } from './shard.js';
import type { ServedShard } from './shard-source.js';
import type { Answer, AskRequest } from '../shapes.js';
import { noMail, type AgentRecord } from '../../wire/messages.js';

/** The registry record holds a few paths of the scope; the card holds all. */
const scopePathsMax = 16;
const scopeCharsMax = 1_500;

/** Asks the host of a shard to finish what it is answering, for another host is about to take the shard over. */
export const handOverType = 'pgc.hand_over';
/** The callers of questions that take longer ask again. */
export const finishMsMax = 10_000;
/** The other host greets the broker within this, or it has failed and the shard stays. */
export const greetMsMax = 3_000;

/**
 * Answers `ask` for one shard, with a language model or without. `use` keeps the shard open only while its work runs:
 * waiting for a model must not keep it open.
 */
export type AskShard = (
  request: AskRequest,
  incoming: Incoming,
  use: <T>(work: (shard: Shard) => Promise<T>) => Promise<T>,
) => Promise<Answer>;

/** Answers from the index alone. */
export const askIndex: AskShard = (request, _, use) => use((shard) => shard.ask(request));

/** What a shard answers from. */
export interface ShardAccess {
  /** The encoded answer. */
  card(): Promise<Buffer>;
  /** Opens the shard where it is not open. */
  use<T>(work: (shard: Shard) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** See `IndexState`. */
  stateOf(shard: Shard): string;
}

/** One shard as an agent on the bus. */
export class HostedShard {
  #answering = 0;
  #onIdle: (() => void) | undefined;
  /** While it is being handed over: resolves when it stays after all. */
  #stays: Promise<void> | undefined;

  constructor(
    readonly client: Client,
    access: ShardAccess,
    askShard = askIndex,
  ) {
    const answer = <Q, A>(
      message: MessageType<Q, A>,
      run: (shard: Shard, request: Q) => Promise<A>,
    ): void => {
      client.serve({
        [message.type]: ({ body, signal }) =>
          this.#answered(() =>
            access.use(async (shard) => {
              const answer = await run(shard, message.request.decode(body));
              return stated(message.answer.encode(answer), access.stateOf(shard));
            }, signal),
          ),
      });
    };
    client.serve({
      [shardMessages.card.type]: () => this.#answered(() => access.card()),
      [handOverType]: (request) => {
        // A sign of life: finishing may take a while.
        request.progress(Buffer.alloc(0));
        return this.#handOver();
      },
    });
    const { ask } = shardMessages;
    client.serve({
      [ask.type]: (incoming) =>
        this.#answered(async () => {
          let state = '';
          const use = <T>(work: (shard: Shard) => Promise<T>): Promise<T> =>
            access.use((shard) => {
              state = access.stateOf(shard);
              return work(shard);
            }, incoming.signal);
          const answer = await askShard(ask.request.decode(incoming.body), incoming, use);
          return stated(ask.answer.encode(answer), state);
        }),
    });
    answer(shardMessages.weigh, (its, request) => its.weigh(request));
    answer(shardMessages.seek, (its, request) => its.seek(request));
    answer(shardMessages.hop, (its, request) => its.hop(request));
    answer(shardMessages.definitions, async (its, { symbols }) => ({
      definitions: await its.definitions(symbols),
    }));
    answer(shardMessages.sources, async (its, { symbols }) => ({
      sources: await its.sources(symbols),
    }));
    answer(shardMessages.callers, async (its, { symbols }) => ({
      sites: await its.callers(symbols),
    }));
    answer(shardMessages.references, async (its, { symbols }) => ({
      sites: await its.references(symbols),
    }));
    answer(shardMessages.implementations, async (its, { symbols }) => ({
      definitions: await its.implementations(symbols),
    }));
    answer(shardMessages.citeCalls, async (its, { callee, sites }) => ({
      citations: await its.citeCalls(callee, sites),
    }));
    answer(shardMessages.expand, async (its, { anchors }) => ({
      expansions: await its.expand(anchors),
    }));
    answer(shardMessages.vocabulary, (its) => its.vocabulary());
    answer(shardMessages.locate, (its, request) => its.rankFiles(request));
    answer(shardMessages.read, (its, request) => its.readFiles(request));
  }

  /** Another host has taken it over, or the broker refused it. */
  get isGone(): boolean {
    return this.client.state === 'closed';
  }

  close(): Promise<void> {
    return this.client.close();
  }

  async #answered(work: () => Promise<Buffer>): Promise<Buffer> {
    // Not begun: the broker tells the caller as soon as the other host is there, and the caller asks that one.
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

  /** Replies when everything that was begun is answered; what comes from now on waits for the other host. */
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

function stated(answer: Buffer, index_state: string): Buffer {
  return Buffer.concat([answer, indexState.encode({ index_state })]);
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
  more: readonly string[] = [],
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
    capabilities: ['pgc', `plan:${planVersion}`, noMail, ...more],
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
