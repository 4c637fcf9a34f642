import { describe, expect, test } from 'vitest';
import { atLeast, difference, exceeds } from '../../../src/critic/score/decimals.js';
import {
  distinctFindings,
  findingsOf,
  isPlateau,
  periodOf,
  trendOf,
} from '../../../src/critic/cycle/tracking.js';
import { critiqueOf, findingOf, trackingOf } from '../../support/critiques.js';

const traced = (scores: (number | null)[]) =>
  scores.map((score, at) => ({ score, digest: `v${at}`, findings: [] as string[] }));

describe('figures', () => {
  test('are compared as decimals, unrounded', () => {
    expect(0.9 - 0.7 > 0.2).toBe(true);
    expect(exceeds(difference(0.9, 0.7), 0.2)).toBe(false);
    expect(exceeds(difference(0.9001, 0.7), 0.2)).toBe(true);
    const scores = [0.85, 0.85, 0.95, 0.95, 0.99, 0.99];
    const mean = [0.2, 0.2, 0.2, 0.15, 0.15, 0.1].reduce(
      (sum, weight, at) => sum + weight * (scores[at] ?? 0),
      0,
    );
    expect(mean).toBeLessThan(0.92);
    expect(atLeast(mean, 0.92)).toBe(true);
    expect(atLeast(0.9199, 0.92)).toBe(false);
    // What rounding to two places would have let through.
    expect(atLeast(0.915, 0.92)).toBe(false);
  });
});

describe('a trend', () => {
  test('takes its rate over scored iterations alone', () => {
    const { rate, delta, scored, projected } = trendOf(traced([null, 0.7, 0.8]), 0.92);
    expect({ rate, delta, scored, projected }).toEqual({
      ...{ rate: 0.1, delta: 0.1, scored: 2, projected: 2 },
    });
  });

  test('projects whole iterations, exactly', () => {
    expect(trendOf(traced([0.78, 0.85]), 0.92).projected).toBe(1);
    expect(trendOf(traced([0.78, 0.849]), 0.92).projected).toBe(2);
  });

  test.each([
    ['nothing', [], 'nothing was scored'],
    ['a creation alone', [null], 'nothing was scored'],
    ['one score', [null, 0.7], 'one score shows no rate'],
    ['a score that falls', [0.8, 0.7], 'the score does not rise'],
    ['a score that stays', [0.8, 0.8], 'the score does not rise'],
    ['a score that creeps', [0.1, 0.1001], 'at this rate more than 64 iterations'],
  ])('projects nothing from %s, and says so', (_, scores, projection) => {
    const trend = trendOf(traced(scores), 0.92);
    expect(trend).toMatchObject({ projected: null, projection });
  });

  test('needs nothing once the threshold is met', () => {
    expect(trendOf(traced([0.95]), 0.92)).toMatchObject({ projected: 0, rate: null });
  });

  test('counts what is new in each round, and what lasts', () => {
    const rounds = [
      { score: 0.7, digest: 'a', findings: ['x', 'y'] },
      { score: 0.8, digest: 'b', findings: ['y', 'z'] },
    ];
    expect(trendOf(rounds, 0.92)).toMatchObject({ new_findings: [2, 1], lasting: ['y'] });
  });
});

describe('a plateau', () => {
  test('is two improvements in a row below the least one', () => {
    expect(isPlateau([0.8, 0.84], 0.05)).toBe(false);
    expect(isPlateau([0.8, 0.84, 0.88], 0.05)).toBe(true);
    expect(isPlateau([0.5, 0.6, 0.64, 0.68], 0.05)).toBe(true);
    expect(isPlateau([0.8, 0.84, 0.9], 0.05)).toBe(false);
    expect(isPlateau([0.9, 0.8, 0.7], 0.05)).toBe(true);
  });

  test('is none at the least improvement exactly, whatever floats make of it', () => {
    expect(0.85 - 0.8 < 0.05).toBe(true);
    expect(isPlateau([0.8, 0.85, 0.9], 0.05)).toBe(false);
  });
});

describe('an oscillation', () => {
  test('is a version that was there before, with another in between', () => {
    expect(periodOf(['a', 'b', 'a'])).toBe(2);
    expect(periodOf(['a', 'b', 'c', 'a'])).toBe(3);
    expect(periodOf(['a', 'a'])).toBe(0);
    expect(periodOf(['a', 'b', 'b'])).toBe(0);
    expect(periodOf(['a', 'b', 'c'])).toBe(0);
    expect(periodOf([])).toBe(0);
  });

  test('is looked for in a bounded number of versions', () => {
    const far = ['a', ...'bcdefgh'.split(''), 'a'];
    expect(periodOf(far)).toBe(8);
    expect(periodOf(['a', ...'bcdefghi'.split(''), 'a'])).toBe(0);
  });
});

describe('the tracking of an artifact', () => {
  test('has what the document has, and flags', () => {
    const { iterations } = trackingOf('docs/one.md', 0.92, [
      critiqueOf('one', 0.6, { findings: [findingOf('x')] }),
      critiqueOf('two', 0.93),
    ]);
    expect(iterations.map(({ improvement_delta }) => improvement_delta)).toEqual([null, 0.33]);
    expect(iterations.map(({ threshold_met }) => threshold_met)).toEqual([false, true]);
    expect(iterations[0]?.improvement_areas).toEqual(['what x says']);
    expect(iterations[1]?.flags.map(({ code }) => code)).toEqual(['LENIENCY_JUMP']);
  });

  test('lists findings worst first, each once, notes not as open ones', () => {
    const findings = [
      findingOf('n', { severity: 'note' }),
      findingOf('m'),
      findingOf('c', { severity: 'critical' }),
      findingOf('m'),
    ];
    const critique = critiqueOf('one', 0.6, { findings });
    expect(findingsOf(critique).map(({ id }) => id)).toEqual(['c', 'm', 'n']);
    expect(trackingOf('a', 0.92, [critique]).iterations[0]?.findings).toEqual(['c', 'm']);
  });

  test('what several modes say of one line is told once, as the worst of them says it', () => {
    const same = { rule: 'ANCHOR_BROKEN', text: 'It leads nowhere.', line_start: 3 };
    const findings = [
      findingOf('a', { ...same, mode: 'self-refine', severity: 'minor' }),
      findingOf('b', { ...same, mode: 'constitutional', severity: 'major' }),
      findingOf('c', { ...same, mode: 'steelman', line_start: 4 }),
    ];
    const told = distinctFindings(critiqueOf('one', 0.6, { findings }));
    expect(told.map(({ id, modes }) => [id, modes])).toEqual([
      ['b', ['constitutional', 'self-refine']],
      ['c', ['steelman']],
    ]);
  });
});
