import { describe, expect, test } from 'vitest';
import { standingAfter, type JudgedRound } from '../../../src/critic/cycle/cycle.js';
import { roundOf, type CycleSettings } from '../../../src/critic/cycle/cycle-verdict.js';
import { critiqueOf, findingOf, roundWith } from '../../support/critiques.js';

const input: CycleSettings = { criticality: 'C2', isAdversarial: true, iterationsMax: 3 };
const longer: CycleSettings = { ...input, iterationsMax: 8 };
/** Rounds of versions v0, v1, … with these scores. */
const scored = (scores: (number | null)[]) =>
  scores.map((score, at) => roundWith({ score, digest: `v${at}` }));
/** The verdict of each is that of this gate. */
const standing = (scores: (number | null)[], settings = input) => {
  const gate = settings.threshold ?? (settings.isAdversarial ? 0.92 : 0.85);
  const rounds = scored(scores).map((each) =>
    each.score !== null && each.score >= gate ? { ...each, verdict: 'PASS' as const } : each,
  );
  const { state, reason, iteration } = standingAfter(rounds, settings);
  return `${state} ${reason} ${iteration}`;
};

describe('the gate', () => {
  test('accepts at the threshold, at iteration 3 at the earliest', () => {
    expect(standing([0.95])).toBe('revising EARLY 2');
    expect(standing([0.95, 0.95])).toBe('accepted  3');
    expect(standing([0.8, 0.92])).toBe('accepted  3');
    expect(standing([0.8, 0.9199], longer)).toBe('revising BELOW 3');
  });

  test('asks for a ratification below the threshold, and for a person below 0.85', () => {
    expect(standing([0.8, 0.9199])).toBe('ratifying CONDITIONAL 3');
    expect(standing([0.8, 0.85])).toBe('ratifying CONDITIONAL 3');
    expect(standing([0.8, 0.8499])).toBe('escalated BELOW_GATE 3');
  });

  test('reports C1, and gates it where a threshold is named', () => {
    const c1: CycleSettings = { ...input, criticality: 'C1' };
    expect(standing([0.3], c1)).toBe('reported  2');
    expect(standing([null], c1)).toBe('reported  2');
    expect(standing([0.3], { ...c1, threshold: 0.5 })).toBe('revising BELOW 2');
    expect(standing([0.5], { ...c1, threshold: 0.5 })).toBe('accepted  2');
  });

  test('is lower for a plain review', () => {
    const plain: CycleSettings = { ...input, isAdversarial: false };
    expect(standing([0.6, 0.85], { ...plain, iterationsMax: 9 })).toBe('ratifying PERSON 3');
    expect(standing([0.7, 0.85], plain)).toBe('accepted  3');
    expect(standing([0.5, 0.59, 0.68], { ...plain, iterationsMax: 9 })).toBe('escalated PLATEAU 4');
    expect(standing([0.5, 0.59, 0.68], longer)).toBe('revising BELOW 4');
  });

  test('counts an iteration as it was named, if that is more', () => {
    const one = standingAfter([roundWith({ digest: 'a', score: 0.93, iteration: 3 })], input);
    expect(one).toMatchObject({ state: 'accepted', iteration: 3 });
  });

  test('does not take a score for a pass where the verdict is another', () => {
    const high = (change: object) =>
      standingAfter(
        [...scored([0.93]), roundWith({ digest: 'b', score: 0.95, ...change })],
        longer,
      );
    expect(high({ verdict: 'REVISE' })).toMatchObject({
      state: 'revising',
      reason: 'OPEN_FINDING',
    });
    expect(high({ is_hard: true })).toMatchObject({ state: 'revising', reason: 'OPEN_FINDING' });
    const last = standingAfter(
      [...scored([0.93]), roundWith({ digest: 'b', score: 0.95, is_hard: true })],
      input,
    );
    expect(last).toMatchObject({ state: 'escalated', reason: 'HARD_FINDING' });
  });
});

describe('what stops', () => {
  test('a plateau: conditional from 0.85 on, else a person', () => {
    expect(standing([0.86, 0.88, 0.9], longer)).toBe('ratifying PLATEAU 4');
    expect(standing([0.7, 0.72, 0.74], longer)).toBe('escalated PLATEAU 4');
  });

  test('a score below 0.50 after three critiques', () => {
    expect(standing([0.2, 0.3, 0.4], longer)).toBe('escalated LOW 4');
    expect(standing([0.3, 0.4, 0.5], longer)).toBe('revising BELOW 4');
  });

  test('an artifact that is what it was before', () => {
    const versions = ['a', 'b', 'a'].map((digest, at) =>
      roundWith({ digest, critique: `${at}`, score: 0.6 + at / 10 }),
    );
    expect(standingAfter(versions, longer)).toMatchObject({
      ...{ state: 'escalated', reason: 'OSCILLATION' },
    });
  });

  test('a dispute: the creator says it is wrong, the critic says it again', () => {
    const rounds = [
      roundWith({ digest: 'a', findings: ['x', 'y'], score: 0.6 }),
      roundWith({ digest: 'b', findings: ['x'], disputed: ['x'], score: 0.75 }),
    ];
    expect(standingAfter(rounds, longer)).toMatchObject({ state: 'escalated', reason: 'DISPUTE' });
    const given = [rounds[0]!, { ...rounds[1]!, findings: ['z'] }];
    expect(standingAfter(given, longer).state).toBe('revising');
  });

  test('a dispute without words: unchanged twice, and the same findings open', () => {
    const same = (findings: string[]) =>
      ['1', '2', '3'].map((critique, at) =>
        roundWith({ digest: 'a', critique, findings, score: 0.6 + at / 20 }),
      );
    expect(standingAfter(same(['x']), longer)).toMatchObject({ reason: 'DISPUTE' });
    expect(standingAfter(same([]), longer).reason).toBe('BELOW');
  });

  test('a review that was broken off, and one without a score, at once', () => {
    const unscored = [roundWith({ digest: 'a', score: null, needs_person: 'PERSON' })];
    expect(standingAfter(unscored, input)).toMatchObject({ reason: 'UNSCORED', iteration: 2 });
    const aborted = [roundWith({ digest: 'a', score: 0.99, verdict: 'ABORTED' })];
    expect(standingAfter(aborted, input)).toMatchObject({ state: 'escalated', reason: 'ABORTED' });
    expect(standingAfter(aborted, { ...input, criticality: 'C1' }).reason).toBe('ABORTED');
  });
});

test('a review that was asked for no score leaves the artifact where it was', () => {
  const aside = (digest: string) => roundWith({ digest, score: null });
  expect(standingAfter([aside('a')], input).state).toBe('reported');
  const low = [...scored([0.6, 0.7]), aside('c')];
  expect(standingAfter(low, input)).toMatchObject({
    ...{ state: 'escalated', reason: 'BELOW_GATE', iteration: 4 },
  });
  const good = scored([0.86, 0.95]);
  const same = aside(good.at(-1)?.digest ?? '');
  expect(standingAfter([...good, same], input)).toMatchObject({ state: 'accepted', iteration: 4 });
  // What was accepted is another text.
  expect(standingAfter([...good, aside('c')], input).state).toBe('reported');
});

describe('a person', () => {
  test('ratifies C4 always, and what carries a flag that says so', () => {
    const c4: CycleSettings = { ...input, criticality: 'C4' };
    const passed = standingAfter(scored([0.85, 0.95]), c4);
    expect(passed).toMatchObject({ state: 'ratifying', reason: 'PERSON', flag: 'ESC-001' });
    const named = [
      ...scored([0.85]),
      roundWith({ digest: 'b', score: 0.95, needs_person: 'AE-006' }),
    ];
    expect(standingAfter(named, input)).toMatchObject({ state: 'ratifying', flag: 'AE-006' });
    const jumped = standingAfter(scored([0.7, 0.95]), input);
    expect(jumped).toMatchObject({ state: 'ratifying', flag: 'LENIENCY_JUMP' });
  });

  test.each([
    ['accept', 'ratified'],
    ['refuse', 'refused'],
    ['revise', 'revising'],
  ] as const)('says %s: it is %s', (judged, state) => {
    const [first, second] = scored([0.7, 0.87]);
    expect(standingAfter([first!, { ...second!, judged }], input).state).toBe(state);
  });

  test('grants one iteration beyond the limit, each time', () => {
    const [first, second, third] = scored([0.7, 0.8, 0.84]);
    const again = { ...second!, judged: 'revise' as const };
    expect(standingAfter([first!, again, third!], input)).toMatchObject({
      ...{ state: 'escalated', iteration: 4, iterations_max: 4 },
    });
  });

  test('who says nothing lets it expire', () => {
    expect(standingAfter(scored([0.8, 0.87]), input, true).state).toBe('expired');
    expect(standingAfter(scored([0.85, 0.95]), input, true).state).toBe('accepted');
  });

  test('a critique of what is over begins another cycle', () => {
    expect(standing([0.85, 0.95, 0.6])).toBe('revising BELOW 2');
  });
});

test('a critique as a round of the cycle', () => {
  const findings = [findingOf('x', { is_hard: true }), findingOf('y', { severity: 'critical' })];
  const flags = [{ code: 'AE-006', level: 'mandatory' as const, text: '' }];
  const round = roundOf(critiqueOf('one', 0.6, { findings, flags, needs_person: true }));
  expect(round).toMatchObject({ findings: ['y', 'x'], is_hard: true, needs_person: 'AE-006' });
});

test('whatever is scored and judged: nothing from C2 on is accepted before iteration 3, and every end is reached', () => {
  const scores = [null, 0.3, 0.86, 0.95];
  const judgements = ['', 'accept', 'refuse', 'revise'] as const;
  const ends = new Set<string>();
  const walk = (rounds: readonly JudgedRound[], settings: CycleSettings): void => {
    for (const isExpired of [false, true]) {
      const { state, iteration } = standingAfter(rounds, settings, isExpired);
      ends.add(state);
      if (state === 'accepted' && settings.criticality !== 'C1')
        expect(iteration).toBeGreaterThan(2);
    }
    if (rounds.length === 3) return;
    for (const score of scores)
      for (const judged of judgements)
        for (const digest of rounds.length === 2 ? ['v2', 'v0'] : [`v${rounds.length}`]) {
          const verdict = (score ?? 0) >= 0.92 ? 'PASS' : 'REVISE';
          walk([...rounds, { ...roundWith({ digest, score, verdict }), judged }], settings);
        }
  };
  for (const criticality of ['C1', 'C2', 'C3', 'C4'] as const) walk([], { ...input, criticality });
  expect([...ends].sort()).toEqual([
    ...['accepted', 'creating', 'escalated', 'expired', 'ratified', 'ratifying', 'refused'],
    ...['reported', 'revising'],
  ]);
});
