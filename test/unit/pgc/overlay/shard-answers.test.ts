import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ShardAnswers, type AskedShard } from '../../../../src/pgc/overlay/shard-answers.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sigma-known-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Knows what begins with its letter, and writes down what it is asked. */
function shard(letter: string, version: string, log: string[], own: string[] = []): AskedShard {
  return {
    version,
    own: new Set(own),
    answer: (questions) => {
      log.push(...questions.map((each) => `${version} ${each}`));
      return Promise.resolve(questions.map((each) => each.startsWith(letter)));
    },
  };
}

test('each question is asked where it comes from first, and of the others until one says yes', async () => {
  const log: string[] = [];
  const shards_ = [shard('a', 'a1', log), shard('b', 'b1', log, ['b x', 'c x'])];
  const yes = await new ShardAnswers().ask(new Set(['a x', 'b x', 'c x']), shards_);
  expect([...yes]).toEqual(['a x', 'b x']);
  expect(log).toEqual(['b1 b x', 'b1 c x', 'a1 a x', 'a1 c x']);
});

test('who has answered is asked again when it has changed, and about what is new', async () => {
  const path = join(folder, 'known');
  const first = new Set(['a x', 'b x', 'c x']);
  const known = new ShardAnswers();
  const shards_ = [shard('a', 'a1', []), shard('b', 'b1', [])];
  await known.ask(first, shards_);
  await known.write(path, first, shards_);

  const log: string[] = [];
  const second = new Set(['b x', 'c x', 'a y']);
  const changed = [shard('a', 'a1', log), shard('c', 'b2', log)];
  const read = await ShardAnswers.read(path);
  expect([...(await read.ask(second, changed))]).toEqual(['c x', 'a y']);
  // a1 has denied b x and c x before.
  expect(log).toEqual(['a1 a y', 'b2 b x', 'b2 c x']);
});

test('what a shard denied before it changed it is asked only if it may say yes now', async () => {
  const questions = new Set(['a x', 'b x', 'c x']);
  const known = new ShardAnswers();
  await known.ask(questions, [shard('a', 'a1', [])]);
  const log: string[] = [];
  const before = { version: 'a1', mayAnswer: (question: string) => question === 'b x' };
  const yes = await known.ask(questions, [{ ...shard('b', 'a2', log), before }]);
  expect([...yes]).toEqual(['b x']);
  expect(log).toEqual(['a2 a x', 'a2 b x']);
});

test('a file that is damaged, or of nobody, gives no verdict', async () => {
  const path = join(folder, 'damaged');
  const questions = new Set(['a x']);
  const known = new ShardAnswers();
  await known.ask(questions, [shard('a', 'a1', [])]);
  await known.write(path, questions, [shard('a', 'a1', [])]);
  const again: string[] = [];
  await (await ShardAnswers.read(path)).ask(questions, [shard('a', 'a1', again)]);
  expect(again).toEqual([]);
  await truncate(path, 30);
  for (const file of [path, join(folder, 'none')]) {
    const log: string[] = [];
    await (await ShardAnswers.read(file)).ask(questions, [shard('a', 'a1', log)]);
    expect(log).toEqual(['a1 a x']);
  }
});
