import {
  parse,
  type Command,
  type HereDocBody,
  type ParameterExpansionPart,
  type ParsedScript,
  type PipelineNode,
  type SyntaxNode,
  type Word as WordNode,
  type WordPart,
} from 'unbash';
import { decoded, isSaying, said } from './decode.js';
import { attentionLimits } from '../shapes.js';
import type { ShellScope } from './shell-scope.js';
import type { Input, ShellVisitor, Word } from './shell.js';

/** What the words of a shell's text are when it runs, as far as that is known before. */

/** What one word may be; each is a list, as a word may become several. */
type Alternatives = Word[][];

interface Draft {
  fields: Word[];
  /** Undefined: the next sign begins a field. */
  current: Word | undefined;
}

const alternativesMax = 8;
const bracesMax = 64;
/** Braces beside each other in one word: each doubles the words. */
const braceDepthMax = 8;
/** Substitutions in substitutions. */
const outputDepthMax = 8;

export class ShellWords {
  #depth = 0;
  #braceDepth = 0;

  constructor(private readonly visitor: ShellVisitor) {}

  async expand(word: WordNode, scope: ShellScope): Promise<Alternatives> {
    if (!this.visitor.spend('steps', 1)) return [[unsureWord(bounded(literal(word.text)))]];
    if (word.parts === undefined) return [[bounded(literal(word.value))]];
    const braces = word.parts.findIndex((part) => part.type === 'BraceExpansion');
    if (braces >= 0) return [await this.#braces(word, word.parts[braces], scope)];
    const drafts = await this.#parts(word.parts, scope, false);
    return drafts.map(({ fields, current }) =>
      current === undefined ? fields : [...fields, current],
    );
  }

  /** Where only one is looked at. */
  async first(word: WordNode, scope: ShellScope): Promise<Word[]> {
    return (await this.expand(word, scope))[0] ?? [];
  }

  /** As one word: of an assignment, a redirection. */
  async joined(word: WordNode, scope: ShellScope): Promise<Word> {
    const all = await this.expand(word, scope);
    return glued(all[0] ?? [], all.length === 1);
  }

  async body(body: HereDocBody, scope: ShellScope): Promise<Word> {
    if (body.parts === undefined) return literal(body.text);
    const drafts = await this.#parts(body.parts, scope, true);
    const [{ fields, current } = { fields: [], current: undefined }] = drafts;
    return glued(current === undefined ? fields : [...fields, current], drafts.length === 1);
  }

  /** What a chain of commands says on its output, where that can be told without running it. */
  async outputOf(
    nodes: readonly SyntaxNode[],
    scope: ShellScope,
    given: Input,
  ): Promise<string | undefined> {
    if (this.#depth >= outputDepthMax || !this.visitor.spend('steps', nodes.length))
      return undefined;
    this.#depth += 1;
    try {
      let text = given.kind === 'none' ? '' : await this.#inputText(given, scope);
      for (const node of nodes) {
        if (node.type !== 'Command') return undefined;
        text = await this.#commandOutput(node, scope, text);
      }
      return text;
    } finally {
      this.#depth -= 1;
    }
  }

  async #commandOutput(
    node: Command,
    scope: ShellScope,
    piped: string | undefined,
  ): Promise<string | undefined> {
    const words: Word[] = [];
    for (const part of [...(node.name === undefined ? [] : [node.name]), ...node.args])
      words.push(...(part.type === 'Word' ? await this.first(part, scope) : [literal(part.text)]));
    if (words.some(({ isStatic }) => !isStatic)) return undefined;
    const input = await this.#redirected(node, scope, piped);
    const argv = words.map(({ text }) => text);
    if (isSaying(argv)) return said(argv, scope);
    if (argv[0] === 'cat' && argv.length > 1) return await this.#files(words.slice(1), scope);
    return input === undefined ? undefined : decoded(argv, input);
  }

  async #redirected(
    node: Command,
    scope: ShellScope,
    piped: string | undefined,
  ): Promise<string | undefined> {
    let input = piped;
    for (const redirect of node.redirects) {
      if (redirect.type === 'HereDoc') input = known(await this.body(redirect.body, scope));
      else if (redirect.target === undefined) continue;
      else if (redirect.type === 'HereString')
        input = known(await this.joined(redirect.target, scope));
      else if (redirect.operator === '<')
        input = await this.visitor.read(await this.joined(redirect.target, scope), scope);
    }
    return input;
  }

  async #files(paths: Word[], scope: ShellScope): Promise<string | undefined> {
    let text = '';
    for (const path of paths) {
      const read = path.content ?? (await this.visitor.read(path, scope));
      if (read === undefined) return undefined;
      text += read;
    }
    return text;
  }

  async #inputText(input: Input, scope: ShellScope): Promise<string | undefined> {
    if (input.kind === 'text') return known(input.word);
    if (input.kind === 'file') return await this.visitor.read(input.path, scope);
    return input.kind === 'pipe' ? await input.output() : undefined;
  }

  /** `{rm,-rf,data}` is three words. */
  async #braces(word: WordNode, part: WordPart | undefined, scope: ShellScope): Promise<Word[]> {
    if (part === undefined) return [];
    if (this.#braceDepth >= braceDepthMax) return [{ text: word.text, isStatic: false }];
    this.#braceDepth += 1;
    try {
      return await this.#braced(word, part, scope);
    } finally {
      this.#braceDepth -= 1;
    }
  }

  async #braced(word: WordNode, part: WordPart, scope: ShellScope): Promise<Word[]> {
    const items = braceItems(part.text);
    const from = part.pos - word.pos;
    const [before, after] = [word.text.slice(0, from), word.text.slice(from + part.text.length)];
    if (items === undefined || !word.text.startsWith(part.text, from))
      return [{ text: word.text, isStatic: false }];
    const fields: Word[] = [];
    for (const item of items) {
      const length = before.length + item.length + after.length;
      if (!this.visitor.spend('chars', length)) return [{ text: word.text, isStatic: false }];
      const [statement] = parse(`: ${before}${item}${after}`).commands;
      const again = statement?.command.type === 'Command' ? statement.command.args[0] : undefined;
      if (fields.length >= bracesMax) return [{ text: word.text, isStatic: false }];
      if (again?.type === 'Word') fields.push(...(await this.first(again, scope)));
    }
    return fields;
  }

  async #parts(parts: readonly WordPart[], scope: ShellScope, quoted: boolean): Promise<Draft[]> {
    let drafts: Draft[] = [{ fields: [], current: undefined }];
    for (const part of parts) {
      if (!this.visitor.spend('steps', drafts.length)) break;
      const choices = await this.#part(part, scope, quoted);
      const isTooMany = drafts.length * choices.length > alternativesMax;
      const kept = isTooMany ? choices.slice(0, 1).map(unsure) : choices;
      drafts = drafts.flatMap((draft) => kept.map((choice) => appended(draft, choice)));
    }
    return drafts;
  }

  /** Alternatives of a part; within one, several words begin new fields. */
  async #part(part: WordPart, scope: ShellScope, quoted: boolean): Promise<Alternatives> {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return [[literal(part.value)]];
      case 'DoubleQuoted':
      case 'LocaleString': {
        const drafts = await this.#parts(part.parts, scope, true);
        return drafts.map(({ fields, current }) => [...fields, current ?? literal('')]);
      }
      case 'Glob':
      case 'ExtendedGlob':
        return [[{ text: part.text, isStatic: true, isGlob: true }]];
      case 'SimpleExpansion':
        return split(this.#variable(part.text.slice(1), scope, part.text, quoted), quoted);
      case 'ParameterExpansion':
        return split(await this.#parameter(part, scope, quoted), quoted);
      case 'CommandExpansion':
        return split([[await this.#substituted(part.script, scope, part.text)]], quoted);
      case 'ProcessSubstitution': {
        const output = await this.#substituted(part.script, scope, part.text);
        const content = output.isStatic ? { content: output.text } : {};
        return [[{ text: part.text, isStatic: false, ...content }]];
      }
      case 'ArithmeticExpansion':
      case 'BraceExpansion':
        return [[{ text: part.text, isStatic: false }]];
    }
  }

  async #substituted(
    script: ParsedScript | undefined,
    scope: ShellScope,
    source: string,
  ): Promise<Word> {
    const [statement, more] = script?.commands ?? [];
    if (statement === undefined || more !== undefined) return { text: source, isStatic: false };
    const output = await this.outputOf(chainOf(statement.command), scope.fork(), { kind: 'none' });
    if (output === undefined) return { text: source, isStatic: false };
    return literal(output.replace(/\n+$/, ''));
  }

  #variable(name: string, scope: ShellScope, source: string, quoted: boolean): Alternatives {
    if (name === '@' || name === '*') {
      if (scope.positionals === undefined) return [[{ text: source, isStatic: false }]];
      if (name === '*' && quoted) return [[glued(scope.positionals, true)]];
      return [scope.positionals];
    }
    if (name === '0') return [[{ text: scope.name, isStatic: scope.name !== '' }]];
    if (/^\d+$/.test(name)) {
      if (scope.positionals === undefined) return [[{ text: source, isStatic: false }]];
      return [[scope.positionals[Number(name) - 1] ?? literal('')]];
    }
    const values = scope.valuesOf(name);
    if (values === undefined || values.length === 0) return [[{ text: source, isStatic: false }]];
    return values.map((value) => [literal(value)]);
  }

  async #parameter(
    part: ParameterExpansionPart,
    scope: ShellScope,
    quoted: boolean,
  ): Promise<Alternatives> {
    const { parameter, prefix, index, operation, text } = part;
    const opaque: Alternatives = [[{ text, isStatic: false }]];
    if (prefix === '#') return opaque;
    const array = scope.arrays.get(parameter);
    if (array !== undefined && prefix === undefined && operation === undefined) {
      const key = index?.value ?? '0';
      if (key === '@' || key === '*') return [array];
      const element = /^\d+$/.test(key) ? array[Number(key)] : undefined;
      return element === undefined ? opaque : [[element]];
    }
    const name = prefix === '!' ? scope.valuesOf(parameter)?.[0] : parameter;
    if (name === undefined || index !== undefined) return opaque;
    const values = this.#variable(name, scope, text, quoted);
    if (operation === undefined) return values;
    if (operation.type === 'Default') {
      const other = await this.expand(operation.operand, scope);
      if (operation.operator.endsWith('+')) return [[literal('')], ...other];
      if (operation.operator.endsWith('?')) return values;
      return values.every((fields) => fields.every(({ isStatic }) => isStatic)) &&
        !(scope.positionals && /^\d+$/.test(name))
        ? values
        : defaulted(values, other);
    }
    const [[value] = []] = values;
    if (value?.isStatic !== true || values.length > 1) return opaque;
    const changed = await this.#changed(value.text, operation, scope);
    return changed === undefined ? opaque : [[literal(changed)]];
  }

  async #changed(
    value: string,
    operation: NonNullable<ParameterExpansionPart['operation']>,
    scope: ShellScope,
  ): Promise<string | undefined> {
    switch (operation.type) {
      case 'Replace': {
        const pattern = await this.joined(operation.pattern, scope);
        const by = await this.joined(operation.replacement, scope);
        if (!pattern.isStatic || !by.isStatic || pattern.isGlob) return undefined;
        if (value.length * (by.text.length + 1) > attentionLimits.wordChars) return undefined;
        if (operation.operator === '//') return value.replaceAll(pattern.text, by.text);
        return operation.operator === '/' ? value.replace(pattern.text, by.text) : undefined;
      }
      case 'Slice': {
        const from = Number(operation.offset.value);
        const length = operation.length === undefined ? Infinity : Number(operation.length.value);
        if (!Number.isInteger(from) || from < 0 || Number.isNaN(length) || length < 0)
          return undefined;
        return value.slice(from, from + length);
      }
      case 'CaseModification':
        if (operation.operator === ',,') return value.toLowerCase();
        return operation.operator === '^^' ? value.toUpperCase() : undefined;
      case 'Remove': {
        const { value: end } = operation.operand;
        if (/[*?[$]/.test(end)) return undefined;
        if (operation.operator.startsWith('%'))
          return value.endsWith(end) ? value.slice(0, value.length - end.length) : value;
        return value.startsWith(end) ? value.slice(end.length) : value;
      }
      case 'Default':
      case 'Transform':
      case 'Names':
      case 'Unknown':
        return undefined;
    }
  }
}

function literal(text: string): Word {
  return { text, isStatic: true };
}

/** Set outside it may be something else; what the text itself gives is what is judged. */
function defaulted(values: Alternatives, other: Alternatives): Alternatives {
  const known = values.filter((fields) =>
    fields.every(({ isStatic, text }) => isStatic && text !== ''),
  );
  return [...known, ...other];
}

function chainOf(command: SyntaxNode): readonly PipelineNode[] | readonly SyntaxNode[] {
  return command.type === 'Pipeline' ? command.commands : [command];
}

function known(word: Word): string | undefined {
  return word.isStatic ? word.text : undefined;
}

function glued(words: readonly Word[], isOnly: boolean): Word {
  const [only] = words;
  if (only !== undefined && words.length === 1) return isOnly ? only : unsureWord(only);
  const text = words.map((each) => each.text).join(' ');
  return {
    ...bounded({ text, isStatic: isOnly && words.every(({ isStatic }) => isStatic) }),
    ...(words.some(({ isGlob }) => isGlob) && { isGlob: true }),
  };
}

/** A value that doubles itself on every line would be longer than any memory. */
export function bounded(word: Word): Word {
  if (word.text.length <= attentionLimits.wordChars) return word;
  return { ...word, text: word.text.slice(0, attentionLimits.wordChars), isStatic: false };
}

function unsure(words: Word[]): Word[] {
  return words.map(unsureWord);
}

function unsureWord(word: Word): Word {
  return { ...word, isStatic: false };
}

/** Unquoted, a value is split at its blanks. */
function split(alternatives: Alternatives, quoted: boolean): Alternatives {
  if (quoted) return alternatives;
  return alternatives.map((words) =>
    words.flatMap((word) => {
      if (!word.isStatic || !/\s/.test(word.text)) return word.text === '' ? [] : [word];
      return word.text.split(/\s+/).filter(Boolean).map(literal);
    }),
  );
}

function appended({ fields, current }: Draft, words: Word[]): Draft {
  const [first, ...rest] = words;
  if (first === undefined) return { fields, current };
  const begun = current === undefined ? first : stuck(current, first);
  const last = rest.at(-1);
  if (last === undefined) return { fields, current: begun };
  return { fields: [...fields, begun, ...rest.slice(0, -1)], current: last };
}

function stuck(left: Word, right: Word): Word {
  return {
    ...bounded({ text: left.text + right.text, isStatic: left.isStatic && right.isStatic }),
    ...((left.isGlob ?? right.isGlob) && { isGlob: true }),
    ...(right.content !== undefined && { content: right.content }),
  };
}

/** Undefined: a range, or braces in braces. */
function braceItems(text: string): string[] | undefined {
  if (!text.startsWith('{') || !text.endsWith('}')) return undefined;
  const inner = text.slice(1, -1);
  if (/[{}]/.test(inner) || !inner.includes(',')) return undefined;
  return inner.split(',');
}
