import { expect, test } from 'vitest';
import { confidenceOf, meanOf } from '../../src/base/confidence.js';
import { reasonOf, reviewResponse } from '../../src/delegation/manager/response-review.js';
import type { CitationVerdict, Review } from '../../src/delegation/manager/review.js';
import type { DelegatedTask, TaskResponse } from '../../src/delegation/task/shapes.js';
import {
  allValid,
  citationOf,
  citationsOf,
  evidenceOf,
  responseOf,
  taskOf,
  verdictOf,
} from '../support/delegation.js';

// ---------------------------------------------------------------- confidence

const sample = [0.5328465282382895, 0.5271795362811473, 0.4973341535057919];
sample.push(0.4801590821541216, 0.4798942872904351);
const fives = (value: number): number[] => [value, value, value, value, value];

test.each([
  ['the sample of §3', sample, 'low'],
  ['none', [], 'low'],
  ['.85', [0.85], 'medium'],
  ['five times .85', fives(0.85), 'medium'],
  ['.8500001', [0.8500001], 'high'],
  ['.7', [0.7], 'medium'],
  ['three times .7', [0.7, 0.7, 0.7], 'medium'],
  ['.6999999', [0.6999999], 'low'],
  ['.8 and .92', [0.8, 0.92], 'high'],
] as const)('§2 Response: confidence of %s', (_, similarities, level) => {
  expect(confidenceOf(similarities)).toBe(level);
});

test('§3 ask --json: the mean of the sample is .5035', () => {
  expect(meanOf(sample)).toBeCloseTo(0.5035, 4);
  expect(meanOf([])).toBe(0);
});

// ---------------------------------------------------------------- reviews

interface Case {
  task?: Record<string, unknown>;
  evidence?: Parameters<typeof evidenceOf>[0] | null;
  response?: Record<string, unknown>;
  /** Of each citation; absent: all are valid. */
  verdicts?: CitationVerdict[];
}

function reviewed({ task, evidence, response, verdicts }: Case): Review {
  const grounding_evidence = evidence === null ? null : evidenceOf(evidence);
  const its: TaskResponse = responseOf({ grounding_evidence, ...response });
  const given: DelegatedTask = taskOf({ grounding: { strategy: 'pgc_first' }, ...task });
  return reviewResponse(given, its, 'worker', verdicts ?? allValid(its));
}

const codesOf = ({ findings }: Review): string[] => findings.map(({ code }) => code);
const asks = (grounding: Record<string, unknown>): Record<string, unknown> => ({
  grounding: { strategy: 'pgc_first', ...grounding },
});
const good = citationsOf([0.9]);
const poor = { citations: citationsOf([0.62]), overlay_warnings: [] };
const fair = { citations: citationsOf([0.7]), grounding_confidence: 'medium' as const };
const fine = { citations: good, grounding_confidence: 'high' as const };
const long = (length: number): Case => ({
  evidence: { citations: [citationOf({ content: 'x'.repeat(length) })] },
});
const wrong = citationOf({ overlay: 'error', content: 'PGC query failed: timed out after 30s' });
const legacy = { protocol_version: '1.0-legacy' };
const two = { citations: citationsOf([0.9, 0.9]) };
const against = (...verdicts: CitationVerdict[]): Case => ({ evidence: two, verdicts });
const valid = verdictOf('valid');
const because = (...codes: string[]): string[] => codes;
const checklist = '§7 Validation Checklist';
const o3 = asks({ overlay_hints: ['O3'] });
const named = { overlays_consulted: ['O1'], overlay_warnings: ['O3, O4 not available - used O1'] };

test.each<[string, string, Case, Review['verdict'], string[]]>([
  // What confidence means for whom.
  ['§5.5', 'high', { evidence: fine }, 'accepted', []],
  ['§5.5', 'high, critical', { evidence: fine, task: critical() }, 'accepted', []],
  ['§5.5', 'medium', { evidence: fair }, 'accepted', []],
  ['§5.5', 'medium, critical', { evidence: fair, task: critical() }, 'accepted', []],
  ['§5.5', 'low', { evidence: poor }, 'warned', because('CONFIDENCE_LOW')],
  ['§5.5', 'low, C1', low('C1'), 'warned', because('CONFIDENCE_LOW')],
  ['§5.5', 'low, C2', low('C2'), 'warned', because('CONFIDENCE_LOW')],
  ['§5.5', 'low, C3', low('C3'), 'undecided', because('CONFIDENCE_LOW')],
  ['§5.5', 'low, C4', low('C4'), 'undecided', because('CONFIDENCE_LOW')],
  ['§5.5', 'low, but nobody asked', lowUnasked(), 'accepted', []],
  // The limits of the document.
  ['§2 Response: citations', '10', many(10), 'accepted', []],
  ['§2 Response: citations', '11', many(11), 'refused', because('CITATIONS_TOO_MANY')],
  ['§2 Response: content', '500 characters', long(500), 'accepted', []],
  ['§2 Response: content', '501 characters', long(501), 'refused', because('CITATION_TOO_LONG')],
  // Whether there is evidence at all.
  [checklist, 'none', { evidence: null }, 'refused', because('EVIDENCE_MISSING')],
  ['§5.1', 'none, legacy', noneLegacy(), 'refused', because('PROTOCOL_MISMATCH')],
  [
    checklist,
    'none, required',
    none({ evidence_required: true }),
    'refused',
    because('EVIDENCE_MISSING'),
  ],
  [checklist, 'none, not required', none({ evidence_required: false }), 'accepted', []],
  [checklist, 'none, strategy none', none({ strategy: 'none' }), 'accepted', []],
  [
    checklist,
    'none, strategy none, yet required',
    none({ strategy: 'none', evidence_required: true }),
    'refused',
    because('EVIDENCE_MISSING'),
  ],
  [
    '§2 Request',
    'none, of a legacy task',
    { task: { grounding: null }, evidence: null },
    'accepted',
    [],
  ],
  [
    checklist,
    'nothing cited',
    { evidence: { citations: [] } },
    'refused',
    because('CITATIONS_MISSING', 'CONFIDENCE_LOW'),
  ],
  [checklist, 'no result', { response: { result: ' \n' } }, 'refused', because('RESULT_EMPTY')],
  // Errors are no evidence.
  [
    '§5.2',
    'an error as the only citation',
    { evidence: { citations: [wrong] } },
    'refused',
    because('CITATIONS_MISSING', 'CITATION_IS_ERROR', 'CONFIDENCE_LOW'),
  ],
  [
    '§5.2',
    'an error beside a citation',
    { evidence: { citations: [...good, wrong] } },
    'warned',
    because('CITATION_IS_ERROR'),
  ],
  // Who hinted what.
  ['§5.3', 'hinted and cited', { task: asks({ overlay_hints: ['O1'] }) }, 'accepted', []],
  [
    '§5.3',
    'O3 not consulted, in silence',
    { task: o3 },
    'refused',
    because('OVERLAY_NOT_CONSULTED'),
  ],
  [
    '§5.3',
    'O3 not consulted, but named',
    { task: o3, evidence: named },
    'warned',
    because('OVERLAY_PARTIAL'),
  ],
  [
    '§5.3',
    'the same, critical',
    { task: { ...o3, criticality: 'C3' }, evidence: named },
    'undecided',
    because('OVERLAY_PARTIAL'),
  ],
  [
    '§5.3',
    'another one named',
    { task: o3, evidence: { ...named, overlay_warnings: ['O31 is not there'] } },
    'refused',
    because('OVERLAY_NOT_CONSULTED'),
  ],
  [
    '§5.3',
    'one of two consulted',
    { task: asks({ overlay_hints: ['O1', 'O3'] }) },
    'refused',
    because('OVERLAY_NOT_CONSULTED'),
  ],
  [
    checklist,
    'consulted, not cited',
    { task: o3, evidence: { overlays_consulted: ['O3'] } },
    'warned',
    because('OVERLAY_NOT_CITED'),
  ],
  [
    checklist,
    'one of two cited',
    { task: asks({ overlay_hints: ['O1', 'O3'] }), evidence: { overlays_consulted: ['O1', 'O3'] } },
    'accepted',
    [],
  ],
  [
    '§3',
    'hints without grounding',
    { task: asks({ strategy: 'none', overlay_hints: ['O3'] }) },
    'accepted',
    [],
  ],
  [
    '§3',
    'a query hinted, none executed',
    { task: asks({ query_hints: ['q'] }), evidence: { queries_executed: [] } },
    'refused',
    because('QUERIES_NOT_EXECUTED'),
  ],
  ['§3', 'a query hinted, one executed', { task: asks({ query_hints: ['q'] }) }, 'accepted', []],
  // What the manager finds out itself.
  ['§5.5 sampling', 'all valid', against(valid, valid), 'accepted', []],
  [
    '§5.5 sampling',
    'one false',
    against(valid, verdictOf('false', 'not in the file')),
    'refused',
    because('CITATION_FALSE'),
  ],
  [
    '§5.5 sampling',
    'one stale',
    against(valid, verdictOf('stale', 'changed')),
    'warned',
    because('CITATION_STALE'),
  ],
  [
    '§5.5 sampling',
    'one unverified',
    against(valid, verdictOf('unverified')),
    'warned',
    because('CITATION_UNVERIFIED'),
  ],
  ['§5.5 sampling', 'one not looked at', against(valid), 'warned', because('CITATION_UNVERIFIED')],
  [
    '§5.5 sampling',
    'none verified',
    against(verdictOf('unverified'), verdictOf('stale')),
    'refused',
    because('CITATION_UNVERIFIED', 'CITATION_STALE', 'NOTHING_VERIFIED', 'CONFIDENCE_LOW'),
  ],
  [
    '§5.5 sampling',
    'an error that was called valid',
    { evidence: { citations: [citationOf(), wrong] }, verdicts: [verdictOf('stale'), valid] },
    'refused',
    because('CITATION_STALE', 'CITATION_IS_ERROR', 'NOTHING_VERIFIED', 'CONFIDENCE_LOW'),
  ],
  // What the worker claims.
  [
    '§2 Response: grounding_confidence',
    'inflated by one',
    claimed(0.7, 'high'),
    'warned',
    because('CONFIDENCE_INFLATED'),
  ],
  [
    '§2 Response: grounding_confidence',
    'inflated by two',
    claimed(0.5, 'high'),
    'warned',
    because('CONFIDENCE_INFLATED', 'CONFIDENCE_LOW'),
  ],
  ['§2 Response: grounding_confidence', 'modest', claimed(0.9, 'low'), 'accepted', []],
  [
    '§2 Response: grounding_confidence',
    'of what is false',
    {
      evidence: { ...fine, citations: citationsOf([0.2, 1]) },
      verdicts: [valid, verdictOf('stale')],
    },
    'warned',
    because('CITATION_STALE', 'CONFIDENCE_INFLATED', 'CONFIDENCE_LOW'),
  ],
])('%s: %s', (_, __, given, verdict, codes) => {
  const review = reviewed(given);
  expect({ verdict: review.verdict, codes: codesOf(review) }).toEqual({ verdict, codes });
});

function critical(): Record<string, unknown> {
  return { criticality: 'C3' };
}
function low(criticality: string): Case {
  return { evidence: poor, task: { criticality } };
}
function lowUnasked(): Case {
  return { evidence: poor, task: asks({ evidence_required: false }) };
}
function many(count: number): Case {
  return { evidence: { citations: citationsOf(Array.from({ length: count }, () => 0.9)) } };
}
function none(grounding: Record<string, unknown>): Case {
  return { evidence: null, task: asks(grounding) };
}
function noneLegacy(): Case {
  return { evidence: null, response: legacy };
}
function claimed(similarity: number, grounding_confidence: 'high' | 'low'): Case {
  return { evidence: { citations: citationsOf([similarity]), grounding_confidence } };
}

test('§2 Response: what a citation does not state, or states beyond measure, is bounded', () => {
  const silent = citationOf();
  delete silent.similarity;
  expect(reviewed({ evidence: { citations: [silent] } })).toMatchObject({
    similarity: 0,
    confidence: 'low',
  });
  const loud = citationsOf([7, -3]);
  expect(reviewed({ evidence: { citations: loud } }).similarity).toBe(0.5);
  const mad: TaskResponse = responseOf();
  for (const each of mad.grounding_evidence?.citations ?? []) each.similarity = Number.NaN;
  const { similarity } = reviewResponse(taskOf(), mad, 'worker', allValid(mad));
  expect(similarity).toBe(0);
});

test('§5.5 sampling: a finding says which citation, where, and where it stands now', () => {
  const { findings } = reviewed(against(valid, verdictOf('stale', 'moved', 'net/core/dev.c:40')));
  expect(findings[0]?.text).toBe(
    'citation 2 (net/core/dev.c:2): moved; it stands at net/core/dev.c:40',
  );
});

test('§5.1: why it was refused is one code', () => {
  expect(reasonOf(reviewed({ evidence: fine }))).toBe('');
  expect(reasonOf(reviewed(low('C3')))).toBe('CONFIDENCE_LOW');
  expect(reasonOf(reviewed(many(11)))).toBe('EVIDENCE_REFUSED');
  expect(reasonOf(reviewed(noneLegacy()))).toBe('PROTOCOL_MISMATCH');
});

// ---------------------------------------------------------------- criteria

const criterion = (check?: Record<string, unknown>): Record<string, unknown> => ({
  acceptance_criteria: [{ text: 'says through dev_queue_xmit', ...(check && { check }) }],
});

test.each<[string, Record<string, unknown> | undefined, 'met' | 'unmet' | 'unchecked']>([
  ['only words, all of which stand in the result', undefined, 'unchecked'],
  ['an empty check', {}, 'unchecked'],
  ['a symbol that is cited', { cites_symbol: 'dev_queue_xmit' }, 'met'],
  ['a part of a symbol', { cites_symbol: 'queue_xmit' }, 'unmet'],
  ['another symbol', { cites_symbol: 'kfree' }, 'unmet'],
  ['a symbol of signs', { cites_symbol: '(skb' }, 'unmet'],
  ['a file that is cited', { cites_file: 'net/core/dev.c' }, 'met'],
  ['the end of its path', { cites_file: 'core/dev.c' }, 'met'],
  ['the end of its name', { cites_file: 'ev.c' }, 'unmet'],
  ['a pattern that matches', { pattern: 'dev_\\w+_xmit$' }, 'met'],
  ['a pattern that does not', { pattern: '^dev' }, 'unmet'],
  ['one citation', { citations_min: 1 }, 'met'],
  ['two citations', { citations_min: 2 }, 'unmet'],
  ['all of several', { cites_file: 'dev.c', pattern: 'through', citations_min: 1 }, 'met'],
  ['not all of several', { cites_file: 'dev.c', pattern: 'around' }, 'unmet'],
])('§7 Validation Checklist: acceptance criteria: %s', (_, check, verdict) => {
  const review = reviewed({ task: criterion(check), evidence: fine });
  expect(review.criteria.map((each) => each.verdict)).toEqual([verdict]);
  // What nobody checked is not accepted in silence.
  const verdicts = { met: 'accepted', unmet: 'refused', unchecked: 'warned' };
  expect(review.verdict).toBe(verdicts[verdict]);
});

test('§2 Response: the confidence is that of the answer, as long as all that is cited holds', () => {
  const its = responseOf({
    grounding_evidence: evidenceOf({ citations: citationsOf([0.6, 0.6]) }),
  });
  const { citations } = its.grounding_evidence!;
  const near = { citations, answered: 'high', claimable: 'low' } as const;
  const confidence = (...verdicts: CitationVerdict[]) =>
    reviewResponse(taskOf({ grounding: {} }), its, 'worker', verdicts, { near }).confidence;
  expect([confidence(valid, valid), confidence(valid, verdictOf('stale'))]).toEqual([
    'high',
    'low',
  ]);
});

test('§3 Computational Grounding: an analysis that could not be made is a warning', () => {
  const errors = [
    { code: 'ALGEBRA_SYNTAX', text: 'algebra_query O1 &: no operand', retryable: false },
  ];
  const review = reviewed({ evidence: fine, response: { errors } });
  expect({ verdict: review.verdict, codes: codesOf(review) }).toEqual({
    verdict: 'warned',
    codes: ['WORK_INCOMPLETE'],
  });
  expect(review.findings[0]!.text).toContain('algebra_query O1 &');
});

test('§7 Validation Checklist: a change that its executor doubts does not count as done', () => {
  const text = 'the change is doubtful: it says that it is done, and no file was changed';
  const errors = [{ code: 'CHANGE_DOUBTED', text, retryable: false }];
  const review = reviewed({ evidence: fine, response: { errors } });
  expect(review).toMatchObject({ verdict: 'refused', findings: [{ severity: 'error', text }] });
});

test('§7 Validation Checklist: only what was verified meets a criterion, and one place once', () => {
  const checks = { task: criterion({ citations_min: 2 }), evidence: fine };
  const twice = { citations: [citationOf(), citationOf()] };
  const beside = { citations: [citationOf(), wrong] };
  const verdictsOf = (given: Case): unknown => reviewed(given).criteria[0]?.verdict;
  expect(verdictsOf({ ...checks, evidence: two })).toBe('met');
  expect(verdictsOf({ ...checks, ...against(valid, verdictOf('unverified')) })).toBe('unmet');
  expect(verdictsOf({ ...checks, evidence: twice })).toBe('unmet');
  expect(verdictsOf({ ...checks, evidence: beside })).toBe('unmet');
});

test('§7 Validation Checklist: what nobody could check of a critical task a person decides', () => {
  const given = { evidence: fine, task: { ...criterion(), criticality: 'C4' } };
  const review = reviewed(given);
  expect({ verdict: review.verdict, codes: codesOf(review) }).toEqual({
    verdict: 'undecided',
    codes: ['CRITERIA_UNCHECKED'],
  });
});

test('what an agent says in its own words is not taken for checked, and what the index contradicts is refused', () => {
  const its = responseOf({ grounding_evidence: evidenceOf({}) });
  const about = (words: { areOwn: boolean; contradicted: string[] }, criticality = '') =>
    reviewResponse(
      taskOf({ grounding: {}, ...(criticality !== '' && { criticality }) }),
      its,
      'worker',
      allValid(its),
      { words },
    );
  const own = { areOwn: true, contradicted: [] };
  expect(about({ ...own, areOwn: false })).toMatchObject({ verdict: 'accepted', findings: [] });
  expect(about(own)).toMatchObject({
    verdict: 'warned',
    findings: [{ code: 'WORDS_UNCHECKED', severity: 'warning' }],
  });
  expect(about(own, 'C3').verdict).toBe('undecided');
  const contradicted = ['"Nobody calls `f`." – f is called by g.'];
  expect(about({ ...own, contradicted })).toMatchObject({
    verdict: 'refused',
    findings: [{ code: 'CLAIM_CONTRADICTED', text: contradicted[0] }],
  });
});
