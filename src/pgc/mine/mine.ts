import {
  isCFamily,
  textLanguages,
  type FactsLanguage,
  type FileFacts,
  type GrammarLanguage,
  type TextLanguage,
} from '../format/facts.js';
import { itemsOf } from './items/items.js';
import { shippedRules, type RulesInForce } from './items/rules-in-force.js';
import { cQuery, mineC } from './languages/c/c.js';
import { scanDefines } from './languages/c/c-macros.js';
import { cppQuery, mineCpp } from './languages/cpp/cpp.js';
import { mineMarkdown, minePlain, mineRst } from './document.js';
import { Draft } from './draft.js';
import { mineEcmascript } from './languages/ecmascript/ecmascript.js';
import { ecmascriptQuery } from './languages/ecmascript/es-query.js';
import { goQuery, mineGo } from './languages/go/go.js';
import { type Grammar, Grammars } from './grammar.js';
import { javaQuery, mineJava } from './languages/java/java.js';
import { minePython, pythonQuery } from './languages/python/python.js';
import { mineKconfig, mineMaintainers, mineMake, mineSettings, mineShell } from './recipe.js';
import { mineRust, rustQuery } from './languages/rust/rust.js';
import { saysGenerated } from '../source/generated-text.js';

/** Larger files are generated, minified or tables: they are not parsed, at most their lines are read. */
export const parseBytesMax = 4 * 1024 * 1024;
/** Of C, where they are lists of registers, which lines say as well as a grammar. */
const cParseBytesMax = 2 * 1024 * 1024;
/** The parser's effort grows with the square of open brackets; people stay below a hundred. */
export const bracketDepthMax = 1_000;
/**
 * A comment without an end is read to the end of the file, and again from each `/*` in it: their number
 * times the characters to read stays below this.
 */
const endlessCommentStepsMax = 10_000_000;

interface LanguageMiner {
  query: string;
  mine(grammar: Grammar, text: string): Draft;
}

const parsed: Record<GrammarLanguage, LanguageMiner> = {
  c: { query: cQuery, mine: mineC },
  cpp: { query: cppQuery, mine: mineCpp },
  typescript: { query: ecmascriptQuery.typescript, mine: mineEcmascript },
  tsx: { query: ecmascriptQuery.tsx, mine: mineEcmascript },
  javascript: { query: ecmascriptQuery.javascript, mine: mineEcmascript },
  python: { query: pythonQuery, mine: minePython },
  go: { query: goQuery, mine: mineGo },
  rust: { query: rustQuery, mine: mineRust },
  java: { query: javaQuery, mine: mineJava },
};

const read: Record<TextLanguage, (text: string) => Draft> = {
  markdown: mineMarkdown,
  rst: mineRst,
  text: minePlain,
  kconfig: mineKconfig,
  make: mineMake,
  maintainers: mineMaintainers,
  settings: mineSettings,
  shell: mineShell,
};

/** Reads sources into facts. Holds the grammars it has loaded so far; dispose of it to free them. */
export class Miner implements AsyncDisposable {
  readonly #grammars = new Grammars((language) => parsed[language].query);
  readonly #rules: RulesInForce;

  constructor(rules = shippedRules) {
    this.#rules = rules;
  }

  /**
   * Facts depend on language, bytes and the rules of O2 alone. Broken text gives fewer facts, never an error; bytes that
   * are not UTF-8 read as U+FFFD. Throws MINER_FAILED when the grammar cannot be loaded or gives up.
   */
  async mine(language: FactsLanguage, source: Uint8Array): Promise<FileFacts> {
    const bytes = source.byteLength;
    const text = Buffer.from(source.buffer, source.byteOffset, bytes).toString('utf8');
    const draft = await this.#draft(language, text, bytes);
    // First: it sorts symbols and calls by their offsets.
    const facts = draft.finish(language, bytes);
    return {
      ...facts,
      generated: saysGenerated(language, text),
      items: itemsOf({ language, text: draft.text, draft }, this.#rules),
    };
  }

  async #draft(language: FactsLanguage, text: string, bytes: number): Promise<Draft> {
    if (isText(language))
      return bytes > parseBytesMax ? unparsed(language, text) : read[language](text);
    // Also where it is not parsed: items are made of the same text.
    const readable = readableText(language, text);
    if (!isParsable(language, text, bytes)) return unparsed(language, readable);
    return parsed[language].mine(await this.#grammars.get(language), readable);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#grammars[Symbol.asyncDispose]();
  }
}

/** Whether a text is small and flat enough for its grammar. */
export function isParsable(language: GrammarLanguage, text: string, bytes: number): boolean {
  const bytesMax = isCFamily(language) ? cParseBytesMax : parseBytesMax;
  return bytes <= bytesMax && bracketDepthOf(text) <= bracketDepthMax;
}

/** With the same offsets, but without comments that no parser gets through in time. */
export function readableText(language: GrammarLanguage, text: string): string {
  return language === 'python' ? text : withoutEndlessComments(text);
}

function isText(language: FactsLanguage): language is TextLanguage {
  return (textLanguages as readonly string[]).includes(language);
}

/** What is not read counts as not understood, so that reports tell of it. */
function unparsed(language: FactsLanguage, text: string): Draft {
  const draft = isCFamily(language)
    ? scanDefines(text)
    : new Draft(text, Math.min(text.length, parseBytesMax));
  if (draft.scanned.length === 0) draft.error(0, text.length);
  return draft;
}

/** Blanks the marks that begin comments behind the last end of one, if there are too many to try. */
function withoutEndlessComments(text: string): string {
  const end = text.lastIndexOf('*/') + 1;
  const triesMax = endlessCommentStepsMax / Math.max(1, text.length - end);
  let tries = 0;
  for (let at = text.indexOf('/*', end); at >= 0; at = text.indexOf('/*', at + 2)) {
    tries += 1;
    if (tries > triesMax) return text.slice(0, end) + text.slice(end).replaceAll('/*', '  ');
  }
  return text;
}

/** Counts brackets in strings and comments too: it is a bound, not a measure. */
function bracketDepthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x28: // (
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case 0x29:
      case 0x5d:
      case 0x7d:
        if (depth > 0) depth -= 1;
        break;
    }
  }
  return deepest;
}
