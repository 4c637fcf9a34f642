import { BusError } from '../../../errors/bus-error.js';
import { overlayNames, type OverlayName } from '../../shapes.js';
import { readConditions, type Condition } from './condition.js';
import { Scanner } from './scanner.js';

/**
 * Sets of anchors, by what overlays say of them:
 *
 *     union        = difference { ("+" | "|" | "∪" | "OR") difference }
 *     difference   = intersection { ("-" | "\" | "−" | "MINUS") intersection }
 *     intersection = complement { ("&" | "∩" | "AND") complement }
 *     complement   = ("!" | "¬" | "NOT") complement | "(" union ")" | overlay
 *     overlay      = ("O1" | … | "O7") [ "[" condition { "," condition } "]" ]
 *     condition    = field ("=" | "!=" | "~") value | rule
 *
 * What stands side by side on one level is taken from the left.
 */
export type Expression = Operand | Complement | Combination;

export interface Operand {
  kind: 'overlay';
  overlay: OverlayName;
  /** One item must satisfy them all. */
  conditions: Condition[];
}

export interface Complement {
  kind: 'complement';
  of: Expression;
}

export interface Combination {
  kind: 'union' | 'difference' | 'intersection';
  left: Expression;
  right: Expression;
}

export const expressionCharsMax = 2_000;
/** Brackets and complements within each other. */
export const nestingMax = 50;
/** Every overlay that is named is read once more, and keeps a set of its own. */
export const operandsMax = 64;

/** Throws USAGE with the column, from 1, of what cannot be read, and what was expected there. */
export function parseExpression(text: string): Expression {
  if (text.length > expressionCharsMax) {
    const detail = `the expression has ${text.length} characters, more than ${expressionCharsMax}`;
    throw new BusError('USAGE', { detail });
  }
  return new Parser(new Scanner(text)).whole();
}

/** Loosest first. */
const levels = ['union', 'difference', 'intersection'] as const;
const operandExpected = 'an overlay (O1 to O7), "(" or "!"';

class Parser {
  readonly #scanner: Scanner;
  #depth = 0;
  #operands = 0;

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  whole(): Expression {
    const expression = this.#combination(0);
    if (!this.#scanner.isAtEnd) this.#scanner.fail('an operator or the end');
    return expression;
  }

  #combination(level: number): Expression {
    const kind = levels[level];
    if (kind === undefined) return this.#complement();
    let left = this.#combination(level + 1);
    while (this.#scanner.take(kind)) left = { kind, left, right: this.#combination(level + 1) };
    return left;
  }

  #complement(): Expression {
    const { at } = this.#scanner;
    if (this.#scanner.take('complement'))
      return { kind: 'complement', of: this.#nested(at, () => this.#complement()) };
    if (!this.#scanner.take('open')) return this.#operand();
    const inner = this.#nested(at, () => this.#combination(0));
    if (!this.#scanner.take('close')) this.#scanner.fail('an operator or ")"');
    return inner;
  }

  #nested(at: number, read: () => Expression): Expression {
    if (this.#depth === nestingMax)
      this.#scanner.refuse(`brackets and complements nest deeper than ${nestingMax}`, at);
    this.#depth += 1;
    const expression = read();
    this.#depth -= 1;
    return expression;
  }

  #operand(): Operand {
    const { at } = this.#scanner;
    const word = this.#scanner.match(/\w+/y);
    const overlay = overlayNames.find((each) => each === word);
    if (overlay === undefined) this.#scanner.fail(operandExpected, at);
    if (this.#operands === operandsMax)
      this.#scanner.refuse(`more than ${operandsMax} overlays are named`, at);
    this.#operands += 1;
    return { kind: 'overlay', overlay, conditions: readConditions(this.#scanner, overlay) };
  }
}
