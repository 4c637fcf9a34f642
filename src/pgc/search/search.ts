import { Abbreviations } from '../format/abbreviations.js';
import { withAbbreviations } from './question/expansion.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { ItemSearch, type ItemHit } from './item-search.js';
import type { OverlayItems } from '../overlay/overlay-file.js';
import { analyse, type Question } from './question/question.js';
import { filesOf, type FunctionsOfFile } from './rank/files.js';
import { hitsMax, Retriever, type Hit } from './retrieve.js';
import type { Featured } from './rank/features.js';
import { countsIn, weigh, weighed, type Weighing } from './rank/weighing.js';
import type { OverlayName, WordCounts } from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';
import type { TermIndex } from '../format/term-index.js';
import type { ShardOverlays } from '../overlay/shard-overlays.js';
import { likelihoodOf, signsOf } from './likelihood.js';
import { similarityOf } from './similarity.js';

/** What answers a question: a symbol (or what lies outside all symbols of a file), or an item of an overlay. */
type AnyHit = ({ kind: 'symbol' } & Hit) | ({ kind: 'item' } & ItemHit);
export type Found = AnyHit & { known: number; similarity: number };

interface SearchResult {
  /** Best first, over everything that was searched. */
  found: Found[];
  weighing: Weighing;
  /** How likely the best of it answer; undefined where the first is an item, of which that is not known. */
  likelihood: number | undefined;
  /** Errors of overlays that could not be consulted. */
  gaps: BusError[];
}

/** Parts that a search can leave out, so that a benchmark can measure them. */
export const searchParts = ['abbreviations', 'items'] as const;
export type SearchPart = (typeof searchParts)[number];

/** Searches symbols and items of one shard as one collection; one question at a time. */
export class Search {
  readonly #items = new Map<OverlayName, ItemSearch>();
  #retriever: Retriever | undefined;
  #abbreviations: Abbreviations | undefined;

  constructor(
    readonly index: ShardIndex,
    readonly overlays: ShardOverlays,
    readonly without: ReadonlySet<SearchPart> = new Set(),
  ) {}

  /** Made when first used: of a hundred open shards, a few are asked. */
  get retriever(): Retriever {
    return (this.#retriever ??= new Retriever(this.index));
  }

  /** Of everything that an answer comes from. */
  get version(): string {
    return `${this.index.info.version}.${this.overlays.version}`;
  }

  /**
   * `wanted`: symbols are searched for O1 and O3. `limit`: of the result. `roles`: of what is searched; none: any. `counts`: of all that is
   * searched together; absent: of this shard.
   */
  async find(
    asked: Question,
    wanted: ReadonlySet<OverlayName>,
    limit: number,
    roles: readonly string[] = [],
    counts?: WordCounts | null,
  ): Promise<SearchResult> {
    const question = this.#expanded(asked);
    return this.#over(wanted, (files, gaps) => {
      const hasSymbols = wanted.has('O1') || wanted.has('O3');
      const weighing = counts
        ? weighed(question, counts)
        : weigh(this.#weighedIn(files.values()), question);
      const most = Math.min(limit, hitsMax);
      const hits = hasSymbols
        ? this.retriever.search(question, { limit: most, weighing, roles })
        : [];
      const items = [...files].flatMap(([name, file]) =>
        this.#itemSearch(name, file).search(question, weighing, most, roles),
      );
      const { known } = weighing;
      const found = fused(hits, items, question).map((each): Found => ({
        ...each,
        known,
        similarity: similarityOf(each.score),
      }));
      const symbols = counts?.documents ?? this.index.symbolCount;
      const sizes = { concepts: question.concepts.length, symbols, isBrief: question.isBrief };
      const signs = signsOf(hits, weighing, sizes);
      const likelihood = found[0]?.kind === 'symbol' ? likelihoodOf(signs) : undefined;
      return { found: found.slice(0, limit), weighing, likelihood, gaps };
    });
  }

  /** How often the words of a question stand in what `find` would search. */
  async counts(asked: Question, wanted: ReadonlySet<OverlayName>): Promise<WordCounts> {
    const question = this.#expanded(asked);
    return this.#over(wanted, (files) => countsIn(this.#weighedIn(files.values()), question));
  }

  /** The words of code weigh the question also where only items are searched: a few items know no rare words. */
  #weighedIn(files: Iterable<OverlayItems>): TermIndex[] {
    return [this.index, ...Array.from(files, ({ terms }) => terms)];
  }

  /** Files by how well their functions answer, best first. Throws as `analyse`. */
  files(text: string): FunctionsOfFile[] {
    const question = this.#expanded(analyse(text));
    const weighing = weigh([this.index], question);
    const hits = this.retriever.search(question, { limit: hitsMax, weighing });
    return filesOf(this.index, hits, weighing.known);
  }

  /** What the ranking knows of the hits of a question: what it is learned from. */
  featured(asked: Question): Featured[] {
    const question = this.#expanded(asked);
    return this.retriever.featured(question, weigh([this.index], question));
  }

  #expanded(question: Question): Question {
    this.#abbreviations ??= new Abbreviations(
      this.without.has('abbreviations') ? [] : this.index.info.abbreviations,
    );
    return withAbbreviations(question, this.#abbreviations);
  }

  /** Works over overlays that are there; one that turns out to be damaged is a gap like one that is missing. */
  async #over<Result>(
    wanted: ReadonlySet<OverlayName>,
    work: (files: ReadonlyMap<OverlayName, OverlayItems>, gaps: BusError[]) => Result,
  ): Promise<Result> {
    const { files, gaps } = await this.#files(wanted);
    for (;;) {
      try {
        return work(files, gaps);
      } catch (error) {
        const failed = asBusError(error);
        const damaged = [...files].find(([, { places }]) =>
          places.some((each) => each === failed.data.path),
        );
        if (failed.code !== 'INDEX_CORRUPT' || damaged === undefined) throw error;
        const [overlay] = damaged;
        files.delete(overlay);
        this.#items.delete(overlay);
        gaps.push(new BusError(failed.code, { ...failed.data, overlay }, { cause: failed }));
      }
    }
  }

  async #files(
    wanted: ReadonlySet<OverlayName>,
  ): Promise<{ files: Map<OverlayName, OverlayItems>; gaps: BusError[] }> {
    const files = new Map<OverlayName, OverlayItems>();
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

  #itemSearch(name: OverlayName, file: OverlayItems): ItemSearch {
    const known = this.#items.get(name) ?? new ItemSearch(file, this.index.info);
    this.#items.set(name, known);
    return known;
  }
}

/** An item has no calls to speak for it. */
const askedWeight = 1.5;

/** Symbols, and among them the items that the question asks for; where no symbols are wanted, all items. */
function fused(hits: readonly Hit[], items: readonly ItemHit[], { concerns }: Question): AnyHit[] {
  const wanted = items.filter(({ item }) => hits.length === 0 || concerns.has(item.overlay));
  const all: AnyHit[] = [
    ...hits.map((hit) => ({ kind: 'symbol' as const, ...hit })),
    ...wanted.map((item) => ({ kind: 'item' as const, ...item, score: askedWeight * item.score })),
  ];
  return all.sort((one, other) => other.score - one.score);
}
