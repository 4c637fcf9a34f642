import { BusError } from '../../../errors/bus-error.js';
import { Reranker as TextReranker } from '../../../model/rerank.js';
import type { Reranker } from '../locate/reranker.js';
import type { Engine } from './engine.js';
import { plainText } from './symbol-text.js';

/** A text as the engine may read it: names as words, without credentials. */
export function fitted(engine: Engine, text: string): string {
  return plainText(engine.fit(text));
}

/** An endpoint that takes longer is left out, and the words answer: deadlines of callers are some 30 s. */
export const answerMsMax = 10_000;

/** Judges a few texts by their meaning; undefined where there is no model. */
export function judgeOf(engine: Engine, msMax = answerMsMax): Reranker | undefined {
  const { judge } = engine;
  if (judge === undefined) return undefined;
  const reranker = new TextReranker(judge);
  return {
    scores: (question, texts, budgetMs, signal) =>
      inTime(engine, msMax, signal, (limited) =>
        reranker.scores(
          fitted(engine, question),
          texts.map((text) => fitted(engine, text)),
          budgetMs,
          limited,
        ),
      ),
  };
}

/**
 * Runs `work` for an answer: with an endpoint, at most `msMax` milliseconds. Throws EMBEDDING_UNAVAILABLE when the time
 * is over, the reason of `signal`, and as `work`.
 */
export async function inTime<T>(
  { kind, judge }: Engine,
  msMax: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  // The bundled model has its own limit, and is slow only where the machine is.
  if (kind !== 'endpoint') return work(signal);
  const limit = AbortSignal.timeout(msMax);
  try {
    return await work(signal === undefined ? limit : AbortSignal.any([signal, limit]));
  } catch (error) {
    signal?.throwIfAborted();
    if (!limit.aborted) throw error;
    const data = { engine: judge?.fingerprint ?? '', detail: `no answer within ${msMax} ms` };
    throw new BusError('EMBEDDING_UNAVAILABLE', data, { cause: error });
  }
}
