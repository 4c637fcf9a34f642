import type { Plain, sigma } from '../../../wire/codec.js';
import { bodyTermsOf } from '../../format/words.js';
import { inverseFrequency } from '../rank/weighing.js';
import { dullness } from './dull-words.js';
import { weights, type Columns, type FeatureName } from './features.js';
import type { ParsedReport } from './report.js';
import { wordMax } from './saturation.js';
import type { TreeWords } from './tree-words.js';

const parts = ['title', 'prose', 'log', 'frames'] as const;
type Part = (typeof parts)[number];

/** The features that a part of a report has words for: in texts, and in paths. */
interface Measures {
  names?: FeatureName;
  once?: FeatureName;
  often?: FeatureName;
  cover?: FeatureName;
  folder?: FeatureName;
  fileShare?: FeatureName;
  folderShare?: FeatureName;
}
const measures: Record<Part, Measures> = {
  title: {
    names: 'title_names',
    once: 'title_text',
    fileShare: 'title_file_share',
    folderShare: 'title_folder_share',
  },
  prose: {
    names: 'prose_names',
    often: 'prose_text',
    cover: 'prose_cover',
    folder: 'prose_folder',
  },
  log: { names: 'log_names', once: 'log_text' },
  frames: { once: 'frame_words' },
};
/** A word that stands so many words behind the beginning counts half. */
const halfAt = 60;

/** A term to look for, and its worth where it is found. Mirrors `proto/pgc.proto`. */
export type SoughtTerm = Plain<sigma.pgc.SoughtTerm>;

/** A term with its counts by shard, for the choice of shards. */
export interface RoutedTerm extends SoughtTerm {
  /** Files of each shard that have it. */
  byShard: Uint32Array;
}

interface Sought {
  spelling: string;
  /** In texts it counts more when it comes again; of paths that tells nothing. */
  weights: Map<Part, { inTexts: number; inPaths: number }>;
  worth: number;
  byShard: Uint32Array;
}

/**
 * Weighs the words of a report, term by term, as the whole tree has them: what each is worth wherever it stands, and what
 * paths gain by theirs. What texts gain is known to the shards that hold them.
 */
export class WordScores {
  readonly #index: TreeWords;
  readonly #columns: Columns;
  readonly #sought = new Map<string, Sought>();
  /** By part, the worth of all its terms: the most that a file can attain. */
  readonly #masses = new Map<Part, number>();

  constructor(index: TreeWords, columns: Columns, report: ParsedReport) {
    this.#index = index;
    this.#columns = columns;
    const { title, prose, log } = report.terms;
    for (const [term, { count, spelling }] of title) this.#seek('title', term, spelling, count, 1);
    for (const [term, { count, spelling, place }] of prose)
      this.#seek('prose', term, spelling, count, 1 / (1 + place / halfAt));
    for (const [term, { count, spelling }] of log) this.#seek('log', term, spelling, count, 1);
    for (const [rank, { symbol, isUncertain }] of report.frames.entries()) {
      const [whole] = bodyTermsOf(symbol);
      if (whole !== undefined)
        this.#seek('frames', whole, symbol, 1, (isUncertain ? 0.5 : 1) / Math.sqrt(1 + rank));
    }
  }

  /** Fills the columns of paths. Returns the terms to look for in texts. */
  score(): RoutedTerm[] {
    for (const [term, sought] of this.#sought) {
      const { files, byShard } = this.#index.word(term);
      // What stands nowhere is worth most: it keeps the cover honest.
      sought.worth = inverseFrequency(this.#index.fileCount, files);
      sought.byShard = byShard;
      for (const [part, { inTexts }] of sought.weights)
        this.#masses.set(part, (this.#masses.get(part) ?? 0) + inTexts * sought.worth);
    }
    for (const part of parts) {
      const mass = this.#masses.get(part) ?? 0;
      if (mass > 0) this.#scorePaths(part, Math.sqrt(mass * wordMax));
    }
    this.#addUp();
    return this.#terms();
  }

  #seek(part: Part, term: string, spelling: string, count: number, weight: number): void {
    const known = this.#sought.get(term) ?? {
      ...{ spelling, worth: 0, byShard: new Uint32Array(0) },
      weights: new Map<Part, { inTexts: number; inPaths: number }>(),
    };
    const inPaths = part === 'frames' ? weight : weight * dullness(term);
    known.weights.set(part, { inTexts: (1 + Math.log(count)) * inPaths, inPaths });
    this.#sought.set(term, known);
  }

  /** Words that stand in paths: how much of them, and how much of the names of file and folders they are. */
  #scorePaths(part: Part, root: number): void {
    const { paths } = this.#index;
    const { folder, fileShare, folderShare } = measures[part];
    const named = new Float64Array(fileShare ? paths.fileCount : 0);
    const placed = new Float64Array(folder || folderShare ? paths.fileCount : 0);
    if (named.length + placed.length === 0) return;
    for (const [term, { weights: its }] of this.#sought) {
      const weight = its.get(part)?.inPaths;
      const found = weight === undefined ? undefined : paths.word(term);
      if (weight === undefined || found === undefined) continue;
      const worth = weight * found.worth;
      if (named.length > 0)
        for (const each of found.inName) named[each] = (named[each] ?? 0) + worth;
      if (placed.length > 0)
        for (const each of found.inFolder) placed[each] = (placed[each] ?? 0) + worth;
    }
    this.#put(folder, placed, () => root);
    this.#put(fileShare, named, (each) => paths.nameMass[each] ?? 0);
    this.#put(folderShare, placed, (each) => paths.folderMass[each] ?? 0);
  }

  /** What a path has of all that title and description say. */
  #addUp(): void {
    const column = columnOf(this.#columns, 'path_words');
    if (column === undefined) return;
    const { paths } = this.#index;
    const last = new Uint32Array(paths.fileCount);
    let ordinal = 0;
    for (const [term, { weights: its }] of this.#sought) {
      const found = its.has('title') || its.has('prose') ? paths.word(term) : undefined;
      if (found === undefined) continue;
      const worth = dullness(term) * found.worth;
      ordinal += 1;
      for (const files of [found.inName, found.inFolder])
        for (const each of files) {
          if (last[each] === ordinal) continue;
          last[each] = ordinal;
          column[each] = (column[each] ?? 0) + worth;
        }
    }
  }

  #put(
    feature: FeatureName | undefined,
    sums: Float64Array,
    divisorOf: (file: number) => number,
  ): void {
    const column = columnOf(this.#columns, feature);
    if (column === undefined) return;
    for (let file = 0; file < sums.length; file += 1) {
      const sum = sums[file] ?? 0;
      if (sum > 0) column[file] = sum / (divisorOf(file) || 1);
    }
  }

  #terms(): RoutedTerm[] {
    return [...this.#sought].map(([term, { spelling, weights: its, worth, byShard }]) => {
      const inWords = (its.get('title')?.inTexts ?? 0) + (its.get('prose')?.inTexts ?? 0);
      const sought = {
        ...{ term, spelling, byShard, worth: inWords * worth },
        ...{ names: 0, once: 0, often: 0, cover: 0 },
      };
      for (const [part, { inTexts }] of its) {
        const mass = this.#masses.get(part) ?? 1;
        const share = (inTexts * worth) / Math.sqrt(mass * wordMax);
        const { names, once, often, cover } = measures[part];
        sought.names += share * this.#weightOf(names);
        sought.once += share * this.#weightOf(once);
        sought.often += share * this.#weightOf(often);
        sought.cover += ((inTexts * worth) / mass) * this.#weightOf(cover);
      }
      return sought;
    });
  }

  #weightOf(feature: FeatureName | undefined): number {
    return feature !== undefined && this.#columns.isWanted(feature) ? weights[feature] : 0;
  }
}

function columnOf(columns: Columns, feature: FeatureName | undefined): Float64Array | undefined {
  return feature === undefined ? undefined : columns.of(feature);
}
