import { expect, test } from 'vitest';
import { Dedupe } from '../../../src/broker/mail/dedupe.js';
import { seenKey } from '../../../src/store/keys.js';

const limits = { seenPerSenderMax: 10, seenMax: 100_000, seenMs: 1_000 };
const settled = (seq: number, atMs = 0) => ({ seq, mailbox: 'agent:x', atMs, isSettled: true });
const stored = (seq: number) => ({ ...settled(seq), isSettled: false });
const gone = (sender: string, ...seqs: number[]) =>
  seqs.map((seq) => ({ type: 'del', key: seenKey(sender, seq) }));

test('an id is known by its sender only, with where it went', () => {
  const dedupe = new Dedupe(limits);
  dedupe.remember('a', 'm', settled(1));
  expect([dedupe.seqOf('a', 'm'), dedupe.seqOf('b', 'm'), dedupe.seqOf('a', 'n')]).toEqual([
    1,
    undefined,
    undefined,
  ]);
  expect([dedupe.mailboxOf('a', 'm'), dedupe.mailboxOf('b', 'm')]).toEqual(['agent:x', undefined]);
});

test('too many ids of a sender are forgotten, the oldest first and many at once, and nobody else loses any', () => {
  const dedupe = new Dedupe({ ...limits, seenPerSenderMax: 2 });
  dedupe.remember('calm', 'x', settled(9_999));
  const forgotten: number[] = [];
  for (let seq = 0; seq < 515; seq += 1) {
    dedupe.remember('busy', `m${seq}`, settled(seq));
    forgotten.push(dedupe.thin('busy', 0).length);
  }
  expect(forgotten.slice(0, -1).every((count) => count === 0)).toBe(true);
  expect(forgotten.at(-1)).toBe(513);
  expect([
    dedupe.seqOf('busy', 'm512'),
    dedupe.seqOf('busy', 'm513'),
    dedupe.seqOf('calm', 'x'),
  ]).toEqual([undefined, 513, 9_999]);
});

test('too many ids of all senders cost whoever has most its oldest', () => {
  const dedupe = new Dedupe({ ...limits, seenPerSenderMax: 10_000, seenMax: 2_000 });
  for (let seq = 0; seq < 1_500; seq += 1) dedupe.remember('large', `l${seq}`, settled(seq));
  for (let seq = 0; seq < 500; seq += 1) dedupe.remember('small', `s${seq}`, settled(2_000 + seq));
  expect(dedupe.thin('small', 0)).toEqual([]);
  dedupe.remember('small', 'one more', settled(9_999));
  expect(dedupe.thin('small', 0)).toHaveLength(512);
  expect([dedupe.seqOf('large', 'l511'), dedupe.seqOf('large', 'l512')]).toEqual([undefined, 512]);
  expect(dedupe.seqOf('small', 's0')).toBe(2_000);
  expect(dedupe.thin('small', 0)).toEqual([]);
});

test('of many senders with few ids none loses all, nor the one that was just sent', () => {
  const dedupe = new Dedupe({ ...limits, seenPerSenderMax: 10_000, seenMax: 1_000 });
  for (let seq = 0; seq < 1_000; seq += 1) dedupe.remember(`s${seq % 10}`, `m${seq}`, settled(seq));
  dedupe.remember('s0', 'new', settled(1_000));
  dedupe.thin('s0', 0);
  expect(dedupe.seqOf('s0', 'new')).toBe(1_000);
  for (let sender = 0; sender < 10; sender += 1)
    expect(dedupe.seqOf(`s${sender}`, `m${990 + sender}`)).toBe(990 + sender);
});

test('only what was settled has an entry on disk to be deleted', () => {
  const dedupe = new Dedupe(limits);
  dedupe.remember('a', 'settled', stored(1));
  dedupe.remember('a', 'stored', stored(2));
  expect([dedupe.settled('a', 'settled'), dedupe.settled('a', 'unknown')]).toEqual([true, false]);
  expect(dedupe.prune(1_000)).toEqual(gone('a', 1));
});

test('ids are forgotten after their time', () => {
  const dedupe = new Dedupe(limits);
  dedupe.remember('a', 'old', settled(1));
  dedupe.remember('a', 'new', settled(2, 500));
  expect(dedupe.prune(1_000)).toEqual(gone('a', 1));
  expect([dedupe.seqOf('a', 'old'), dedupe.seqOf('a', 'new')]).toEqual([undefined, 2]);
});
