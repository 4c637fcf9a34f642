import path from 'node:path';
import type { CallSite, Definition } from '../../pgc/shapes.js';
import type { Ground } from '../ground.js';
import { foldersOf } from '../artifact/tree-ground.js';
import { proseOf } from '../artifact/prose-of.js';
import { quotedLines } from '../impact/quote.js';
import type { Evidence } from '../shapes.js';
import { claimLimits, type SymbolName } from './claim.js';
import { manifestNames, packageIn, type Package } from './manifests.js';
import { hasWord, Words } from './words.js';

const codeEndings =
  /(?:\.(?:c|h|cc|cpp|cxx|hpp|hh|rs|go|java|py|rb|php|s|S|[cm]?[jt]sx?|json|jsonc|ya?ml|toml|ini|cfg|conf|sh|bash|proto|sql|xml|mk|gypi?|cmake|service|html|css)|\/(?:Makefile|Kconfig|Dockerfile|Kbuild))$/;
const documentEndings = /\.(?:md|markdown|rst|txt)$/i;
const documentsMax = 600;

export interface Uses {
  definitions: Definition[];
  callers: CallSite[];
  /** Nothing else may be a call of it: no use as a value, no call that nothing proves, no shard that failed. */
  isWhole: boolean;
}

export interface Manifest {
  file: string;
  text: string;
  json: Record<string, unknown>;
}

/** The tree and its index, as look-ups ask them. Each answer is kept. */
export class Tree {
  readonly #uses = new Map<string, Promise<Uses>>();
  readonly #files = new Map<string, Promise<string | undefined>>();
  #words: Promise<Words> | undefined;
  #documents: Promise<string[]> | undefined;

  private constructor(
    readonly ground: Ground,
    /** Path of the document under review, from the root. Its own words prove nothing. */
    readonly artifact: string,
    readonly paths: ReadonlySet<string>,
    readonly folders: ReadonlySet<string>,
    readonly signal: AbortSignal,
  ) {}

  static async open(ground: Ground, artifact: string, signal: AbortSignal): Promise<Tree> {
    const paths = await ground.paths();
    return new Tree(ground, artifact, new Set(paths), foldersOf(paths), signal);
  }

  /** Text of a file; undefined: no such file, or no text. */
  text(file: string): Promise<string | undefined> {
    const known = this.#files.get(file) ?? this.ground.read(file);
    this.#files.set(file, known);
    return known;
  }

  /** Definitions and call sites of a name. */
  uses(name: string): Promise<Uses> {
    const known = this.#uses.get(name) ?? this.#ask(name);
    this.#uses.set(name, known);
    return known;
  }

  async #ask(name: string): Promise<Uses> {
    this.signal.throwIfAborted();
    const options = { deadlineMs: claimLimits.questionMs, signal: this.signal };
    const answer = await this.ground.questions.callers({ symbol: name }, options);
    const { definitions, callers, possible_total, uses_total, errors } = answer;
    const isWhole = possible_total + uses_total + errors.length === 0;
    return { definitions, callers, isWhole };
  }

  /** Those of the container where there are any, otherwise all of the name. */
  async definitionsOf({ name, container }: SymbolName): Promise<Definition[]> {
    const { definitions } = await this.uses(name);
    const own = definitions.filter((each) => each.container === container);
    return container === '' || own.length === 0 ? definitions : own;
  }

  words(): Promise<Words> {
    return (this.#words ??= this.#readWords());
  }

  async #readWords(): Promise<Words> {
    const words = new Words();
    const files = [...this.paths].filter((each) => codeEndings.test(`/${each}`));
    if (files.length > claimLimits.treeFiles) {
      words.isComplete = false;
      return words;
    }
    for (const file of files) {
      if (words.bytes >= claimLimits.treeBytes) {
        words.isComplete = false;
        break;
      }
      this.signal.throwIfAborted();
      const text = await this.text(file);
      if (text !== undefined) words.add(file, file === this.artifact ? codeOf(file, text) : text);
    }
    return words;
  }

  /** Whether a document of the tree other than the artifact has the word. */
  async isInDocuments(word: string): Promise<boolean> {
    return (await (this.#documents ??= this.#readDocuments())).some((text) => hasWord(text, word));
  }

  async #readDocuments(): Promise<string[]> {
    const files = [...this.paths].filter(
      (each) => documentEndings.test(each) && each !== this.artifact,
    );
    const texts = await Promise.all(files.slice(0, documentsMax).map((each) => this.text(each)));
    return texts.filter((each) => each !== undefined);
  }

  /** Lines of a file as they stand; none where the file lacks them. */
  async evidence(file: string, from: number, to = from, symbol = ''): Promise<Evidence[]> {
    const text = await this.text(file);
    const [line_start, line_end] = [Math.max(1, from), Math.max(1, from, to)];
    const quote =
      text === undefined
        ? undefined
        : quotedLines({ path: file, text, line_start, line_end, symbol });
    return quote === undefined ? [] : [quote];
  }

  /** The first line of a definition. */
  evidenceOf({ file_path, line, symbol }: Definition): Promise<Evidence[]> {
    return this.evidence(file_path, line, line, symbol);
  }

  /** Of the folder of the artifact and those above it, the nearest first. */
  async packages(): Promise<Package[]> {
    const found: Package[] = [];
    for (let folder = path.posix.dirname(this.artifact); ; folder = path.posix.dirname(folder)) {
      for (const name of manifestNames) {
        const file = folder === '.' ? name : `${folder}/${name}`;
        const text = this.paths.has(file) ? await this.text(file) : undefined;
        const its = text === undefined ? undefined : packageIn(file, text);
        if (its !== undefined) found.push(its);
      }
      if (folder === '.' || folder === '/') return found;
    }
  }

  /** The `package.json` nearest to the artifact; undefined: none can be read. */
  async manifest(): Promise<Manifest | undefined> {
    for (let folder = path.posix.dirname(this.artifact); ; folder = path.posix.dirname(folder)) {
      const file = folder === '.' ? 'package.json' : `${folder}/package.json`;
      const text = this.paths.has(file) ? await this.text(file) : undefined;
      const json = parsed(text);
      if (text !== undefined && json !== undefined) return { file, text, json };
      if (folder === '.' || folder === '/') return undefined;
    }
  }
}

/** A source without the comments that are under review. */
function codeOf(file: string, text: string): string {
  const lines = text.split('\n');
  const prose = proseOf(file, lines).text.split('\n');
  return lines.map((line, at) => ((prose[at] ?? '') === '' ? line : '')).join('\n');
}

function parsed(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
