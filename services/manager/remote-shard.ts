import type { Client } from '../../src/client/client.js';
import { shardMessages, type MessageType } from '../../src/pgc/messages.js';
import type {
  AskAnswer,
  AskRequest,
  CallSite,
  Card,
  Definition,
  Expansion,
  HopAnswer,
  HopRequest,
  ShardPort,
} from '../../src/pgc/shapes.js';

/** Longest wait for one answer of one shard; the deadline of a whole query ends it earlier. */
const shardDeadlineMs = 20_000;

/** A shard behind the bus. Its questions change nothing, so they may be asked twice when the broker was lost. */
export class RemoteShard implements ShardPort {
  /** `agent`: as citations name it. `id`: as the bus addresses it. */
  constructor(
    readonly client: Client,
    readonly agent: string,
    readonly id: string,
  ) {}

  card(): Promise<Card> {
    return this.#ask(shardMessages.card, {});
  }

  ask(request: AskRequest): Promise<AskAnswer> {
    return this.#ask(shardMessages.ask, request);
  }

  hop(request: HopRequest): Promise<HopAnswer> {
    return this.#ask(shardMessages.hop, request);
  }

  async definitions(symbols: string[]): Promise<Definition[]> {
    return (await this.#ask(shardMessages.definitions, { symbols })).definitions;
  }

  async callers(symbols: string[]): Promise<CallSite[]> {
    return (await this.#ask(shardMessages.callers, { symbols })).sites;
  }

  async expand(anchors: string[]): Promise<Expansion[]> {
    return (await this.#ask(shardMessages.expand, { anchors })).expansions;
  }

  async #ask<Q, A>(message: MessageType<Q, A>, request: Q): Promise<A> {
    const body = message.request.encode(request);
    const reply = await this.client.request(`agent:${this.id}`, message.type, body, {
      deadlineMs: shardDeadlineMs,
      isIdempotent: true,
    });
    return message.answer.decode(reply.body);
  }
}
