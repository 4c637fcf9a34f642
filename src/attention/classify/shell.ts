import {
  forEachChild,
  parse,
  type Assignment,
  type Command,
  type CompoundList,
  type For,
  type Function as FunctionNode,
  type Pipeline,
  type Redirection,
  type SyntaxNode,
  type Word as WordNode,
} from 'unbash';
import { ShellScope } from './shell-scope.js';
import { bounded, ShellWords } from './shell-words.js';
import type { WorkKind } from './work.js';

/** Text of a shell, read as the shell reads it: which commands it may run, with which arguments and on what input. */

/** An argument as it is known before it runs. */
export interface Word {
  /** What is not known stands in it as it is written: `$1`. */
  text: string;
  isStatic: boolean;
  /** Unquoted signs that the shell replaces by names of files. */
  isGlob?: boolean;
  /** Of a process substitution: what can be read from it, if that is known. */
  content?: string;
}

export type Input =
  | { kind: 'none' }
  | { kind: 'text'; word: Word }
  | { kind: 'file'; path: Word }
  | Piped;
/** What the commands before it in a pipeline say; `output` answers undefined where that is not known. */
export interface Piped {
  kind: 'pipe';
  output: () => Promise<string | undefined>;
}

export interface RedirectSeen {
  operator: string;
  target: Word;
}

export interface ShellCommand {
  words: Word[];
  assignments: [name: string, value: Word][];
  redirects: RedirectSeen[];
  input: Input;
  /** What it says where that is known; for files that it writes. */
  output: () => Promise<string | undefined>;
}

export interface ShellVisitor {
  /** A command that may run. */
  command(command: ShellCommand, scope: ShellScope): Promise<void>;
  /** What cannot be read as a shell's text. */
  unreadable(detail: string): void;
  /** False: more than is looked at; what follows is not visited. */
  mayGoOn(): boolean;
  /** One level down, in a function; false: too deep. */
  enter(): boolean;
  leave(): void;
  /** False: more than is looked at. */
  spend(kind: WorkKind, count: number): boolean;
  read(path: Word, scope: ShellScope): Promise<string | undefined>;
}

const none: Input = { kind: 'none' };
/** Alternatives of one command that are looked at; the rest is the same with other values. */
const alternativesMax = 16;
/** Substitutions in substitutions. */
const nestedMax = 16;
/** Of one command; one with more is not read. */
const wordsMax = 2_000;

export class ShellText {
  readonly #visitor: ShellVisitor;
  readonly #words: ShellWords;
  #nested = 0;

  constructor(visitor: ShellVisitor) {
    this.#visitor = visitor;
    this.#words = new ShellWords(visitor);
  }

  /** Visits all that it may run. Never throws for what is no shell's text: that is told to the visitor. */
  async walk(source: string, scope: ShellScope, input: Input = none): Promise<void> {
    if (!this.#visitor.spend('chars', source.length)) return;
    const script = parse(source);
    this.#check(script);
    for (const statement of script.commands) await this.#node(statement, scope, input);
  }

  #check(script: { errors?: readonly { message: string }[] | undefined }): void {
    const [error] = script.errors ?? [];
    if (error !== undefined) this.#visitor.unreadable(error.message);
  }

  async #list(list: CompoundList, scope: ShellScope, input: Input): Promise<void> {
    for (const statement of list.commands) await this.#node(statement, scope, input);
  }

  /** One branch of several: what it sets may hold afterwards, or not. */
  async #maybe(node: SyntaxNode, scope: ShellScope, input: Input): Promise<void> {
    scope.branches += 1;
    await this.#node(node, scope, input);
    scope.branches -= 1;
  }

  async #node(node: SyntaxNode, scope: ShellScope, input: Input): Promise<void> {
    if (!this.#visitor.mayGoOn()) return;
    switch (node.type) {
      case 'Command':
        return await this.#command(node, scope, input);
      case 'Pipeline':
        return await this.#pipeline(node, scope, input);
      case 'AndOr': {
        const [first, ...others] = node.commands;
        if (first !== undefined) await this.#node(first, scope, input);
        for (const other of others) await this.#maybe(other, scope, input);
        return;
      }
      case 'CompoundList':
        return await this.#list(node, scope, input);
      case 'Function':
        if (!scope.define(node.name.value, node)) this.#visitor.unreadable('too many functions');
        return;
      case 'For':
        return await this.#for(node, scope, input);
      case 'Subshell':
        return await this.#list(node.body, scope.fork(), input);
      case 'Redirected': {
        const redirects = await this.#redirects(node.redirects, scope, input);
        await this.#redirectsOnly(redirects, scope);
        return await this.#node(node.command, scope, redirects.input);
      }
      case 'If':
      case 'While':
      case 'Case':
      case 'Elif':
      case 'CaseItem':
      case 'Select':
      case 'ArithmeticFor':
      case 'Coproc':
      case 'BraceGroup':
      case 'Statement':
        return await this.#children(node, scope, input);
      default:
        return await this.#inside(node, scope);
    }
  }

  async #children(node: SyntaxNode, scope: ShellScope, input: Input): Promise<void> {
    const isSure = node.type === 'BraceGroup' || node.type === 'Statement';
    const children: SyntaxNode[] = [];
    forEachChild(node, (child) => children.push(child));
    for (const child of children)
      await (isSure ? this.#node(child, scope, input) : this.#maybe(child, scope, input));
  }

  /** Substitutions run too, wherever they stand: in words, tests, sums, here-documents. */
  async #inside(node: SyntaxNode, scope: ShellScope): Promise<void> {
    const children: SyntaxNode[] = [];
    forEachChild(node, (child) => children.push(child));
    if (!this.#visitor.spend('steps', children.length)) return;
    for (const child of children) {
      if (child.type !== 'Script') {
        await this.#inside(child, scope);
        continue;
      }
      this.#check(child);
      if (this.#nested >= nestedMax) {
        this.#visitor.unreadable(`substitutions of more than ${nestedMax} levels`);
        return;
      }
      this.#nested += 1;
      const inner = scope.fork();
      for (const statement of child.commands) await this.#node(statement, inner, none);
      this.#nested -= 1;
    }
  }

  async #pipeline(node: Pipeline, scope: ShellScope, input: Input): Promise<void> {
    for (const [at, command] of node.commands.entries()) {
      if (!this.#visitor.spend('steps', at + 1)) return;
      const before = node.commands.slice(0, at);
      const outer = scope.fork();
      const piped: Input = {
        kind: 'pipe',
        output: () => this.#words.outputOf(before, outer, input),
      };
      const isAlone = node.commands.length === 1;
      await this.#node(command, isAlone ? scope : scope.fork(), at === 0 ? input : piped);
    }
  }

  async #for(node: For, scope: ShellScope, input: Input): Promise<void> {
    const values: Word[] = [];
    for (const word of node.wordlist ?? []) {
      await this.#inside(word, scope);
      for (const fields of await this.#words.expand(word, scope)) {
        if (!this.#visitor.spend('words', fields.length)) return;
        values.push(...fields);
      }
    }
    const isKnown = node.wordlist !== undefined && values.every((each) => each.isStatic);
    const isPlain = isKnown && !values.some((each) => each.isGlob);
    scope.assign(node.name.value, isPlain ? values.map(({ text }) => text) : undefined);
    await this.#maybe(node.body, scope, input);
  }

  async #command(node: Command, scope: ShellScope, input: Input): Promise<void> {
    await this.#inside(node, scope);
    const redirects = await this.#redirects(node.redirects, scope, input);
    const assignments = await this.#assignments(node.prefix, scope);
    if (node.name === undefined) {
      for (const { name, value, array } of assignments) scope.assignWord(name, value, array);
      const given = assignments.map(({ name, value }): [string, Word] => [name, value]);
      return await this.#redirectsOnly({ ...redirects, assignments: given, said: '' }, scope);
    }
    const output = (): Promise<string | undefined> =>
      this.#words.outputOf([node], scope.fork(), input);
    for (const words of await this.#alternatives(node, scope)) {
      if (!this.#visitor.mayGoOn()) return;
      const given = assignments.map(({ name, value }): [string, Word] => [name, value]);
      const seen = { words, assignments: given, ...redirects, output };
      if (!(await this.#own(seen, node.name, scope))) await this.#visitor.command(seen, scope);
    }
  }

  /** Every combination of what its words may be; beyond the limit each with its first value. */
  async #alternatives(node: Command, scope: ShellScope): Promise<Word[][]> {
    let all: Word[][] = [[]];
    const parts = [...(node.name === undefined ? [] : [node.name]), ...node.args];
    if (parts.length > wordsMax) {
      this.#visitor.unreadable(`a command of more than ${wordsMax} words`);
      return [];
    }
    for (const part of parts) {
      const choices =
        part.type === 'Word'
          ? await this.#words.expand(part, scope)
          : [[await this.#declared(part, scope)]];
      const kept = all.length * choices.length > alternativesMax ? choices.slice(0, 1) : choices;
      const [only, more] = kept;
      const added = all.length * kept.reduce((sum, fields) => sum + fields.length, 0);
      if (!this.#visitor.spend('words', added)) return [];
      // In place where there is no choice: a command of many words is no square of them.
      if (only !== undefined && more === undefined) for (const words of all) words.push(...only);
      else all = all.flatMap((words) => kept.map((fields) => [...words, ...fields]));
    }
    return all;
  }

  /** `export X=rm`: an argument that sets. */
  async #declared(node: Assignment, scope: ShellScope): Promise<Word> {
    const [assignment] = await this.#assignments([node], scope);
    if (assignment === undefined) return { text: node.text, isStatic: true };
    const { name, value, array } = assignment;
    scope.assignWord(name, value, array);
    return { text: `${name}=${value.text}`, isStatic: value.isStatic };
  }

  async #assignments(
    nodes: readonly (Assignment | Redirection)[],
    scope: ShellScope,
  ): Promise<{ name: string; value: Word; array?: Word[] }[]> {
    const found = [];
    for (const node of nodes) {
      if (node.type !== 'Assignment') continue;
      const { name, value } = node;
      if (value.type === 'ArrayValue') {
        const array: Word[] = [];
        for (const word of value.elements) {
          const fields = await this.#words.first(word, scope);
          if (!this.#visitor.spend('words', fields.length)) return [];
          array.push(...fields);
        }
        const text = array.map((each) => each.text).join(' ');
        const all = node.append === true ? [...(scope.arrays.get(name) ?? []), ...array] : array;
        found.push({ name, value: { text, isStatic: true }, array: all });
        continue;
      }
      const word = await this.#words.joined(value, scope);
      const before = node.append === true ? scope.valuesOf(name)?.[0] : '';
      const isStatic = word.isStatic && before !== undefined;
      const all = bounded({ text: `${before ?? ''}${word.text}`, isStatic });
      found.push({ name, value: all });
    }
    return found;
  }

  async #redirects(
    nodes: readonly Redirection[],
    scope: ShellScope,
    given: Input,
  ): Promise<{ redirects: RedirectSeen[]; input: Input }> {
    const redirects: RedirectSeen[] = [];
    let input = given;
    for (const node of nodes) {
      if (node.type === 'HereDoc') {
        input = { kind: 'text', word: await this.#words.body(node.body, scope) };
        continue;
      }
      if (node.target === undefined) continue;
      const target = await this.#words.joined(node.target, scope);
      if (node.type === 'HereString') input = { kind: 'text', word: target };
      else {
        if (node.operator === '<') input = inputOf(target);
        redirects.push({ operator: node.operator, target });
      }
    }
    return { redirects, input };
  }

  async #redirectsOnly(
    {
      redirects,
      input,
      assignments = [],
      said,
    }: {
      redirects: RedirectSeen[];
      input: Input;
      assignments?: [string, Word][];
      said?: string;
    },
    scope: ShellScope,
  ): Promise<void> {
    if (redirects.length + assignments.length === 0) return;
    const output = (): Promise<string | undefined> => Promise.resolve(said);
    await this.#visitor.command({ words: [], assignments, redirects, input, output }, scope);
  }

  /** Functions and aliases of the text itself. */
  async #own(command: ShellCommand, name: WordNode, scope: ShellScope): Promise<boolean> {
    const [program, ...rest] = command.words;
    if (program?.isStatic !== true) return false;
    const known = scope.functions.get(program.text);
    const alias = name.text === program.text ? scope.aliases.get(program.text) : undefined;
    if (known === undefined && alias === undefined) return false;
    if (!this.#visitor.enter()) return true;
    const { redirects, input } = command;
    await this.#redirectsOnly({ redirects, input }, scope);
    const inner = scope.called(rest);
    if (alias !== undefined) {
      inner.aliases.delete(program.text);
      await this.walk(`${alias} "$@"`, inner, command.input);
    } else if (known !== undefined) await this.#call(known, inner, command.input);
    scope.returned(inner);
    this.#visitor.leave();
    return true;
  }

  async #call(known: FunctionNode, scope: ShellScope, input: Input): Promise<void> {
    await this.#node(known.body, scope, input);
  }
}

function inputOf(target: Word): Input {
  if (target.content === undefined) return { kind: 'file', path: target };
  return { kind: 'text', word: { text: target.content, isStatic: true } };
}
