import type { Answer, AskRequest, LatticeQuery } from '../../pgc/shapes.js';
import type { AskingOptions } from '../questions.js';

/** Returns those of the words that occur in the searched index. */
export type KnownWords = (
  words: readonly string[],
) => readonly string[] | Promise<readonly string[]>;

/** The answer without a model. */
export interface Extractive<Request> {
  answer: (request: Request, options: AskingOptions) => Promise<Answer>;
  known: KnownWords;
}

/** Words the findings of the extractive answer. Throws what that throws, and CANCELLED. */
export interface Prose {
  ask(request: AskRequest, options: AskingOptions, its: Extractive<AskRequest>): Promise<Answer>;
  query(
    request: LatticeQuery,
    options: AskingOptions,
    its: Extractive<LatticeQuery>,
  ): Promise<Answer>;
}

/** Without a model the extractive answer is the answer. */
export const noProse: Prose = {
  ask: (request, options, { answer }) => answer(request, options),
  query: (request, options, { answer }) => answer(request, options),
};
