import { hasRole } from '../../source/role.js';
import { wantsAsides } from '../prior.js';
import type { FunctionsOfFile } from '../rank/files.js';
import { analyse } from '../question/question.js';
import { Columns, weights, type FeatureName } from './features.js';
import { NameScores, type Finding, type ModuleFiles, type SoughtName } from './named.js';
import type { ParsedReport } from './report.js';
import type { Place, TreeWords } from './tree-words.js';
import { standing } from './vocabulary.js';
import { WordScores, type RoutedTerm } from './word-scores.js';
import type { RankAnswer, RankRequest } from './words-port.js';

export interface Ranked {
  file: number;
  path: string;
  score: number;
}

export interface Candidates {
  columns: Columns;
  findings: readonly Finding[];
  /** The best, best first; of the same score in the order of their paths. */
  best: Ranked[];
}

/**
 * One report and what the tree as a whole says of it: what each word is worth, what paths gain, what names to ask for.
 * Shards add what their texts say; `rank` puts both together.
 */
export class Seeking {
  readonly terms: readonly RoutedTerm[];
  readonly names: readonly SoughtName[];
  /** By file: the best of its functions, in the shards that have ranked theirs. */
  readonly functions = new Map<number, FunctionsOfFile['best']>();
  /** By file: what speaks for it before its text is asked, without what sources gain. */
  readonly given: Float64Array;
  readonly #index: TreeWords;
  readonly #columns: Columns;
  readonly #scores: NameScores;
  readonly #question: string;
  /** By standing. */
  readonly #bonuses: readonly number[];

  constructor(
    index: TreeWords,
    modules: ModuleFiles,
    report: ParsedReport,
    without: ReadonlySet<FeatureName>,
  ) {
    this.#index = index;
    this.#columns = new Columns(index.fileCount, without);
    this.terms = new WordScores(index, this.#columns, report).score();
    this.#scores = new NameScores(index, this.#columns, modules);
    this.#scores.score(report);
    this.names = this.#scores.sought;
    this.given = this.#columns.scores();
    const isAsideWanted = report.said !== '' && wantsAsides(analyse(report.said));
    this.#question = this.#columns.isWanted('functions') ? report.said : '';
    const worth = (name: FeatureName): number => (this.#columns.isWanted(name) ? weights[name] : 0);
    const source = worth('source');
    this.#bonuses = [0, source, worth('header'), isAsideWanted ? source : worth('aside')];
  }

  /** What a file gains by what it is for; one that is named by its path is as good as a source. */
  bonusOf(file: number): number {
    const isNamed = this.#columns.at('path', file) + this.#columns.at('file', file) > 0;
    return this.#bonuses[isNamed ? standing.source : (this.#index.standings[file] ?? 0)] ?? 0;
  }

  /** `asksFunctions`: whether the shard ranks its functions, too. */
  requestFor(shard: number, limit: number, asksFunctions: boolean): RankRequest {
    const base = this.#index.baseOf(shard);
    const words = this.#index.shards[shard]?.words;
    const { fileCount, version, isCut } = words ?? { fileCount: 0, version: '', isCut: false };
    const local = (places: readonly Place[]): number[] =>
      places.map(({ file }) => file - base).filter((its) => its >= 0 && its < fileCount);
    const given = Array.from(this.given.subarray(base, base + fileCount), (score, its) =>
      score > 0 ? score + this.bonusOf(base + its) : 0,
    );
    // Of a vocabulary that was cut, also what it does not have may be there.
    const counting = this.terms.filter(
      ({ byShard, names, once, often, cover }) =>
        (isCut || (byShard[shard] ?? 0) > 0) && names + once + often + cover > 0,
    );
    return {
      version,
      terms: counting.map(({ term, names, once, often, cover }) => ({
        ...{ term, names, once, often, cover },
      })),
      names: this.names.map(({ key, by, within, byShard }) => {
        const its = local(within);
        const isHere = (byShard[shard] ?? 0) > 0 && its.length >= Math.min(1, within.length);
        // One that is not there is not looked for; it keeps its place in the list.
        return { key: isHere ? key : '', by, within: its };
      }),
      given,
      standings: [...this.#bonuses],
      question: asksFunctions ? this.#question : '',
      mean_text: this.#index.meanText,
      mean_definitions: this.#index.meanDefinitions,
      limit,
    };
  }

  /** The best files of the shards that have answered, by shard, of these roles. Once only: it fills the columns. */
  rank(
    answers: ReadonlyMap<number, RankAnswer>,
    limit: number,
    roles: readonly string[] = [],
  ): Candidates {
    const places: Place[][] = this.names.map(() => []);
    const words = new Map<number, number>();
    for (const [shard, answer] of answers) {
      const base = this.#index.baseOf(shard);
      for (const { name, file, line } of answer.places)
        places[name]?.push({ file: base + file, line });
      for (const { file, words: its, functions, best } of answer.files) {
        words.set(base + file, its);
        if (functions <= 0) continue;
        this.#columns.add('functions', base + file, functions);
        this.functions.set(base + file, best);
      }
    }
    for (const its of places) its.sort((one, other) => one.file - other.file);
    this.#scores.find(places, (shard) => answers.has(shard));
    // What shards were not asked is in none of these: a file of theirs is not known.
    const scores = this.#columns.scores();
    const ranked: Ranked[] = [];
    for (const [file, its] of words) {
      const score = (scores[file] ?? 0) + its;
      if (score <= 0 || !hasRole({ role: this.#index.roleOf(file) }, roles)) continue;
      ranked.push({ file, score: score + this.bonusOf(file), path: this.#index.path(file) });
    }
    return {
      columns: this.#columns,
      findings: this.#scores.findings,
      best: ranked.sort(byScore).slice(0, limit),
    };
  }
}

export function byScore(a: Ranked, b: Ranked): number {
  return b.score - a.score || (a.path < b.path ? -1 : 1);
}
