import {
  digitUnits,
  inLineUnits,
  spaceUnits,
  UnitSet,
  wordUnits,
  type UnitRange,
} from './unit-set.js';

/** Longer patterns are written by no person, and say nothing that two rules could not. */
const patternCharsMax = 400;
/** `{m,n}`. */
const repeatsMax = 100;

export type Edge = 'begin' | 'end' | 'word edge' | 'no word edge';

export type PatternNode =
  | { kind: 'unit'; set: UnitSet }
  | { kind: 'edge'; edge: Edge }
  | { kind: 'sequence' | 'choice'; parts: PatternNode[] }
  | { kind: 'repeat'; part: PatternNode; min: number; max: number };

const letters: Record<string, string> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' };
const classes: Record<string, UnitSet> = {
  ...{ d: digitUnits, w: wordUnits, s: spaceUnits },
  ...{ D: digitUnits.negated(), W: wordUnits.negated(), S: spaceUnits.negated() },
};
const edges: Record<string, Edge> = { b: 'word edge', B: 'no word edge' };

/**
 * Reads a regular expression without back-references, look-around, names, flags and codes of characters.
 * Throws SyntaxError with the reason and the character.
 */
export function parsePattern(text: string): PatternNode {
  if (text.length > patternCharsMax)
    throw new SyntaxError(`it is longer than ${patternCharsMax} characters`);
  const parser = new Parser(text);
  const node = parser.choice();
  if (!parser.isAtEnd) parser.fail('a bracket that nothing opens');
  return node;
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  fail(what: string, at = this.#at): never {
    throw new SyntaxError(`${what}, at character ${at + 1}`);
  }

  choice(): PatternNode {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'choice', parts };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (!this.isAtEnd && !'|)'.includes(this.#text.charAt(this.#at)))
      parts.push(this.#repeated(this.#atom()));
    return { kind: 'sequence', parts };
  }

  #repeated(part: PatternNode): PatternNode {
    const at = this.#at;
    const [quantifier, least = '', comma, most = ''] = this.#match(
      /[*+?]|\{(\d+)(?:(,)(\d+)?)?\}/y,
    );
    if (quantifier === undefined) return part;
    if (part.kind === 'edge') this.fail('an edge cannot be repeated', at);
    // Lazy or not: it is found or it is not.
    this.#take('?');
    if (/^[*+?{]$/.test(this.#text.charAt(this.#at))) this.fail('nothing to repeat');
    if (quantifier === '*') return { kind: 'repeat', part, min: 0, max: Infinity };
    if (quantifier === '+') return { kind: 'repeat', part, min: 1, max: Infinity };
    if (quantifier === '?') return { kind: 'repeat', part, min: 0, max: 1 };
    const min = Number(least);
    const open = comma === undefined ? min : Infinity;
    const max = most === '' ? open : Number(most);
    if (min > repeatsMax || (max !== Infinity && max > repeatsMax))
      this.fail(`at most ${repeatsMax} times can be asked for`, at);
    if (max < min) this.fail('the numbers are in the wrong order', at);
    return { kind: 'repeat', part, min, max };
  }

  #atom(): PatternNode {
    const at = this.#at;
    const sign = this.#next();
    switch (sign) {
      case '(':
        return this.#group(at);
      case '[':
        return { kind: 'unit', set: this.#class(at) };
      case '.':
        return { kind: 'unit', set: inLineUnits };
      case '^':
        return { kind: 'edge', edge: 'begin' };
      case '$':
        return { kind: 'edge', edge: 'end' };
      case '*':
      case '+':
      case '?':
      case '{':
        return this.fail(`nothing to repeat; a plain ${sign} is written \\${sign}`, at);
      case '\\': {
        const edge = edges[this.#text.charAt(this.#at)];
        if (edge === undefined) return { kind: 'unit', set: this.#escape() };
        this.#at += 1;
        return { kind: 'edge', edge };
      }
      default:
        return { kind: 'unit', set: only(sign) };
    }
  }

  #group(at: number): PatternNode {
    if (this.#text.charAt(this.#at) === '?' && !this.#take('?:'))
      this.fail('look-around and names of brackets are not known here', at);
    const inside = this.choice();
    if (!this.#take(')')) this.fail('a bracket that nothing closes', at);
    return inside;
  }

  /** Reads the character after a backslash. */
  #escape(): UnitSet {
    const at = this.#at - 1;
    const sign = this.#next();
    const known = classes[sign];
    if (known !== undefined) return known;
    const letter = letters[sign];
    if (letter !== undefined) return only(letter);
    if (sign === '' || /[\w]/.test(sign)) this.fail(`\\${sign} is not known here`, at);
    return only(sign);
  }

  #class(at: number): UnitSet {
    const isNegated = this.#take('^');
    const ranges: UnitRange[] = [];
    while (!this.#take(']')) {
      if (this.isAtEnd) this.fail('a bracket that nothing closes', at);
      ranges.push(...this.#classItem());
    }
    const set = new UnitSet(ranges);
    return isNegated ? set.negated() : set;
  }

  #classItem(): readonly UnitRange[] {
    const at = this.#at;
    const first = this.#classUnit();
    const [range] = this.#match(/-(?!\])/y);
    if (range === undefined) return first.set.ranges;
    const last = this.#classUnit();
    const [from, to] = [first.code, last.code];
    if (from === undefined || to === undefined)
      return this.fail('a range of what is no character', at);
    if (to < from) this.fail('the range is in the wrong order', at);
    return [[from, to]];
  }

  #classUnit(): { set: UnitSet; code?: number } {
    const at = this.#at;
    const sign = this.#next();
    if (sign !== '\\') return { set: only(sign), code: sign.charCodeAt(0) };
    const set = this.#escape();
    const escaped = this.#text.charAt(at + 1);
    if (classes[escaped] !== undefined) return { set };
    return { set, code: (letters[escaped] ?? escaped).charCodeAt(0) };
  }

  #next(): string {
    this.#at += 1;
    return this.#text.charAt(this.#at - 1);
  }

  #take(text: string): boolean {
    const isThere = this.#text.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  #match(pattern: RegExp): (string | undefined)[] {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return [];
    this.#at += found[0].length;
    return found;
  }
}

function only(sign: string): UnitSet {
  const unit = sign.charCodeAt(0);
  return new UnitSet([[unit, unit]]);
}
