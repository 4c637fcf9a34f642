import { expect, test } from 'vitest';
import { findingOf } from '../../../src/critic/finding.js';
import { judgeDimensions } from '../../../src/critic/modes/llm-as-judge.js';
import { standardDimensions } from '../../../src/critic/modes/standard.js';
import { scoreOf } from '../../../src/critic/score/scoring.js';
import type { ModeReport, Score } from '../../../src/critic/shapes.js';
import { verdictOf } from '../../../src/critic/score/verdict.js';
import { reportOf } from '../../support/critic.js';

function scored(all: number, own: Record<string, number | null> = {}): Score {
  const dimensions = judgeDimensions.map(({ name, weight }) => ({
    ...{ name, weight, why: '', evidence: [] },
    score: own[name] === undefined ? all : own[name],
  }));
  return scoreOf(dimensions);
}
const judge = (score: Score | null): ModeReport => reportOf({ mode: 'llm-as-judge', score });

test.each([
  [0.92, 'PASS'],
  [0.9199999, 'REVISE'],
  [0.85, 'REVISE'],
  [0.8499999, 'REJECTED'],
  [0, 'REJECTED'],
  [1, 'PASS'],
])('a composite of %d is %s: bands are closed and nothing is rounded', (score, verdict) => {
  expect(verdictOf([judge(scored(score))], 0.92, 1, 3).verdict).toBe(verdict);
});

test.each([
  ['a dimension at .50', [judge(scored(1, { Traceability: 0.5 }))], 'REVISE'],
  ['a dimension above it', [judge(scored(1, { Traceability: 0.51 }))], 'PASS'],
  [
    'an open critical finding',
    [
      reportOf({
        findings: [
          findingOf('self-refine', { rule: 'A', severity: 'critical', text: 'x', remedy: '' }),
        ],
      }),
      judge(scored(1)),
    ],
    'REVISE',
  ],
  ['an abort', [reportOf({ abort: 'GOVERNANCE_VIOLATION' }), judge(scored(1))], 'ABORTED'],
  ['no judge', [reportOf({})], 'UNSCORED'],
  [
    'too little judged',
    [
      judge(
        scored(1, {
          Completeness: null,
          'Internal Consistency': null,
          'Methodological Rigor': null,
        }),
      ),
    ],
    'UNSCORED',
  ],
  [
    'just enough judged',
    [judge(scored(1, { 'Methodological Rigor': null, Completeness: null }))],
    'PASS',
  ],
])('%s', (_, reports, verdict) => {
  expect(verdictOf(reports, 0.92, 1, 3).verdict).toBe(verdict);
});

test('why there is no score, and what ended a review, is said of this review', () => {
  const why = (...reports: ModeReport[]): string => verdictOf(reports, 0.92, 3, 3).why;
  expect(verdictOf([reportOf({})], 0.92, 3, 3).needsPerson).toBe(false);
  expect(why(reportOf({}))).toContain('no score was asked for');
  const skipped = reportOf({ mode: 'llm-as-judge', status: 'skipped' });
  expect(verdictOf([skipped], 0.92, 3, 3).needsPerson).toBe(true);
  expect(
    why(
      judge(
        scored(1, { Completeness: null, 'Internal Consistency': null, 'Evidence Quality': null }),
      ),
    ),
  ).toMatch(/Not judged: Completeness, Internal Consistency, Evidence Quality$/);
  const secret = findingOf('fmea', {
    ...{ rule: 'SECRET_EXPOSED', severity: 'critical', text: 'x', remedy: '' },
  });
  const ended = why(reportOf({ abort: 'HARD_RULE_BROKEN', findings: [secret] }));
  expect(ended).toMatch(/: a secret$/);
});

test('what a judge added up itself does not count', () => {
  const ruling = verdictOf([judge({ ...scored(0.8), score: 0.99, coverage: 1 })], 0.92, 1, 3);
  expect([ruling.verdict, ruling.score]).toEqual(['REJECTED', expect.closeTo(0.8, 12)]);
  expect(ruling.why).toContain('do not add up');
  const light = scored(0.5, { Completeness: 1 });
  const dimensions = light.dimensions.map((each) => ({
    ...each,
    weight: each.name === 'Completeness' ? 0.9 : 0.02,
  }));
  expect(verdictOf([judge({ ...light, dimensions })], 0.92, 1, 3).score).toBeCloseTo(0.6, 12);
});

test('a person is asked at the last iteration, without a score, and where something was not done', () => {
  const needs = (score: number, iteration: number, more: ModeReport[] = []): boolean =>
    verdictOf([...more, judge(scored(score))], 0.92, iteration, 3).needsPerson;
  expect([needs(0.9, 2), needs(0.9, 3), needs(0.95, 3), needs(0.4, 2)]).toEqual([
    ...[false, true, false, false],
  ]);
  expect(needs(0.95, 1, [reportOf({ mode: 'fmea', status: 'failed' })])).toBe(true);
  expect(verdictOf([], 0.92, 1, 3).needsPerson).toBe(true);
});

test('a critical finding of an advisory mode is weighed by a person, not by the gate', () => {
  const finding = findingOf('fmea', { rule: 'A', severity: 'critical', text: 'x', remedy: '' });
  const reports = [reportOf({ mode: 'fmea', findings: [finding] }), judge(scored(1))];
  expect(verdictOf(reports, 0.92, 3, 3, new Set(['fmea' as const])).verdict).toBe('PASS');
});

test('weights of a rubric are 1 together', () => {
  for (const rubric of [judgeDimensions, standardDimensions])
    expect(rubric.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 12);
});

test('the threshold is reached or not in the same way wherever it is compared', () => {
  // 0.92 as a sum of binary fractions.
  const dust = 0.9199999999999999;
  const of = (score: number) => {
    const dimensions = judgeDimensions.map(({ name, weight }) => ({
      ...{ name, weight, score, why: '', evidence: [] },
    }));
    const report = reportOf({ mode: 'llm-as-judge', score: { score, coverage: 1, dimensions } });
    return verdictOf([report], 0.92, 3, 3);
  };
  expect(of(dust).verdict).toBe('PASS');
  expect(of(0.9199999).verdict).toBe('REVISE');
  expect(of(0.9199999).why).toContain('0.9199 against 0.92');
});
