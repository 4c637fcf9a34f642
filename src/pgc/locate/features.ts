/**
 * What speaks for a file, each a number of its own scale. Words of a section are summed by what they are worth
 * (BM25) and divided by the square root of what a file could attain, so that a long description does not drown
 * the title; a `cover` and a `share` are parts of one.
 *
 * Weights were learned from messages of commits and the files that these change, as if each were a report: the
 * likelihood of the right files in a softmax over the candidates, no weight below zero. Trees learned the
 * same way were no better.
 */
export const weights = {
  // Words of the title: in the names that the file defines, in its text; of the names of file and folders.
  title_names: 0.325,
  title_text: 0.657,
  title_file_share: 0.871,
  title_folder_share: 2.213,
  // Words of the description, less the later they stand.
  prose_names: 0.207,
  prose_text: 0.872,
  prose_cover: 1.007,
  prose_folder: 0.999,
  // Words of log lines: whoever prints them is rarely who is wrong.
  log_names: 0.05,
  log_text: 0.05,
  // Stack frames: functions that the file defines, names that it uses.
  frame: 1.079,
  frame_words: 0.732,
  // Names that are written as code are defined in the file.
  symbol: 0.579,
  // Files by their paths, by their names, by what they are called without ending.
  path: 1.818,
  file: 1.963,
  stem: 1.259,
  // It is loaded as a module that the log names.
  module: 7.061,
  // The option that is named is defined in it.
  option: 0.5,
  // It is source, neither header nor document nor recipe, unless the report names it by its path.
  source: 7.5,
  // Of the best files, which are read: the best passage, messages of the log, devices in tables, what a model says.
  passage: 0.718,
  string: 0,
  device: 0,
  rerank: 3,
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

  /** To be written; undefined where nobody wants it. */
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
