import type { FileFacts, WordCounts } from '../format/facts.js';
import { newBodyTermsOf, IdentifierTable } from '../format/words.js';

/** A count fits a byte; more repetitions in one document change no ranking. */
const wordCountMax = 255;
/** Identifiers that a thread remembers with their words, over all texts; with more it begins anew. */
const rememberedMax = 150_000;

/** Where a document's words stand: of a symbol, with the comment before it. */
interface Extent {
  wordsStart: number;
  end: number;
}

/** `[from, to)` of the text counts for a document. */
interface Segment {
  document: number;
  from: number;
  to: number;
}

/** Cuts the text so that each character counts for the innermost symbol around it, or for the rest. */
function segmentsOf(textEnd: number, symbols: readonly Extent[]): Segment[][] {
  const segments: Segment[][] = Array.from({ length: symbols.length + 1 }, () => []);
  const order = symbols
    .map((symbol, document) => ({ document, from: symbol.wordsStart, to: symbol.end }))
    .sort((a, b) => a.from - b.from || b.to - a.to);
  const open: Segment[] = [{ document: symbols.length, from: 0, to: textEnd }];
  let at = 0;
  const advance = (to: number): void => {
    while (at < to) {
      const top = open.at(-1);
      if (top === undefined) return;
      const end = Math.min(to, top.to);
      if (end > at) segments[top.document]?.push({ document: top.document, from: at, to: end });
      at = Math.max(at, end);
      if (top.to > to) return;
      open.pop();
    }
  };
  for (const each of order) {
    advance(Math.min(each.from, textEnd));
    while (open.length > 1 && (open.at(-1)?.to ?? 0) <= each.from) open.pop();
    // Symbols of broken text may overlap; one that ends behind the symbol around it is cut.
    open.push({ ...each, to: Math.min(each.to, open.at(-1)?.to ?? textEnd) });
  }
  advance(textEnd);
  return segments;
}

interface Word {
  readonly text: string;
  /** The last text and the last document that have it; its number in that text, how often the document has it. */
  inText: number;
  id: number;
  inDocument: number;
  count: number;
}

/** The words of all identifiers that this thread has met. */
class WordMemory {
  readonly #words = new Map<string, Word>();
  readonly identifiers = new IdentifierTable((identifier) =>
    newBodyTermsOf(identifier).map((term) => this.#word(term)),
  );

  #word(text: string): Word {
    let word = this.#words.get(text);
    if (word === undefined) {
      word = { text, inText: 0, id: 0, inDocument: 0, count: 0 };
      this.#words.set(text, word);
    }
    return word;
  }
}

let memory = new WordMemory();
let texts = 0;
let documentsSeen = 0;

/** A document for each symbol, and one for the rest of the text. */
export function countWords(
  text: string,
  textEnd: number,
  symbols: readonly Extent[],
): Pick<FileFacts, 'words' | 'documents'> {
  if (memory.identifiers.size >= rememberedMax) memory = new WordMemory();
  const { identifiers } = memory;
  const words: string[] = [];
  texts += 1;
  let found: Word[] = [];
  const count = (its: readonly Word[]): void => {
    for (const word of its) {
      if (word.inDocument === documentsSeen) {
        word.count += 1;
        continue;
      }
      if (word.inText !== texts) {
        word.inText = texts;
        word.id = words.push(word.text) - 1;
      }
      word.inDocument = documentsSeen;
      word.count = 1;
      found.push(word);
    }
  };
  const documents = segmentsOf(textEnd, symbols).map((segments): WordCounts => {
    documentsSeen += 1;
    found = [];
    for (const { from, to } of segments) identifiers.each(text, from, to, count);
    return {
      word: found.map(({ id }) => id),
      count: found.map((each) => Math.min(each.count, wordCountMax)),
    };
  });
  return { words, documents };
}
