import { BusError } from '../../../errors/bus-error.js';
import { Reranker as TextReranker } from '../../../model/rerank.js';
import type { Reranker } from '../locate/reranker.js';
import type { Engine } from './engine.js';
import { plainText } from './symbol-text.js';

/** A text as the engine may read it: names as words, and first of all nothing in it that is for nobody else's eyes. */
export function fitted(engine: Engine, text: string): string {
  return plainText(engine.fit(text));
}

/** An endpoint that takes longer over a question does not answer, and the words do: deadlines are some 30 s. */
export const answerMsMax = 10_000;

/** What judges a few texts by their meaning; undefined: nothing here can. */
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
 * What waits for an endpoint while somebody waits for it. Throws EMBEDDING_UNAVAILABLE when the time is over, the reason
 * of `signal`, and as `work`.
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
