import { fileURLToPath } from 'node:url';
import { Language, type Node, Parser, Query } from 'web-tree-sitter';
import { BusError } from '../../errors/bus-error.js';
import type { GrammarLanguage } from '../format/facts.js';

/**
 * Nodes below this depth are not looked at: from 65 536 on a query does not come to an end, and `a.b().c()…` of that many
 * calls is generated. No bracket is needed to come there: two backticks behind two others are a call.
 */
const treeDepthMax = 2_000;
const within = { maxStartDepth: treeDepthMax };

/** The grammars of several languages, each loaded when it is first wanted. Dispose of it to free them. */
export class Grammars implements AsyncDisposable {
  readonly #loaded = new Map<GrammarLanguage, Promise<Grammar>>();

  constructor(readonly queryOf: (language: GrammarLanguage) => string) {}

  /** Throws MINER_FAILED when the grammar cannot be loaded. */
  get(language: GrammarLanguage): Promise<Grammar> {
    const known = this.#loaded.get(language) ?? Grammar.load(language, this.queryOf(language));
    this.#loaded.set(language, known);
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const loaded = await Promise.allSettled(this.#loaded.values());
    this.#loaded.clear();
    for (const each of loaded) if (each.status === 'fulfilled') each.value[Symbol.dispose]();
  }
}

/** The tables of each grammar: WebAssembly memory does not shrink, and what is loaded twice stands in it twice. */
const tables = new Map<GrammarLanguage, Promise<Language>>();

function tablesOf(language: GrammarLanguage): Promise<Language> {
  const known = tables.get(language) ?? loaded(language);
  tables.set(language, known);
  known.catch(() => tables.delete(language));
  return known;
}

async function loaded(language: GrammarLanguage): Promise<Language> {
  await Parser.init({ locateFile });
  return Language.load(locateFile(`tree-sitter-${language}.wasm`));
}

/** The build copies them: of the packages that they come from, most is not wanted. */
function locateFile(name: string): string {
  return fileURLToPath(new URL(`grammars/${name}`, import.meta.url));
}

/** One loaded grammar with a query. Lives in WebAssembly memory until disposed of. */
export class Grammar implements Disposable {
  readonly #parser: Parser;
  readonly #query: Query;

  private constructor(language: Language, query: string) {
    this.#parser = new Parser();
    this.#parser.setLanguage(language);
    this.#query = new Query(language, query);
  }

  /** Throws MINER_FAILED when the grammar cannot be loaded. */
  static async load(language: GrammarLanguage, query: string): Promise<Grammar> {
    try {
      return new Grammar(await tablesOf(language), query);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      throw new BusError(
        'MINER_FAILED',
        { path: `the grammar of ${language}`, detail },
        { cause: error },
      );
    }
  }

  /** Calls `visit` for each capture, outer before inner and in order of the text; nodes die with the call. */
  captures(text: string, visit: (name: string, node: Node) => void): void {
    this.#parsed(text, (root) => {
      for (const { name, node } of this.#query.captures(root, within)) visit(name, node);
    });
  }

  /** The first line, from 1, of what it cannot read; undefined: it reads all of it. */
  brokenLine(text: string): number | undefined {
    return this.#parsed(text, (root) => {
      if (!root.hasError) return undefined;
      let node = root;
      for (let depth = 0; depth < treeDepthMax && !node.isError && !node.isMissing; depth += 1) {
        const inner = node.children.find((each) => each.hasError || each.isMissing);
        if (inner === undefined) break;
        node = inner;
      }
      return node.startPosition.row + 1;
    });
  }

  #parsed<T>(text: string, use: (root: Node) => T): T {
    const tree = this.#parser.parse(text);
    if (tree === null)
      throw new BusError('MINER_FAILED', { path: 'a file', detail: 'the parser gave up' });
    try {
      return use(tree.rootNode);
    } finally {
      // WebAssembly memory is not garbage collected.
      tree.delete();
    }
  }

  [Symbol.dispose](): void {
    this.#query.delete();
    this.#parser.delete();
  }
}
