import { expect, test } from 'vitest';
import { describe as described } from '../../../services/cli/code/progress.js';

test.each([
  [{ phase: 'list', done: 0, total: 0, lines: 0 }, 1, 'listing files'],
  [{ phase: 'mine', done: 0, total: 10, lines: 0 }, 0, 'reading 0 of 10'],
  [
    { phase: 'mine', done: 5, total: 20, lines: 40_000 },
    2,
    'reading 5 of 20, 20 K lines/s, 6 s left',
  ],
  [
    { phase: 'mine', done: 100, total: 1_100, lines: 500_000 },
    60,
    'reading 100 of 1100, 8 K lines/s, 10 min left',
  ],
  [{ phase: 'write', done: 3, total: 4, lines: 9 }, 30, 'writing shards 3 of 4, 10 s left'],
  [{ phase: 'history', done: 0, total: 0, lines: 9 }, 30, 'reading the history of git'],
] as const)('progress %j after %i s', (progress, elapsedS, text) => {
  expect(described(progress, elapsedS)).toBe(text);
});
