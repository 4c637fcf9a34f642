import { expect, test } from 'vitest';
import { ceilingFlags, leniencyFlags } from '../../../src/critic/score/leniency.js';

const codes = (
  scores: (number | null)[],
  { criticality = 'C2' as const, digests = scores.map((_, at) => `v${at}`) } = {},
): string[] =>
  leniencyFlags(
    scores.map((score, at) => ({ score, digest: digests[at] ?? '' })),
    criticality,
  ).map(({ code }) => code);

test('a jump is more than 0.20, strictly', () => {
  expect(codes([0.7, 0.9])).toEqual([]);
  expect(codes([0.7, 0.900001])).toEqual(['LENIENCY_JUMP']);
  expect(codes([0.9, 0.7])).toEqual([]);
});

test('a jump is measured from the last score, over iterations without one', () => {
  expect(codes([0.7, null, 0.95])).toEqual(['LENIENCY_JUMP']);
  expect(codes([0.7, 0.95, null])).toEqual([]);
});

test('a better score of the same text is drift', () => {
  const digests = ['same', 'same'];
  expect(codes([0.8, 0.85], { digests })).toEqual([]);
  expect(codes([0.8, 0.86], { digests })).toEqual(['LENIENCY_DRIFT']);
  expect(codes([0.8, 0.86])).toEqual([]);
});

test('a first score above 0.90 is flagged from C2 on', () => {
  expect(codes([0.9])).toEqual([]);
  expect(codes([null, 0.91])).toEqual(['LENIENCY_FIRST']);
  expect(codes([0.91], { criticality: 'C1' as never })).toEqual([]);
});

test('three artifacts in a row above 0.95 are the ceiling', () => {
  expect(ceilingFlags([0.96, 0.97])).toEqual([]);
  expect(ceilingFlags([0.5, 0.96, 0.97, 0.98])).toHaveLength(1);
  expect(ceilingFlags([0.96, 0.97, 0.95])).toEqual([]);
});

test('each flag says what to do', () => {
  const flags = [
    ...leniencyFlags([{ score: 0.95, digest: 'a' }], 'C3'),
    ...ceilingFlags([0.96, 0.97, 0.98]),
  ];
  expect(flags.map(({ text }) => text.split(/: |, /).at(-1))).toEqual([
    'read the reasons of the judge',
    'or have a person judge one of them',
  ]);
});
