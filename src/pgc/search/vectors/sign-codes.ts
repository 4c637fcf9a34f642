/**
 * Vectors as the signs of their numbers, one bit each: a thirty-second of their size. The query keeps its
 * numbers; of 13 610 symbols the 200 best so hold .998 of the ten best by the whole vectors.
 */

/** Of one code: whole words of 32 bits. */
export function codeBytes(dims: number): number {
  return 4 * Math.ceil(dims / 32);
}

/** Writes the code of a vector to `codes`, from byte `at` on. */
export function writeCode(vector: Float32Array, codes: Uint8Array, at: number): void {
  for (let dim = 0; dim < vector.length; dim += 1)
    if ((vector[dim] ?? 0) >= 0) {
      const byte = at + (dim >> 3);
      codes[byte] = (codes[byte] ?? 0) | (1 << (dim & 7));
    }
}

/** Whole numbers in the sums: faster than fractions, and 12 bits tell queries apart better than the codes do. */
const tableMax = 4_095;

interface CodeHit {
  row: number;
  score: number;
}

/** The `limit` best of all codes, best first. Scores lie between -1 and 1 and only order the rows. */
export function scanCodes(codes: Uint8Array, query: PreparedQuery, limit: number): CodeHit[] {
  const { sums, scale, bytes } = query;
  const words = wordsOf(codes);
  const rows = Math.floor(codes.length / bytes);
  const end = bytes << 8;
  const best = new BestRows(Math.min(limit, rows));
  for (let row = 0, at = 0; row < rows; row += 1) {
    let score = 0;
    // Four bytes a step: half the time of one by one, for this is most of a search.
    for (let table = 0; table < end; table += 1_024, at += 1) {
      const word = words[at] as number;
      score +=
        (sums[table | (word & 255)] as number) +
        (sums[(table + 256) | ((word >>> 8) & 255)] as number) +
        (sums[(table + 512) | ((word >>> 16) & 255)] as number) +
        (sums[(table + 768) | (word >>> 24)] as number);
    }
    if (score > best.floor) best.offer(row, score);
  }
  return best.sorted().map(({ row, score }) => ({ row, score: score * scale }));
}

function wordsOf(codes: Uint8Array): Uint32Array {
  const aligned = codes.byteOffset % 4 === 0 ? codes : codes.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
}

/** What all scans with one query share. */
interface PreparedQuery {
  /** For each byte of a code and each value of it: the sum of the query's numbers with the signs it stands for. */
  sums: Int16Array;
  /** From such sums to scores. */
  scale: number;
  /** Of a code. */
  bytes: number;
}

/** Takes as long as a scan of some ten thousand codes. */
export function prepareQuery(query: Float32Array): PreparedQuery {
  const bytes = codeBytes(query.length);
  const exact = new Float64Array(bytes * 256);
  let largest = 0;
  let squares = 0;
  for (let byte = 0; byte < bytes; byte += 1) {
    const none = byte * 256;
    for (let bit = 0; bit < 8; bit += 1)
      exact[none] = (exact[none] ?? 0) - (query[byte * 8 + bit] ?? 0);
    for (let value = 1; value < 256; value += 1) {
      // One bit more than a value that is known.
      const bit = 31 - Math.clz32(value);
      exact[none + value] =
        (exact[none + (value ^ (1 << bit))] ?? 0) + 2 * (query[byte * 8 + bit] ?? 0);
    }
    for (let value = 0; value < 256; value += 1)
      largest = Math.max(largest, Math.abs(exact[none + value] ?? 0));
  }
  for (const each of query) squares += each * each;
  const factor = largest === 0 ? 0 : tableMax / largest;
  const norm = Math.sqrt(squares * query.length);
  const sums = new Int16Array(exact.length);
  for (let at = 0; at < sums.length; at += 1) sums[at] = Math.round((exact[at] ?? 0) * factor);
  return { sums, bytes, scale: largest === 0 ? 0 : 1 / (factor * norm) };
}

/** The best rows so far; `floor` is what another must exceed. Earlier rows win where scores are equal. */
class BestRows {
  floor: number;
  readonly #limit: number;
  #kept: { row: number; score: number }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
    this.floor = limit > 0 ? -Infinity : Infinity;
  }

  offer(row: number, score: number): void {
    this.#kept.push({ row, score });
    if (this.#kept.length >= 4 * this.#limit + 64) this.#trim();
  }

  sorted(): { row: number; score: number }[] {
    this.#trim();
    return this.#kept;
  }

  #trim(): void {
    this.#kept.sort((one, other) => other.score - one.score || one.row - other.row);
    this.#kept.length = Math.min(this.#kept.length, this.#limit);
    if (this.#kept.length === this.#limit) this.floor = this.#kept.at(-1)?.score ?? this.floor;
  }
}
