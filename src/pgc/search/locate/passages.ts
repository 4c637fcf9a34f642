import { bodyTermsOf, eachIdentifier } from '../../format/words.js';
import { wordMax } from './saturation.js';

/** A passage of so many words is as long as most are. */
const usualWords = 60;
const lengthShare = 0.75;
const k1 = 1.2;
/** One that does not end by itself ends at the next empty line behind this. */
const passageLinesMax = 80;

export interface Passage {
  /** BM25 over the square root of what could be attained. */
  score: number;
  /** 1-based. */
  line: number;
}

/**
 * Finds the passage of a text that says most of what is looked for: a function with the comment above it, a
 * section, a paragraph. A long file has all words somewhere; the place where they stand together tells more.
 */
export class PassageFinder {
  readonly #filter = new BeginningFilter();
  /** By word as it is written: which terms it is. */
  readonly #termsOf = new Map<string, readonly number[]>();
  readonly #ids = new Map<string, number>();
  readonly #worths: number[] = [];
  readonly #divisor: number;
  #counts = new Uint16Array(0);

  /** `worths`: what each term is worth, by its weight in the report and its rareness. */
  constructor(worths: ReadonlyMap<string, number>) {
    let mass = 0;
    for (const [term, worth] of worths) {
      this.#ids.set(term, this.#worths.push(worth) - 1);
      this.#filter.add(term);
      mass += worth;
    }
    this.#divisor = Math.sqrt(mass * wordMax) || 1;
    this.#counts = new Uint16Array(this.#worths.length);
  }

  best(lines: readonly string[]): Passage {
    const best: Passage = { score: 0, line: 0 };
    let start = 0;
    for (let at = 1; at <= lines.length; at += 1) {
      if (at < lines.length && !isBreak(lines, at, at - start)) continue;
      const score = this.#score(lines, start, at);
      if (score > best.score) Object.assign(best, { score, line: start + 1 });
      start = at;
    }
    return best;
  }

  #score(lines: readonly string[], from: number, to: number): number {
    let words = 0;
    const touched: number[] = [];
    for (let at = from; at < to; at += 1) {
      const line = lines[at] ?? '';
      eachIdentifier(line, 0, line.length, (identifier) => {
        words += 1;
        if (!this.#filter.mayHold(identifier)) return;
        for (const term of this.#known(identifier)) {
          if (this.#counts[term] === 0) touched.push(term);
          this.#counts[term] = (this.#counts[term] ?? 0) + 1;
        }
      });
    }
    const norm = k1 * (1 - lengthShare + (lengthShare * words) / usualWords);
    let score = 0;
    for (const term of touched) {
      const count = this.#counts[term] ?? 0;
      score += ((this.#worths[term] ?? 0) * count * wordMax) / (count + norm);
      this.#counts[term] = 0;
    }
    return score / this.#divisor;
  }

  #known(identifier: string): readonly number[] {
    let known = this.#termsOf.get(identifier);
    if (known === undefined) {
      known = bodyTermsOf(identifier).flatMap((term) => this.#ids.get(term) ?? []);
      this.#termsOf.set(identifier, known);
    }
    return known;
  }
}

/**
 * Most words of a text are none that are looked for, which the first three letters of all terms show without
 * taking the word apart: no stem loses them. Letters count by their last five bits, capital or not.
 */
class BeginningFilter {
  readonly #beginnings = new Uint8Array(2 ** 15);

  add(term: string): void {
    const first = codeAt(term, 0) * 1_024 + codeAt(term, 1) * 32;
    if (term.length > 2) this.#beginnings[first + codeAt(term, 2)] = 1;
    else this.#beginnings.fill(1, first, first + 32);
  }

  mayHold(identifier: string): boolean {
    if (identifier.length < 3) return true;
    let rolling = codeAt(identifier, 0) * 32 + codeAt(identifier, 1);
    for (let at = 2; at < identifier.length; at += 1) {
      rolling = ((rolling & 1_023) << 5) | codeAt(identifier, at);
      if (this.#beginnings[rolling] === 1) return true;
    }
    // A part of two letters may be the last.
    return this.#beginnings[(rolling & 1_023) << 5] === 1;
  }
}

function codeAt(text: string, at: number): number {
  return text.charCodeAt(at) & 31;
}

/** Whether a passage of so many lines ends before this line. */
function isBreak(lines: readonly string[], at: number, length: number): boolean {
  const isBehindEmpty = (lines[at - 1] ?? '').trim() === '';
  return isBehindEmpty && (length > passageLinesMax || /^\S/.test(lines[at] ?? ''));
}
