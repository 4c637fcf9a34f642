import type { Question } from './question/question.js';
import type { FileRole, KnownRoles } from '../format/facts.js';
import { roleIn, roleOf } from '../source/role.js';

/** Tests, mocks and copies have all words of the code and explain nothing. */
const asidePrior = 0.5;

const asideWords =
  /\b(?:tests?|tested|testing|specs?|bench(?:mark(?:s|ed)?)?|fixtures?|mocks?|mocked|examples?|samples?|generated|vendor(?:ed)?)\b/i;

/** Whether a file of this role stands beside the code: tests, benchmarks, examples, what was generated or copied in. */
export function isAside(role: FileRole): boolean {
  return role !== 'source' && role !== 'document';
}

/**
 * Whether the question speaks of tests and their like, or names a path among them. How to run the tests is
 * written elsewhere.
 */
export function wantsAsides(question: Question): boolean {
  const speaksOf = asideWords.test(question.text) && !question.concerns.has('O5');
  return speaksOf || question.paths.some((path) => isAside(roleOf(path)));
}

/** Asides explain less, unless the question asks for them. */
export function placePrior(role: FileRole, isAsideWanted: boolean): number {
  return !isAsideWanted && isAside(role) ? asidePrior : 1;
}

/** Which files of an index stand beside the code; each is looked at once. */
export class Asides {
  readonly #known: Uint8Array;

  constructor(
    readonly tree: { roles?: KnownRoles },
    readonly files: { fileCount: number; path: (file: number) => string },
  ) {
    this.#known = new Uint8Array(files.fileCount);
  }

  has(file: number): boolean {
    const known = this.#known[file] ?? 0;
    if (known > 0) return known > 1;
    const is = isAside(roleIn(this.tree, this.files.path(file)));
    this.#known[file] = is ? 2 : 1;
    return is;
  }

  /** As `placePrior`. */
  prior(file: number, isAsideWanted: boolean): number {
    return !isAsideWanted && this.has(file) ? asidePrior : 1;
  }
}
