import {
  isCFamily,
  isCode,
  type FileFacts,
  type GrammarLanguage,
  type ItemFact,
} from '../format/facts.js';
import { readable as readableC } from './languages/c/c-text.js';
import { regular } from './languages/c/c-regular.js';
import { partsOf, partsQuery, type CodeParts } from './code-parts.js';
import { readable as readableEs } from './languages/ecmascript/es-text.js';
import { Grammars } from './grammar.js';
import { languageIn, languageOf } from '../source/language.js';
import { isParsable, Miner, readableText } from './mine.js';

/** One text of source code: its facts, and the parts of its syntax tree that facts leave out. */
export interface SourceCode {
  path: string;
  language: GrammarLanguage;
  text: string;
  lines: readonly string[];
  facts: FileFacts;
  parts: CodeParts;
}

/** Characters. A longer text is mostly generated, and a grammar may take minutes over a hostile one. */
const textCharsMax = 128 * 1024;

/** Undefined: the path is not of a language that is parsed. */
export function codeLanguageOf(path: string): GrammarLanguage | undefined {
  const language = languageOf(path);
  return language === undefined || !isCode(language) ? undefined : (language as GrammarLanguage);
}

/** Parses texts as the index does, without one. Holds the grammars it has loaded; dispose of it to free them. */
export class CodeReader implements AsyncDisposable {
  readonly #miner = new Miner();
  readonly #grammars = new Grammars((language) => partsQuery[language]);

  /** Undefined: it is no source code of a language that is parsed, or too large or too deep for its grammar. Throws MINER_FAILED. */
  async read(path: string, text: string): Promise<SourceCode | undefined> {
    const language = languageWithin(path, text);
    if (language === undefined) return undefined;
    const facts = await this.#miner.mine(language, Buffer.from(text));
    const parts = partsOf(await this.#grammars.get(language), text, parsable(language, text));
    return { path, language, text, lines: text.split('\n'), facts, parts };
  }

  /** The first line that its grammar cannot read; undefined: it reads all of it, or there is none for it. Throws MINER_FAILED. */
  async brokenLine(path: string, text: string): Promise<number | undefined> {
    const language = languageWithin(path, text);
    if (language === undefined) return undefined;
    return (await this.#grammars.get(language)).brokenLine(parsable(language, text));
  }

  /** The overlay items of one text; none where its language is not mined. Throws MINER_FAILED. */
  async itemsOf(path: string, text: string): Promise<ItemFact[]> {
    const language = languageOf(path);
    if (language === undefined || text.length > textCharsMax) return [];
    return (await this.#miner.mine(language, Buffer.from(text))).items;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#miner[Symbol.asyncDispose]();
    await this.#grammars[Symbol.asyncDispose]();
  }
}

/** Undefined: it is not parsed. */
function languageWithin(path: string, text: string): GrammarLanguage | undefined {
  const named = codeLanguageOf(path);
  if (named === undefined || text.length > textCharsMax) return undefined;
  const bytes = Buffer.from(text);
  const language = languageIn(named, path, bytes) as GrammarLanguage;
  return isParsable(language, text, bytes.length) ? language : undefined;
}

/** With the same offsets, but without code that the grammar cannot parse. */
function parsable(language: GrammarLanguage, written: string): string {
  const text = readableText(language, written);
  if (isCFamily(language)) return regular(readableC(text)).text;
  return /^(?:javascript|typescript|tsx)$/.test(language) ? readableEs(text) : text;
}
