import { BoundedMap } from '../../base/bounded-map.js';
import { systemClock, type Clock } from '../../base/clock.js';
import { BusError } from '../../errors/bus-error.js';
import {
  ask,
  cachedAnswersMax,
  counts,
  seek,
  type AnswerCache,
  type AskParts,
} from '../answer/ask.js';
import { calleesOf, callersOf, implementationsOf } from '../bind/call-sites.js';
import { usesInC } from '../answer/c-uses.js';
import { isCFamily, type FactsLanguage } from '../format/facts.js';
import { citationsOfCalls } from '../answer/cited-calls.js';
import { cardOf } from '../search/card/card.js';
import type { Excerpts } from '../answer/citation.js';
import { definitionOf, definitionsOf } from '../bind/definitions.js';
import { hop } from '../answer/hop.js';
import { keptSearchesMax, type KeptSearches } from '../answer/searched.js';
import type { Vocabulary } from '../search/locate/vocabulary.js';
import type {
  RankAnswer,
  RankRequest,
  ReadAnswer,
  ReadRequest,
  WordsPort,
} from '../search/locate/words-port.js';
import type { WordsShard } from '../search/locate/words-shard.js';
import { sourcesOf } from '../answer/sources.js';
import { Search, type SearchPart } from '../search/search.js';
import type { ShardOverlays } from '../overlay/shard-overlays.js';
import type { ShardIndex } from '../format/shard-index.js';
import type {
  Answer,
  AskRequest,
  CallSite,
  Card,
  Citation,
  Definition,
  Expansion,
  HopAnswer,
  HopRequest,
  SeekAnswer,
  ShardPort,
  SourceText,
  WordCounts,
} from '../shapes.js';

/** Limit for symbols or anchors in one request. */
const anchorsMax = 5_000;

/** An opened shard that answers in this process. */
export class Shard implements ShardPort, WordsPort {
  readonly agent: string;
  readonly search: Search;
  readonly #cache: AnswerCache = new BoundedMap(cachedAnswersMax);
  readonly #searches: KeptSearches = new BoundedMap(keptSearchesMax);
  #card: Card | undefined;

  constructor(
    readonly index: ShardIndex,
    readonly overlays: ShardOverlays,
    readonly excerpts: Excerpts,
    readonly clock: Clock = systemClock,
    without?: ReadonlySet<SearchPart>,
    /** Word lists of its files, for bug reports. */
    readonly words?: WordsShard,
  ) {
    this.agent = index.info.agent;
    this.search = new Search(index, overlays, without);
  }

  /** Changes whenever the shard could answer differently. */
  get version(): string {
    return this.search.version;
  }

  async card(): Promise<Card> {
    return Promise.resolve((this.#card ??= cardOf(this.index)));
  }

  async ask(request: AskRequest): Promise<Answer> {
    return ask(this.#asking(), request);
  }

  async weigh(request: AskRequest): Promise<WordCounts> {
    return counts(this.#asking(), request);
  }

  async seek(request: AskRequest): Promise<SeekAnswer> {
    return seek(this.#asking(), request);
  }

  #asking(): AskParts {
    const { index, excerpts, clock, search } = this;
    return { index, excerpts, clock, search, cache: this.#cache, searches: this.#searches };
  }

  async hop(request: HopRequest): Promise<HopAnswer> {
    const startedMs = this.clock.monotonicMs();
    const answer = await hop(this, this.excerpts, request);
    const elapsed_ms = Math.round((this.clock.monotonicMs() - startedMs) * 100) / 100;
    return { ...answer, elapsed_ms };
  }

  async definitions(symbols: string[]): Promise<Definition[]> {
    return Promise.resolve(definitionsOf(this.index, bounded(symbols)));
  }

  async sources(symbols: string[]): Promise<SourceText[]> {
    return Promise.resolve(sourcesOf(this.index, this.excerpts, bounded(symbols)));
  }

  async callers(symbols: string[]): Promise<CallSite[]> {
    return Promise.resolve(callersOf(this.index, bounded(symbols)));
  }

  async references(symbols: string[]): Promise<CallSite[]> {
    const known = callersOf(this.index, bounded(symbols), { withUses: true });
    if (!this.index.info.languages.some((each) => isCFamily(each as FactsLanguage))) return known;
    const places = new Set(known.map(({ file_path, line }) => `${file_path}:${line}`));
    return [...known, ...(await usesInC(this.index, this.excerpts, symbols, places))];
  }

  async implementations(symbols: string[]): Promise<Definition[]> {
    const found = implementationsOf(this.index, bounded(symbols));
    return Promise.resolve(found.map((symbol) => definitionOf(this.index, symbol)));
  }

  async citeCalls(callee: string, sites: CallSite[]): Promise<Citation[]> {
    return Promise.resolve(citationsOfCalls(this.index, this.excerpts, callee, sites));
  }

  async expand(anchors: string[]): Promise<Expansion[]> {
    return Promise.resolve(calleesOf(this.index, bounded(anchors)));
  }

  async vocabulary(): Promise<Vocabulary> {
    return this.#words().vocabulary();
  }

  async rankFiles(request: RankRequest): Promise<RankAnswer> {
    return this.#words().rankFiles(request, this.search);
  }

  async readFiles(request: ReadRequest): Promise<ReadAnswer> {
    return this.#words().readFiles(request);
  }

  #words(): WordsShard {
    const { root } = this.index.info;
    if (this.words === undefined) throw new BusError('INDEX_MISSING', { path: root });
    return this.words;
  }
}

function bounded(items: string[]): string[] {
  if (items.length > anchorsMax) {
    throw new BusError('TOO_LARGE', {
      what: 'a list',
      unit: 'symbols',
      bytes: items.length,
      limit: anchorsMax,
    });
  }
  return items;
}
