import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { OpenFiles } from '../container/section-file.js';
import type { Section } from '../container/section.js';
import {
  corrupt,
  sectionsIn,
  writeSections,
  type SectionLayout,
} from '../container/segment-file.js';

/** Raised whenever the layout or the meaning of a section changes. */
const wordsFormat = 2;
const names = [
  'info', // JSON: dims
  'vocabulary', // index terms, one a line
  'inText', // f32: what a row is multiplied with in a text
  'inFunction', // f32: and in a function
  'rows', // i8: dims a word
] as const;
const layout: SectionLayout<(typeof names)[number]> = {
  magic: 'SIGMAWRD',
  format: wordsFormat,
  names,
};
const infoShape = z.object({ dims: z.number().int().min(1).max(1024) });
const rowMax = 127;

/** As learned: `vectors` has a row for each word, by which it counts `inText` and `inFunction` times. */
export interface LearnedWords {
  words: readonly string[];
  dims: number;
  vectors: Float32Array;
  inText: Float32Array;
  inFunction: Float32Array;
}

/** The vectors that are part of the program; `test/bench/vectors` learned them. */
export const wordsPath = fileURLToPath(new URL('words.bin', import.meta.url));

/**
 * What people say of a function lies near it. Learned from commits and comments, so that `retry` is near `backoff` and
 * `attempt`: the words of questions are seldom the words of code.
 */
export class WordVectors {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #signed: Int8Array;

  private constructor(
    words: readonly string[],
    readonly dims: number,
    private readonly rows: Section,
    private readonly inText: Float32Array,
    private readonly inFunction: Float32Array,
  ) {
    this.#numbers = new Map(words.map((word, number) => [word, number]));
    this.#signed = bytesOf(rows.bytes);
  }

  /** Throws INDEX_CORRUPT, INDEX_MISSING. */
  static read(path = wordsPath): WordVectors {
    const { info, vocabulary, rows, ...scales } = sectionsIn(path, layout, new OpenFiles());
    const words = vocabulary.whole().toString().split('\n');
    const [inText, inFunction] = [scales.inText.whole(), scales.inFunction.whole()];
    try {
      const { dims } = infoShape.parse(info.json());
      const whole = rows.length === words.length * dims;
      if (!whole || [inText, inFunction].some((each) => each.length !== words.length * 4))
        throw new Error('it has not a row for each word');
      return new WordVectors(words, dims, rows, floatsOf(inText), floatsOf(inFunction));
    } catch (error) {
      throw corrupt(path, error instanceof Error ? error.message : String(error), error);
    }
  }

  /** Of an index term; undefined when nothing was learned of it. */
  numberOf(term: string): number | undefined {
    return this.#numbers.get(term);
  }

  /** Of index terms that someone said, each counted once. Of length 1; zeros when none is known. */
  ofText(terms: Iterable<string>): Float32Array {
    const vector = new Float32Array(this.dims);
    for (const term of new Set(terms)) {
      const number = this.#numbers.get(term);
      if (number !== undefined) this.#add(vector, number, this.inText[number] ?? 0);
    }
    return toUnitLength(vector);
  }

  /** Of the numbers of the index terms of a function, and how often each stands in it. Of length 1; zeros for none. */
  ofFunction(terms: ArrayLike<number>, counts: ArrayLike<number>): Float32Array {
    const vector = new Float32Array(this.dims);
    for (let at = 0; at < terms.length; at += 1) {
      const number = terms[at] as number;
      this.#add(vector, number, Math.log1p(counts[at] as number) * (this.inFunction[number] ?? 0));
    }
    return toUnitLength(vector);
  }

  /** Sees every word of every function of a code base. */
  #add(vector: Float32Array, number: number, scale: number): void {
    const { length } = vector;
    const first = number * length;
    this.rows.need(first, first + length);
    const bytes = this.#signed;
    for (let at = 0; at < length; at += 1)
      vector[at] = (vector[at] as number) + scale * (bytes[first + at] as number);
  }
}

/** Throws STORE_UNAVAILABLE. */
export async function writeWordVectors(path: string, learned: LearnedWords): Promise<void> {
  const { words, dims, vectors } = learned;
  const rows = new Int8Array(vectors.length);
  const inText = new Float32Array(words.length);
  const inFunction = new Float32Array(words.length);
  words.forEach((_, number) => {
    const row = vectors.subarray(number * dims, (number + 1) * dims);
    const scale = row.reduce((most, each) => Math.max(most, Math.abs(each)), 0) / rowMax;
    if (scale === 0) return;
    row.forEach((each, at) => (rows[number * dims + at] = Math.round(each / scale)));
    inText[number] = scale * (learned.inText[number] ?? 0);
    inFunction[number] = scale * (learned.inFunction[number] ?? 0);
  });
  await writeSections(path, layout, {
    info: Buffer.from(JSON.stringify({ dims })),
    vocabulary: Buffer.from(words.join('\n')),
    inText: bytesIn(inText),
    inFunction: bytesIn(inFunction),
    rows: bytesIn(rows),
  });
}

function bytesIn({ buffer, byteOffset, byteLength }: Float32Array | Int8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Int8Array {
  return new Int8Array(buffer, byteOffset, byteLength);
}

function floatsOf({ buffer, byteOffset, byteLength }: Uint8Array): Float32Array {
  return new Float32Array(buffer, byteOffset, byteLength / 4);
}

let known: WordVectors | undefined;

/** Those of the program, read when they are first needed. Throws as `WordVectors.read`. */
export function wordVectors(): WordVectors {
  return (known ??= WordVectors.read());
}

function toUnitLength(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const each of vector) squares += each * each;
  const length = Math.sqrt(squares);
  if (length > 0)
    for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] as number) / length;
  return vector;
}
