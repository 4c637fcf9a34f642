import { asBusError } from '../../errors/bus-error.js';
import { Excerpts } from '../excerpt.js';
import { byScore, candidatesOf, sourcesOf, type Candidates, type Ranked } from './candidates.js';
import { evidenceFor, type Evidence } from './evidence.js';
import { weights, type FeatureName } from './features.js';
import { ModuleFiles } from './named.js';
import { FileReader, type Reading } from './reading.js';
import { parseReport, type ParsedReport, type Report } from './report.js';
import type { Reranker } from './reranker.js';
import { openWords, type WordIndex } from './word-index.js';

const lateFeatures = ['passage', 'string', 'device', 'rerank'] as const;
/** Files in an answer. */
export const filesMax = 50;
/** Files that are read for what only their text says. */
const readMax = 50;
/** A short text takes a model some 8 ms. */
const rerankMsMax = 1_000;
/** Where that changes nothing of their order, it is told of these only. */
const toldMax = 10;

/** One file that the report may concern. Mirrors what `sigma locate --json` prints. */
export interface LocatedFile {
  path: string;
  /** Orders the files of one report. Says nothing across reports: a long one has more to gain by. */
  score: number;
  agent: string;
  evidence: Evidence[];
}

export interface LocateAnswer {
  files: LocatedFile[];
  /** In the order of their best files, whose scores they have. */
  shards: { agent: string; score: number }[];
  agents_asked: number;
  elapsed_ms: number;
  warnings: string[];
}

export interface LocateOptions {
  /** At most `filesMax`. */
  limit: number;
  /** Features that are left out, to see what they are worth. */
  without?: ReadonlySet<FeatureName>;
  reranker?: Reranker;
  /** Absent: evidence is told. A batch does without. */
  isBrief?: boolean;
  signal?: AbortSignal;
}

/** Finds the files that a report concerns, over all shards of one tree. */
export class Locator {
  readonly #index: WordIndex;
  readonly #excerpts: Excerpts;
  readonly #parts: { sources: Uint8Array; modules: ModuleFiles };

  constructor(index: WordIndex, root: string) {
    this.#index = index;
    this.#excerpts = new Excerpts(root);
    this.#parts = { sources: sourcesOf(index), modules: new ModuleFiles(index) };
  }

  /** Throws REPO_UNREADABLE, INDEX_MISSING, INDEX_CORRUPT. */
  static async open(folder: string, home: string): Promise<Locator> {
    const { root, index } = await openWords(folder, home);
    return new Locator(index, root);
  }

  /** Throws REPORT_EMPTY, REPORT_UNREADABLE, CANCELLED. */
  async locate(report: Report, options: LocateOptions): Promise<LocateAnswer> {
    const startedMs = performance.now();
    const without = options.without ?? new Set();
    const parsed = parseReport(report);
    const limit = Math.max(readMax, options.limit);
    const candidates = candidatesOf(this.#index, this.#parts, parsed, { limit, without });
    const worths = new Map(candidates.terms.map(({ term, worth }) => [term, worth]));
    const reader = new FileReader(this.#excerpts, parsed, worths);
    const late = new LateScores(this.#index, reader, without);
    const warnings = [...parsed.warnings];
    const ranked = await late.rank(candidates.best, parsed, options, warnings);
    const files = ranked.slice(0, options.limit);
    return {
      files: this.#told(files, candidates, late, options),
      shards: this.#shards(ranked),
      agents_asked: this.#index.shards.length,
      elapsed_ms: Math.round((performance.now() - startedMs) * 10) / 10,
      warnings,
    };
  }

  #told(
    files: readonly Ranked[],
    candidates: Candidates,
    late: LateScores,
    { isBrief = false }: LocateOptions,
  ): LocatedFile[] {
    if (!isBrief) for (const { file } of files.slice(0, toldMax)) late.reading(file);
    const evidence = isBrief
      ? undefined
      : evidenceFor(
          ...([this.#index, candidates] as const),
          files.map(({ file }) => file),
          late.readings,
        );
    return files.map(({ file, path, score }) => ({
      path,
      score: rounded(score),
      agent: this.#index.aliasOf(file),
      evidence: evidence?.get(file) ?? [],
    }));
  }

  #shards(ranked: readonly Ranked[]): LocateAnswer['shards'] {
    const best = new Map<string, number>();
    for (const { file, score } of ranked) {
      const agent = this.#index.aliasOf(file);
      if (!best.has(agent)) best.set(agent, rounded(score));
    }
    return [...best].map(([agent, score]) => ({ agent, score }));
  }
}

/** What is known of files only when they are read, and the order that follows from it. */
class LateScores {
  readonly readings = new Map<number, Reading>();
  readonly #index: WordIndex;
  readonly #reader: FileReader;
  readonly #without: ReadonlySet<FeatureName>;

  constructor(index: WordIndex, reader: FileReader, without: ReadonlySet<FeatureName>) {
    this.#index = index;
    this.#reader = reader;
    this.#without = without;
  }

  reading(file: number): Reading {
    const known = this.readings.get(file) ?? this.#reader.read(this.#index.file(file));
    this.readings.set(file, known);
    return known;
  }

  async rank(
    files: readonly Ranked[],
    report: ParsedReport,
    { reranker, signal }: LocateOptions,
    warnings: string[],
  ): Promise<readonly Ranked[]> {
    const read = files.slice(0, readMax);
    const isRead = (['passage', 'string', 'device'] as const).some((name) => this.#counts(name));
    if (!isRead && reranker === undefined) return files;
    const judged = await this.#judge(read, report, reranker, signal, warnings);
    const late = read.map(({ file }, at) => {
      const reading = this.reading(file);
      return {
        passage: this.#counts('passage') ? reading.passage.score : 0,
        string: this.#counts('string') ? reading.string : 0,
        device: this.#counts('device') ? reading.device : 0,
        rerank: judged[at] ?? 0,
      };
    });
    const ranked = read.map((each, at) => ({
      ...each,
      score: lateFeatures.reduce(
        (sum, name) =>
          sum + (this.#without.has(name) ? 0 : weights[name] * (late[at]?.[name] ?? 0)),
        each.score,
      ),
    }));
    return [...ranked.sort(byScore), ...files.slice(readMax)];
  }

  /** What a model cannot judge now is ranked without it. */
  async #judge(
    files: readonly Ranked[],
    report: ParsedReport,
    reranker: Reranker | undefined,
    signal: AbortSignal | undefined,
    warnings: string[],
  ): Promise<readonly number[]> {
    if (reranker === undefined || this.#without.has('rerank')) return [];
    const question = `${report.title}. ${report.beginning}`;
    const texts = files.map(({ file }) => this.reading(file).about);
    try {
      const scores = await reranker.scores(question, texts, rerankMsMax, signal);
      const known = scores.filter((score) => score !== undefined);
      // What was not judged in time is as good as the others.
      const usual = known.reduce((sum, score) => sum + score, 0) / (known.length || 1);
      return scores.map((score) => score ?? usual);
    } catch (error) {
      signal?.throwIfAborted();
      warnings.push(`ranked without the model: ${asBusError(error).message}`);
      return [];
    }
  }

  #counts(name: FeatureName): boolean {
    return weights[name] !== 0 && !this.#without.has(name);
  }
}

function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}
