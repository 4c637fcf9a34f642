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

export interface Arguments {
  /** The program by its name, then what is neither an option nor a value of one. */
  operands: Word[];
  /** By flag: the values that it has; an empty one where it has none. */
  flags: ReadonlyMap<string, string[]>;
  /** The same words again, each value of a flag as the word that it is. */
  values: Word[];
}

/** How a program reads its arguments. */
export interface Grammar {
  leading?: readonly string[] | undefined;
  valued?: readonly string[] | undefined;
  single_dash?: boolean | undefined;
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
export function matchCommand(pattern: CommandPattern, given: Arguments): number {
  const { words, tokens } = pattern;
  for (const [at, expression] of words.entries()) {
    const operand = given.operands[at];
    if (operand === undefined || !expression.test(operand.text)) return 0;
  }
  return tokens.every((token) => hasToken(token, given, words.length)) ? words.length : 0;
}

export function hasToken(token: Token, given: Arguments, after = 1): boolean {
  if (token.kind === 'some')
    return [...given.operands.slice(after), ...given.values].some(({ text }) =>
      token.expression.test(text),
    );
  return token.alternatives.some((wanted) => hasFlag(wanted, given.flags));
}

/** An exception holds where the flag is there and not switched off: `--dry-run=none` is no dry run. */
export function isExcepted(token: Token, given: Arguments): boolean {
  if (token.kind === 'some') return hasToken(token, given);
  return token.alternatives.some(({ name }) => {
    const values = given.flags.get(name);
    return values !== undefined && !values.some((value) => off.has(value.toLowerCase()));
  });
}

function hasFlag(wanted: FlagAlternative, flags: Arguments['flags']): boolean {
  for (const [flag, values] of flags) {
    if (!wanted.flag.test(flag) && !isAbbreviation(flag, wanted.name)) continue;
    if (wanted.values.length === 0) return true;
    if (values.some((value) => wanted.values.includes(value.toLowerCase()))) return true;
  }
  return false;
}

function isAbbreviation(flag: string, wanted: string): boolean {
  return flag.startsWith('--') && flag.length >= abbreviationMin && wanted.startsWith(flag);
}

/** Never throws: what it cannot read is an operand. The first word is taken by its name, without its folder. */
export function readArguments(words: readonly Word[], grammar: Grammar = {}): Arguments {
  const valued = new Set(grammar.valued);
  const leading = new Set(grammar.leading);
  const operands: Word[] = [];
  const flags = new Map<string, string[]>();
  const values: Word[] = [];
  const add = (flag: string, value: Word | undefined): void => {
    // In place: a long word may hold the same letter many times.
    const known = flags.get(flag);
    if (known === undefined) flags.set(flag, [value?.text ?? '']);
    else known.push(value?.text ?? '');
    if (value !== undefined) values.push(value);
  };
  let isEnded = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    const takesValue = (flag: string): boolean =>
      valued.has(flag) || (operands.length <= 1 && leading.has(flag));
    if (at === 0) operands.push({ ...word, text: programName(word.text) });
    else if (isEnded || !/^-./.test(word.text)) operands.push(word);
    else if (word.text === '--') {
      isEnded = true;
      add('--', undefined);
    } else at += readFlag({ word, next: words[at + 1], takesValue, add, grammar });
  }
  return { operands, flags, values };
}

interface FlagReading {
  word: Word;
  next: Word | undefined;
  takesValue: (flag: string) => boolean;
  add: (flag: string, value: Word | undefined) => void;
  grammar: Grammar;
}

/** How many words it took besides its own. */
function readFlag(reading: FlagReading): number {
  const { word, next, takesValue, add, grammar } = reading;
  const { text } = word;
  const at = text.indexOf('=');
  const isLong = text.startsWith('--') || grammar.single_dash === true;
  if (isLong && at > 0) {
    const value = { ...word, text: text.slice(at + 1) };
    add(text.slice(0, at), value);
    if (grammar.single_dash === true) add(text.slice(0, at).replace(/^--/, '-'), value);
    return 0;
  }
  if (isLong) {
    const value = takesValue(text) ? next : undefined;
    add(text, value);
    if (grammar.single_dash === true && text.startsWith('--')) add(text.slice(1), undefined);
    return value === undefined ? 0 : 1;
  }
  if (text.length > 2) add(text, undefined);
  for (let letter = 1; letter < text.length; letter += 1) {
    const flag = `-${text[letter] ?? ''}`;
    if (!takesValue(flag)) {
      add(flag, undefined);
      continue;
    }
    const rest = text.slice(letter + 1).replace(/^=/, '');
    if (rest !== '') add(flag, { ...word, text: rest });
    else add(flag, next);
    return rest === '' && next !== undefined ? 1 : 0;
  }
  return 0;
}

/** `/usr/bin/rm`, `\rm` and `rm.exe` are `rm`. */
export function programName(text: string): string {
  const name = text.slice(text.lastIndexOf('/') + 1);
  return name.replace(/^\\/, '').replace(/\.exe$/i, '');
}
