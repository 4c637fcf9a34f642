import { cutAtWord } from '../../base/text.js';
import { Abbreviations } from '../format/abbreviations.js';
import { withAbbreviations } from './question/expansion.js';
import { callSupport } from './call-support.js';
import { asBusError, type BusError } from '../../errors/bus-error.js';
import { ItemSearch, type ItemHit } from './item-search.js';
import type { OverlayFile } from '../overlay/overlay-file.js';
import type { Question } from './question/question.js';
import { respelt } from './question/spelling.js';
import { hitsMax, Retriever, type Hit, type NamedMatch } from './retrieve.js';
import { weigh, type Weighing } from './scorer.js';
import type { OverlayName } from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';
import type { ShardOverlays } from '../overlay/shard-overlays.js';
import { similarityOf, type Evidence } from './similarity.js';
import type { Semantics } from './vectors/semantics.js';
import { symbolText } from './vectors/symbol-text.js';
import type { VectorHit } from './vectors/vector-index.js';

/** Symbols that are looked at for what they mean. */
const nearMax = 20;
const nearTurn = 2;
/** Hits that the model reads, some 20 ms: a number, so that the same question has the same answer. */
const judgedMax = 10;
/** Hits that are found by their words before the model chooses. */
const foundMin = 40;
/** What the model reads of each: its time goes with the words, and more of them tell it no more. */
const symbolCharsMax = 80;
const itemCharsMax = 160;
/** Best hits that are compared by their files. */
const comparedMax = 20;
/** What a cosine adds to a score; texts that have nothing to do with a question have this one. */
const judgeWeight = 0.8;
const unjudged = 0.2;

/** What answers a question: a symbol (or what lies outside all symbols of a file), or an item of an overlay. */
type AnyHit = ({ kind: 'symbol' } & Hit) | ({ kind: 'item' } & ItemHit);
type Unrated = AnyHit & { judged?: number };
export type Found = AnyHit & Omit<Evidence, keyof NamedMatch> & { similarity: number };

interface SearchResult {
  /** Best first, over everything that was searched. */
  found: Found[];
  weighing: Weighing;
  /** Errors of overlays, and of the model, that could not be consulted. */
  gaps: BusError[];
  /** Of words that were taken for slips, in sentences. */
  readAs: string[];
}

/** Parts that a search can leave out, so that a benchmark can measure them. */
export const searchParts = [
  'abbreviations',
  'context',
  'items',
  'vectors',
  'judge',
  'edges',
] as const;
export type SearchPart = (typeof searchParts)[number];

/** Searches symbols and items of one shard as one collection; one question at a time. */
export class Search {
  readonly #items = new Map<OverlayName, ItemSearch>();
  #retriever: Retriever | undefined;
  #abbreviations: Abbreviations | undefined;

  constructor(
    readonly index: ShardIndex,
    readonly overlays: ShardOverlays,
    readonly semantics?: Semantics,
    readonly without: ReadonlySet<SearchPart> = new Set(),
  ) {}

  /** Made when first used: of a hundred open shards, a few are asked. */
  get retriever(): Retriever {
    return (this.#retriever ??= new Retriever(this.index, !this.without.has('context')));
  }

  /** Why the shard is searched by words alone, if it is. In sentences. */
  get warnings(): readonly string[] {
    return this.semantics?.warningsOf(this.index.info.alias) ?? [];
  }

  /** The model that reads questions; empty: none. */
  get reader(): string {
    return this.semantics?.reader ?? '';
  }

  /** Of everything that an answer comes from. */
  get version(): string {
    return `${this.index.info.version}.${this.overlays.version}`;
  }

  /** `wanted`: symbols are searched for O1 and O3. `limit`: of the result. `isWanted`: files in which is searched. */
  async find(
    asked: Question,
    wanted: ReadonlySet<OverlayName>,
    limit: number,
    isWanted?: (path: string) => boolean,
  ): Promise<SearchResult> {
    this.#abbreviations ??= new Abbreviations(
      this.without.has('abbreviations') ? [] : this.index.info.abbreviations,
    );
    const { question, readAs } = respelt(
      withAbbreviations(asked, this.#abbreviations),
      this.index,
      (word) => this.semantics?.isWord(word) ?? true,
    );
    const { files, gaps } = await this.#files(wanted);
    const hasSymbols = wanted.has('O1') || wanted.has('O3');
    const near = hasSymbols ? await orGap(this.#near(asked), [], gaps) : [];
    const terms = [...files.values()].map((file) => file.terms);
    // The words of code weigh the question also where only items are searched: a few items know no rare words.
    const weighing = weigh([this.index, ...terms], question);
    const most = Math.min(Math.max(limit, foundMin), hitsMax);
    const also = near.map(({ document }) => document);
    const hits = hasSymbols
      ? this.retriever.search(question, { limit: most, weighing, also, isWanted })
      : [];
    const items = [...files].flatMap(([name, file]) =>
      this.#itemSearch(name, file).search(question, weighing, most, isWanted),
    );
    const candidates = inTurn(ordered(hits, items), new Set(also));
    const first = candidates.slice(0, judgedMax);
    // One that has not answered is not asked again for the same question.
    const cosines = gaps.some(isOfMeaning) ? [] : await orGap(this.#judge(asked, first), [], gaps);
    const judged = this.#supported(judgedBy(cosines, candidates));
    const found = this.#compared(judged, weighing.known);
    return { found: found.slice(0, limit), weighing, gaps, readAs };
  }

  async #files(
    wanted: ReadonlySet<OverlayName>,
  ): Promise<{ files: Map<OverlayName, OverlayFile>; gaps: BusError[] }> {
    const files = new Map<OverlayName, OverlayFile>();
    const gaps: BusError[] = [];
    for (const name of wanted) {
      if (name === 'O1' || this.without.has('items')) continue;
      try {
        const file = await this.overlays.open(name);
        if (file !== undefined) files.set(name, file);
      } catch (error) {
        gaps.push(asBusError(error));
      }
    }
    return { files, gaps };
  }

  /** Symbols near to the question by their meaning. */
  async #near({ text }: Question): Promise<VectorHit[]> {
    if (this.without.has('vectors')) return [];
    const vector = this.semantics?.vectorOf(text) ?? (await this.semantics?.embed(text));
    if (vector === undefined) return [];
    return this.semantics?.search(this.index.info.alias, vector, nearMax) ?? [];
  }

  /** What the model says of each, where there is one and as far as the time goes. */
  async #judge(
    question: Question,
    candidates: readonly Unrated[],
  ): Promise<readonly (number | undefined)[]> {
    if (this.semantics?.canRerank !== true || this.without.has('judge')) return [];
    const texts = candidates.map((each) => this.#textOf(each));
    return this.semantics.rerank(question.text, texts);
  }

  /** Adds to each hit its gain from hits that it calls or that call it. */
  #supported(found: readonly Unrated[]): Unrated[] {
    if (this.without.has('edges')) return [...found];
    const symbols = found.map((each) => ({
      symbol: each.kind === 'symbol' ? each.symbol : undefined,
      score: each.score,
    }));
    const gains = callSupport(this.index, symbols);
    return found.map((each, at) => raised(each, gains[at] ?? 0));
  }

  /** In order, with what all hits together say of each. */
  #compared(unrated: readonly Unrated[], known: number): Found[] {
    const found = unrated.toSorted((one, other) => other.score - one.score);
    const paths = found.map((each) => this.#pathOf(each));
    const inFile = new Map<string, number>();
    let all = 0;
    found.slice(0, comparedMax).forEach(({ standing }, at) => {
      const path = paths[at] ?? '';
      inFile.set(path, (inFile.get(path) ?? 0) + Math.max(0, standing));
      all += Math.max(0, standing);
    });
    const [first] = paths;
    const second = found.find((_, at) => paths[at] !== first)?.standing ?? 0;
    return found.map((each, at) => {
      const path = paths[at] ?? '';
      const rival = path === first ? second : (found[0]?.standing ?? 0);
      const share = all === 0 ? 0 : (inFile.get(path) ?? 0) / all;
      const evidence = { ...each, margin: each.standing - rival, share, known };
      return { ...evidence, similarity: similarityOf(evidence) };
    });
  }

  #pathOf(each: Unrated): string {
    return each.kind === 'item' ? each.item.file_path : this.index.file(each.file).path;
  }

  #textOf(each: Unrated): string {
    if (each.kind === 'item')
      return cutAtWord(`${each.item.symbol} ${each.item.text}`, itemCharsMax);
    const path = this.index.file(each.file).path.split('/').slice(-2).join('/');
    if (each.symbol === undefined) return path;
    const fit = (text: string): string => this.semantics?.fit(text) ?? text;
    return `${symbolText(this.index, each.symbol, fit).slice(0, symbolCharsMax)} ${path}`;
  }

  #itemSearch(name: OverlayName, file: OverlayFile): ItemSearch {
    const known =
      this.#items.get(name) ?? new ItemSearch(file, this.index.info, !this.without.has('context'));
    this.#items.set(name, known);
    return known;
  }
}

/** Whether an error is of the model; the other gaps are of overlays. */
export function isOfMeaning({ code }: { code: string }): boolean {
  return code.startsWith('EMBEDDING_');
}

/** An error becomes a gap, and the words answer. */
async function orGap<T>(work: Promise<T>, otherwise: T, gaps: BusError[]): Promise<T> {
  try {
    return await work;
  } catch (error) {
    gaps.push(asBusError(error));
    return otherwise;
  }
}

function judgedBy(
  cosines: readonly (number | undefined)[],
  candidates: readonly Unrated[],
): Unrated[] {
  if (cosines.every((each) => each === undefined)) return [...candidates];
  return candidates.map((each, at) => {
    const judged = cosines[at] ?? unjudged;
    return { ...raised(each, judgeWeight * (judged - unjudged)), judged };
  });
}

function raised(each: Unrated, gain: number): Unrated {
  return { ...each, standing: each.standing + gain, score: each.score + gain };
}

function ordered(hits: readonly Hit[], items: readonly ItemHit[]): Unrated[] {
  const all: Unrated[] = [
    ...hits.map((hit) => ({ kind: 'symbol' as const, ...hit })),
    ...items.map((item) => ({ kind: 'item' as const, ...item })),
  ];
  return all.sort((one, other) => other.score - one.score);
}

/** The best by their words, and after every second of them one that is near by its meaning. */
function inTurn(found: readonly Unrated[], near: ReadonlySet<number>): Unrated[] {
  const isNear = (each: Unrated): boolean =>
    each.kind === 'symbol' && each.symbol !== undefined && near.has(each.symbol);
  const waiting = found.filter(isNear);
  const turns: Unrated[] = [];
  const taken = new Set<Unrated>();
  const take = (each: Unrated | undefined): void => {
    if (each === undefined || taken.has(each)) return;
    taken.add(each);
    turns.push(each);
  };
  found.forEach((each, at) => {
    take(each);
    if (at % nearTurn === nearTurn - 1) take(waiting.shift());
  });
  return turns;
}
