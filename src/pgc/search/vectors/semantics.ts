import { join } from 'node:path';
import { asBusError } from '../../../errors/bus-error.js';
import { bundledWords } from '../../../model/bundled-words.js';
import type { Reranker } from '../locate/reranker.js';
import type { IndexPlace, Manifest } from '../../plan/manifest.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { Engine } from './engine.js';
import { answerMsMax, fitted, inTime, judgeOf } from './judge.js';
import { VectorFile, vectorFileName } from './vector-file.js';
import { VectorIndex, type VectorHit } from './vector-index.js';

/** Shards that are searched by words alone, by their aliases, and why: in one sentence each, which several may share. */
type Lacks = ReadonlyMap<string, string>;

/**
 * Search by meaning over the shards of one index, as far as there are vectors of the engine in force. Without
 * any, every question gets none, and the warnings say why.
 */
export class Semantics {
  readonly #engine: Engine;
  readonly #shards: ReadonlyMap<string, VectorIndex>;
  readonly #reranker: Reranker | undefined;
  readonly #lacks: Lacks;

  private constructor(
    engine: Engine,
    shards: ReadonlyMap<string, VectorIndex>,
    lacks: Lacks,
    readonly msMax: number,
  ) {
    this.#engine = engine;
    this.#shards = shards;
    this.#lacks = lacks;
    this.#reranker = judgeOf(engine, msMax);
  }

  /** `engine` stays the caller's to close. A damaged file is a warning. `msMax`: see `answerMsMax`. */
  static async open(
    place: IndexPlace,
    manifest: Pick<Manifest, 'shards'>,
    indexes: readonly ShardIndex[],
    engine: Engine,
    msMax = answerMsMax,
  ): Promise<Semantics> {
    const shards = new Map<string, VectorIndex>();
    const lacks = new Map<string, string>();
    const others: string[] = [];
    for (const index of indexes) {
      const { alias } = index.info;
      const shard = manifest.shards.find((each) => each.alias === alias);
      const { vectors } = shard ?? {};
      if (shard === undefined || vectors === undefined) continue;
      if (vectors.file !== vectorFileName(shard, engine.embedder?.fingerprint ?? '')) {
        others.push(alias);
        continue;
      }
      try {
        const file = await VectorFile.open(join(place.segments, vectors.file));
        shards.set(alias, new VectorIndex(file, index, engine.table));
      } catch (error) {
        const { code, message } = asBusError(error);
        const why = code === 'INDEX_MISSING' ? 'its vectors are gone, run sigma index' : message;
        lacks.set(alias, `${alias} is searched by words alone: ${why}.`);
      }
    }
    const why = otherEngine(others.length, engine);
    if (why !== '') for (const alias of others) lacks.set(alias, why);
    return new Semantics(engine, shards, lacks, msMax);
  }

  /** Why some or all shards are searched by words alone, and how to mend it. In sentences. */
  get warnings(): string[] {
    return [...new Set(this.#lacks.values())];
  }

  /** Those of them that concern one shard. */
  warningsOf(alias: string): string[] {
    const lack = this.#lacks.get(alias);
    return lack === undefined ? [] : [lack];
  }

  /** What reads questions: `bundled`, `endpoint`; empty: their words are all there is. */
  get reader(): string {
    return this.isReady || this.canRerank ? this.#engine.kind : '';
  }

  /** Whether any shard has vectors. */
  get isReady(): boolean {
    return this.#shards.size > 0;
  }

  /** Whether it is a word of the language; undefined: there is no vocabulary that could tell. */
  isWord(word: string): boolean | undefined {
    return (this.#engine.table?.tokenizer ?? bundledWords())?.isWord(word);
  }

  /** At once, where a table gives it; undefined: it must be waited for, see `embed`, or there is none. */
  vectorOf(question: string): Float32Array | undefined {
    return this.isReady ? this.#engine.table?.embedOne(fitted(this.#engine, question)) : undefined;
  }

  /** Undefined without vectors. Throws EMBEDDING_UNAVAILABLE, EMBEDDING_REFUSED, EMBEDDING_INVALID. */
  async embed(question: string, signal?: AbortSignal): Promise<Float32Array | undefined> {
    const { embedder } = this.#engine;
    if (!this.isReady || embedder === undefined) return undefined;
    const [vector] = await inTime(this.#engine, this.msMax, signal, (limited) =>
      embedder.embed([fitted(this.#engine, question)], limited),
    );
    return vector;
  }

  /** What the engine may read of a text. */
  fit(text: string): string {
    return this.#engine.fit(text);
  }

  /** The `k` symbols of a shard that are nearest to a question, best first; none where it has no vectors. */
  search(alias: string, query: Float32Array, k: number): VectorHit[] {
    return this.#shards.get(alias)?.search(query, k) ?? [];
  }

  /** Starts the model, which takes half a second that the first question need not wait. */
  async warm(signal?: AbortSignal): Promise<void> {
    if (this.#engine.kind !== 'bundled') return;
    // The first question reports an error of the model.
    await this.#engine.judge?.embed(['a'], signal).catch(() => undefined);
  }

  /** Whether `rerank` will judge anything. */
  get canRerank(): boolean {
    return this.#reranker !== undefined;
  }

  /**
   * How near each text is to the question by the full model, -1 to 1, without a limit of time: with one, the same
   * question could have another answer. Undefined: there is no model. Throws as `embed`.
   */
  async rerank(
    question: string,
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (number | undefined)[]> {
    if (this.#reranker === undefined) return texts.map(() => undefined);
    return this.#reranker.scores(question, texts, Infinity, signal);
  }
}

/** Empty where vectors were switched off. */
function otherEngine(shards: number, { embedder, lack }: Engine): string {
  const these = `The vectors of ${shards} ${shards === 1 ? 'shard' : 'shards'}`;
  if (embedder !== undefined)
    return `${these} are of another engine and were not used: run sigma index.`;
  return lack === '' ? '' : `${these} were not used: ${lack}.`;
}
