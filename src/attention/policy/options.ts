import { globSource, programName, type Reading, type Word } from './command-pattern.js';

/**
 * Reads an argument list by the options that a table lists. For a row of harmless commands anything else is not known, and said so;
 * for those of dangerous ones any other option is one without a value.
 */

export interface Option {
  name: string;
  /** How many values follow; `maybe`: one, by `=` only. */
  takes: 0 | 1 | 2 | 'maybe';
  /** The value must be of this form, in any case. */
  value?: RegExp | undefined;
}

/** By name; several where they differ by their values. `-#` is a number. */
export type Options = ReadonlyMap<string, readonly Option[]>;

/** What is not in the table, in words. */
export type Unlisted = string;

/** `-x`, `--long`, `-x=`, `-x==`, `--long?`, `-x=VALUE*`, `-x=/EXPRESSION/`, `+group`. Throws for what is none of these. */
export function compileOption(source: string): Option {
  if (source.startsWith('+')) return { name: source, takes: 0 };
  const found = /^(-{1,2}[\w#.+][\w.-]*)(\?|==|=(.*))?$/s.exec(source);
  if (found === null) throw new Error('no option');
  const [, name = '', suffix, value = ''] = found;
  if (suffix === undefined) return { name, takes: 0 };
  if (suffix === '?') return { name, takes: 'maybe' };
  if (suffix === '==') return { name, takes: 2 };
  if (value === '') return { name, takes: 1 };
  const expression = /^\/(.+)\/$/s.exec(value)?.[1];
  if (expression !== undefined) return { name, takes: 1, value: new RegExp(expression, 's') };
  return { name, takes: 1, value: new RegExp(`^${globSource(value)}$`, 'is') };
}

/** With the groups that it names. */
export function compileOptions(
  sources: readonly string[],
  groups: Readonly<Record<string, readonly string[]>> = {},
): Options {
  const options = new Map<string, Option[]>();
  for (const source of sources) {
    const group = source.startsWith('+') ? groups[source.slice(1)] : undefined;
    for (const each of group ?? [source]) {
      const option = compileOption(each);
      options.set(option.name, [...(options.get(option.name) ?? []), option]);
    }
  }
  return options;
}

/** `untilOperand`: what stands behind the first operand is not read. `leading`: nothing behind it is an option. */
export function readOptions(
  words: readonly Word[],
  options: Options,
  mode: 'all' | 'leading' | 'untilOperand' = 'all',
): Reading | Unlisted {
  const reading: Reading = { operands: [], options: new Map(), end: words.length };
  let isEnded = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    if (!isEnded && mayBeOption(word)) return `${word.text} may become an option`;
    if (isEnded || !/^-./.test(word.text)) {
      if (mode === 'untilOperand') return { ...reading, end: at };
      reading.operands.push(word);
      isEnded ||= mode === 'leading';
    } else if (word.text === '--') {
      isEnded = true;
    } else {
      const taken = readOption(word, words.slice(at + 1, at + 3), options, reading.options);
      if (typeof taken === 'string') return taken;
      at += taken;
    }
  }
  return reading;
}

/** The options of a program that take a value; `leading`: before its first operand. */
interface Grammar {
  leading?: readonly string[] | undefined;
  valued?: readonly string[] | undefined;
  single_dash?: boolean | undefined;
}

/** How a program is read of which any option is taken. */
export interface Loose {
  usual: Options;
  /** Before the first operand. */
  leading: Options;
  /** Options of several letters have one dash. */
  isWhole: boolean;
}

export function compileGrammar({ valued = [], leading = [], single_dash }: Grammar): Loose {
  const compiled = (names: readonly string[]): Options =>
    compileOptions(names.map((name) => `${name}=`));
  return {
    usual: compiled(valued),
    leading: compiled([...valued, ...leading]),
    isWhole: single_dash === true,
  };
}

/** A whole command: an option that is not known takes no value. */
export function readCommand(words: readonly Word[], loose: Loose): Reading {
  const [program, ...rest] = words;
  const reading: Reading = { operands: [], options: new Map(), end: words.length };
  if (program !== undefined) reading.operands.push({ ...program, text: programName(program.text) });
  let isEnded = false;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at];
    if (word === undefined) break;
    if (isEnded || !/^-./.test(word.text)) {
      reading.operands.push(word);
      continue;
    }
    isEnded = word.text === '--';
    const options = reading.operands.length <= 1 ? loose.leading : loose.usual;
    const taken = readOption(word, rest.slice(at + 1, at + 2), options, reading.options, loose);
    if (typeof taken === 'number') at += taken;
  }
  return reading;
}

/** What is not known yet, and a pattern of file names. */
function mayBeOption({ text, isStatic, isGlob, listed }: Word): boolean {
  if (listed === 'found') return false;
  return !isStatic || (isGlob === true && /^[*?[]/.test(text));
}

/** How many words it takes besides its own. */
function readOption(
  word: Word,
  next: readonly Word[],
  options: Options,
  found: Map<string, Word[]>,
  loose?: Loose,
): number | Unlisted {
  const { text } = word;
  const sign = text.indexOf('=');
  const [name, value] = sign > 0 ? [text.slice(0, sign), text.slice(sign + 1)] : [text, undefined];
  const joined = (rest: string): Word[] => [{ ...word, text: rest }];
  const add = (option: string, values: readonly Word[]): void => {
    const known = found.get(option);
    if (known === undefined) found.set(option, [...values]);
    else known.push(...values);
  };
  const taken = (
    option: string,
    known: readonly Option[],
    rest: string | undefined,
  ): number | Unlisted => {
    const given = rest === undefined ? next : joined(rest);
    const read = valuesOf(option, known, given, rest !== undefined, loose !== undefined);
    if (typeof read === 'string') return read;
    add(option, read);
    return rest === undefined ? read.length : Math.max(read.length - 1, 0);
  };
  const whole = options.get(name);
  const isWhole = text.startsWith('--') || loose?.isWhole === true;
  if (whole !== undefined && (value === undefined || isWhole)) return taken(name, whole, value);
  if (/^-\d+$/.test(text) && options.has('-#')) {
    add('-#', []);
    return 0;
  }
  if (loose === undefined && (isWhole || !word.isStatic)) return `option ${name}`;
  if (isWhole) {
    const names = new Set(loose?.isWhole === true ? [name, name.replace(/^--/, '-')] : [name]);
    for (const each of names) add(each, value === undefined ? [] : joined(value));
    return 0;
  }
  if (loose !== undefined && text.length > 2) add(text, []);
  // Short options in one word: `-la`, `-n20`, `-ofile`.
  for (let at = 1; at < text.length; at += 1) {
    const letter = `-${text[at] ?? ''}`;
    const known = options.get(letter);
    if (known === undefined && loose === undefined) return `option ${letter}`;
    if (known === undefined || known.some(({ takes }) => takes === 0)) {
      add(letter, []);
      continue;
    }
    const rest = loose === undefined ? text.slice(at + 1) : text.slice(at + 1).replace(/^=/, '');
    return taken(letter, known, rest === '' ? undefined : rest);
  }
  return 0;
}

/** Its values among what follows; `isLoose`: whichever are there. */
function valuesOf(
  name: string,
  known: readonly Option[],
  given: readonly Word[],
  isJoined: boolean,
  isLoose: boolean,
): Word[] | Unlisted {
  const takes = known[0]?.takes ?? 0;
  if (takes === 'maybe') return isJoined ? [...given] : [];
  if (takes === 0) return isJoined ? `a value of ${name}` : [];
  const values = given.slice(0, takes);
  const isKnown = known.some(
    ({ value }) => value === undefined || values.every(({ text }) => value.test(text)),
  );
  const isPlain = values.length === takes && isKnown && !values.some(mayBeOption);
  return isPlain || isLoose ? values : `this value of ${name}`;
}
