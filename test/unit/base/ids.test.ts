import { expect, test } from 'vitest';
import { IdSequence } from '../../../src/base/ids.js';

test('ids have twelve characters at most, and differ, also where a prefix is used up', () => {
  const perPrefix = 36 ** 4;
  const ids = new IdSequence();
  const kept: string[] = [];
  let longest = 0;
  for (let at = 0; at < perPrefix + 2; at += 1) {
    const id = ids.next();
    longest = Math.max(longest, id.length);
    if (at < 100 || at > perPrefix - 100) kept.push(id);
  }
  expect(longest).toBe(12);
  expect(new Set(kept).size).toBe(kept.length);
  expect(kept.every((id) => /^[0-9A-Za-z]+$/.test(id))).toBe(true);
  expect(new IdSequence().next()).not.toBe(kept[0]);
});
