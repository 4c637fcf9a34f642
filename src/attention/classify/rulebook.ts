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

/** A policy made ready for use: expressions compiled once, tables by program. */

interface Compiled<T> {
  of: T;
  pattern: CommandPattern;
}
export interface CompiledRule extends Compiled<Rule> {
  unless: ReturnType<typeof compileUnless>[];
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
  readonly scripts: { rule: ScriptRule; expression: RegExp }[];
  readonly options: [name: string, expression: RegExp][];
  readonly #rules: CompiledRule[];
  readonly #harmless: CommandPattern[];
  readonly #notHarmless: CommandPattern[];
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
    this.scripts = policy.scripts.map((rule) => ({
      rule,
      expression: new RegExp(rule.pattern, `g${rule.flags ?? ''}`),
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

  /** Each rule once. */
  matches(given: Arguments): Matched[] {
    const found = new Map<Rule, Matched>();
    for (const { of, pattern, unless } of this.#candidates(given)) {
      if (found.has(of)) continue;
      const words = matchCommand(pattern, given);
      if (words === 0 || unless.some((token) => isExcepted(token, given))) continue;
      found.set(of, { rule: of, words });
    }
    return [...found.values()];
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
