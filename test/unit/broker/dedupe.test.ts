import { expect, test } from 'vitest';
import { Dedupe } from '../../../src/broker/dedupe.js';
import { seenKey } from '../../../src/store/keys.js';

test('an id is known by its sender only', () => {
  const dedupe = new Dedupe({ seenPerSenderMax: 10, seenMs: 1_000 });
  dedupe.remember('a', 'm', 1, 0, true);
  expect([dedupe.seqOf('a', 'm'), dedupe.seqOf('b', 'm'), dedupe.seqOf('a', 'n')]).toEqual([
    1,
    undefined,
    undefined,
  ]);
});

test('too many ids of a sender are forgotten, the oldest first, and nobody else loses any', () => {
  const dedupe = new Dedupe({ seenPerSenderMax: 2, seenMs: 1_000 });
  for (const seq of [1, 2, 3, 4]) dedupe.remember('busy', `m${seq}`, seq, 0, true);
  dedupe.remember('calm', 'x', 9, 0, true);
  expect(dedupe.prune(0, 'busy')).toEqual([
    { type: 'del', key: seenKey('busy', 1) },
    { type: 'del', key: seenKey('busy', 2) },
  ]);
  expect([
    dedupe.seqOf('busy', 'm2'),
    dedupe.seqOf('busy', 'm3'),
    dedupe.seqOf('calm', 'x'),
  ]).toEqual([undefined, 3, 9]);
});

test('only what was settled has an entry on disk to be deleted', () => {
  const dedupe = new Dedupe({ seenPerSenderMax: 10, seenMs: 1_000 });
  dedupe.remember('a', 'settled', 1, 0, false);
  dedupe.remember('a', 'stored', 2, 0, false);
  expect([dedupe.settled('a', 'settled'), dedupe.settled('a', 'unknown')]).toEqual([true, false]);
  expect(dedupe.prune(1_000)).toEqual([{ type: 'del', key: seenKey('a', 1) }]);
});

test('ids are forgotten after their time', () => {
  const dedupe = new Dedupe({ seenPerSenderMax: 10, seenMs: 1_000 });
  dedupe.remember('a', 'old', 1, 0, true);
  dedupe.remember('a', 'new', 2, 500, true);
  expect(dedupe.prune(1_000)).toEqual([{ type: 'del', key: seenKey('a', 1) }]);
  expect([dedupe.seqOf('a', 'old'), dedupe.seqOf('a', 'new')]).toEqual([undefined, 2]);
});

test('a sender is crowded only well beyond its limit, so that ids are forgotten many at once', () => {
  const dedupe = new Dedupe({ seenPerSenderMax: 2, seenMs: 1_000 });
  for (let seq = 0; seq < 100; seq += 1) dedupe.remember('a', String(seq), seq, 0, true);
  expect(dedupe.isCrowded('a')).toBe(false);
  for (let seq = 100; seq < 1_000; seq += 1) dedupe.remember('a', String(seq), seq, 0, true);
  expect(dedupe.isCrowded('a')).toBe(true);
});
