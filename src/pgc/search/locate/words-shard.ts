import { asBusError, BusError } from '../../../errors/bus-error.js';
import { lowerBound } from '../../format/bytes.js';
import type { FunctionsOfFile } from '../rank/files.js';
import type { Search } from '../search.js';
import type { Excerpts } from '../../source/excerpt.js';
import { textEvidence, wordEvidence, type Evidence, type Gain } from './evidence.js';
import { weights, type FeatureName } from './features.js';
import { hashOf } from '../../format/word-lists/hashed-lists.js';
import { isAnyRole } from '../../source/role.js';
import { FileReader, type Reading } from './reading.js';
import { often, once, saturated, usual } from './saturation.js';
import { standingsOf, vocabularyOf, type Vocabulary } from './vocabulary.js';
import type { SoughtTerm } from './word-scores.js';
import type { ShardWords } from '../../format/word-lists/words-file.js';
import type { RankAnswer, RankRequest, ReadAnswer, ReadFile, ReadRequest } from './words-port.js';

/** Files of one answer, and places of one name. */
const filesMax = 256;
const placesMax = 64;

type Means = Pick<RankRequest, 'mean_text' | 'mean_definitions'>;
type Gaining = RankRequest['terms'][number];

/** The words of the files of one shard, opened when they are first asked for. */
export class WordsShard {
  readonly #open: () => Promise<ShardWords>;
  readonly #excerpts: Excerpts;
  #opened: Promise<ShardWords> | undefined;
  #vocabulary: Vocabulary | undefined;
  #standings: Uint8Array | undefined;

  constructor(
    readonly agent: string,
    open: () => Promise<ShardWords>,
    excerpts: Excerpts,
  ) {
    this.#open = open;
    this.#excerpts = excerpts;
  }

  async vocabulary(): Promise<Vocabulary> {
    const file = await this.#file();
    return (this.#vocabulary ??= vocabularyOf(file));
  }

  /** `search`: over the functions of the same files. Throws INDEX_CHANGED when the files were numbered by another version. */
  async rankFiles(request: RankRequest, search?: Search): Promise<RankAnswer> {
    const file = await this.#file(request.version);
    const words = wordScores(file, request);
    const functions = functionsIn(file, request.question, search);
    const places = placesIn(file, request.names);
    const named = places.map((place) => place.file);
    const best = this.#best(file, request, words, functions);
    const files = Array.from(new Set([...best, ...named]), (its) => {
      const { score = 0, best: first = [] } = functions.get(its) ?? {};
      return { file: its, words: words[its] ?? 0, functions: score, best: [...first] };
    });
    return { files, places };
  }

  /** Throws INDEX_CHANGED. A file that cannot be read has no evidence. */
  async readFiles(request: ReadRequest): Promise<ReadAnswer> {
    const file = await this.#file(request.version);
    const wanted = request.files.filter((its) => its < file.fileCount).slice(0, filesMax);
    const { terms, lines: logLines, devices, is_brief: isBrief } = request;
    const worths = new Map(terms.map(({ term, worth }) => [term, worth]));
    const reader = new FileReader(this.#excerpts, { logLines, title: '', devices }, worths);
    const readings = new Map(wanted.map((its) => [its, reader.read(file.file(its))]));
    const gains = isBrief ? new Map<number, Gain[]>() : gainsIn(file, request, new Set(wanted));
    const files = [...readings].map(([its, reading]) => ({
      ...seen(reading, new Set(request.without as FeatureName[])),
      file: its,
      evidence: isBrief ? [] : evidenceOf(gains.get(its) ?? [], reading),
    }));
    return { files };
  }

  #best(
    file: ShardWords,
    request: RankRequest,
    words: Float64Array,
    functions: ReadonlyMap<number, FunctionsOfFile>,
  ): number[] {
    const standings = (this.#standings ??= standingsOf(file));
    const scores = words.map((its, at) => {
      const given = request.given[at] ?? 0;
      const known = its + weights.functions * (functions.get(at)?.score ?? 0);
      const standing = request.standings[standings[at] ?? 0] ?? 0;
      return given + known + (given === 0 && known > 0 ? standing : 0);
    });
    const { roles = [] } = request;
    const isWanted = (its: number): boolean =>
      roles.length === 0 || isAnyRole(file.info, file.path(its), roles);
    return bestOf(scores, Math.min(request.limit, filesMax), isWanted);
  }

  async #file(version?: string): Promise<ShardWords> {
    this.#opened ??= this.#open();
    try {
      const file = await this.#opened;
      if (version !== undefined && version !== file.info.version)
        throw new BusError('INDEX_CHANGED', { agent: this.agent });
      return file;
    } catch (error) {
      // A file that could not be opened may be there the next time.
      if (asBusError(error).code !== 'INDEX_CHANGED') this.#opened = undefined;
      throw error;
    }
  }
}

/** By file, as the ranking of functions knows them; none where they are not asked for. */
function functionsIn(
  file: ShardWords,
  question: string,
  search: Search | undefined,
): ReadonlyMap<number, FunctionsOfFile> {
  const ranked = question === '' ? [] : (search?.files(question) ?? []);
  return new Map(
    ranked.map((each) => [
      Math.max(0, lowerBound(file.fileCount, (its) => file.path(its) <= each.path) - 1),
      each,
    ]),
  );
}

/** By file: what its words are worth, term by term in their order, so that a sum is the same to the last bit. */
function wordScores(file: ShardWords, { terms, ...means }: RankRequest): Float64Array {
  const scores = new Float64Array(file.fileCount);
  eachGain(file, terms, means, (its, gain) => (scores[its] = (scores[its] ?? 0) + gain));
  return scores;
}

function eachGain<T extends Gaining>(
  file: ShardWords,
  terms: readonly T[],
  means: Means,
  visit: (file: number, gain: number, term: T) => void,
): void {
  const lengths = new Float64Array(2 * file.fileCount);
  for (let its = 0; its < file.fileCount; its += 1) {
    const { text, definitions } = file.lengths(its);
    lengths[2 * its] = text / means.mean_text;
    lengths[2 * its + 1] = definitions / means.mean_definitions;
  }
  for (const term of terms)
    file.postings(hashOf(term.term), (its, count, definitions) => {
      const length = lengths[2 * its] ?? 0;
      const gain =
        term.names * saturated(definitions, lengths[2 * its + 1] ?? 0, usual) +
        term.once * saturated(count, length, once) +
        term.often * saturated(count, length, often) +
        term.cover;
      visit(its, gain, term);
    });
}

function gainsIn(
  file: ShardWords,
  { terms, ...means }: ReadRequest,
  wanted: ReadonlySet<number>,
): Map<number, Gain[]> {
  const gains = new Map<number, Gain[]>();
  const counting = terms.filter(
    ({ names, once: first, often: again, cover }) => names + first + again + cover > 0,
  );
  eachGain(file, counting, means, (its, gain, { spelling }) => {
    if (!wanted.has(its)) return;
    const known = gains.get(its);
    if (known === undefined) gains.set(its, [{ spelling, gain }]);
    else known.push({ spelling, gain });
  });
  return gains;
}

function evidenceOf(gains: readonly Gain[], reading: Reading): Evidence[] {
  return textEvidence(wordEvidence(gains), reading);
}

/** Only features that count are computed. */
function seen(
  reading: Reading,
  without: ReadonlySet<FeatureName>,
): Pick<ReadFile, 'passage' | 'string' | 'device'> {
  const counts = (name: FeatureName): boolean => weights[name] !== 0 && !without.has(name);
  return {
    passage: counts('passage') ? reading.passage.score : 0,
    string: counts('string') ? reading.string : 0,
    device: counts('device') ? reading.device : 0,
  };
}

function placesIn(file: ShardWords, names: RankRequest['names']): RankAnswer['places'] {
  return names.flatMap(({ key, by, within }, name) => {
    if (key === '') return [];
    const isWanted = (its: number): boolean => within.length === 0 || within.includes(its);
    const places = (by === 'name' ? file.places(hashOf(key)) : definersWith(file, key))
      .filter((place) => isWanted(place.file))
      .slice(0, placesMax);
    return places.map((place) => ({ name, ...place }));
  });
}

/** Files that define a name with this word; the index does not hold the line. */
function definersWith(file: ShardWords, term: string): { file: number; line: number }[] {
  const found: { file: number; line: number }[] = [];
  file.postings(hashOf(term), (its, _, definitions) => {
    if (definitions > 0) found.push({ file: its, line: 0 });
  });
  return found;
}

/** Numbers of the highest scores, best first. Files are in the order of their paths, which decides between equals. */
function bestOf(
  scores: Float64Array,
  count: number,
  isWanted: (file: number) => boolean,
): number[] {
  const found: number[] = [];
  scores.forEach((score, file) => {
    if (score > 0 && isWanted(file)) found.push(file);
  });
  return found
    .sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0) || one - other)
    .slice(0, count);
}

/** A term as it is sent, without its counts by shard. */
export function plainTerm({
  term,
  spelling,
  worth,
  names,
  once: first,
  often: again,
  cover,
}: SoughtTerm): SoughtTerm {
  return { term, spelling, worth, names, once: first, often: again, cover };
}
