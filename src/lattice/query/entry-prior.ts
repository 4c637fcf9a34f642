import { isAuxiliary, isHeader } from '../../pgc/bind/c-visibility.js';
import { fileRoles } from '../../pgc/format/facts.js';
import { placePrior, wantsAsides } from '../../pgc/search/prior.js';
import type { Question } from '../../pgc/search/question/question.js';
import type { Evidence } from '../../pgc/shapes.js';

const apartPrior = 0.5;
const headerPrior = 0.7;

/**
 * The prior that a question enters at a path: source files rather than headers, tools or tests, unless the question names those.
 */
export function entryPrior(
  { file_path: path, role }: Pick<Evidence, 'file_path' | 'role'>,
  question: Question,
): number {
  const isAsideWanted = wantsAsides(question);
  const known = fileRoles.find((each) => each === role) ?? 'source';
  const top = path.slice(0, Math.max(0, path.indexOf('/')));
  const isNamed = isAsideWanted || question.concepts.some(({ word }) => word === top.toLowerCase());
  const apart = isAuxiliary(path) && !isNamed ? apartPrior : 1;
  return placePrior(known, isAsideWanted) * apart * (isHeader(path) ? headerPrior : 1);
}
