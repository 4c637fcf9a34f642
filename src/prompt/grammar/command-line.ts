import { isName } from '../../base/ids.js';
import { isSpace, trimmed, wordOf } from './lines.js';
import {
  promptLimits as limits,
  type Command,
  type Place,
  type Problem,
  type PushCommand,
  type ReadCommand,
  type RunCommand,
} from './shapes.js';

/** A command that is one line: `/read FILE`, `/push [options] PROMPT`, `/run [N] [options]`. */

export const commandWords = ['read', 'push', 'run'] as const;
export type CommandWord = (typeof commandWords)[number];

export function isCommandWord(word: string): word is CommandWord {
  return (commandWords as readonly string[]).includes(word);
}

/** A word that reads like an option, with its `=`. */
export const optionStart = /^[a-z][a-z_-]*=/;

const modelPattern = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$/;
const numberPattern = /^[1-9][0-9]{0,8}$/;
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', '"': '"', '\\': '\\' };

interface Option {
  what: string;
  isValid: (value: string) => boolean;
}

const wholeTo = (max: number): Option => ({
  what: `a whole number from 1 to ${max}`,
  isValid: (value) => numberPattern.test(value) && Number(value) <= max,
});
const name: Option = {
  what: `lower case letters, digits, and within "_" and "-", at most ${limits.nameChars}`,
  isValid: (value) => value.length <= limits.nameChars && isName(value),
};
const model: Option = {
  what: `the name of a model, at most ${limits.modelChars} characters`,
  isValid: (value) => value.length <= limits.modelChars && modelPattern.test(value),
};
const timeout = wholeTo(limits.timeoutSeconds);
const pushOptions: Readonly<Record<string, Option>> = { name, model, timeout };
const runOptions: Readonly<Record<string, Option>> = {
  timeout,
  concurrency: wholeTo(limits.concurrency),
};
const count = wholeTo(limits.count);

/** Parses the command of a line. With problems the command is not valid. `line`: its number, from 1. */
export function readCommandLine(
  text: string,
  line: number,
): { command: Command; problems: Problem[] } {
  const reader = new CommandLine(text, line);
  return { command: reader.command(), problems: reader.problems };
}

class CommandLine {
  readonly problems: Problem[] = [];
  readonly #text: string;
  readonly #place: Place;
  #at = 0;

  constructor(text: string, line: number) {
    this.#text = text;
    this.#place = { line, column: 1 };
  }

  command(): Command {
    const word = wordOf(this.#text) ?? '';
    this.#at = word.length + 1;
    this.#skipSpace();
    if (word === 'read') return this.#read();
    return word === 'push' ? this.#push() : this.#run();
  }

  #read(): ReadCommand {
    const start = this.#at;
    const isQuoted = this.#isQuote();
    const path = isQuoted ? this.#quoted('nothing behind the path') : this.#word();
    if (!isQuoted && this.#skipSpace() < this.#text.length)
      this.#fail('one path: a path with spaces stands in quotes');
    if (path === '') this.#fail('the path of a file', start);
    if (path.length > limits.pathChars)
      this.#fail(`a path of at most ${limits.pathChars} characters`, start);
    if (path.includes('\0')) this.#fail('a path without NUL', start);
    return { command: 'read', path, ...this.#place };
  }

  #push(): PushCommand {
    const options = this.#options(pushOptions);
    const start = this.#at;
    const prompt = this.#isQuote()
      ? this.#quoted('nothing behind the prompt: options stand before it, \\" is a quote in it')
      : trimmed(this.#text.slice(start));
    if (trimmed(prompt.replaceAll('\n', ' ')) === '')
      this.#fail('a prompt behind the options of /push', start);
    if (prompt.length > limits.pushedChars)
      this.#fail(`a prompt of at most ${limits.pushedChars} characters`, start);
    return {
      command: 'push',
      prompt,
      name: options.get('name') ?? '',
      model: options.get('model') ?? '',
      timeoutMs: Number(options.get('timeout') ?? 0) * 1000,
      ...this.#place,
    };
  }

  #run(): RunCommand {
    const options = this.#options(runOptions);
    let wanted = 0;
    while (this.#at < this.#text.length) {
      const start = this.#at;
      const word = this.#word();
      if (wanted > 0) this.#fail('one number of tasks at most', start);
      else if (count.isValid(word)) wanted = Number(word);
      else this.#fail(`the number of tasks, ${count.what}, or an option`, start);
      this.#skipSpace();
      this.#options(runOptions, options);
    }
    return {
      command: 'run',
      count: wanted,
      timeoutMs: Number(options.get('timeout') ?? 0) * 1000,
      concurrency: Number(options.get('concurrency') ?? 0),
      ...this.#place,
    };
  }

  /** Options in any order, each once, up to the first other word. */
  #options(
    known: Readonly<Record<string, Option>>,
    given: Map<string, string> = new Map<string, string>(),
  ): Map<string, string> {
    while (this.#hasOption()) {
      const start = this.#at;
      const word = this.#word();
      const equals = word.indexOf('=');
      this.#option(
        known,
        given,
        { key: word.slice(0, equals), value: word.slice(equals + 1) },
        start,
      );
      this.#skipSpace();
    }
    return given;
  }

  #option(
    known: Readonly<Record<string, Option>>,
    given: Map<string, string>,
    { key, value }: { key: string; value: string },
    start: number,
  ): void {
    const option = Object.hasOwn(known, key) ? known[key] : undefined;
    if (option === undefined) {
      const names = Object.keys(known).join(', ');
      this.#fail(`one of the options ${names} (a prompt that begins so stands in quotes)`, start);
    } else if (given.has(key)) this.#fail(`the option ${key} once`, start);
    else if (!option.isValid(value)) this.#fail(`${key}: ${option.what}`, start + key.length + 1);
    given.set(key, value);
  }

  #hasOption(): boolean {
    return optionStart.test(this.#text.slice(this.#at, this.#wordEnd()));
  }

  /** Up to the closing quote, behind which nothing may stand. */
  #quoted(behind: string): string {
    const start = this.#at;
    const parts: string[] = [];
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at] ?? '';
      if (char === '"') {
        this.#at += 1;
        if (this.#skipSpace() < this.#text.length) this.#fail(behind);
        return parts.join('');
      }
      parts.push(char === '\\' ? this.#escape() : char);
    }
    this.#fail('a closing quote for this one', start);
    return parts.join('');
  }

  #escape(): string {
    const char = this.#text[this.#at + 1] ?? '';
    const stands = escapes[char];
    if (stands === undefined) this.#fail('one of \\n, \\t, \\" and \\\\');
    this.#at += 1;
    return stands ?? char;
  }

  #isQuote(): boolean {
    return this.#text[this.#at] === '"';
  }

  #word(): string {
    const start = this.#at;
    this.#at = this.#wordEnd();
    return this.#text.slice(start, this.#at);
  }

  #wordEnd(): number {
    let end = this.#at;
    while (end < this.#text.length && !isSpace(this.#text[end])) end += 1;
    return end;
  }

  /** Where it stopped. */
  #skipSpace(): number {
    while (isSpace(this.#text[this.#at])) this.#at += 1;
    return this.#at;
  }

  /** The first problem at a place. Places are counted for so many problems only: each walks over the line. */
  #fail(expected: string, at = this.#at): void {
    if (this.problems.length >= limits.problems) return;
    const column = codePoints(this.#text.slice(0, at)) + 1;
    if (this.problems.some((each) => each.column === column)) return;
    this.problems.push({ line: this.#place.line, column, expected });
  }
}

function codePoints(text: string): number {
  let found = 0;
  for (const _ of text) found += 1;
  return found;
}
