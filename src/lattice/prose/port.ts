import type { AskAnswer, AskRequest, LatticeAnswer, LatticeQuery } from '../../pgc/shapes.js';
import type { AskingOptions } from '../questions.js';

/** Those of some words that stand anywhere in what is searched. */
export type KnownWords = (
  words: readonly string[],
) => readonly string[] | Promise<readonly string[]>;

/** Who answers without a model. */
export interface Extractive<Request, Answer> {
  answer: (request: Request, options: AskingOptions) => Promise<Answer>;
  known: KnownWords;
}

/** Tells in its words what others find. Throws as they do, and CANCELLED. */
export interface Prose {
  ask(
    request: AskRequest,
    options: AskingOptions,
    its: Extractive<AskRequest, AskAnswer>,
  ): Promise<AskAnswer>;
  query(
    request: LatticeQuery,
    options: AskingOptions,
    its: Extractive<LatticeQuery, LatticeAnswer>,
  ): Promise<LatticeAnswer>;
}

/** What they find is the answer. */
export const noProse: Prose = {
  ask: (request, options, { answer }) => answer(request, options),
  query: (request, options, { answer }) => answer(request, options),
};
