import { bodyTermsOf } from '../../format/words.js';
import { stem } from '../../format/stem.js';
import { dullness } from './dull-words.js';
import { stemOf } from './path-index.js';
import type { Columns, FeatureName } from './features.js';
import type { ParsedReport } from './report.js';
import type { Place, TreeWords } from './tree-words.js';

/** A name that more files define does not tell which of them is meant. */
const definersMax = 8;
/** Files of one name without its ending. */
const stemFilesMax = 40;
const callShare = 1.5;
/** Names a quarter of whose place in the description counts, as the rank of a frame does. */
const symbolRankShare = 0.25;

/** Something that the report names, with the places that it stands for. */
export interface Finding {
  feature: 'frame' | 'symbol' | 'path' | 'file' | 'option';
  text: string;
  places: readonly Place[];
  /** What each of the files gains by it. */
  value: number;
}

/** A name whose places are to be had from the shards that may have any. */
export interface SoughtName {
  feature: 'frame' | 'symbol' | 'option';
  text: string;
  /** The name itself, or a word of names. */
  key: string;
  by: 'name' | 'word';
  /** By shard: files that have it. */
  byShard: readonly number[];
  /** The files that a trace names beside it; empty: any. */
  within: readonly Place[];
  /** What all its files share. */
  value: number;
}

/**
 * Scores what a report names: first what paths tell (files, folders, modules), then, with the places that the shards
 * give, functions and options.
 */
export class NameScores {
  readonly findings: Finding[] = [];
  readonly sought: SoughtName[] = [];
  readonly #index: TreeWords;
  readonly #columns: Columns;
  readonly #modules: ModuleFiles;

  constructor(index: TreeWords, columns: Columns, modules: ModuleFiles) {
    this.#index = index;
    this.#columns = columns;
    this.#modules = modules;
  }

  /** Scores names that paths decide, and leaves the others in `sought`. */
  score(report: ParsedReport): void {
    this.#seekFrames(report.frames);
    this.#seekSymbols(report.symbols);
    this.#scorePaths(report.paths);
    this.#scoreStems(report.titleNames);
    const share = 1 / Math.sqrt(report.drivers.length || 1);
    for (const driver of report.drivers)
      for (const [file, part] of this.#modules.of(driver))
        this.#raise('module', file, share * part);
    for (const option of report.options) this.#seek('option', option, 1);
  }

  /** `places`: of each name in `sought`, in the shards that were asked. Those of the others count, but are not known. */
  find(places: readonly (readonly Place[])[], isAsked: (shard: number) => boolean): void {
    this.sought.forEach(({ feature, text, byShard, within, value }, at) => {
      const known = places[at] ?? [];
      const unasked = byShard.map((files, shard) => (isAsked(shard) ? 0 : files));
      if (within.length === 0) return this.#find(feature, text, known, sumOf(unasked), value);
      const elsewhere = within.filter(
        ({ file }) => (unasked[this.#index.shardOf(file)] ?? 0) > 0,
      ).length;
      // A trace that names files means those, and no namesakes of its functions.
      const meant = known.length + elsewhere > 0 ? known : within;
      this.#find(feature, text, meant, elsewhere, value);
    });
  }

  /** Frames near to the fault count more; names that are used or defined in many files count less. */
  #seekFrames(frames: ParsedReport['frames']): void {
    frames.forEach(({ symbol, path, line, isUncertain }, rank) => {
      const certainty = (isUncertain ? 0.5 : 1) / Math.sqrt(1 + rank);
      const value = certainty * this.#rareness(symbol);
      const files = path === '' ? [] : filesAt(this.#index, path).files;
      // A trace of files that are not here is of something else.
      if (path !== '' && files.length === 0) return;
      this.#seek(
        'frame',
        symbol,
        value,
        files.map((file) => ({ file, line })),
      );
    });
  }

  #seekSymbols(symbols: ParsedReport['symbols']): void {
    symbols.forEach(({ name, isInTitle, isCall }, rank) => {
      const share = isInTitle ? 1 : 1 / Math.sqrt(1 + symbolRankShare * rank);
      const value = this.#rareness(name) * (isCall ? callShare : 1) * share;
      this.#seek('symbol', name, value);
    });
  }

  /** Values and macros are found by their words, which know neither lines nor capitals. */
  #seek(
    feature: SoughtName['feature'],
    text: string,
    value: number,
    within: readonly Place[] = [],
  ): void {
    if (!this.#columns.isWanted(feature)) return;
    const add = (key: string, by: SoughtName['by'], byShard: number[]): void => {
      if (within.length === 0 && sumOf(byShard) > definersMax) return;
      this.sought.push({ feature, text, key, by, byShard, within, value });
    };
    const definers = this.#index.definers(text);
    if (sumOf(definers) > 0) return add(text, 'name', definers);
    if (within.length > 0) return this.#find(feature, text, within, 0, value);
    const [term] = bodyTermsOf(text);
    if (feature !== 'symbol' || term === undefined || !/[_A-Z]/.test(text)) return;
    const having = this.#index.definersWith(term);
    if (sumOf(having) > 0) add(term, 'word', having);
  }

  #scorePaths(paths: ParsedReport['paths']): void {
    for (const { path, line } of paths) {
      const { files, agreement } = filesAt(this.#index, path);
      const places = files.map((file) => ({ file, line }));
      this.#find(agreement > 1 ? 'path' : 'file', path, places, 0, 1);
    }
  }

  #scoreStems(names: ReadonlyMap<string, number>): void {
    const sums = new Map<number, number>();
    for (const [name, weight] of names) {
      const files = this.#index.paths.filesOfStem(name);
      if (files.length > stemFilesMax) continue;
      const share = (weight * dullness(stem(name))) / Math.sqrt(files.length);
      for (const file of files) sums.set(file, (sums.get(file) ?? 0) + share);
    }
    for (const [file, sum] of sums) this.#columns.add('stem', file, Math.log1p(sum));
  }

  /** 1 of what stands in one file only, a fifth of what stands in a hundred. */
  #rareness(name: string): number {
    const [term] = bodyTermsOf(name);
    const files = term === undefined ? 0 : this.#index.word(term).files;
    return 1 / Math.log(Math.E + Math.max(0, files - 1));
  }

  /** The files of the places, and `elsewhere` more, share the value, if they are few. */
  #find(
    feature: Finding['feature'],
    text: string,
    places: readonly Place[],
    elsewhere: number,
    value: number,
  ): void {
    const files = [...new Set(places.map(({ file }) => file))];
    const count = files.length + elsewhere;
    if (files.length === 0 || count > definersMax || this.#columns.without.has(feature)) return;
    const share = value / count;
    this.findings.push({ feature, text, places, value: share });
    for (const file of files)
      if (feature === 'path' || feature === 'file') this.#raise(feature, file, share);
      else this.#columns.add(feature, file, share);
  }

  #raise(feature: FeatureName, file: number, value: number): void {
    const column = this.#columns.of(feature);
    if (column !== undefined) column[file] = Math.max(column[file] ?? 0, value);
  }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, each) => sum + each, 0);
}

/** Files whose paths agree longest with this one from the end: reports know files below other roots. */
function filesAt(index: TreeWords, path: string): { files: number[]; agreement: number } {
  const wanted = path.split(/[/\\]/).filter((part) => part !== '' && part !== '.');
  const name = `/${wanted.at(-1) ?? ''}`;
  const namesakes = Array.from(index.paths.filesOfStem(stemOf(name.slice(1)))).filter((file) =>
    `/${index.path(file)}`.endsWith(name),
  );
  const agreeing = namesakes.map((file) => agreementOf(index.path(file).split('/'), wanted));
  // There may be more namesakes than a call takes arguments.
  const agreement = agreeing.reduce((most, each) => Math.max(most, each), 0);
  return { files: namesakes.filter((_, at) => agreeing[at] === agreement), agreement };
}

function agreementOf(parts: readonly string[], wanted: readonly string[]): number {
  let agreement = 0;
  while (
    agreement < wanted.length &&
    parts[parts.length - 1 - agreement] === wanted[wanted.length - 1 - agreement]
  )
    agreement += 1;
  return agreement;
}

/** Folders that have a module of one name. */
const homesMax = 2;
const alone = 1;
const listed = 0.7;
const besideIt = 0.5;

/** What recipes build modules from: read from all of them when the first is asked for. */
export class ModuleFiles {
  readonly #index: TreeWords;
  #made: Map<string, { folder: string; part: string }[]> | undefined;
  readonly #partsOf = new Map<string, string[]>();

  constructor(index: TreeWords) {
    this.#index = index;
  }

  /** Files that a module of this name is built from, and how sure that is; none where several are called so. */
  of(name: string): Map<number, number> {
    const found = new Map<number, number>();
    const modules = this.#modules().get(stemOf(`${name}.o`)) ?? [];
    const homes = new Set(modules.map(({ folder }) => folder)).size;
    if (homes > homesMax) return found;
    const raise = (file: number, share: number): void => {
      found.set(file, Math.max(found.get(file) ?? 0, share / homes));
    };
    for (const { folder, part } of modules) {
      const own = this.#sources(folder, part);
      for (const file of own) raise(file, alone);
      if (own.length > 0) continue;
      for (const each of this.#partsOf.get(`${folder}/${part}`) ?? [])
        for (const file of this.#sources(folder, each)) raise(file, listed);
      const at = this.#index.paths.folderCalled(folder);
      for (const file of at === undefined ? [] : this.#index.paths.filesIn(at))
        raise(file, besideIt);
    }
    return found;
  }

  /** `iwl-io` in a folder, in any language; no headers. */
  #sources(folder: string, part: string): number[] {
    const whole = `${folder}/${part}`.replace(/^\//, '');
    const name = whole.slice(whole.lastIndexOf('/') + 1);
    return Array.from(this.#index.paths.filesOfStem(stemOf(`${name}.o`))).filter((file) => {
      const path = this.#index.path(file);
      return path.startsWith(`${whole}.`) && !/\.h\w*$/.test(path);
    });
  }

  #modules(): Map<string, { folder: string; part: string }[]> {
    if (this.#made !== undefined) return this.#made;
    const made = new Map<string, { folder: string; part: string }[]>();
    for (const { file, parts, into } of this.#index.steps()) {
      const path = this.#index.path(file);
      const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
      for (const object of parts) {
        if (!object.endsWith('.o')) continue;
        const part = object.slice(0, -2);
        const key = stemOf(object.slice(object.lastIndexOf('/') + 1));
        push(made, key, { folder, part });
        push(this.#partsOf, `${folder}/${into}`, part);
      }
    }
    this.#made = made;
    return made;
  }
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [item]);
  else known.push(item);
}
