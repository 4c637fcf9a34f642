/** The longest rows of letters, and of letters and signs of tokens, that stand in all that a pattern finds. */
export interface NeededRow {
  letters: number;
  signs: number;
}

const none: NeededRow = { letters: 0, signs: 0 };
const quantifier = /(?:[*?]|\+|\{(\d+)(?:,\d*)?\})\??/y;
const groupHead = /\?(?:P?<\w+>|[a-z]*:)/y;
const flags = /\?[a-z]+\)/y;
const plainClass = /^(?:a-z|A-Z|0-9|a-f|A-F|\\d|[A-Za-z0-9])+$/;
const tokenClass = /^(?:a-z|A-Z|0-9|a-f|A-F|\\[dw]|\\?[-+/=_.~]|[A-Za-z0-9])+$/;

/** Nothing is said of what this does not understand. */
export function neededRow(pattern: string): NeededRow {
  const reader = new Reader(pattern);
  const needed = reader.alternatives();
  return reader.isAtEnd ? needed : none;
}

class Reader {
  #at = 0;

  constructor(readonly pattern: string) {}

  get isAtEnd(): boolean {
    return this.#at >= this.pattern.length;
  }

  /** What each of them needs; up to the bracket that closes them. */
  alternatives(): NeededRow {
    let needed = this.#sequence();
    while (this.#take('|')) needed = least(needed, this.#sequence());
    return needed;
  }

  #sequence(): NeededRow {
    let needed = none;
    while (!this.isAtEnd && !'|)'.includes(this.pattern.charAt(this.#at))) {
      const part = this.#part();
      const times = this.#times();
      needed = most(needed, repeated(part, times));
    }
    return needed;
  }

  #part(): NeededRow | { each: NeededRow } {
    if (this.#take('(')) {
      if (this.#match(flags) !== undefined) return none;
      this.#match(groupHead);
      const inside = this.alternatives();
      // Without it, the end of the pattern is not reached.
      if (!this.#take(')')) return none;
      return inside;
    }
    if (this.pattern.charAt(this.#at) === '[') return { each: this.#class() };
    this.#at += this.pattern.charAt(this.#at) === '\\' ? 2 : 1;
    return none;
  }

  #class(): NeededRow {
    const from = this.#at + 1;
    let at = this.pattern.charAt(from) === '^' ? from + 1 : from;
    // A bracket that comes first is one of the letters.
    if (this.pattern.charAt(at) === ']') at += 1;
    while (at < this.pattern.length && this.pattern.charAt(at) !== ']') {
      const isNamed = this.pattern.startsWith('[:', at);
      at = isNamed ? this.pattern.indexOf(':]', at) + 2 : at + (this.pattern[at] === '\\' ? 2 : 1);
    }
    this.#at = at + 1;
    const inside = this.pattern.slice(from, at);
    if (plainClass.test(inside)) return { letters: 1, signs: 1 };
    return tokenClass.test(inside) ? { letters: 0, signs: 1 } : none;
  }

  #times(): number {
    const found = this.#match(quantifier);
    if (found === undefined || found[0].startsWith('+')) return 1;
    return Number(found[1] ?? 0);
  }

  #take(sign: string): boolean {
    if (!this.pattern.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  #match(what: RegExp): RegExpExecArray | undefined {
    what.lastIndex = this.#at;
    const found = what.exec(this.pattern) ?? undefined;
    if (found !== undefined) this.#at = what.lastIndex;
    return found;
  }
}

function repeated(part: NeededRow | { each: NeededRow }, times: number): NeededRow {
  if (!('each' in part)) return times > 0 ? part : none;
  return { letters: part.each.letters * times, signs: part.each.signs * times };
}

function most(one: NeededRow, other: NeededRow): NeededRow {
  return {
    letters: Math.max(one.letters, other.letters),
    signs: Math.max(one.signs, other.signs),
  };
}

function least(one: NeededRow, other: NeededRow): NeededRow {
  return {
    letters: Math.min(one.letters, other.letters),
    signs: Math.min(one.signs, other.signs),
  };
}
