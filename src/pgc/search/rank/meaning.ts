import type { ShardIndex } from '../../format/shard-index.js';
import type { VectorTable } from '../../format/vectors/vector-table.js';
import { wordVectors } from '../../format/vectors/word-vectors.js';
import type { Question } from '../question/question.js';
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

  mean(documents: readonly number[]): number {
    if (documents.length === 0) return 0;
    return documents.reduce((sum, each) => sum + this.of(each), 0) / documents.length;
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
    this.#scores.forEach((score, row) => {
      if (ranked.admits(score)) ranked.offer({ document: this.#table.symbols[row] ?? 0, score });
    });
    return ranked.best().map(({ document }) => document);
  }
}

function standardised(values: Float32Array): Float32Array {
  const count = Math.max(1, values.length);
  const mean = values.reduce((sum, each) => sum + each, 0) / count;
  const variance = values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / count;
  return variance === 0
    ? values.map(() => 0)
    : values.map((each) => (each - mean) / Math.sqrt(variance));
}
