import type { ModeInput } from '../mode.js';
import type { Place } from './markdown.js';
import type { Evidence } from '../shapes.js';
import type { ModelFinding } from '../model/model-answer.js';

/** Letters and digits; a shorter quote occurs by chance. */
const quoteCharsMin = 8;

/** A text to find quotes in, whatever their whitespace, with their lines. */
export class Quotable {
  readonly #plain: string;
  /** Where in `#plain` each line begins. */
  readonly #begins: number[] = [];

  constructor(text: string) {
    const pieces: string[] = [];
    let length = 0;
    for (const line of text.split(/\r\n|\n|\r/)) {
      this.#begins.push(length);
      const plain = plainOf(line);
      if (plain === '') continue;
      pieces.push(plain);
      length += plain.length + 1;
    }
    this.#plain = pieces.join(' ');
  }

  /** Undefined: the text lacks it, or it is too short to tell. */
  find(quote: string): Place | undefined {
    const plain = plainOf(quote);
    if (plain.replace(/[^\p{L}\p{N}]/gu, '').length < quoteCharsMin) return undefined;
    const from = this.#plain.indexOf(plain);
    if (from < 0) return undefined;
    return { line_start: this.#lineAt(from), line_end: this.#lineAt(from + plain.length - 1) };
  }

  holds(quote: string): boolean {
    return this.find(quote) !== undefined;
  }

  /** The last line that begins at or before the offset; a blank line begins where the next one does. */
  #lineAt(at: number): number {
    let low = 0;
    let high = this.#begins.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#begins[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }
}

function plainOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The evidence as the tree has it; undefined: a quote is not in the tree. */
export async function verifiedEvidence(
  evidence: ModelFinding['evidence'],
  { ground }: ModeInput,
): Promise<Evidence[] | undefined> {
  const verified: Evidence[] = [];
  for (const { file_path, line_start, line_end, content } of evidence) {
    const text = await ground?.read(file_path);
    if (text === undefined || line_end < line_start || plainOf(content) === '') return undefined;
    const lines = text
      .split('\n')
      .slice(line_start - 1, line_end)
      .join('\n');
    if (!plainOf(lines).includes(plainOf(content))) return undefined;
    verified.push({ file_path, line_start, line_end, content: lines, blob: '', symbol: '' });
  }
  return verified;
}

/** Quotation marks around enough words to be a quote. */
const quotes = /"([^"\n]{12,500})"|“([^”\n]{12,500})”/g;
const sentenceEnd = /(?<=[.!?])\s+(?=[\p{Lu}"“*`])/u;

/** A text of a model without the sentences whose quotes no source has. */
export function withoutInvented(
  text: string,
  sources: readonly Quotable[],
): { text: string; dropped: number } {
  let dropped = 0;
  const lines = text.split('\n').map((line) =>
    line
      .split(sentenceEnd)
      .filter((sentence) => {
        const quoted = [...sentence.matchAll(quotes)].map(([, one, other]) => one ?? other ?? '');
        const isInvented = quoted.some((quote) => !sources.some((source) => source.holds(quote)));
        if (isInvented) dropped += 1;
        return !isInvented;
      })
      .join(' '),
  );
  return { text: lines.join('\n').trim(), dropped };
}
