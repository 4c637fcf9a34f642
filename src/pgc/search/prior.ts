import type { Question } from './question/question.js';
import type { FileRole } from '../format/facts.js';
import { roleOf } from '../source/role.js';

/** Tests, mocks and copies: they have all words of the code and explain nothing. */
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
