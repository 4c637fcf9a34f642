import { expect, test } from 'vitest';
import { TokenTable } from '../../../src/model/token-table.js';
import { Reranker } from '../../../src/model/rerank.js';
import { WordPiece } from '../../../src/model/word-piece.js';
import { tinyTable, tinyVocabulary } from '../../support/tiny-table.js';
import { VirtualClock } from '../../support/virtual-clock.js';

/** The tiny table, which counts its texts and takes its time. */
class Slow extends TokenTable {
  readonly asked: string[] = [];

  constructor(
    readonly clock: VirtualClock,
    readonly perTextMs: number,
  ) {
    super(new WordPiece(tinyVocabulary), tinyTable(), 'tiny');
  }

  override async embed(texts: readonly string[]): Promise<Float32Array[]> {
    this.asked.push(...texts);
    await this.clock.advance(this.perTextMs * texts.length);
    return super.embed(texts);
  }
}

test('what means the same is scored higher', async () => {
  const clock = new VirtualClock();
  const reranker = new Reranker(new Slow(clock, 1), { clock });
  const scores = await reranker.scores('free the buffer', ['release packet', 'open clock'], 100);
  expect(scores[0]!).toBeGreaterThan(0.8);
  expect(scores[1]!).toBeLessThan(0.1);
});

test('when the time is over, the rest has no score', async () => {
  const clock = new VirtualClock();
  const slow = new Slow(clock, 5);
  const texts = Array.from({ length: 40 }, (_, at) => `send ${at}`);
  const scores = await new Reranker(slow, { clock }).scores('transmit', texts, 100);
  // Steps of ten, of 50 ms each, once the question has been read.
  expect(scores.map((each) => each !== undefined)).toEqual(texts.map((_, at) => at < 20));
});

test('a text is read once', async () => {
  const clock = new VirtualClock();
  const slow = new Slow(clock, 0);
  const reranker = new Reranker(slow, { clock });
  const first = await reranker.scores('free', ['drop', 'open'], 100);
  expect(await reranker.scores('free', ['open', 'drop'], 100)).toEqual(first.toReversed());
  expect(slow.asked).toEqual(['free', 'drop', 'open']);
});

test('no time is needed for what is known', async () => {
  const clock = new VirtualClock();
  const reranker = new Reranker(new Slow(clock, 1), { clock });
  await reranker.scores('free', ['drop'], 100);
  expect((await reranker.scores('free', ['drop', 'open'], 0))[0]).toBeDefined();
  expect((await reranker.scores('free', ['drop', 'open'], 0))[1]).toBeUndefined();
});

test('no more is remembered than the limit, the oldest goes first', async () => {
  const clock = new VirtualClock();
  const slow = new Slow(clock, 0);
  const reranker = new Reranker(slow, { clock, keptMax: 2 });
  await reranker.scores('free', ['drop'], 100);
  await reranker.scores('free', ['open'], 100);
  await reranker.scores('free', ['drop'], 100);
  expect(slow.asked).toEqual(['free', 'drop', 'open', 'drop']);
});

test('nothing to judge is nothing', async () => {
  const clock = new VirtualClock();
  expect(await new Reranker(new Slow(clock, 1), { clock }).scores('free', [], 10)).toEqual([]);
});
