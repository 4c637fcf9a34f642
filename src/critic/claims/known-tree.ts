import path from 'node:path';
import { blobId } from '../../pgc/source/blob.js';
import type { CallSite, Definition } from '../../pgc/shapes.js';
import type { Ground } from '../ground.js';
import { criticLimits, type Evidence } from '../shapes.js';
import { claimLimits } from './claim.js';

const codeEndings =
  /(?:\.(?:c|h|cc|cpp|cxx|hpp|hh|rs|go|java|py|rb|php|s|S|[cm]?[jt]sx?|json|jsonc|ya?ml|toml|ini|cfg|conf|sh|bash|proto|sql|xml|mk|gypi?|cmake|service|html|css)|\/(?:Makefile|Kconfig|Dockerfile|Kbuild))$/;
const documentEndings = /\.(?:md|markdown|rst|txt)$/i;
export const testPath =
  /(?:^|[/._-])(?:tests?|specs?|__tests__|benchmarks?|bench|examples?|fixtures?)(?:[/._-]|$)/i;

export interface Uses {
  definitions: Definition[];
  callers: CallSite[];
  /** A shard did not answer. */
  isPartial: boolean;
}

export interface FileSymbol {
  name: string;
  kind: string;
  line: number;
  isExported: boolean;
}

/** A tree as claims ask about it: everything is read once. */
export class KnownTree {
  readonly #uses = new Map<string, Promise<Uses>>();
  readonly #files = new Map<string, Promise<string | undefined>>();
  #code: readonly string[] | undefined;
  #words: Promise<Words> | undefined;
  #names: Promise<readonly string[] | undefined> | undefined;
  readonly #prefixes = new Map<string, Promise<readonly string[]>>();

  private constructor(
    readonly ground: Ground,
    /** From the root; of what is reviewed. Its own words prove nothing. */
    readonly artifact: string,
    readonly paths: ReadonlySet<string>,
    readonly folders: ReadonlySet<string>,
    readonly signal: AbortSignal,
  ) {}

  static async open(ground: Ground, artifact: string, signal: AbortSignal): Promise<KnownTree> {
    const paths = await ground.paths();
    const folders = new Set<string>();
    for (const each of paths) {
      for (let at = each.indexOf('/'); at >= 0; at = each.indexOf('/', at + 1))
        folders.add(each.slice(0, at));
    }
    return new KnownTree(ground, artifact, new Set(paths), folders, signal);
  }

  /** Of a file of the tree; undefined: there is none, or it is no text. */
  text(file: string): Promise<string | undefined> {
    const known = this.#files.get(file) ?? this.ground.read(file);
    this.#files.set(file, known);
    return known;
  }

  /** Definitions and call sites of a name; `Class.method` as well as `path#name`. */
  uses(symbol: string): Promise<Uses> {
    const known = this.#uses.get(symbol) ?? this.#ask(symbol);
    this.#uses.set(symbol, known);
    return known;
  }

  async #ask(symbol: string): Promise<Uses> {
    this.signal.throwIfAborted();
    const options = { deadlineMs: claimLimits.questionMs, signal: this.signal };
    const { definitions, callers, errors } = await this.ground.questions.callers(symbol, options);
    const isPartial = errors.some(({ code }) => code !== 'NO_SUCH_SYMBOL');
    return { definitions, callers, isPartial };
  }

  /** Symbols of one file, as the index has them. */
  async symbolsOf(file: string): Promise<FileSymbol[]> {
    const exported = new Set(
      (await this.#algebra(`O1[path=${quoted(file)}, exported=true]`)).map(keyOf),
    );
    const all = await this.#algebra(`O1[path=${quoted(file)}]`);
    return all.map((each) => ({
      ...{ name: each.symbol, kind: each.kind, line: each.line },
      isExported: exported.has(keyOf(each)),
    }));
  }

  /** Names of symbols that begin like this one; of a small tree all names. */
  async namesLike(name: string): Promise<readonly string[]> {
    const all = await (this.#names ??= this.#allNames());
    if (all !== undefined) return all;
    const prefix =
      /^_{0,3}[A-Za-z]{1,3}[A-Za-z0-9]{0,20}?(?=_|[A-Z]|$)/.exec(name)?.[0] ?? name.slice(0, 4);
    const known = this.#prefixes.get(prefix);
    if (known !== undefined) return known;
    if (this.#prefixes.size >= claimLimits.nameSearches) return [];
    const found = this.#algebra(`O1[name~${quoted(`^${prefix}`)}]`).then((rows) =>
      rows.map(({ symbol }) => symbol),
    );
    this.#prefixes.set(prefix, found);
    return found;
  }

  async #allNames(): Promise<readonly string[] | undefined> {
    // Every symbol would be read, to learn that they are too many.
    if (this.#codeFiles().length > claimLimits.treeFiles) return undefined;
    const rows = await this.#algebra('O1');
    return rows.length < claimLimits.names
      ? [...new Set(rows.map(({ symbol }) => symbol))]
      : undefined;
  }

  async #algebra(expression: string): Promise<{ symbol: string; kind: string; line: number }[]> {
    this.signal.throwIfAborted();
    const request = { expression, limit: claimLimits.names };
    const options = { deadlineMs: claimLimits.questionMs, signal: this.signal };
    const { anchors } = await this.ground.questions.algebra(request, options);
    return anchors.filter(({ symbol }) => symbol !== '');
  }

  words(): Promise<Words> {
    return (this.#words ??= this.#readWords());
  }

  #codeFiles(): readonly string[] {
    return (this.#code ??= [...this.paths].filter((each) => codeEndings.test(`/${each}`)));
  }

  async #readWords(): Promise<Words> {
    const words = new Words();
    const files = this.#codeFiles();
    // Some words of a tree that is too large prove nothing, and take as long as all of another.
    if (files.length > claimLimits.treeFiles) {
      words.isComplete = false;
      return words;
    }
    for (const file of files) {
      if (words.files.length >= claimLimits.treeFiles || words.bytes >= claimLimits.treeBytes) {
        words.isComplete = false;
        break;
      }
      this.signal.throwIfAborted();
      const text = await this.text(file);
      if (text === undefined) continue;
      words.add(file, file === this.artifact ? withoutComments(text) : text);
    }
    return words;
  }

  /** Is the word in a document of the tree other than the artifact? */
  async isInDocuments(word: string): Promise<boolean> {
    let read = 0;
    for (const file of this.paths) {
      if (!documentEndings.test(file) || file === this.artifact) continue;
      read += 1;
      if (read > claimLimits.treeFiles / 10) return false;
      if (hasWord((await this.text(file)) ?? '', word)) return true;
    }
    return false;
  }

  /** Lines of a file as they stand; none where they are not there. */
  async evidence(file: string, from: number, to = from, symbol = ''): Promise<Evidence[]> {
    const text = await this.text(file);
    if (text === undefined) return [];
    const lines = text.split('\n');
    const [line_start, line_end] = [Math.max(1, from), Math.max(1, from, to)];
    if (line_start > lines.length) return [];
    const content = lines
      .slice(line_start - 1, line_end)
      .join('\n')
      .slice(0, criticLimits.contentChars);
    const shown = line_start + content.split('\n').length - 1;
    const blob = blobId(Buffer.from(text));
    return [{ file_path: file, line_start, line_end: shown, content, blob, symbol }];
  }

  /** Of a package, from its root; undefined: it has none, or it cannot be read. */
  async packageFile(): Promise<{ file: string; json: Record<string, unknown> } | undefined> {
    for (let folder = path.posix.dirname(this.artifact); ; folder = path.posix.dirname(folder)) {
      const file = folder === '.' ? 'package.json' : `${folder}/package.json`;
      const json = this.paths.has(file) ? parsed(await this.text(file)) : undefined;
      if (json !== undefined) return { file, json };
      if (folder === '.' || folder === '/') return undefined;
    }
  }
}

/** Every identifier of the code, with the files that it stands in. */
export class Words {
  readonly files: string[] = [];
  bytes = 0;
  isComplete = true;
  readonly #first = new Map<string, number>();
  /** Options as programs spell them, and where. */
  readonly flags = new Map<string, string>();
  readonly #texts: string[] = [];
  /** Of macros that make names: `x_##name`, `name##_x`. */
  readonly #pasted = new Set<string>();
  #quoted: Set<string> | undefined;

  add(file: string, text: string): void {
    const at = this.files.length;
    this.files.push(file);
    this.#texts.push(text);
    this.bytes += text.length;
    for (const [word] of text.matchAll(/[A-Za-z_$][\w$]*/g))
      if (!this.#first.has(word)) this.#first.set(word, at);
    for (const [, before = '', after = ''] of text.matchAll(/(?:(\w{2,40})\s?)?##\s?(\w{2,40})?/g))
      for (const part of [before, after]) if (part !== '') this.#pasted.add(part);
    if (testPath.test(file)) return;
    for (const [flag] of text.matchAll(/(?<![\w-])--[A-Za-z][\w-]{1,60}/g))
      if (!this.flags.has(flag)) this.flags.set(flag, file);
  }

  has(word: string): boolean {
    return this.#first.has(word);
  }

  /** In quotes, in what is not a test. */
  hasText(text: string): boolean {
    if (this.#quoted === undefined) {
      this.#quoted = new Set();
      for (const [at, file] of this.files.entries())
        if (!testPath.test(file))
          for (const [, , its = ''] of (this.#texts[at] ?? '').matchAll(
            /(['"`])([^'"`\s]{1,40})(?=\1)/g,
          ))
            this.#quoted.add(its);
    }
    return this.#quoted.has(text);
  }

  /** Its beginning or its end is one that a macro pastes names from. */
  mayBePasted(name: string): boolean {
    for (let at = name.indexOf('_', 1); at > 0; at = name.indexOf('_', at + 1))
      if (this.#pasted.has(name.slice(at)) || this.#pasted.has(name.slice(0, at + 1))) return true;
    return false;
  }

  /** Where it is met first, it stands in quotes, and is all that stands there. */
  isOnlyText(word: string): boolean {
    const text = this.#texts[this.#first.get(word) ?? -1] ?? '';
    for (const at of placesOf(text, word))
      if (!/['"`]/.test(text[at - 1] ?? '') || !/['"`]/.test(text[at + word.length] ?? ''))
        return false;
    return this.#first.has(word);
  }

  all(): Iterable<string> {
    return this.#first.keys();
  }

  /** Where it is met first. */
  placeOf(word: string): { file: string; line: number } | undefined {
    const at = this.#first.get(word);
    const file = at === undefined ? undefined : this.files[at];
    if (at === undefined || file === undefined) return undefined;
    return { file, line: lineOfWord(this.#texts[at] ?? '', word) };
  }

  /** All texts, in the order of their paths. */
  *texts(): Iterable<{ file: string; text: string }> {
    for (const [at, file] of this.files.entries()) yield { file, text: this.#texts[at] ?? '' };
  }
}

/** Words that a `-` continues are others: `foo` is not in `foo-bar`, but in `foo.bar`. */
export function hasWord(text: string, word: string): boolean {
  return placesOf(text, word).next().done === false;
}

/** Offsets at which a word stands as a whole. */
export function* placesOf(text: string, word: string): Generator<number> {
  if (word === '') return;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = text[at - 1] ?? ' ';
    const after = text[at + word.length] ?? ' ';
    if (!/[\w$]/.test(before) && !/[\w$]/.test(after)) yield at;
  }
}

export function lineOfWord(text: string, word: string): number {
  const [at = 0] = placesOf(text, word);
  return lineOf(text, at);
}

export function lineOf(text: string, at: number): number {
  let line = 1;
  for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', next + 1))
    line += 1;
  return line;
}

function keyOf({ symbol, line }: { symbol: string; line: number }): string {
  return `${symbol}:${line}`;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (sign) => `\\${sign}`)}"`;
}

/** What a source says of itself in its comments is what is reviewed. */
function withoutComments(text: string): string {
  let isIn = false;
  return text
    .split('\n')
    .map((line) => {
      const begins = !isIn && /^\s*\/\*/.test(line);
      const isComment =
        isIn || begins || /^\s*(?:\/\/|#(?!\s*(?:define|include|if|el|en)))/.test(line);
      if (begins) isIn = true;
      if (isIn && line.includes('*/')) isIn = false;
      return isComment ? '' : line;
    })
    .join('\n');
}

function parsed(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
