import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Verdicts, type Witness } from '../../../../src/pgc/overlay/shard-answers.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sigma-verdicts-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Knows what begins with its letter, and writes down what it is asked. */
function witness(letter: string, version: string, log: string[], own: string[] = []): Witness {
  return {
    version,
    own: new Set(own),
    testify: (questions) => {
      log.push(...questions.map((each) => `${version} ${each}`));
      return Promise.resolve(questions.map((each) => each.startsWith(letter)));
    },
  };
}

test('each question is asked where it comes from first, and of the others until one says yes', async () => {
  const log: string[] = [];
  const witnesses = [witness('a', 'a1', log), witness('b', 'b1', log, ['b x', 'c x'])];
  const yes = await new Verdicts().ask(new Set(['a x', 'b x', 'c x']), witnesses);
  expect([...yes]).toEqual(['a x', 'b x']);
  expect(log).toEqual(['b1 b x', 'b1 c x', 'a1 a x', 'a1 c x']);
});

test('who has answered is asked again when it has changed, and about what is new', async () => {
  const path = join(folder, 'verdicts');
  const first = new Set(['a x', 'b x', 'c x']);
  const verdicts = new Verdicts();
  const witnesses = [witness('a', 'a1', []), witness('b', 'b1', [])];
  await verdicts.ask(first, witnesses);
  await verdicts.write(path, first, witnesses);

  const log: string[] = [];
  const second = new Set(['b x', 'c x', 'a y']);
  const changed = [witness('a', 'a1', log), witness('c', 'b2', log)];
  const read = await Verdicts.read(path);
  expect([...(await read.ask(second, changed))]).toEqual(['c x', 'a y']);
  // a1 has denied b x and c x before.
  expect(log).toEqual(['a1 a y', 'b2 b x', 'b2 c x']);
});

test('a file that is damaged, or of nobody, gives no verdict', async () => {
  const path = join(folder, 'damaged');
  const questions = new Set(['a x']);
  const verdicts = new Verdicts();
  await verdicts.ask(questions, [witness('a', 'a1', [])]);
  await verdicts.write(path, questions, [witness('a', 'a1', [])]);
  const again: string[] = [];
  await (await Verdicts.read(path)).ask(questions, [witness('a', 'a1', again)]);
  expect(again).toEqual([]);
  await truncate(path, 30);
  for (const file of [path, join(folder, 'none')]) {
    const log: string[] = [];
    await (await Verdicts.read(file)).ask(questions, [witness('a', 'a1', log)]);
    expect(log).toEqual(['a1 a x']);
  }
});
