import type { Client } from '../client/client.js';
import { Semaphore } from '../base/semaphore.js';
import { BusError } from '../errors/bus-error.js';
import { SeenStates } from '../lattice/seen-states.js';
import type { Vocabulary } from '../pgc/search/locate/vocabulary.js';
import type {
  RankAnswer,
  RankRequest,
  ReadAnswer,
  ReadRequest,
  WordsPort,
} from '../pgc/search/locate/words-port.js';
import { indexState, shardMessages, type MessageType } from '../pgc/serve/messages.js';
import {
  citationsMax,
  type Answer,
  type AskRequest,
  type CallSite,
  type Citation,
  type Card,
  type Definition,
  type Expansion,
  type HopAnswer,
  type HopRequest,
  type SeekAnswer,
  type ShardPort,
  type SourceText,
  type WordCounts,
} from '../pgc/shapes.js';
import {
  areSaneSources,
  insane,
  isSaneAnswer,
  isSaneCounts,
  isSaneHop,
  isSaneRows,
  isSaneSeek,
} from './foreign-answer.js';
import { ask } from './request.js';

/** More than any shard of ours ever sends for one report: its best files, and where the names stand that it has. */
const locateFilesMax = 16_384;
const locatePlacesMax = 65_536;

/** Longest wait for one answer of one shard; the deadline of a whole query ends it earlier. */
const shardDeadlineMs = 20_000;

/**
 * Requests to shards on their way at once, all questions together. One name looked up in a kernel asks each of 123 shards
 * twice, and a few names at once were more than a client may have open; half of that is left to everything else.
 */
const requestsAtOnce = 512;
/** And those that wait for their turn: one more is refused BROKER_BUSY. */
const requestsWaitingMax = 65_536;

/** Shared by the shards of one client. */
export const shardTurns = (): Semaphore =>
  new Semaphore({
    atOnce: requestsAtOnce,
    waitingMax: requestsWaitingMax,
    refusal: (limit) => new BusError('BROKER_BUSY', { limit }),
  });

/** A shard behind the bus. Its questions change nothing, so they may be asked twice when the broker was lost. */
export class RemoteShard implements ShardPort, WordsPort {
  /** `agent`: as citations name it. `id`: as the bus addresses it. */
  constructor(
    readonly client: Client,
    readonly agent: string,
    readonly id: string,
    readonly turns: Semaphore = shardTurns(),
    /** Of its tree. */
    readonly states = new SeenStates(),
  ) {}

  /** Of whichever state: it says its version itself. */
  card(): Promise<Card> {
    return this.#request(shardMessages.card, {});
  }

  async ask(request: AskRequest, signal?: AbortSignal): Promise<Answer> {
    const answer = await this.#ask(shardMessages.ask, request, signal);
    this.#check(isSaneAnswer(answer));
    return answer;
  }

  async weigh(request: AskRequest, signal?: AbortSignal): Promise<WordCounts> {
    const counts = await this.#ask(shardMessages.weigh, request, signal);
    this.#check(isSaneCounts(counts));
    return counts;
  }

  async seek(request: AskRequest, signal?: AbortSignal): Promise<SeekAnswer> {
    const answer = await this.#ask(shardMessages.seek, request, signal);
    this.#check(isSaneSeek(answer));
    return answer;
  }

  async hop(request: HopRequest, signal?: AbortSignal): Promise<HopAnswer> {
    const answer = await this.#ask(shardMessages.hop, request, signal);
    this.#check(isSaneHop(answer));
    return answer;
  }

  async definitions(symbols: string[], signal?: AbortSignal): Promise<Definition[]> {
    return this.#rows(
      (await this.#ask(shardMessages.definitions, { symbols }, signal)).definitions,
    );
  }

  async sources(symbols: string[], signal?: AbortSignal): Promise<SourceText[]> {
    const { sources } = await this.#ask(shardMessages.sources, { symbols }, signal);
    this.#check(areSaneSources(sources));
    return sources;
  }

  async callers(symbols: string[], signal?: AbortSignal): Promise<CallSite[]> {
    return this.#rows((await this.#ask(shardMessages.callers, { symbols }, signal)).sites);
  }

  async references(symbols: string[], signal?: AbortSignal): Promise<CallSite[]> {
    return this.#rows((await this.#ask(shardMessages.references, { symbols }, signal)).sites);
  }

  async implementations(symbols: string[], signal?: AbortSignal): Promise<Definition[]> {
    const { definitions } = await this.#ask(shardMessages.implementations, { symbols }, signal);
    return this.#rows(definitions);
  }

  async citeCalls(callee: string, sites: CallSite[], signal?: AbortSignal): Promise<Citation[]> {
    const { citations } = await this.#ask(shardMessages.citeCalls, { callee, sites }, signal);
    this.#check(citations.length <= citationsMax);
    return this.#rows(citations);
  }

  async expand(anchors: string[], signal?: AbortSignal): Promise<Expansion[]> {
    return this.#rows((await this.#ask(shardMessages.expand, { anchors }, signal)).expansions);
  }

  vocabulary(): Promise<Vocabulary> {
    return this.#ask(shardMessages.vocabulary, {});
  }

  async rankFiles(request: RankRequest, signal?: AbortSignal): Promise<RankAnswer> {
    const answer = await this.#ask(shardMessages.locate, request, signal);
    this.#check(answer.files.length <= locateFilesMax && answer.places.length <= locatePlacesMax);
    return answer;
  }

  async readFiles(request: ReadRequest, signal?: AbortSignal): Promise<ReadAnswer> {
    const answer = await this.#ask(shardMessages.read, request, signal);
    const wanted = new Set(request.files);
    this.#check(answer.files.every(({ file }) => wanted.has(file)));
    return answer;
  }

  /** An agent that answers beyond all limits is named, and costs only its own part of the answer. */
  #check(isSane: boolean): void {
    if (!isSane) throw insane(this.agent);
  }

  #rows<Row extends object>(rows: Row[]): Row[] {
    this.#check(isSaneRows(rows));
    return rows;
  }

  #ask<Q, A>(message: MessageType<Q, A>, request: Q, signal?: AbortSignal): Promise<A> {
    const decode = (bytes: Uint8Array): A => {
      this.states.note(indexState.decode(bytes).index_state);
      return message.answer.decode(bytes);
    };
    const answer = { ...message.answer, decode };
    return this.#request({ ...message, answer }, request, signal);
  }

  #request<Q, A>(message: MessageType<Q, A>, request: Q, signal?: AbortSignal): Promise<A> {
    const options = { deadlineMs: shardDeadlineMs, isIdempotent: true, ...(signal && { signal }) };
    return this.turns.run(
      () => ask(this.client, `agent:${this.id}`, message, request, options),
      signal,
    );
  }
}
