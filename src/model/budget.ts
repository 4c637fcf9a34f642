import { BusError } from '../errors/bus-error.js';

/**
 * What is left of the tokens of a task, in three steps: TOK-FULL above 20 000, TOK-CONST from 5 000 to 20 000,
 * TOK-EXHAUST below 5 000 (jerry, EN-303 TASK-001, context dimension "token budget"; an unknown budget
 * is treated as CONST there).
 */
export type BudgetLevel = 'FULL' | 'CONST' | 'EXHAUST';

const fullAbove = 20_000;
const exhaustBelow = 5_000;

/** Of an endpoint that does not count: English and code are near four characters a token; other scripts need more tokens. */
const charsPerToken = 4;

/** `left`: tokens; undefined: not counted. */
export function levelOf(left: number | undefined): BudgetLevel {
  if (left === undefined) return 'CONST';
  if (left > fullAbove) return 'FULL';
  return left < exhaustBelow ? 'EXHAUST' : 'CONST';
}

/** An estimate, if the endpoint did not count. */
export function estimatedTokens(chars: number): number {
  return Math.ceil(chars / charsPerToken);
}

/**
 * The tokens of one task, checked when a request begins. Its cost is known at its end, so running requests may
 * exceed the budget.
 */
export class Budget {
  #spent: number;

  constructor(
    readonly tokensMax: number,
    spent = 0,
  ) {
    this.#spent = spent;
  }

  get spent(): number {
    return this.#spent;
  }

  /** Never below 0. */
  get left(): number {
    return Math.max(0, this.tokensMax - this.#spent);
  }

  get level(): BudgetLevel {
    return levelOf(this.left);
  }

  spend(tokens: number): void {
    this.#spent += tokens;
  }

  /** Throws MODEL_BUDGET_SPENT. */
  assertLeft(): void {
    if (this.left === 0)
      throw new BusError('MODEL_BUDGET_SPENT', { spent: this.#spent, max: this.tokensMax });
  }
}
