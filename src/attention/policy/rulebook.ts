import {
  compilePattern,
  compileUnless,
  globSource,
  isExcepted,
  matchCommand,
  programName,
  type CommandPattern,
  type Reading,
  type Word,
} from './command-pattern.js';
import {
  compileGrammar,
  compileOptions,
  readCommand,
  readOptions,
  type Loose,
  type Options,
  type Unlisted,
} from './options.js';
import type { HarmlessRow, OpaqueRow, Policy, Rule, Wrapper } from './policy.js';

/** The tables made ready for use: expressions compiled once, rows by program. */

interface Compiled<T> {
  of: T;
  pattern: CommandPattern;
}
interface CompiledRule extends Compiled<Rule> {
  unless: ReturnType<typeof compileUnless>[];
}
interface CompiledHarmless extends Compiled<HarmlessRow> {
  /** Undefined: any but those of `not`. */
  options: Options | undefined;
  not: readonly string[];
  requires: readonly string[];
}
interface CompiledWrapper extends Compiled<Wrapper> {
  options: Options;
}
export interface Matched {
  rule: Rule;
  /** How many operands the pattern names, the program among them. */
  words: number;
}
/** A row of the table of harmless commands, with the operands behind the words that it names. */
export interface Harmless {
  row: HarmlessRow;
  reading: Reading;
  /** Of options before the first word: `-C` of git. */
  leading: Reading['options'];
}

/** Programs whose rows are kept at hand. */
const programsMax = 512;
const noGrammar = compileGrammar({});
/** Of a variable: no path that leads out of a folder, and nothing that a shell would run. */
const plainValue = /^(?![/~:])(?!.*\.\.)[^$`\n]*$/s;

export class Rulebook {
  readonly secretVariable: RegExp;
  readonly #changing: RegExp;
  readonly #unchanging: { name: RegExp; values: readonly string[] | undefined }[];
  /** Settings of a repository that start nothing. */
  readonly plainSetting: RegExp;
  readonly human: RegExp[];
  readonly injection: RegExp[];
  readonly #rules: CompiledRule[];
  readonly #harmless: CompiledHarmless[];
  readonly #notHarmless: CommandPattern[];
  readonly #wrappers: CompiledWrapper[];
  readonly #opaque: Compiled<OpaqueRow>[];
  readonly #grammars: ReadonlyMap<string, Loose>;
  readonly #leading: ReadonlyMap<string, Options>;
  readonly #rulesOf = new Map<string, CompiledRule[]>();
  readonly #harmlessOf = new Map<string, CompiledHarmless[]>();

  private constructor(readonly policy: Policy) {
    const groups = policy.option_groups;
    this.#rules = policy.rules.flatMap((rule) => {
      const unless = (rule.unless ?? []).map(compileUnless);
      // `redis-cli flushall` is FLUSHALL.
      return rule.match.map((match) => {
        const pattern = compilePattern(match, true);
        return { of: rule, pattern, unless };
      });
    });
    this.#harmless = policy.harmless.flatMap((row) => {
      const options = row.options === 'any' ? undefined : compileOptions(row.options, groups);
      const { not = [], requires = [] } = row;
      return each([row]).map((compiled) => ({ ...compiled, options, not, requires }));
    });
    this.#notHarmless = policy.not_harmless.map((source) => compilePattern(source));
    this.#wrappers = policy.wrappers.flatMap((row) => {
      const options = compileOptions(row.options, groups);
      return each([row]).map((compiled) => ({ ...compiled, options }));
    });
    this.#opaque = each(policy.opaque);
    const programs = Object.entries(policy.programs);
    this.#grammars = new Map(programs.map(([name, grammar]) => [name, compileGrammar(grammar)]));
    this.#leading = new Map(
      Object.entries(policy.leading).map(([program, listed]) => [
        program,
        compileOptions(listed, groups),
      ]),
    );
    this.secretVariable = new RegExp(policy.variables.secret, 'i');
    this.#changing = anyOf(policy.variables.changing);
    this.#unchanging = policy.variables.unchanging.map(({ names, values }) => {
      return { name: anyOf(names), values };
    });
    this.plainSetting = anyOf(policy.hooks.plain_settings);
    this.human = policy.http.human.map((source) => new RegExp(source, 'i'));
    this.injection = policy.injection.map((source) => new RegExp(source, 'i'));
  }

  static of(policy: Policy): Rulebook {
    const known = books.get(policy);
    if (known !== undefined) return known;
    const book = new Rulebook(policy);
    books.set(policy, book);
    return book;
  }

  /** As the rows of dangerous commands see it: an option that they do not know takes no value. */
  read(words: readonly Word[]): Reading {
    return readCommand(words, this.#grammars.get(programName(words[0]?.text ?? '')) ?? noGrammar);
  }

  /** Rows of dangerous commands that are about it, each rule once. */
  dangers(given: Reading): Matched[] {
    const found = new Map<Rule, Matched>();
    for (const { of, pattern, unless } of this.#rulesFor(given)) {
      const words = matchCommand(pattern, given);
      if (found.has(of) || words === 0) continue;
      if (!unless.some((token) => isExcepted(token, given))) found.set(of, { rule: of, words });
    }
    return [...found.values()];
  }

  /** The row by which it is harmless, or what of it is in no row; undefined: the program is in no row at all. */
  harmless(words: readonly Word[], given: Reading): Harmless | Unlisted | undefined {
    if (this.#notHarmless.some((pattern) => matchCommand(pattern, given) > 0)) return undefined;
    const name = programName(words[0]?.text ?? '');
    let unlisted: Unlisted | undefined;
    for (const compiled of this.#harmlessFor(name)) {
      const found = readRow(words, compiled, this.#leading.get(name));
      if (typeof found === 'object') return found;
      unlisted ??= found;
    }
    return unlisted;
  }

  /** No value: whichever it has already. */
  isUnchanging(variable: string, value: string | undefined): boolean {
    if (this.#changing.test(variable)) return false;
    return this.#unchanging.some(
      ({ name, values }) =>
        name.test(variable) &&
        (values === undefined
          ? value === undefined || plainValue.test(value)
          : value !== undefined && values.includes(value)),
    );
  }

  opaqueRow(given: Reading): OpaqueRow | undefined {
    return this.#opaque.find(({ pattern }) => matchCommand(pattern, given) > 0)?.of;
  }

  /** Where the command that it starts begins; `unlisted`: an option of it is in no row. */
  wrapped(
    words: readonly Word[],
  ): { of: Wrapper; from: number; options: Reading['options'] } | Unlisted | undefined {
    const name = programName(words[0]?.text ?? '');
    const found = this.#wrappers.find(({ pattern }) => pattern.words[0]?.test(name) === true);
    if (found === undefined) return undefined;
    const reading = readOptions(words.slice(1), found.options, 'untilOperand');
    if (typeof reading === 'string') return reading;
    return { of: found.of, from: 1 + reading.end, options: reading.options };
  }

  /** Of a program with commands of its own the first word belongs to its name. */
  hasCommands(program: string): boolean {
    const rows = [...this.#rules, ...this.#harmless];
    return rows.some(
      ({ pattern: { words } }) => words.length > 1 && words[0]?.test(program) === true,
    );
  }

  /** `rm --help`: of programs that are listed because they answer that before they load anything of the tree. */
  onlyAsks(words: readonly Word[]): boolean {
    const [program, question, more] = words;
    if (more !== undefined || !/^--(?:help|version)$/.test(question?.text ?? '')) return false;
    return this.policy.versions.includes(programName(program?.text ?? ''));
  }

  #rulesFor(given: Reading): CompiledRule[] {
    const program = given.operands[0]?.text ?? '';
    return remembered(this.#rulesOf, program, () =>
      this.#rules.filter(({ pattern }) => pattern.words[0]?.test(program) === true),
    );
  }

  #harmlessFor(program: string): CompiledHarmless[] {
    return remembered(this.#harmlessOf, program, () =>
      this.#harmless.filter(({ pattern }) => pattern.words[0]?.test(program) === true),
    );
  }
}

/** Undefined: another command of the program. */
function readRow(
  words: readonly Word[],
  { of: row, pattern, options, not, requires }: CompiledHarmless,
  leading: Options | undefined,
): Harmless | Unlisted | undefined {
  const named = pattern.words.slice(1);
  let rest = words.slice(1);
  let before: Reading['options'] = new Map();
  if (leading !== undefined) {
    const read = readOptions(rest, leading, 'untilOperand');
    // Without a command its own options are meant: `git --version`.
    if (typeof read === 'string') return named.length > 0 ? read : undefined;
    before = read.options;
    rest = rest.slice(read.end);
  }
  for (const expression of named) {
    const [next] = rest;
    if (next?.isStatic !== true || !expression.test(next.text)) return undefined;
    rest = rest.slice(1);
    // `docker compose -f FILE ps`
    const between = options === undefined ? '' : readOptions(rest, options, 'untilOperand');
    if (expression !== named.at(-1) && typeof between === 'object') rest = rest.slice(between.end);
  }
  const mode = ['text', 'format'].includes(row.operands) ? 'leading' : 'all';
  const reading = options === undefined ? readAny(rest, not) : readOptions(rest, options, mode);
  if (typeof reading === 'string') return reading;
  const isComplete = requires.length === 0 || requires.some((each) => reading.options.has(each));
  if (!isComplete) return undefined;
  return { row, reading, leading: before };
}

/** Any option but some; its values count as operands. */
function readAny(words: readonly Word[], not: readonly string[]): Reading | Unlisted {
  const reading: Reading = { operands: [], options: new Map(), end: words.length };
  for (const each of words) {
    const name = each.text.split('=')[0] ?? '';
    if (not.some((option) => option === name || (name.length > 4 && option.startsWith(name))))
      return `option ${name}`;
    if (/^-./.test(each.text) && each.isStatic) reading.options.set(name, [each]);
    else reading.operands.push(each);
  }
  return reading;
}

const books = new WeakMap<Policy, Rulebook>();

/** A whole word that is one of them, with * in them. */
export function anyOf(words: readonly string[]): RegExp {
  return new RegExp(`^(?:${words.map(globSource).join('|') || '(?!)'})$`);
}

function each<T extends { match: string[] }>(all: readonly T[]): Compiled<T>[] {
  return all.flatMap((of) => of.match.map((match) => ({ of, pattern: compilePattern(match) })));
}

function remembered<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (map.size < programsMax) map.set(key, made);
  return made;
}
