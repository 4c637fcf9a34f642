import type { Definition } from '../definition.js';
import type { SourceText } from '../source-text.js';

/** Which of several definitions a text sees, where the names of all texts are in one scope. */
export class Sight {
  readonly #sees: (path: string) => { has(path: string): boolean };

  constructor(sees: (path: string) => { has(path: string): boolean }) {
    this.#sees = sees;
  }

  /** Without those that belong to other texts alone. */
  possible(all: readonly Definition[], from: SourceText | undefined): readonly Definition[] {
    return from === undefined || !all.some((each) => each.isHidden === true)
      ? all
      : all.filter((each) => each.isHidden !== true || this.isSeen(each, from));
  }

  /** Those of the text itself, else those that it includes, else all that may be meant. */
  nearest(all: readonly Definition[], from: SourceText | undefined): readonly Definition[] {
    const possible = this.possible(all, from);
    if (from === undefined || possible.length < 2) return possible;
    const own = possible.filter(({ file }) => file === from);
    if (own.length > 0) return own;
    const seen = possible.filter((each) => this.isSeen(each, from));
    return seen.length > 0 ? seen : possible;
  }

  /** Nothing tells which of those that are nearest is meant. */
  isOpen(nearest: readonly Definition[], from: SourceText | undefined): boolean {
    const [first, ...others] = nearest;
    if (first === undefined || from === undefined || this.isSeen(first, from)) return false;
    return others.some(({ file }) => file !== first.file);
  }

  isSeen({ file }: Definition, from: SourceText): boolean {
    return file === from || this.#sees(from.path).has(file.path);
  }
}
