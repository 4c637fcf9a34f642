import { Reranker as TextReranker } from '../../model/rerank.js';
import type { Reranker } from '../locate/reranker.js';
import type { Engine } from './engine.js';
import { plainText } from './symbol-text.js';

export type { Reranker };

/** What judges a few texts by their meaning, started and ready; undefined: nothing here can. */
export async function rerankerOf({ judge, kind }: Engine): Promise<Reranker | undefined> {
  if (judge === undefined) return undefined;
  const reranker = new TextReranker(judge);
  // What is wrong with it is told to who asks.
  if (kind === 'bundled') await judge.embed(['a']).catch(() => undefined);
  return {
    scores: (question, texts, budgetMs, signal) =>
      reranker.scores(plainText(question), texts.map(plainText), budgetMs, signal),
  };
}
