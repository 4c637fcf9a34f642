import { describe, expect, test } from 'vitest';
import { standingAfter } from '../../../src/critic/cycle/cycle.js';
import {
  cycleMachine,
  type CycleEvent,
  type CycleInput,
} from '../../../src/critic/cycle/cycle.machine.js';
import { roundOf } from '../../../src/critic/cycle/cycle-verdict.js';
import { start, stateName, step, type Snapshot } from '../../../src/machine/step.js';
import { critiqueOf, findingOf, roundWith } from '../../support/critiques.js';

const input: CycleInput = { criticality: 'C2', isAdversarial: true, iterationsMax: 3 };
const longer: CycleInput = { ...input, iterationsMax: 8 };
const finals = [
  'accepted',
  'ratified',
  'reported',
  'unreviewed',
  'refused',
  'expired',
  'cancelled',
];

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
    const c1: CycleInput = { ...input, criticality: 'C1' };
    expect(standing([0.3], c1)).toBe('reported  2');
    expect(standing([null], c1)).toBe('reported  2');
    expect(standing([0.3], { ...c1, threshold: 0.5 })).toBe('revising BELOW 2');
    expect(standing([0.5], { ...c1, threshold: 0.5 })).toBe('accepted  2');
  });

  test('is lower for a plain review', () => {
    const plain: CycleInput = { ...input, isAdversarial: false };
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
    expect(standing([null])).toBe('escalated UNSCORED 2');
    const aborted = [roundWith({ digest: 'a', score: 0.99, verdict: 'ABORTED' })];
    expect(standingAfter(aborted, input)).toMatchObject({ state: 'escalated', reason: 'ABORTED' });
    expect(standingAfter(aborted, { ...input, criticality: 'C1' }).reason).toBe('ABORTED');
  });
});

describe('a person', () => {
  test('ratifies C4 always, and what carries a flag that says so', () => {
    const c4: CycleInput = { ...input, criticality: 'C4' };
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

describe('without a critic', () => {
  test('C1 and C2 are told as unreviewed, C3 and C4 wait for a person', () => {
    const absent = (criticality: CycleInput['criticality']): string => {
      const { snapshot } = start(cycleMachine, { ...input, criticality });
      const made = step(cycleMachine, snapshot, { type: 'artifact.made' }).snapshot;
      const event = { type: 'critic.absent', reason: 'NO_RESPONDER' } as const;
      return stateName(step(cycleMachine, made, event).snapshot);
    };
    expect((['C1', 'C2', 'C3', 'C4'] as const).map(absent)).toEqual([
      ...['unreviewed', 'unreviewed', 'escalated', 'escalated'],
    ]);
  });
});

test('a critique as a round of the cycle', () => {
  const findings = [findingOf('x', { is_hard: true }), findingOf('y', { severity: 'critical' })];
  const flags = [{ code: 'AE-006', level: 'mandatory' as const, text: '' }];
  const round = roundOf(critiqueOf('one', 0.6, { findings, flags, needs_person: true }));
  expect(round).toMatchObject({ findings: ['y', 'x'], is_hard: true, needs_person: 'AE-006' });
});

describe('over all that can happen', () => {
  const scores = [null, 0.3, 0.86, 0.95];
  const events = (at: number): CycleEvent[] => [
    { type: 'artifact.made' },
    { type: 'creator.blocked', reason: 'NO_WORKER' },
    ...scores.flatMap((score): CycleEvent[] => [
      { type: 'critique.done', round: roundWith({ digest: `v${at}`, critique: `${at}`, score }) },
      { type: 'critique.done', round: roundWith({ digest: 'v0', critique: `${at}`, score }) },
    ]),
    { type: 'critic.absent', reason: 'NO_RESPONDER' },
    { type: 'person.judged', judgement: 'accept' },
    { type: 'person.judged', judgement: 'refuse' },
    { type: 'person.judged', judgement: 'revise' },
    { type: 'timer.due', timer: 'ratification' },
  ];

  test('an end can be reached, and nothing from C2 on is accepted before iteration 3', () => {
    const ends = new Set<string>();
    let walked = 0;
    const walk = (snapshot: Snapshot<typeof cycleMachine>, depth: number): void => {
      const state = stateName(snapshot);
      walked += 1;
      if (snapshot.status !== 'active') {
        ends.add(state);
        const { iteration, criticality } = snapshot.context;
        if (state === 'accepted' && criticality !== 'C1') expect(iteration).toBeGreaterThan(2);
        return;
      }
      // A person, or the clock, ends what waits; a creator that is blocked brings it to a person.
      const wayOut: CycleEvent = ['creating', 'revising'].includes(state)
        ? { type: 'creator.blocked', reason: '' }
        : state === 'critiquing'
          ? { type: 'critic.absent', reason: '' }
          : { type: 'timer.due', timer: 'ratification' };
      expect(snapshot.can(wayOut), state).toBe(true);
      if (depth === 0) return;
      for (const event of events(depth)) {
        if (snapshot.can(event)) walk(step(cycleMachine, snapshot, event).snapshot, depth - 1);
      }
    };
    for (const criticality of ['C1', 'C2', 'C3', 'C4'] as const)
      walk(start(cycleMachine, { ...input, criticality, iterationsCap: 5 }).snapshot, 8);
    expect(walked).toBeGreaterThan(10_000);
    expect([...ends].sort()).toEqual(finals.filter((each) => each !== 'cancelled').sort());
  });
});
