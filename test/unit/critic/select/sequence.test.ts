import { expect, test } from 'vitest';
import {
  brokenRules,
  canonicalOrder,
  inSequence,
  orderRules,
} from '../../../../src/critic/select/sequence.js';
import { modeNames, type ModeName } from '../../../../src/critic/strategies.js';

/** Every non-empty set of modes: 1 023. */
const subsets = Array.from({ length: 2 ** modeNames.length - 1 }, (_, set) =>
  modeNames.filter((__, at) => ((set + 1) >> at) & 1),
);

/** The same every time: a list turned by `turn`, then every second first. */
function permuted<T>(list: readonly T[], turn: number): T[] {
  const turned = [...list.slice(turn), ...list.slice(0, turn)];
  if (turn % 2 === 1) turned.reverse();
  return [...turned.filter((_, at) => at % 2 === 0), ...turned.filter((_, at) => at % 2 === 1)];
}

test('each of 1 023 sets of modes, in whatever order, comes in one that breaks no rule', () => {
  expect(subsets).toHaveLength(1_023);
  for (const set of subsets)
    for (let turn = 0; turn < set.length; turn += 1) {
      const given = permuted(set, turn);
      const order = inSequence(given);
      expect(brokenRules(order), given.join()).toEqual([]);
      expect([...order].sort()).toEqual([...set].sort());
      expect(inSequence(order)).toEqual(order);
      if (brokenRules(given).length === 0 && !isPipeline(set)) expect(order).toEqual(given);
    }
});

const pipelines: ModeName[][] = [
  ['steelman', 'constitutional', 'devils-advocate', 'llm-as-judge'],
  [
    ...(['steelman', 'inversion', 'constitutional', 'devils-advocate'] as const),
    ...(['pre-mortem', 'fmea', 'llm-as-judge'] as const),
  ],
  [...canonicalOrder],
];
const isPipeline = (set: readonly ModeName[]): boolean =>
  pipelines.some((its) => its.length === set.length && its.every((mode) => set.includes(mode)));

test('a canonical pipeline comes as itself from whatever order', () => {
  for (const pipeline of pipelines) {
    expect(brokenRules(pipeline)).toEqual([]);
    for (let turn = 0; turn < pipeline.length; turn += 1) {
      expect(inSequence(permuted(pipeline, turn))).toEqual(pipeline);
      expect(inSequence(permuted([...pipeline].reverse(), turn))).toEqual(pipeline);
    }
  }
});

test('two that must both come before a third keep their order', () => {
  expect(inSequence(['constitutional', 'steelman', 'inversion'])).toEqual([
    ...['steelman', 'inversion', 'constitutional'],
  ]);
  expect(inSequence(['constitutional', 'inversion', 'steelman'])).toEqual([
    ...['inversion', 'steelman', 'constitutional'],
  ]);
});

test('what no rule speaks of stays where it was named', () => {
  expect(inSequence(['chain-of-verification', 'fmea', 'pre-mortem'])).toEqual([
    ...['chain-of-verification', 'pre-mortem', 'fmea'],
  ]);
});

test.each<[string, ModeName, ModeName]>([
  ['SEQ-001', 'steelman', 'devils-advocate'],
  ['SEQ-001', 'steelman', 'constitutional'],
  ['SEQ-001', 'steelman', 'red-team'],
  ['SEQ-002', 'inversion', 'constitutional'],
  ['SEQ-002', 'inversion', 'fmea'],
  ['SEQ-002', 'inversion', 'red-team'],
  ['SEQ-003', 'chain-of-verification', 'llm-as-judge'],
  ['SEQ-004', 'self-refine', 'steelman'],
  ['SYN-6', 'constitutional', 'devils-advocate'],
  ['SYN-10', 'pre-mortem', 'fmea'],
  ['SYN-11', 'fmea', 'red-team'],
  ['SYN-12', 'constitutional', 'red-team'],
])('%s: %s before %s', (rule, first, then) => {
  expect(brokenRules([then, first])).toEqual([{ rule, first, then }]);
  expect(brokenRules([first, then])).toEqual([]);
});

test('SEQ-005: chain-of-verification may stand anywhere between the first and the last', () => {
  const its = orderRules.filter(
    ({ first, then }) => first === 'chain-of-verification' || then === 'chain-of-verification',
  );
  expect(its.map(({ rule }) => rule)).toEqual(['SEQ-003', 'SEQ-004']);
});
