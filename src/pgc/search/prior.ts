import { stem } from '../format/stem.js';
import type { Question } from './question/question.js';
import type { ShardIndex } from '../format/shard-index.js';
import { type Field, fields } from '../format/fields.js';
import type { FileRole } from '../format/facts.js';
import { roleIn, roleOf } from '../source/role.js';
import { isStandInOf } from '../bind/symbol-candidate.js';

/** At equal match, symbols that explain are preferred over those that only name. */
const kindPriors: Record<string, number> = {
  function: 1,
  method: 1,
  class: 1,
  interface: 0.95,
  struct: 0.93,
  union: 0.9,
  enum: 0.9,
  type: 0.9,
  macro: 0.82,
  variable: 0.75,
  constant: 0.75,
  module: 0.8,
};
const declarationPrior = 0.7;
/** What a header holds for configurations that lack the real thing. */
const standInPrior = 0.6;
const fileLevelPrior = 0.75;
/** A symbol without documentation; data has no statements that show its purpose either. */
const undocumentedPrior = 0.88;
const undocumentedDataPrior = 0.75;
const hasStatements = new Set(['function', 'method', 'class', 'macro']);
/** Tests, mocks and copies: they have all words of the code and explain nothing. */
const asidePrior = 0.5;

const docField = fields.indexOf('doc') as Field;
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

/** How much a document explains any question: 0 to 1, by its kind, its documentation and its place. */
export function priorOf(index: ShardIndex, document: number, isAsideWanted: boolean): number {
  const isSymbol = document < index.symbolCount;
  const row = isSymbol ? index.symbol(document) : undefined;
  const { path } = index.file(row?.file ?? document - index.symbolCount);
  const place = placePrior(roleIn(index.info, path), isAsideWanted);
  if (row === undefined) return place * fileLevelPrior;
  const silent = hasStatements.has(row.kind) ? undocumentedPrior : undocumentedDataPrior;
  const documented = index.length(document, docField) > 0 ? 1 : silent;
  const standing = isStandInOf(index, document) ? standInPrior : 1;
  const declared = row.declaration ? declarationPrior : standing;
  return place * (kindPriors[row.kind] ?? 0.8) * documented * declared;
}

/**
 * Words of everyday sentences that are also names of functions. Such a word in a question is a word, as
 * long as nothing marks it as code.
 */
const everyday = new Set(
  (
    'accept add answer apply ask attach back begin bind block body build call cancel change check clean ' +
    'clear close code collect come commit compact complete connect copy count create cut data decide delete ' +
    'detach detect die drop edit enable end enter error event exit fail fetch file fill find finish flush ' +
    'follow forget free get give go handle happen head hold hop init insert item join keep key kill know ' +
    'lead leave level limit line link list load lock look loop make mark match merge message move name ' +
    'need next note number offer open order own parse part pass path peer place plan point post print push ' +
    'put query quit raise reach read ready receive record register reject release remove reply report ' +
    'request reset resolve respond result resume retry return route row run save say search see select ' +
    'send serve set settle show sign size skip sleep sort speak split start state status step stop store ' +
    'take talk tell test text time touch turn type update use user value verify view visit wait wake walk ' +
    'want watch word work write'
  )
    .split(' ')
    .map(stem),
);

/** Whether a word of a question is more likely English than the name of a symbol. */
export function isEveryday(word: string): boolean {
  return everyday.has(stem(word.toLowerCase()));
}
