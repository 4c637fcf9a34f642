import type { ShardIndex } from '../../format/shard-index.js';
import type { VectorTable } from '../../format/vectors/vector-table.js';
import { wordVectors } from '../../format/vectors/word-vectors.js';
import type { Question } from '../question/question.js';
import type { Neighbour } from './neighbours.js';
import { Ranking } from '../ranking.js';

/** How near functions are to a question by what they are about, in standard deviations from what is usual in their shard. */
export class Meaning {
  readonly #table: VectorTable;
  readonly #scores: Float32Array;

  constructor({ vectors }: ShardIndex, { concepts }: Question) {
    this.#table = vectors;
    const question = wordVectors().ofText(
      concepts.flatMap(({ variants }) => variants[0]?.term ?? []),
    );
    this.#scores = standardised(vectors.cosines(question));
  }

  /** 0 for what has no vector: it is as near as anything. */
  of(document: number): number {
    const row = this.#table.rowOf(document);
    return row === undefined ? 0 : (this.#scores[row] ?? 0);
  }

  /** Of all neighbours. */
  mean(some: readonly Neighbour[], others: readonly Neighbour[] = []): number {
    let sum = 0;
    for (const { document } of some) sum += this.of(document);
    for (const { document } of others) sum += this.of(document);
    return sum / Math.max(1, some.length + others.length);
  }

  /** Of what is nearest among symbols that follow each other; 0 where nothing is nearer than usual. */
  best(symbols: readonly number[]): number {
    const last = symbols.at(-1) ?? -1;
    let best = 0;
    for (let row = this.#table.rowFrom(symbols[0] ?? 0); row < this.#table.size; row += 1) {
      if ((this.#table.symbols[row] ?? 0) > last) break;
      best = Math.max(best, this.#scores[row] ?? 0);
    }
    return best;
  }

  /** The nearest symbols, best first, of those that are nearer than usual: to words without a vector, none is. */
  nearest(most: number): number[] {
    const ranked = new Ranking<{ document: number; score: number }>(most);
    for (let row = 0; row < this.#scores.length; row += 1) {
      const score = this.#scores[row] ?? 0;
      if (ranked.admits(score)) ranked.offer({ document: this.#table.symbols[row] ?? 0, score });
    }
    return ranked.best().map(({ document }) => document);
  }
}

/** In place. */
function standardised(values: Float32Array): Float32Array {
  const count = Math.max(1, values.length);
  let sum = 0;
  for (const each of values) sum += each;
  const mean = sum / count;
  let squares = 0;
  for (const each of values) squares += (each - mean) ** 2;
  const deviation = Math.sqrt(squares / count);
  if (deviation === 0) return values.fill(0);
  for (let at = 0; at < values.length; at += 1) values[at] = ((values[at] ?? 0) - mean) / deviation;
  return values;
}
