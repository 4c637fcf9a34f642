import type { ShardIndex } from '../../format/shard-index.js';
import type { VectorTable } from '../../format/vectors/vector-table.js';
import { wordVectors } from '../../format/vectors/word-vectors.js';
import type { Question } from '../question/question.js';

/** Functions that tell how near any function of the shard is. */
const samplesMax = 512;

/** How near functions are to a question by what they are about, in standard deviations from what is usual in their shard. */
export class Meaning {
  readonly #table: VectorTable;
  readonly #question: Float32Array;
  readonly #mean: number;
  readonly #deviation: number;

  constructor({ vectors }: ShardIndex, { concepts }: Question) {
    this.#table = vectors;
    this.#question = wordVectors().ofText(
      concepts.flatMap(({ variants }) => variants[0]?.term ?? []),
    );
    const step = Math.max(1, Math.ceil(vectors.size / samplesMax));
    const samples: number[] = [];
    for (let row = 0; row < vectors.size; row += step)
      samples.push(vectors.cosine(row, this.#question));
    const count = Math.max(1, samples.length);
    this.#mean = samples.reduce((sum, each) => sum + each, 0) / count;
    const variance = samples.reduce((sum, each) => sum + (each - this.#mean) ** 2, 0) / count;
    this.#deviation = Math.sqrt(variance);
  }

  /** 0 for what has no vector: it is as near as anything. */
  of(document: number): number {
    const row = this.#table.rowOf(document);
    if (row === undefined || this.#deviation === 0) return 0;
    return (this.#table.cosine(row, this.#question) - this.#mean) / this.#deviation;
  }

  mean(documents: readonly number[]): number {
    if (documents.length === 0) return 0;
    return documents.reduce((sum, each) => sum + this.of(each), 0) / documents.length;
  }
}
