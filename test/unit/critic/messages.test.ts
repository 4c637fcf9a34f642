import { expect, test } from 'vitest';
import { criticMessages, critiqueProgress } from '../../../src/critic/review/messages.js';
import type { Critique, CritiqueRequest, ModeReport } from '../../../src/critic/shapes.js';

const report: ModeReport = {
  mode: 'llm-as-judge',
  strategy: 'S-014',
  engine: 'rules',
  status: 'partial',
  reason: 'MODE_TIMED_OUT',
  sections: [{ title: 'Quality Score', text: 'none' }],
  findings: [
    {
      id: 'f-1',
      mode: 'llm-as-judge',
      by: 'rules',
      rule: 'CLAIM_CONTRADICTED',
      severity: 'critical',
      is_hard: true,
      text: 'it is not so',
      line_start: 3,
      line_end: 4,
      remedy: 'correct it',
      evidence: [
        {
          file_path: 'a/b.c',
          line_start: 1,
          line_end: 1,
          content: 'int a;',
          blob: '',
          symbol: 'a',
        },
      ],
    },
  ],
  score: {
    score: null,
    coverage: 0.5,
    dimensions: [
      { name: 'Completeness', weight: 0.2, score: null, why: 'unjudged', evidence: [], faults: 0 },
    ],
  },
  unable: ['no model'],
  dropped: 2,
  abort: 'HARD_RULE_CONTRADICTED',
  texts: ['judge@1'],
  elapsed_ms: 12,
  tokens: 34,
};

const critique: Critique = {
  id: 'r-1',
  artifact: 'doc.md',
  digest: 'ab',
  iteration: 2,
  ...{ state: 'revising', standing: 'the score is below the threshold' },
  selection: {
    outcome: 'review',
    criticality: 'C2',
    floor: 'C1',
    context: {
      criticality: 'C2',
      phase: 'PH-DESIGN',
      target_type: 'TGT-DEC',
      maturity: 'MAT-DRAFT',
      team: 'TEAM-MULTI',
      enforcement: 'ENF-PORT',
      platform: 'PLAT-GENERIC',
      token_budget: 'TOK-CONST',
    },
    modes: [{ mode: 'llm-as-judge', tokens: 2000, is_advisory: false, is_single_pass: true }],
    tokens: 2000,
    flags: [{ code: 'TEN', level: 'warning', text: 'tension' }],
    steps: [{ step: 'base', text: 'C2', modes: ['llm-as-judge'] }],
    error: '',
  },
  reports: [
    report,
    { ...report, mode: 'steelman', score: null, abort: '' },
    {
      ...report,
      mode: 'chain-of-verification',
      claims: { verified: 3, contradicted: 0, unverified: 1, named: 4 },
    },
  ],
  score: null,
  threshold: 0.92,
  verdict: 'UNSCORED',
  why: 'nobody judged it',
  needs_person: true,
  flags: [],
  engine: 'rules',
  tokens: 34,
  begun_ms: 1_700_000_000_000,
  elapsed_ms: 20,
};

test('a critique comes out of its bytes as it went in, null where nobody scored', () => {
  const { answer } = criticMessages.critique;
  expect(answer.decode(answer.encode(critique))).toEqual(critique);
});

test('a score is what it was to the last bit', () => {
  const { answer } = criticMessages.critique;
  const score = 0.1 + 0.82 - 1e-15;
  expect(answer.decode(answer.encode({ ...critique, score })).score).toBe(score);
});

test('of a request, what nobody said stays unsaid', () => {
  const { request } = criticMessages.critique;
  const asked: CritiqueRequest = {
    id: 'r-1',
    artifact: { path: 'doc.md', text: '# Title' },
    root: '/tree',
    modes: [],
    strict_order: false,
    is_adversarial: true,
    context: { criticality: 'C2', phase: 'later' },
    is_revision: false,
    iteration: 1,
    tokens: 0,
    rules: [{ path: 'rules.md', text: 'MUST' }],
    criteria: '',
    ps_id: '',
    entry_id: '',
    generator: '',
  };
  const read = request.decode(request.encode(asked));
  expect(read).toEqual(asked);
  for (const tree of ['', '/other']) {
    const artifact = { ...asked.artifact, tree, named: 'link.md' };
    const named = { ...asked, artifact, rules: [{ path: 'r.md', text: '', named: 'link.md' }] };
    expect(request.decode(request.encode(named))).toEqual(named);
  }
  const first = { ...asked, previous_score: 0, threshold: 0.5, iterations_max: 5 };
  expect(request.decode(request.encode(first))).toEqual(first);
});

test('progress has a report after a mode, and none when a review goes on', () => {
  const begun = { id: 'r-1', done: 0, total: 2, report: null, next: 'steelman' as const };
  expect(critiqueProgress.decode(critiqueProgress.encode(begun))).toEqual(begun);
  const next = { ...begun, done: 1, report };
  expect(critiqueProgress.decode(critiqueProgress.encode(next))).toEqual(next);
});

test('a history says null where an iteration has no score or nothing before it', () => {
  const { answer } = criticMessages.history;
  const iteration = {
    iteration: 1,
    score: null,
    modes_applied: ['self-refine' as const],
    improvement_areas: [],
    improvement_delta: null,
    threshold_met: false,
    notes: '',
    digest: 'ab',
    critique: '',
    findings: [],
    flags: [],
    at_ms: 1,
  };
  const tracking = { artifact: 'doc.md', threshold: 0.92, iterations: [iteration] };
  const history = { tracking, state: 'open', why: '', needs_person: false, ratifications: [] };
  expect(answer.decode(answer.encode(history))).toEqual(history);
});
