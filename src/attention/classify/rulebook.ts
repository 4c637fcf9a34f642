import {
  compilePattern,
  compileUnless,
  globSource,
  isExcepted,
  matchCommand,
  programName,
  readArguments,
  type Arguments,
  type CommandPattern,
} from './command-pattern.js';
import type { Grammar, Interpreter, Loads, Policy, Rule, ScriptRule, Wrapper } from './policy.js';
import type { Word } from './shell.js';
import type { Signal } from '../shapes.js';

/** A policy made ready for use: expressions compiled once, tables by program. */

interface Compiled<T> {
  of: T;
  pattern: CommandPattern;
}
export interface CompiledRule extends Compiled<Rule> {
  unless: ReturnType<typeof compileUnless>[];
}
export interface CompiledScript {
  rule: ScriptRule;
  expression: RegExp;
  beside: RegExp | undefined;
  unless: RegExp | undefined;
}
export interface Matched {
  rule: Rule;
  /** How many operands the pattern names, the program among them. */
  words: number;
}
type Writes = Policy['paths']['writes'][number];

/** Programs whose tables are kept at hand. */
const programsMax = 512;
const noGrammar: Grammar = {};

export class Rulebook {
  readonly secretVariable: RegExp;
  readonly human: RegExp[];
  readonly injection: RegExp[];
  readonly gitCommands: RegExp[];
  readonly riskyTask: RegExp;
  readonly harmlessTask: RegExp;
  readonly scripts: CompiledScript[];
  readonly options: [name: string, expression: RegExp][];
  readonly weakens: ReadonlyMap<string, RegExp>;
  readonly #rules: CompiledRule[];
  readonly #harmless: CommandPattern[];
  readonly #notHarmless: CommandPattern[];
  readonly #rehearsals: CommandPattern[];
  readonly #wrappers: Compiled<Wrapper>[];
  readonly #writes: Compiled<Writes>[];
  readonly #loads: Compiled<Loads>[];
  readonly #interpreters: [RegExp, Interpreter][];
  readonly #rulesOf = new Map<string, CompiledRule[]>();
  readonly #loadsOf = new Map<string, Compiled<Loads>[]>();
  readonly #harmlessOf = new Map<string, CommandPattern[]>();

  private constructor(readonly policy: Policy) {
    this.#rules = policy.rules.flatMap((rule) => {
      const unless = (rule.unless ?? []).map(compileUnless);
      return rule.match.map((match) => ({ of: rule, pattern: compilePattern(match), unless }));
    });
    this.#harmless = policy.harmless.map(compilePattern);
    this.#notHarmless = policy.not_harmless.map(compilePattern);
    this.#rehearsals = policy.rehearsals.map(compilePattern);
    this.#wrappers = each(policy.wrappers);
    this.#writes = each(policy.paths.writes);
    this.#loads = each(policy.loads);
    this.#interpreters = policy.interpreters.map((of) => [anyOf(of.programs), of]);
    this.secretVariable = new RegExp(policy.variables.secret, 'i');
    this.human = policy.http.human.map((source) => new RegExp(source, 'i'));
    this.injection = policy.injection.map((source) => new RegExp(source, 'i'));
    this.gitCommands = policy.git_commands.map((source) => new RegExp(`^${source}$`, 'i'));
    this.riskyTask = new RegExp(policy.tasks.risky, 'i');
    this.harmlessTask = anyOf(policy.tasks.harmless);
    this.options = Object.entries(policy.variables.options).map(([name, source]) => [
      name,
      new RegExp(source),
    ]);
    this.weakens = new Map(
      Object.entries(policy.variables.weakens).map(([name, source]) => [
        name,
        new RegExp(source, 'i'),
      ]),
    );
    this.scripts = policy.scripts.map((rule) => ({
      rule,
      expression: new RegExp(rule.pattern, `g${rule.flags ?? ''}`),
      beside: rule.beside === undefined ? undefined : new RegExp(rule.beside, 'i'),
      unless: rule.unless === undefined ? undefined : new RegExp(rule.unless, 'i'),
    }));
  }

  static of(policy: Policy): Rulebook {
    const known = books.get(policy);
    if (known !== undefined) return known;
    const book = new Rulebook(policy);
    books.set(policy, book);
    return book;
  }

  grammarOf(program: string): Grammar {
    return Object.hasOwn(this.policy.programs, program)
      ? (this.policy.programs[program] ?? noGrammar)
      : noGrammar;
  }

  read(words: readonly Word[]): Arguments {
    return readArguments(words, this.grammarOf(programName(words[0]?.text ?? '')));
  }

  /** Each rule once; of a rehearsal only those that it has for its own sake: what it loads, starts or weakens. */
  matches(given: Arguments): Matched[] {
    const found = new Map<Rule, Matched>();
    const isRehearsal = this.isRehearsal(given);
    for (const { of, pattern, unless } of this.#candidates(given)) {
      if (found.has(of) || (isRehearsal && effects.has(of.signal))) continue;
      const words = matchCommand(pattern, given);
      if (words === 0 || unless.some((token) => isExcepted(token, given))) continue;
      if (asksOnly(given, words)) continue;
      found.set(of, { rule: of, words });
    }
    return [...found.values()];
  }

  /** It only says what it would do. */
  isRehearsal(given: Arguments): boolean {
    return this.#rehearsals.some(
      ({ words, tokens }) =>
        words.every((each, at) => each.test(given.operands[at]?.text ?? '')) &&
        tokens.every((token) => isExcepted(token, given)),
    );
  }

  /** A rule is about it, even if its exception holds: a dry run. */
  isKnown(given: Arguments): boolean {
    return this.#candidates(given).some(({ pattern }) => matchCommand(pattern, given) > 0);
  }

  isHarmless(given: Arguments): boolean {
    if (this.#notHarmless.some((pattern) => matchCommand(pattern, given) > 0)) return false;
    return this.#harmlessPatterns(given).some((pattern) => matchCommand(pattern, given) > 0);
  }

  /** Whatever its first word is. */
  isHarmlessWhole(given: Arguments): boolean {
    return this.#harmlessPatterns(given).some(
      ({ words, tokens }) => words.length === 1 && tokens.length === 0,
    );
  }

  writesOf(given: Arguments): Writes[] {
    return this.#writes
      .filter(({ pattern }) => matchCommand(pattern, given) > 0)
      .map(({ of }) => of);
  }

  loadsOf(given: Arguments): Loads[] {
    const program = given.operands[0]?.text ?? '';
    const own = remembered(this.#loadsOf, program, () =>
      this.#loads.filter(({ pattern }) => pattern.words[0]?.test(program) === true),
    );
    return own.filter(({ pattern }) => matchCommand(pattern, given) > 0).map(({ of }) => of);
  }

  /** Those that may be meant, by their program; the words are compared by whoever unwraps. */
  wrappersOf(program: string): Compiled<Wrapper>[] {
    return this.#wrappers.filter(({ pattern }) => pattern.words[0]?.test(program) === true);
  }

  interpreterOf(program: string): Interpreter | undefined {
    return this.#interpreters.find(([expression]) => expression.test(program))?.[1];
  }

  interpreterOfFile(path: string): Interpreter | undefined {
    return this.policy.interpreters.find(({ extensions }) =>
      extensions.some((extension) => path.endsWith(extension)),
    );
  }

  #candidates(given: Arguments): CompiledRule[] {
    const program = given.operands[0]?.text ?? '';
    return remembered(this.#rulesOf, program, () =>
      this.#rules.filter(({ pattern }) => pattern.words[0]?.test(program) === true),
    );
  }

  #harmlessPatterns(given: Arguments): CommandPattern[] {
    const program = given.operands[0]?.text ?? '';
    return remembered(this.#harmlessOf, program, () =>
      this.#harmless.filter(({ words }) => words[0]?.test(program) === true),
    );
  }
}

const effects: ReadonlySet<Signal> = new Set([
  'Irreversibility',
  'HumanCommunication',
  'ExternalMutation',
  'ScopeEscalation',
]);
const asking = new Set(['--help', '--version', '-h', '-help', '-version', '--usage']);
/** Of these `-h` is no question, or what follows is handed on. */
const otherwise = new Set([
  ...['shutdown', 'halt', 'poweroff', 'reboot', 'init', 'telinit', 'kill', 'killall5'],
  ...['service', 'rc-service', 'sv', 'chown', 'chgrp', 'psql', 'mysql', 'redis-cli', 'dd'],
]);

/** `git push --help`: nothing but the words of the rule, one more where they are several, and a question about them. */
function asksOnly({ operands, flags }: Arguments, named: number): boolean {
  if (flags.size === 0 || otherwise.has(operands[0]?.text ?? '')) return false;
  if (operands.length > (named > 1 ? named + 1 : named)) return false;
  // The letters of a long word with one dash are read one by one besides.
  const isLong = ['-help', '-version'].some((flag) => flags.has(flag));
  const given = [...flags.keys()].filter((flag) => !isLong || flag.length > 2);
  return given.every((flag) => asking.has(flag));
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
