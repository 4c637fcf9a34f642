import type { Plain, sigma } from '../../../wire/codec.js';
import { OpenFiles } from '../../format/container/section-file.js';
import { openWords } from '../../plan/open-shard.js';
import { Excerpts } from '../../source/excerpt.js';
import type { IndexPlace, Manifest } from '../../plan/manifest.js';
import { ShardOverlays } from '../../overlay/shard-overlays.js';
import { openSegments, readServed } from '../open-index.js';
import { Search } from '../search.js';
import { PathEvidence, type Evidence } from './evidence.js';
import { weights, type FeatureName } from './features.js';
import { ModuleFiles } from './named.js';
import { lineCharsMax } from './report-lines.js';
import { parseReport, type ParsedReport, type Report } from './report.js';
import { rankedShards } from './routing.js';
import { byScore, Seeking, type Candidates, type Ranked } from './seeking.js';
import { TreeWords } from './tree-words.js';
import { knownFrom } from './vocabulary.js';
import type { ShardWords } from '../../format/word-lists/words-file.js';
import type { RankAnswer, ReadAnswer, ReadFile, ReadRequest, WordsPort } from './words-port.js';
import { plainTerm, WordsShard } from './words-shard.js';

const lateFeatures = ['passage', 'string', 'device'] as const;
/** Files in an answer. */
export const filesMax = 50;
/** Files that are read for what only their text says. */
const readMax = 50;
/** Shards that rank their functions: the likeliest. */
const functionShardsMax = 24;

/** One file that the report may concern. Mirrors what `sigma locate --json` prints. */
export type LocatedFile = Plain<sigma.pgc.LocatedFile, { evidence: Evidence[]; role?: string }>;
export type LocateAnswer = Plain<sigma.pgc.LocateAnswer, { files: LocatedFile[] }>;

/** Mirrors `proto/pgc.proto`. */
export type LocateRequest = Plain<
  sigma.pgc.LocateRequest,
  { title?: string; isBrief?: boolean; roles?: string[] }
>;

interface LocateOptions {
  /** At most `filesMax`. */
  limit: number;
  /** Features that are left out, to see what they are worth. */
  without?: ReadonlySet<FeatureName>;
  /** Leaves evidence out, as a batch does. */
  isBrief?: boolean;
  /** Only files of these; empty: any. */
  roles?: readonly string[];
  signal?: AbortSignal | undefined;
}

/** The words of a tree, and its shards: shard `i` of the tree is `ports[i]`. */
export class KnownTree {
  constructor(
    readonly index: TreeWords,
    readonly ports: readonly WordsPort[],
    readonly modules = new ModuleFiles(index),
  ) {}

  /** The same words, with other ports. */
  withPorts(ports: readonly WordsPort[]): KnownTree {
    return new KnownTree(this.index, ports, this.modules);
  }
}

/** Which shards are asked, and how. */
interface Asking {
  /** The likeliest first. */
  choose(seeking: Seeking): readonly number[];
  /** The answers by shard. The caller reports the shards that do not answer. */
  each<T>(
    shards: readonly number[],
    ask: (port: WordsPort, shard: number, signal?: AbortSignal) => Promise<T>,
  ): Promise<ReadonlyMap<number, T>>;
}

/**
 * Finds the files that a report concerns: weighs its words by the tree, asks shards for their best files, has the best
 * of all read where they are, and puts them in order. Throws REPORT_EMPTY, REPORT_UNREADABLE, CANCELLED.
 */
export async function locateIn(
  tree: KnownTree,
  report: Report,
  options: LocateOptions,
  asking: Asking,
): Promise<Omit<LocateAnswer, 'errors'>> {
  const startedMs = performance.now();
  const parsed = parseReport(report);
  const without = options.without ?? new Set();
  const seeking = new Seeking(tree.index, tree.modules, parsed, without);
  const asked = asking.choose(seeking);
  const asksFunctions = new Set(asked.slice(0, functionShardsMax));
  const limit = Math.max(readMax, options.limit);
  const { roles = [] } = options;
  const answers = await asking.each<RankAnswer>(asked, (port, shard, signal) =>
    port.rankFiles(
      { ...seeking.requestFor(shard, limit, asksFunctions.has(shard)), roles: [...roles] },
      signal,
    ),
  );
  const candidates = seeking.rank(answers, limit, roles);
  const late = new LateScores(tree, seeking, parsed, options);
  const ranked = await late.rank(candidates.best, asking);
  return {
    files: late.described(ranked.slice(0, options.limit), candidates),
    shards: shardsOf(tree, ranked),
    agents_asked: asked.length,
    elapsed_ms: Math.round((performance.now() - startedMs) * 10) / 10,
    warnings: parsed.warnings,
  };
}

function shardsOf({ index }: KnownTree, ranked: readonly Ranked[]): LocateAnswer['shards'] {
  const best = new Map<string, number>();
  for (const { file, score } of ranked) {
    const agent = index.agentOf(file);
    if (!best.has(agent)) best.set(agent, rounded(score));
  }
  return [...best].map(([agent, score]) => ({ agent, score }));
}

/** Scores that need the texts of files, and the order that follows from them. */
class LateScores {
  readonly #tree: KnownTree;
  readonly #seeking: Seeking;
  readonly #report: ParsedReport;
  readonly #options: LocateOptions;
  readonly #read = new Map<number, ReadFile>();

  constructor(tree: KnownTree, seeking: Seeking, report: ParsedReport, options: LocateOptions) {
    this.#tree = tree;
    this.#seeking = seeking;
    this.#report = report;
    this.#options = options;
  }

  async rank(files: readonly Ranked[], asking: Asking): Promise<readonly Ranked[]> {
    const wanted = files.slice(0, readMax);
    await this.#readAll(wanted, asking);
    const ranked = wanted.map((each) => {
      const read = this.#read.get(each.file);
      const score = lateFeatures.reduce(
        (sum, name) => sum + (this.#isWanted(name) ? weights[name] * (read?.[name] ?? 0) : 0),
        each.score,
      );
      return { ...each, score };
    });
    return [...ranked.sort(byScore), ...files.slice(readMax)];
  }

  described(files: readonly Ranked[], { columns, findings }: Candidates): LocatedFile[] {
    const isBrief = this.#options.isBrief === true;
    const { terms, functions } = this.#seeking;
    const evidence = new PathEvidence(columns, findings, terms, functions);
    return files.map(({ file, path, score }) => ({
      path,
      score: rounded(score),
      agent: this.#tree.index.agentOf(file),
      role: this.#tree.index.roleOf(file),
      evidence: isBrief ? [] : evidence.with(this.#read.get(file)?.evidence ?? [], file, path),
    }));
  }

  async #readAll(files: readonly Ranked[], asking: Asking): Promise<void> {
    const { index } = this.#tree;
    const byShard = new Map<number, number[]>();
    for (const { file } of files) {
      const shard = index.shardOf(file);
      const local = byShard.get(shard) ?? [];
      local.push(file - index.baseOf(shard));
      byShard.set(shard, local);
    }
    const request = this.#request();
    const answers = await asking.each<ReadAnswer>([...byShard.keys()], (port, shard, signal) => {
      const version = index.shards[shard]?.words.version ?? '';
      return port.readFiles({ ...request, version, files: byShard.get(shard) ?? [] }, signal);
    });
    for (const [shard, { files: its }] of answers)
      for (const read of its) this.#read.set(index.baseOf(shard) + read.file, read);
  }

  #request(): Omit<ReadRequest, 'version' | 'files'> {
    const { title, logLines, devices } = this.#report;
    const isBrief = this.#options.isBrief === true;
    const needsLines = !isBrief || this.#isWanted('string') || this.#isWanted('device');
    // A long line is known by its beginning: every string of every file is looked for in it.
    const lines = [...logLines, title].map((line) => line.slice(0, lineCharsMax));
    return {
      terms: this.#seeking.terms.map(plainTerm),
      mean_text: this.#tree.index.meanText,
      mean_definitions: this.#tree.index.meanDefinitions,
      lines: needsLines ? lines : [],
      devices: needsLines ? devices : [],
      is_brief: isBrief,
      without: [...(this.#options.without ?? [])],
    };
  }

  #isWanted(name: FeatureName): boolean {
    return weights[name] !== 0 && this.#options.without?.has(name) !== true;
  }
}

function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}

/** Finds the files that a report concerns in a built index: the lattice of all its shards in this process. */
export class Locator {
  readonly #tree: KnownTree;

  constructor(tree: KnownTree) {
    this.#tree = tree;
  }

  /** Throws REPO_UNREADABLE, INDEX_MISSING, INDEX_CORRUPT. */
  static async open(folder: string, home: string): Promise<Locator> {
    return new Locator(await openTree(folder, home));
  }

  /** Throws REPORT_EMPTY, REPORT_UNREADABLE, CANCELLED. */
  async locate(report: Report, options: LocateOptions): Promise<LocateAnswer> {
    const { ports, index } = this.#tree;
    const answer = await locateIn(this.#tree, report, options, {
      choose: (seeking) => rankedShards(index, seeking),
      each: async (shards, ask) => {
        const answers = new Map();
        for (const shard of shards) {
          options.signal?.throwIfAborted();
          const port = ports[shard];
          if (port !== undefined) answers.set(shard, await ask(port, shard));
        }
        return answers;
      },
    });
    return { ...answer, errors: [] };
  }
}

/** The words of files that are open, as shards of one tree, and the searches of its shards. `root`: absolute, without links. */
export function treeOf(
  files: readonly ShardWords[],
  root: string,
  searches: readonly Search[] = [],
): KnownTree {
  const excerpts = new Excerpts(root);
  const members = files.map((file) => ({ agent: file.info.alias, words: knownFrom(file) }));
  const ports = files.map((file, at): WordsPort => {
    const words = new WordsShard(file.info.alias, () => Promise.resolve(file), excerpts);
    return {
      agent: words.agent,
      vocabulary: () => words.vocabulary(),
      rankFiles: (request) => words.rankFiles(request, searches[at]),
      readFiles: (request) => words.readFiles(request),
    };
  });
  return new KnownTree(new TreeWords(members), ports);
}

/** Of a tree as it was built last, until `opened` is disposed of. Throws REPO_UNREADABLE, INDEX_MISSING, INDEX_CORRUPT. */
export async function openTree(
  folder: string,
  home: string,
  opened = new OpenFiles(),
): Promise<KnownTree> {
  return readServed(folder, home, async (place, manifest, root) => {
    const files = await openFiles(place, manifest, opened);
    const segments = await openSegments(place, manifest, opened);
    const searches = manifest.shards.flatMap((shard, at) => {
      const segment = segments[at];
      return segment === undefined
        ? []
        : [new Search(segment, new ShardOverlays(place, shard, opened))];
    });
    return treeOf(files, root, searches);
  });
}

async function openFiles(
  place: IndexPlace,
  { shards }: Manifest,
  opened: OpenFiles,
): Promise<ShardWords[]> {
  const files: ShardWords[] = [];
  for (const shard of shards) files.push(await openWords(place, shard, opened));
  return files;
}
