import { strategies, isAdversarial } from '../strategies.js';
import { budgetEdges } from '../select/tables.js';
import type { CritiqueRequest, Selection } from '../shapes.js';

/** Of the mode `standard`, which has no published cost. */
const standardTokens = 8_000;
/** The upper ends of the levels CONST and EXHAUST; above them a review may cost what its modes cost at most. */
const { full: constTokens, exhausted: exhaustTokens } = budgetEdges;

/** Tokens of a model that one review may take: as asked, else by the budget of its context. */
export function tokensOf(
  { tokens }: Pick<CritiqueRequest, 'tokens'>,
  selection: Selection,
): number {
  if (tokens > 0) return tokens;
  const { token_budget } = selection.context;
  if (token_budget === 'TOK-EXHAUST') return exhaustTokens;
  if (token_budget === 'TOK-CONST') return constTokens;
  const most = selection.modes.map(({ mode }) =>
    isAdversarial(mode) ? strategies[mode].tokensMost : standardTokens,
  );
  return Math.max(
    constTokens + 1,
    most.reduce((sum, each) => sum + each, 0),
  );
}
