import { BusError } from '../../../errors/bus-error.js';

/** How the parts of an expression are written; words in either case. */
const signs = {
  union: ['+', '|', '∪', 'OR'],
  difference: ['-', '\\', '−', 'MINUS'],
  intersection: ['&', '∩', 'AND'],
  complement: ['!', '¬', 'NOT'],
  open: ['('],
  close: [')'],
  filter: ['['],
  end: [']'],
  comma: [','],
} as const;
export type Sign = keyof typeof signs;

/** Reads a text from its beginning, and says where it could not go on. */
export class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#skipSpace();
  }

  /** Where the next thing begins; for `fail` and `refuse`. */
  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Only whole words: `ORDER` is no `OR`. */
  take(sign: Sign): boolean {
    const word = this.#wordAt(this.#at).toUpperCase();
    const found = signs[sign].find((each) =>
      /\w/.test(each) ? each === word : this.#text.startsWith(each, this.#at),
    );
    if (found !== undefined) this.#advance(found.length);
    return found !== undefined;
  }

  /** The first of these texts that stands here. */
  takeOneOf<T extends string>(texts: readonly T[]): T | undefined {
    const found = texts.find((each) => this.#text.startsWith(each, this.#at));
    if (found !== undefined) this.#advance(found.length);
    return found;
  }

  /** What a sticky pattern takes from here on; empty when it takes nothing. */
  match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#advance(found.length);
    return found;
  }

  /** Throws USAGE. */
  fail(expected: string, at = this.#at): never {
    const word = this.#wordAt(at);
    const sign = word === '' ? String.fromCodePoint(this.#text.codePointAt(at) ?? 0) : word;
    const found = at >= this.#text.length ? 'the end' : `"${sign}"`;
    this.refuse(`expected ${expected}, found ${found}`, at);
  }

  /** Throws USAGE. */
  refuse(detail: string, at: number): never {
    throw new BusError('USAGE', { detail: `column ${at + 1}: ${detail}` });
  }

  #wordAt(at: number): string {
    const word = /[\p{L}\p{N}_]*/uy;
    word.lastIndex = at;
    return word.exec(this.#text)?.[0] ?? '';
  }

  #advance(length: number): void {
    this.#at += length;
    this.#skipSpace();
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at += 1;
  }
}
