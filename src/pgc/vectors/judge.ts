import { Reranker as TextReranker } from '../../model/rerank.js';
import { textCharsMax } from '../../model/word-piece.js';
import type { Reranker } from '../locate/reranker.js';
import type { Engine } from './engine.js';
import { plainText } from './symbol-text.js';

/** A text as the engine may read it: names as words, and first of all nothing in it that is for nobody else's eyes. */
export function fitted(engine: Engine, text: string): string {
  return plainText(engine.fit(text.slice(0, textCharsMax)));
}

/** What judges a few texts by their meaning; undefined: nothing here can. */
export function judgeOf(engine: Engine): Reranker | undefined {
  if (engine.judge === undefined) return undefined;
  const reranker = new TextReranker(engine.judge);
  return {
    scores: (question, texts, budgetMs, signal) =>
      reranker.scores(
        fitted(engine, question),
        texts.map((text) => fitted(engine, text)),
        budgetMs,
        signal,
      ),
  };
}
