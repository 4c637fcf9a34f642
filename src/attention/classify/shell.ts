import {
  forEachChild,
  parse,
  type AndOr,
  type Command,
  type HereDocBody,
  type Pipeline,
  type Redirection,
  type SyntaxNode,
  type Word as WordNode,
  type WordPart,
} from 'unbash';
import type { Word } from '../policy/command-pattern.js';

/** A line of a shell: simple commands with plain words are judged one by one, all else is reported as what is not judged. */

/** What a command gets on its standard input. */
export type Input =
  | { kind: 'none' }
  | { kind: 'text'; text: string }
  /** A file, or what another command prints: the commands before it as they are written; `isSaid`: one of them prints a text of the line. */
  | { kind: 'unread'; file?: Word; from?: string; isSaid?: boolean };

export interface Redirect {
  operator: string;
  target: Word;
}

export interface ShellCommand {
  words: Word[];
  assignments: [name: string, value: Word][];
  redirects: Redirect[];
  input: Input;
}

/** The folder in which commands run: below the root, or from `/` or `~`; undefined: not known. */
export interface Folder {
  cwd: string | undefined;
}

export interface ShellVisitor {
  command(command: ShellCommand, folder: Folder): Promise<void>;
  /** What is more than simple commands with plain words. */
  notJudged(what: string, text: string): void;
  /** False: more than is looked at. */
  mayGoOn(): boolean;
}

/** Of these a command's own text is judged, and nothing else happens. */
const transparent = new Set<string>(['CompoundList', 'Statement', 'BraceGroup', 'Script']);
const names: Readonly<Record<string, string>> = {
  If: 'a condition',
  While: 'a loop',
  For: 'a loop',
  ArithmeticFor: 'a loop',
  Select: 'a loop',
  Case: 'a choice',
  Function: 'a function',
  Coproc: 'a process beside it',
  TestCommand: 'a condition',
  ArithmeticCommand: 'a sum',
  CommandExpansion: 'the output of another command',
  ArithmeticCommandExpansion: 'the output of another command',
  ProcessSubstitution: 'the output of another command',
};

/** `${a}`, `${#a}`, `${a:-b}`, `${a%b}`, `${a/b/c}`: neither an assignment, a sum nor a text that is evaluated. */
const plainParameter = /^\$\{(?:#?(?:\w+|[@*#?!-])|\w+(?::?[-+?]|[#%/^,]).*)\}$/s;

/** Visits all commands, also those in constructs that are not judged: what is dangerous in them is found. */
export class ShellLine {
  #source = '';

  constructor(private readonly visitor: ShellVisitor) {}

  async walk(source: string, folder: Folder, input: Input): Promise<void> {
    this.#source = source;
    const script = parse(source);
    const [error] = script.errors ?? [];
    if (error !== undefined)
      this.visitor.notJudged(`something unfinished (${error.message})`, source);
    for (const statement of script.commands) await this.#statement(statement, folder, input);
  }

  /** `cd` may have failed, or run elsewhere: only what `&&` joins to it knows the new folder. */
  async #statement(node: SyntaxNode, folder: Folder, input: Input): Promise<void> {
    const before = folder.cwd;
    await this.#node(node, folder, input);
    if (folder.cwd !== before) folder.cwd = undefined;
  }

  async #node(node: SyntaxNode, folder: Folder, input: Input): Promise<void> {
    if (!this.visitor.mayGoOn()) return;
    if (node.type === 'Command') return await this.#command(node, folder, input);
    if (node.type === 'Pipeline') return await this.#pipeline(node, folder, input);
    if (node.type === 'AndOr') return await this.#andOr(node, folder, input);
    if (node.type === 'Subshell') return await this.#node(node.body, { ...folder }, input);
    if (node.type === 'Redirected') {
      const { redirects, given } = await this.#redirects(node.redirects, folder, input);
      await this.visitor.command({ words: [], assignments: [], redirects, input: given }, folder);
      return await this.#node(node.command, folder, given);
    }
    this.#notJudged(node);
    const children: SyntaxNode[] = [];
    forEachChild(node, (child) => children.push(child));
    // Where a part of it runs, if it runs at all, is not known.
    const within = transparent.has(node.type) ? folder : { cwd: undefined };
    for (const child of children) await this.#statement(child, within, input);
  }

  #notJudged(node: SyntaxNode): void {
    const name = names[node.type];
    if (name !== undefined) this.visitor.notJudged(name, this.#source.slice(node.pos, node.end));
  }

  async #pipeline({ commands }: Pipeline, folder: Folder, input: Input): Promise<void> {
    const start = commands[0]?.pos ?? 0;
    for (const [at, command] of commands.entries()) {
      const from = this.#source.slice(start, command.pos);
      const own = commands.length === 1 ? folder : { ...folder };
      const before = commands.slice(0, at);
      const isSaid = input.kind === 'text' || before.some(saysText);
      await this.#node(command, own, at === 0 ? input : { kind: 'unread', from, isSaid });
    }
  }

  async #andOr({ commands, operators }: AndOr, folder: Folder, input: Input): Promise<void> {
    const before = folder.cwd;
    for (const command of commands) await this.#node(command, folder, input);
    // One of several may have changed the folder.
    if (operators.includes('||') && folder.cwd !== before) folder.cwd = undefined;
  }

  async #command(node: Command, folder: Folder, input: Input): Promise<void> {
    const { redirects, given } = await this.#redirects(node.redirects, folder, input);
    const assignments: [string, Word][] = [];
    for (const each of node.prefix) {
      if (each.type !== 'Assignment') continue;
      if (each.value.type === 'ArrayValue') this.visitor.notJudged('a list', each.text);
      else assignments.push([each.name, await this.#word(each.value, folder)]);
    }
    const words: Word[] = [];
    if (node.name !== undefined) words.push(await this.#word(node.name, folder));
    for (const each of node.args)
      if (each.type === 'Word') words.push(await this.#word(each, folder));
      else if (each.value.type === 'ArrayValue') this.visitor.notJudged('a list', each.text);
      else {
        const value = await this.#word(each.value, folder);
        words.push({ ...value, text: `${each.name}=${value.text}` });
      }
    if (!this.visitor.mayGoOn()) return;
    await this.visitor.command({ words, assignments, redirects, input: given }, folder);
  }

  async #redirects(
    nodes: readonly Redirection[],
    folder: Folder,
    input: Input,
  ): Promise<{ redirects: Redirect[]; given: Input }> {
    const redirects: Redirect[] = [];
    let given = input;
    for (const node of nodes) {
      if (node.type === 'HereDoc') {
        given = { kind: 'text', text: await this.#body(node.body, folder) };
        continue;
      }
      if (node.target === undefined) continue;
      const target = await this.#word(node.target, folder);
      if (node.type === 'HereString') given = { kind: 'text', text: target.text };
      else {
        if (node.operator === '<') given = { kind: 'unread', file: target };
        redirects.push({ operator: node.operator, target });
      }
    }
    return { redirects, given };
  }

  async #body(body: HereDocBody, folder: Folder): Promise<string> {
    for (const part of body.parts ?? []) await this.#part(part, folder);
    return body.text;
  }

  async #word(node: WordNode, folder: Folder): Promise<Word> {
    if (node.parts === undefined) return { text: node.value, isStatic: true };
    return await this.#joined(node.parts, folder);
  }

  async #joined(parts: readonly WordPart[], folder: Folder): Promise<Word> {
    const all: Word[] = [];
    for (const part of parts) all.push(await this.#part(part, folder));
    return {
      text: all.map(({ text }) => text).join(''),
      isStatic: all.every(({ isStatic }) => isStatic),
      ...(all.some(({ isGlob }) => isGlob) && { isGlob: true }),
    };
  }

  async #part(part: WordPart, folder: Folder): Promise<Word> {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return { text: part.value, isStatic: true };
      case 'DoubleQuoted':
      case 'LocaleString':
        return await this.#joined(part.parts, folder);
      case 'Glob':
        return { text: part.text, isStatic: true, isGlob: true };
      case 'SimpleExpansion':
      case 'ParameterExpansion':
        if (/^\$(?:HOME|\{HOME\})$/.test(part.text)) return { text: '~', isStatic: true };
        if (part.text.startsWith('${') && !plainParameter.test(part.text))
          this.visitor.notJudged('a computed variable', part.text);
        break;
      case 'ArithmeticExpansion':
        // A name in a sum may be set by it, or hold a sum of its own.
        if (/[A-Za-z_]/.test(part.text)) this.visitor.notJudged('a sum', part.text);
        break;
      default:
        break;
    }
    // Commands in it run, even where its value is not used.
    await this.#inside(part);
    return { text: part.text, isStatic: false };
  }

  async #inside(node: SyntaxNode): Promise<void> {
    const folder = { cwd: undefined };
    this.#notJudged(node);
    const children: SyntaxNode[] = [];
    forEachChild(node, (child) => children.push(child));
    for (const child of children)
      if (child.type === 'Script')
        for (const statement of child.commands)
          await this.#node(statement, folder, { kind: 'none' });
      else await this.#inside(child);
  }
}

/** Whether it prints a text that stands in the line. */
function saysText(node: SyntaxNode): boolean {
  if (node.type === 'Command' && /^(?:echo|printf)$/.test(node.name?.value ?? '')) return true;
  if (node.type === 'HereDoc' || node.type === 'HereString') return true;
  let isSaid = false;
  forEachChild(node, (child) => (isSaid ||= saysText(child)));
  return isSaid;
}
