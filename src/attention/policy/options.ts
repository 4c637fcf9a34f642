import { globSource, type Word } from './command-pattern.js';

/** Reads an argument list by the options that a row of a table lists: anything else is not known, and said so. */

export interface Option {
  name: string;
  /** How many values follow; `maybe`: one, by `=` only. */
  takes: 0 | 1 | 2 | 'maybe';
  /** The value must be of this form, in any case. */
  value?: RegExp | undefined;
}

/** By name; several where they differ by their values. `-#` is a number. */
export type Options = ReadonlyMap<string, readonly Option[]>;

export interface Reading {
  operands: Word[];
  options: Map<string, Word[]>;
  /** Where the operands begin, of a list that is read up to the first one. */
  end: number;
}

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
): number | Unlisted {
  const { text } = word;
  const sign = text.indexOf('=');
  const [name, value] = sign > 0 ? [text.slice(0, sign), text.slice(sign + 1)] : [text, undefined];
  const add = (option: string, values: readonly Word[]): void => {
    const known = found.get(option);
    if (known === undefined) found.set(option, [...values]);
    else known.push(...values);
  };
  const whole = options.get(name);
  if (whole !== undefined && (value === undefined || text.startsWith('--'))) {
    const given = value === undefined ? next : [{ ...word, text: value }];
    return valuesOf(name, whole, given, value !== undefined, add);
  }
  if (/^-\d+$/.test(text) && options.has('-#')) {
    add('-#', []);
    return 0;
  }
  if (text.startsWith('--') || !word.isStatic) return `option ${name}`;
  // Short options in one word: `-la`, `-n20`, `-ofile`.
  for (let at = 1; at < text.length; at += 1) {
    const letter = `-${text[at] ?? ''}`;
    const known = options.get(letter);
    if (known === undefined) return `option ${letter}`;
    if (known.some(({ takes }) => takes === 0)) {
      add(letter, []);
      continue;
    }
    const rest = text.slice(at + 1);
    if (known.some(({ takes }) => takes === 'maybe')) {
      add(letter, rest === '' ? [] : [{ ...word, text: rest }]);
      return 0;
    }
    const given = rest === '' ? next : [{ ...word, text: rest }];
    return valuesOf(letter, known, given, rest !== '', add);
  }
  return 0;
}

function valuesOf(
  name: string,
  known: readonly Option[],
  given: readonly Word[],
  isJoined: boolean,
  add: (option: string, values: readonly Word[]) => void,
): number | Unlisted {
  const [first] = known;
  if (first?.takes === 0 || first?.takes === 'maybe') {
    const isFlag = !isJoined || first.takes === 'maybe';
    if (!isFlag) return `a value of ${name}`;
    add(name, isJoined ? given : []);
    return 0;
  }
  const count = first?.takes ?? 0;
  const values = given.slice(0, count);
  const isKnown = known.some(
    ({ value }) => value === undefined || values.every(({ text }) => value.test(text)),
  );
  if (values.length < count || !isKnown || values.some(mayBeOption)) return `this value of ${name}`;
  add(name, values);
  return isJoined ? count - 1 : count;
}
