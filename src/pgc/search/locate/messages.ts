import { identifiersOf } from '../../format/words.js';

/** A string of the code that a line of the report was printed with. */
export interface MatchedMessage {
  /** Of the report. */
  line: string;
  /** Line of the code, 1-based. */
  at: number;
  /** Characters of the string that stand in the line. */
  chars: number;
}

/** Shorter strings stand in any line. */
const constantCharsMin = 10;
/** Of one file; tables of strings have more. */
const stringsMax = 5_000;
/** Lines that are compared with one string. */
const linesPerStringMax = 16;
const codeLineCharsMax = 1_000;
const stringLiteral =
  /"((?:[^"\\]|\\.){6,400})"|'((?:[^'\\]|\\.){6,400})'|`((?:[^`\\]|\\.){6,400})`/g;
/** Placeholders of printf, of the kernel (`%pM`), of format strings and templates. */
const conversion =
  /%[-+ #0]{0,4}(?:\d{1,4}|\*)?(?:\.(?:\d{1,4}|\*))?(?:hh|h|ll|l|z|t|j|L)?(?:p[a-zA-Z0-9]{0,4}|[a-zA-Z%])|\$?\{[^{}]{0,80}\}|\\[nrt]/g;

/** Compares the lines of a report with the strings of many files, in time linear to their size. */
export class ReportMessages {
  readonly #lines: readonly string[];
  /** By word: the lines that have it. */
  readonly #byWord = new Map<string, number[]>();

  constructor(lines: readonly string[]) {
    this.#lines = lines;
    lines.forEach((line, at) => {
      for (const word of new Set(identifiersOf(line))) {
        const known = this.#byWord.get(word);
        if (known === undefined) this.#byWord.set(word, [at]);
        else known.push(at);
      }
    });
  }

  /** The strings of a text that lines of the report were printed with, the longest first. */
  matchesIn(lines: readonly string[]): MatchedMessage[] {
    const found: MatchedMessage[] = [];
    let strings = 0;
    for (const [at, line] of lines.entries()) {
      for (const [, double, single, template] of line
        .slice(0, codeLineCharsMax)
        .matchAll(stringLiteral)) {
        strings += 1;
        if (strings > stringsMax) return best(found);
        const match = this.#match(double ?? single ?? template ?? '');
        if (match !== undefined) found.push({ ...match, at: at + 1 });
      }
    }
    return best(found);
  }

  #match(text: string): Omit<MatchedMessage, 'at'> | undefined {
    const parts = text.split(conversion).filter((part) => part.trim() !== '');
    const chars = parts.reduce((sum, part) => sum + part.trim().length, 0);
    if (chars < constantCharsMin) return undefined;
    const lines = this.#linesWith(parts);
    const line = lines.find((each) => standsIn(this.#lines[each] ?? '', parts));
    return line === undefined ? undefined : { line: this.#lines[line] ?? '', chars };
  }

  /** Lines with the rarest whole word of the parts; none when a word stands in no line. */
  #linesWith(parts: readonly string[]): number[] {
    let rarest: number[] | undefined;
    for (const [at, part] of parts.entries()) {
      for (const word of identifiersOf(wholeWords(part, at === 0, at === parts.length - 1))) {
        const its = this.#byWord.get(word);
        if (its === undefined) return [];
        if (rarest === undefined || its.length < rarest.length) rarest = its;
      }
    }
    return (rarest ?? []).slice(0, linesPerStringMax);
  }
}

/** Without what goes on in that which is filled in before it or after it. */
function wholeWords(part: string, isFirst: boolean, isLast: boolean): string {
  const from = isFirst ? 0 : part.search(/\W|$/);
  let to = part.length;
  while (!isLast && to > from && /\w/.test(part.charAt(to - 1))) to -= 1;
  return part.slice(from, to);
}

/** Whether the parts stand in the line one after the other. */
function standsIn(line: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const at = line.indexOf(part.trim(), from);
    if (at < 0) return false;
    from = at + part.trim().length;
  }
  return true;
}

function best(found: MatchedMessage[]): MatchedMessage[] {
  return found.sort((a, b) => b.chars - a.chars || a.at - b.at);
}
