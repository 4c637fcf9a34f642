import { expect, test } from 'vitest';
import { KeyedMutex } from '../../../src/base/keyed-mutex.js';

test('what has the same key is done one after the other, whenever it comes and however it ends', async () => {
  const turns = new KeyedMutex();
  const said: string[] = [];
  const ends = new Map<string, (isGood: boolean) => void>();
  const begin = (key: string, name: string): Promise<string> =>
    turns.run(key, () => {
      said.push(name);
      return new Promise((resolve, reject) =>
        ends.set(name, (isGood) => (isGood ? resolve(name) : reject(new Error(name)))),
      );
    });
  const end = async (name: string, isGood = true): Promise<void> => {
    ends.get(name)?.(isGood);
    await new Promise(setImmediate);
  };
  const first = begin('a', 'first');
  const second = begin('a', 'second');
  const other = begin('b', 'other');
  await new Promise(setImmediate);
  expect(said).toEqual(['first', 'other']);
  first.catch(() => undefined);
  await end('first', false);
  await expect(first).rejects.toThrow('first');
  // Who comes while the second is under way is behind it, though the first is over.
  const third = begin('a', 'third');
  await new Promise(setImmediate);
  expect(said).toEqual(['first', 'other', 'second']);
  let isEnded = false;
  const ended = turns.ended().then(() => (isEnded = true));
  await end('second');
  await end('other');
  expect([said.at(-1), isEnded]).toEqual(['third', false]);
  await end('third');
  expect(await Promise.all([second, third, other])).toEqual(['second', 'third', 'other']);
  expect(await ended).toBe(true);
});
