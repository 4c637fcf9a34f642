import type { FactsLanguage } from '../../format/facts.js';
import type { CallDraft } from '../draft.js';
import type { ItemSource } from './item.js';

/** Characters of arguments that are read. */
const argumentCharsMax = 400;
/** And the beginning of a line, where a macro says that it is one. */
const headCharsMax = 1_000;

/** Between a name and its arguments: `f::<T> (`, `f! (`. */
const opening = /\s{0,200}(?:<[^()]{0,80}>\s{0,200})?(?:!\s{0,200})?\(/y;
/** `')'` is one character. A lifetime of Rust, `'a`, is none. */
const character = /'(?:[^'\\\n]|\\[^\n]{1,10}?)'/y;
const quoted = /'(?:[^'\\\n]|\\.){0,400}'|`(?:[^`\\\n]|\\.){0,400}`/y;
const withQuotes: ReadonlySet<FactsLanguage> = new Set([
  ...(['javascript', 'typescript', 'tsx', 'python'] as const),
]);
/** Declarations of characters (an array or a pointer) that are given a literal. */
const constants = /\bchar\b([^;=(){}]{1,300})=\s{0,100}(?:\w{1,60}\s{1,100})?"/g;

/** The code of one text, asked about one call after the other, in their order. */
export class CodeText {
  readonly #text: string;
  readonly #others: RegExp;
  #constants: Set<string> | undefined;
  /** The line that was last asked about, and where it begins if lines that end in `\` are one. */
  #line = { from: -1, start: -1 };

  constructor({ text, language }: Pick<ItemSource, 'text' | 'language'>) {
    this.#text = text;
    this.#others = withQuotes.has(language) ? quoted : character;
  }

  /** The text in the brackets of a call; undefined when there are none. */
  argumentsOf(call: CallDraft): string | undefined {
    const at = this.#nameEnd(call);
    return at === undefined ? undefined : argumentsAt(this.#text, at, this.#others);
  }

  /** In a `#define`, which goes on where a line ends in `\`. */
  isInMacro(at: number): boolean {
    const last = this.#line;
    const line = this.#text.lastIndexOf('\n', at - 1) + 1;
    let start = line;
    while (start !== last.from && this.#isContinued(start))
      start = this.#text.lastIndexOf('\n', start - 2) + 1;
    // Calls come in order: no line is gone back over twice.
    if (start === last.from) start = last.start;
    this.#line = { from: line, start };
    return /^[ \t]*#[ \t]*define\b/.test(this.#text.slice(start, start + headCharsMax));
  }

  /** A name that this very text gives a literal to. */
  isConstant(name: string): boolean {
    this.#constants ??= constantsOf(this.#text);
    return this.#constants.has(name);
  }

  /** The line before the one that begins at `start` ends in `\`. */
  #isContinued(start: number): boolean {
    const end = this.#text.charAt(start - 2) === '\r' ? start - 3 : start - 2;
    return this.#text.charAt(end) === '\\';
  }

  /** The offset behind the name, or behind its bracket: `(strcpy)(p, q)`. Undefined when an expression is called. */
  #nameEnd({ at, callee }: CallDraft): number | undefined {
    if (this.#text.charAt(at) !== '(') return at + callee.length;
    const [bracket] = /^\(\s{0,50}\w+\s{0,50}\)/.exec(
      this.#text.slice(at, at + callee.length + headCharsMax),
    ) ?? [''];
    return bracket.slice(1, -1).trim() === callee ? at + bracket.length : undefined;
  }
}

/** The text in the brackets behind offset `at`; undefined when there are none. `others`: quotes beside `"`. */
export function argumentsAt(text: string, at: number, others = character): string | undefined {
  opening.lastIndex = at;
  if (!opening.test(text)) return undefined;
  const from = opening.lastIndex;
  return text.slice(from, listEnd(text, from, others));
}

/** Offset of the bracket that closes the list which begins at `from`, or as far as it is read. */
function listEnd(text: string, from: number, others: RegExp): number {
  const stop = Math.min(text.length, from + argumentCharsMax);
  let depth = 1;
  let isText = false;
  for (let to = from; to < stop; to += 1) {
    const sign = text.charAt(to);
    if (sign === '"') isText = !isText;
    else if (sign === '\\') to += 1;
    else if (isText) continue;
    else if (sign === '(') depth += 1;
    else if (sign === ')' && (depth -= 1) === 0) return to;
    else if (sign === "'" || sign === '`') {
      others.lastIndex = to;
      if (others.test(text)) to = others.lastIndex - 1;
    }
  }
  return stop;
}

function constantsOf(text: string): Set<string> {
  const names = new Set<string>();
  for (const [, declared = ''] of text.matchAll(constants))
    for (const [name] of declared.matchAll(/\w+/g)) names.add(name);
  return names;
}
