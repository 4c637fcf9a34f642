import { systemClock, type Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import { AnswerCache, ask } from './ask.js';
import { calleesOf, callersOf } from './call-sites.js';
import { cardOf } from './card.js';
import type { Excerpts } from './citation.js';
import { definitionsOf } from './definitions.js';
import { hop } from './hop.js';
import { Retriever } from './retrieve.js';
import type { ShardIndex } from './shard-index.js';
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
} from './shapes.js';

/** Symbols or anchors in one request. */
export const anchorsMax = 5_000;

/** One opened index, answering in this process. */
export class Shard implements ShardPort {
  readonly agent: string;
  readonly #retriever: Retriever;
  readonly #cache = new AnswerCache();
  #card: Card | undefined;

  constructor(
    readonly index: ShardIndex,
    readonly excerpts: Excerpts,
    readonly clock: Clock = systemClock,
  ) {
    this.agent = index.info.agent;
    this.#retriever = new Retriever(index);
  }

  async card(): Promise<Card> {
    return Promise.resolve((this.#card ??= cardOf(this.index)));
  }

  async ask(request: AskRequest): Promise<AskAnswer> {
    const { index, excerpts, clock } = this;
    const parts = { index, excerpts, clock, retriever: this.#retriever, cache: this.#cache };
    return Promise.resolve(ask(parts, request));
  }

  async hop(request: HopRequest): Promise<HopAnswer> {
    const startedMs = this.clock.monotonicMs();
    const answer = hop(this.index, this.excerpts, this.#retriever, request);
    const elapsed_ms = Math.round((this.clock.monotonicMs() - startedMs) * 100) / 100;
    return Promise.resolve({ ...answer, elapsed_ms });
  }

  async definitions(symbols: string[]): Promise<Definition[]> {
    return Promise.resolve(definitionsOf(this.index, bounded(symbols)));
  }

  async callers(symbols: string[]): Promise<CallSite[]> {
    return Promise.resolve(callersOf(this.index, bounded(symbols)));
  }

  async expand(anchors: string[]): Promise<Expansion[]> {
    return Promise.resolve(calleesOf(this.index, bounded(anchors)));
  }
}

function bounded(items: string[]): string[] {
  if (items.length > anchorsMax) {
    throw new BusError('TOO_LARGE', {
      what: 'a list of symbols',
      bytes: items.length,
      limit: anchorsMax,
    });
  }
  return items;
}
