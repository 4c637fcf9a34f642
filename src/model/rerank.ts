import { BoundedMap } from '../base/bounded-map.js';
import { createHash } from 'node:crypto';
import { systemClock, type Clock } from '../base/clock.js';
import { dot, type Embedder } from './embedder.js';

/** Vectors that are kept: of 384 numbers 12 MB. */
const keptMax = 8_192;
/** Texts between two looks at the clock: a batch of short ones takes some 20 ms. */
const textsPerStep = 10;

/**
 * How near texts are to a question, by a model that is too slow for all of them: best candidates first,
 * as far as the time goes. What was read once is remembered, the least recently used goes first.
 */
export class Reranker {
  readonly #embedder: Embedder;
  readonly #clock: Clock;
  readonly #kept: BoundedMap<string, Float32Array>;

  constructor(embedder: Embedder, options: { clock?: Clock; keptMax?: number } = {}) {
    this.#embedder = embedder;
    this.#clock = options.clock ?? systemClock;
    this.#kept = new BoundedMap(options.keptMax ?? keptMax);
  }

  /**
   * A cosine for each text, in their order; undefined for those that the time was too short for, which begins when
   * the question has been read. A batch that has begun is finished. Throws as `embed`.
   */
  async scores(
    question: string,
    texts: readonly string[],
    budgetMs: number,
    signal?: AbortSignal,
  ): Promise<(number | undefined)[]> {
    const scores: (number | undefined)[] = texts.map(() => undefined);
    const [asked] = await this.#vectors([question], signal);
    if (asked === undefined) return scores;
    // A model that had to be started first has not used the time up.
    const endMs = this.#clock.monotonicMs() + budgetMs;
    const open: number[] = [];
    for (const [at, text] of texts.entries()) {
      const known = this.#kept.use(keyOf(text));
      if (known === undefined) open.push(at);
      else scores[at] = dot(asked, known);
    }
    for (let from = 0; from < open.length; from += textsPerStep) {
      if (this.#clock.monotonicMs() >= endMs) break;
      const step = open.slice(from, from + textsPerStep);
      const vectors = await this.#vectors(
        step.map((at) => texts[at] ?? ''),
        signal,
      );
      for (const [position, at] of step.entries()) {
        const vector = vectors[position];
        if (vector !== undefined) scores[at] = dot(asked, vector);
      }
    }
    return scores;
  }

  async #vectors(
    texts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    const keys = texts.map(keyOf);
    const known = keys.map((key) => this.#kept.use(key));
    const missing = keys.flatMap((_, at) => (known[at] === undefined ? [at] : []));
    if (missing.length > 0) {
      const made = await this.#embedder.embed(
        missing.map((at) => texts[at] ?? ''),
        signal,
      );
      for (const [position, at] of missing.entries()) {
        const vector = made[position];
        known[at] = vector;
        if (vector !== undefined) this.#kept.set(keys[at] ?? '', vector);
      }
    }
    return known.filter((each) => each !== undefined);
  }
}

/** Texts may be long, their digests are not. One reranker has one embedder, so that its fingerprint is no part. */
function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
