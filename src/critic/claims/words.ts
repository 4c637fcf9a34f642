export const testPath =
  /(?:^|[/._-])(?:tests?|specs?|__tests__|benchmarks?|bench|examples?|fixtures?)(?:[/._-]|$)/i;

/** Every identifier of the code, with the file in which it occurs first. */
export class Words {
  bytes = 0;
  /** The tree was too large, or not all of it was read: a missing word proves nothing. */
  isComplete = true;
  /** Flags with the first file that spells them; tests are left out. */
  readonly flags = new Map<string, string>();
  readonly #files: { file: string; text: string }[] = [];
  readonly #first = new Map<string, number>();
  #quoted: Set<string> | undefined;

  add(file: string, text: string): void {
    const at = this.#files.length;
    this.#files.push({ file, text });
    this.bytes += text.length;
    for (const [word] of text.matchAll(/[A-Za-z_$][\w$]*/g))
      if (!this.#first.has(word)) this.#first.set(word, at);
    if (testPath.test(file)) return;
    for (const [flag] of text.matchAll(/(?<![\w-])--[A-Za-z][\w-]{1,60}/g))
      if (!this.flags.has(flag)) this.flags.set(flag, file);
  }

  has(word: string): boolean {
    return this.#first.has(word);
  }

  /** Whether the text is all that some quotation marks of the code hold; tests are left out. */
  hasText(text: string): boolean {
    if (this.#quoted === undefined) {
      this.#quoted = new Set();
      for (const each of this.texts())
        for (const [, , inner = ''] of each.text.matchAll(/(['"`])([^'"`\s]{1,40})(?=\1)/g))
          this.#quoted.add(inner);
    }
    return this.#quoted.has(text);
  }

  all(): Iterable<string> {
    return this.#first.keys();
  }

  /** Where the word occurs first. */
  placeOf(word: string): { file: string; line: number } | undefined {
    const found = this.#files[this.#first.get(word) ?? -1];
    return found && { file: found.file, line: lineOfWord(found.text, word) };
  }

  /** Files that are no tests, in the order of their paths. */
  *texts(): Iterable<{ file: string; text: string }> {
    for (const each of this.#files) if (!testPath.test(each.file)) yield each;
  }
}

export function hasWord(text: string, word: string): boolean {
  return placesOf(text, word).next().done === false;
}

/** Offsets at which a word stands by itself. */
export function* placesOf(text: string, word: string): Generator<number> {
  if (word === '') return;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = text[at - 1] ?? ' ';
    const after = text[at + word.length] ?? ' ';
    if (!/[\w$]/.test(before) && !/[\w$]/.test(after)) yield at;
  }
}

/** 1-based; 1 where the word is missing. */
export function lineOfWord(text: string, word: string): number {
  const [at = 0] = placesOf(text, word);
  return lineOf(text, at);
}

export function lineOf(text: string, at: number): number {
  let line = 1;
  for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', next + 1))
    line += 1;
  return line;
}

/** The known name that differs least, by at most two edits, one where it has less than twelve letters; undefined: none is so near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let max = Math.min(2, Math.floor(name.length / 6));
  let best: string | undefined;
  for (const each of known) {
    if (each === name || Math.abs(each.length - name.length) > max) continue;
    const count = edits(name, each);
    if (count > max) continue;
    best = each;
    max = count - 1;
    if (max <= 0) break;
  }
  return best;
}

/** Two neighbours that have changed places are one edit, as in `wakl`. */
function edits(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const same = one[at - 1] === other[to - 1] ? 0 : 1;
      const isSwapped =
        at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      next.push(
        Math.min(
          (row[to] ?? 0) + 1,
          (next[to - 1] ?? 0) + 1,
          (row[to - 1] ?? 0) + same,
          isSwapped ? (before[to - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    [before, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
