/**
 * What speaks for a file, each a number of its own scale. Words of a section are summed by what they are worth
 * (BM25) and divided by the square root of what a file could attain, so that a long description does not drown
 * the title; a `cover` and a `share` are parts of one. `path_words` is divided by nothing: no path has many words.
 *
 * Weights were learned from messages of commits and the files that these change, as if each were a report: of those that
 * tell of a symptom, without the name of the subsystem before the title. The likelihood of the right files in a softmax
 * over the candidates, no weight below zero (`test/bench/retrieval/fit-locate.mjs`). Trees learned the same way were no
 * better.
 */
export const weights = {
  // Words of the title: in the names that the file defines, in its text; of the names of file and folders.
  title_names: 0.227,
  title_text: 0.633,
  title_file_share: 0.735,
  title_folder_share: 1.21,
  // Words of the description, less the later they stand.
  prose_names: 0.506,
  prose_text: 1.1,
  prose_cover: 3.592,
  prose_folder: 1.588,
  // Words of both, in names of file and folders: a rare word in a long path counts, too.
  path_words: 0.085,
  // Words of log lines: the code that prints them is rarely the code at fault.
  log_names: 0.241,
  log_text: 0.137,
  // Stack frames: functions that the file defines, names that it uses.
  frame: 0.804,
  frame_words: 0.552,
  // Names that are written as code are defined in the file.
  symbol: 1.526,
  // Files by their paths, by their names, by what they are called without ending.
  path: 2.916,
  file: 2.279,
  stem: 0.942,
  // It is loaded as a module that the log names.
  module: 7.478,
  // The option that is named is defined in it.
  option: 0.5,
  // Its functions answer what the report says first: not learned from commits, see README.
  functions: 2,
  // It is source, neither document nor recipe, unless the report names it by its path; a header; tests and their like.
  source: 7.5,
  header: 6,
  aside: 3,
  // Of the best files, which are read: the best passage, messages of the log, devices in tables.
  passage: 0.718,
  string: 0,
  device: 0,
};
export type FeatureName = keyof typeof weights;
export const featureNames = Object.keys(weights) as FeatureName[];

/** Numbers by feature and file; a feature that says nothing of any file takes no room. */
export class Columns {
  readonly #columns = new Map<FeatureName, Float64Array>();

  constructor(
    readonly fileCount: number,
    /** Features that stay empty. */
    readonly without: ReadonlySet<FeatureName>,
  ) {}

  isWanted(feature: FeatureName): boolean {
    return weights[feature] !== 0 && !this.without.has(feature);
  }

  /** A column to write to; undefined for a feature that does not count. */
  of(feature: FeatureName): Float64Array | undefined {
    if (!this.isWanted(feature)) return undefined;
    const column = this.#columns.get(feature) ?? new Float64Array(this.fileCount);
    this.#columns.set(feature, column);
    return column;
  }

  add(feature: FeatureName, file: number, value: number): void {
    const column = this.of(feature);
    if (column !== undefined) column[file] = (column[file] ?? 0) + value;
  }

  at(feature: FeatureName, file: number): number {
    return this.#columns.get(feature)?.[file] ?? 0;
  }

  /** In the order of the features, so that a sum is the same to the last bit. */
  scores(): Float64Array {
    const scores = new Float64Array(this.fileCount);
    for (const feature of featureNames) {
      const column = this.#columns.get(feature);
      if (column === undefined) continue;
      const weight = weights[feature];
      for (let file = 0; file < scores.length; file += 1)
        scores[file] = (scores[file] ?? 0) + weight * (column[file] ?? 0);
    }
    return scores;
  }
}
