import { blanked } from '../comment.js';

interface Edit {
  from: number;
  to: number;
  /** The replacement, filled up with blanks. */
  word: string;
  keepsLines: boolean;
}

/** Replacements that move nothing; they come in any order and may overlap. */
export class Edits {
  readonly #edits: Edit[] = [];

  /** Blanks `[from, to)`. Line breaks stay, unless the lines are `joined`. */
  blank(from: number, to: number, joined = false): void {
    if (to > from) this.#edits.push({ from, to, word: '', keepsLines: !joined });
  }

  /** Puts a word that is not longer in the place of `[from, to)`. */
  replace(from: number, to: number, word: string): void {
    this.#edits.push({ from, to, word, keepsLines: false });
  }

  /** The text after all edits, of the same length. Of two that overlap, the one that begins first counts. */
  applied(text: string): string {
    if (this.#edits.length === 0) return text;
    const pieces: string[] = [];
    let done = 0;
    for (const edit of this.#edits.sort((a, b) => a.from - b.from || b.to - a.to)) {
      if (edit.to <= done) continue;
      const from = Math.max(edit.from, done);
      const length = edit.to - from;
      pieces.push(text.slice(done, from));
      if (edit.keepsLines) pieces.push(blanked(text.slice(from, edit.to)));
      else pieces.push((from === edit.from ? edit.word : '').padEnd(length));
      done = edit.to;
    }
    pieces.push(text.slice(done));
    return pieces.join('');
  }
}
