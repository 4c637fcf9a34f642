/** The patterns of the tables by which commands are known, and the reading of argument lists. */

/** An argument, as far as it is known before the command runs. */
export interface Word {
  /** What is not known stands in it as it is written: `$1`. */
  text: string;
  isStatic: boolean;
  /** Unquoted signs that the shell replaces by names of files. */
  isGlob?: boolean;
  /** Not known, but put in by another program: `found` is a path below where find looks, `given` may be any text. */
  listed?: 'found' | 'given';
}

/** A word that is known. */
export function word(text: string): Word {
  return { text, isStatic: true };
}

/** A command as it is read by the options that it is known to have. */
export interface Reading {
  /** What is neither an option nor a value of one; of a whole command its program, by its name, comes first. */
  operands: Word[];
  /** By name, with the values. */
  options: Map<string, Word[]>;
  /** Where the operands begin, of a list that is read up to the first one. */
  end: number;
}

export interface CommandPattern {
  words: RegExp[];
  tokens: Token[];
}

type Token =
  | { kind: 'flag'; alternatives: FlagAlternative[] }
  | { kind: 'some'; expression: RegExp };

interface FlagAlternative {
  flag: RegExp;
  name: string;
  /** Empty: any. */
  values: string[];
}

/** Values that switch a flag off again. */
const off = new Set(['none', 'false', '0', 'no', 'off']);
/** The shortest abbreviation of a long flag: `--for` of `--force`. */
const abbreviationMin = 5;

/** `anyCase`: of the words behind the program. Throws for what is no pattern. */
export function compilePattern(source: string, anyCase = false): CommandPattern {
  const [head = '', ...rest] = tokensOf(source);
  if (head === '' || head.startsWith('/')) throw new Error('no program');
  const words = [wordExpression(head)];
  const tokens: Token[] = [];
  for (const token of rest) {
    if (token.startsWith('-') || token.startsWith('/')) tokens.push(compileUnless(token));
    else words.push(wordExpression(token, anyCase ? 'i' : ''));
  }
  return { words, tokens };
}

/** Throws for what is neither a flag nor an expression. */
export function compileUnless(token: string): Token {
  const expression = /^\/(.*)\/(i?)$/s.exec(token);
  if (expression !== null)
    return { kind: 'some', expression: new RegExp(expression[1] ?? '', expression[2]) };
  if (!token.startsWith('-')) throw new Error('no flag');
  return { kind: 'flag', alternatives: token.split('|').map(flagAlternative) };
}

/** Blanks within an expression do not end it. */
function tokensOf(source: string): string[] {
  return source.match(/\/(?:\\.|[^/\\])*\/i?(?=\s|$)|\S+/g) ?? [];
}

function wordExpression(token: string, flags = ''): RegExp {
  const alternatives = token.split('|').map((word) => globSource(word));
  return new RegExp(`^(?:${alternatives.join('|')})$`, flags);
}

export function globSource(word: string): string {
  return word.replace(/[.+^${}()|[\]\\?]/g, '\\$&').replace(/\*/g, '.*');
}

function flagAlternative(source: string): FlagAlternative {
  const at = source.indexOf('=');
  const name = at > 0 ? source.slice(0, at) : source;
  const values =
    at > 0
      ? source
          .slice(at + 1)
          .toLowerCase()
          .split(',')
      : [];
  return { flag: new RegExp(`^${globSource(name)}$`), name, values };
}

/** How many operands, the program among them, the pattern names; 0: the command is another one. */
export function matchCommand(pattern: CommandPattern, given: Reading): number {
  const { words, tokens } = pattern;
  for (const [at, expression] of words.entries()) {
    const operand = given.operands[at];
    if (operand === undefined || !expression.test(operand.text)) return 0;
  }
  return tokens.every((token) => hasToken(token, given, words.length)) ? words.length : 0;
}

export function hasToken(token: Token, given: Reading, after = 1): boolean {
  if (token.kind === 'some')
    return [...given.operands.slice(after), ...[...given.options.values()].flat()].some(
      ({ text }) => token.expression.test(text),
    );
  return token.alternatives.some((wanted) => hasFlag(wanted, given.options));
}

/** An exception holds where the flag is there and not switched off: `--dry-run=none` is no dry run. */
export function isExcepted(token: Token, given: Reading): boolean {
  if (token.kind === 'some') return hasToken(token, given);
  return token.alternatives.some(({ name }) => {
    const values = given.options.get(name);
    return values !== undefined && !values.some(({ text }) => off.has(text.toLowerCase()));
  });
}

function hasFlag(wanted: FlagAlternative, options: Reading['options']): boolean {
  for (const [flag, values] of options) {
    if (!wanted.flag.test(flag) && !isAbbreviation(flag, wanted.name)) continue;
    if (wanted.values.length === 0) return true;
    if (values.some(({ text }) => wanted.values.includes(text.toLowerCase()))) return true;
  }
  return false;
}

function isAbbreviation(flag: string, wanted: string): boolean {
  return flag.startsWith('--') && flag.length >= abbreviationMin && wanted.startsWith(flag);
}

/** `/usr/bin/rm`, `\rm` and `rm.exe` are `rm`. */
export function programName(text: string): string {
  const name = text.slice(text.lastIndexOf('/') + 1);
  return name.replace(/^\\/, '').replace(/\.exe$/i, '');
}
