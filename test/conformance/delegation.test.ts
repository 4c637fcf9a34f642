import { expect, test } from 'vitest';
import { readResponse } from '../../src/delegation/task/response.js';
import { readTask } from '../../src/delegation/task/schema.js';
import {
  analysisTypes,
  overlayHints,
  responseStatuses,
  strategies,
  taskKinds,
  taskLimits,
} from '../../src/delegation/task/shapes.js';
import { strategyOf, withStrategy } from '../../src/delegation/manager/strategy.js';
import { taskOf } from '../support/delegation.js';
import { codeOf } from '../support/codes.js';

/** Section of the document, what is written, and what is wrong with it; empty: nothing. */
type Row = [section: string, what: string, fields: Record<string, unknown>, wrong: string];

const chars = (length: number): string => 'a'.repeat(length);
const many = <T>(length: number, each: T): T[] => Array.from({ length }, () => each);
const names = (length: number): string[] => Array.from({ length }, (_, at) => `d${at}`);
const grounded = (fields: Record<string, unknown>): Record<string, unknown> => ({
  grounding: { strategy: 'pgc_first', ...fields },
});
const hinted = (fields: Record<string, unknown>): Record<string, unknown> =>
  grounded({ analysis_hints: [{ type: 'blast_radius', target: 'kfree', ...fields }] });
const checked = (check: unknown): Record<string, unknown> => ({
  acceptance_criteria: [{ text: 'names it', check }],
});
const acted = (fields: Record<string, unknown>): Record<string, unknown> => ({
  action: { argv: ['make'], ...fields },
});
const limited = (limits: unknown): Record<string, unknown> => ({ limits });
const nested = (depth: number): unknown => (depth === 0 ? 1 : { in: nested(depth - 1) });
const variables = (length: number): Record<string, string> =>
  Object.fromEntries(names(length).map((name) => [name, '1']));

const { idChars, taskChars, contextChars, criteria, criterionChars } = taskLimits;
const { hints, hintChars, expressionChars, dependencies, argv, argChars } = taskLimits;
const { environment, stdinChars, timeoutMs, attempts } = taskLimits;
const request = '§2 Request';
const strategy = '§2 Request: strategy';
const analysis = '§2 Request: analysis_hints';
const overlay = '§2 Request: overlay_hints';
const query = '§2 Request: query_hints';
const ours = 'beyond the document';

const taskRows: Row[] = [
  [request, 'only a task', {}, ''],
  [request, 'no task', { task: undefined }, 'task'],
  [request, 'an empty task', { task: '' }, 'task'],
  [request, 'a task that is a number', { task: 5 }, 'task'],
  [request, 'a task at its limit', { task: chars(taskChars) }, ''],
  [request, 'a task beyond its limit', { task: chars(taskChars + 1) }, 'task'],
  [request, 'an unknown field', { priority: 'high' }, 'priority'],
  [request, 'an id', { id: 'fix-1_b' }, ''],
  [request, 'an id at its limit', { id: chars(idChars) }, ''],
  [request, 'an id beyond its limit', { id: chars(idChars + 1) }, 'id'],
  [request, 'an empty id', { id: '' }, 'id'],
  [request, 'an id with a slash', { id: 'a/b' }, 'id'],
  [request, 'an id of a number', { id: 7 }, 'id'],
  [request, 'criteria that are sentences', { acceptance_criteria: ['it builds'] }, ''],
  [request, 'criteria that are one text', { acceptance_criteria: 'it builds' }, 'criteria'],
  [request, 'an empty criterion', { acceptance_criteria: [''] }, 'criteria.0'],
  [request, 'criteria at their limit', { acceptance_criteria: many(criteria, 'x') }, ''],
  [request, 'too many criteria', { acceptance_criteria: many(criteria + 1, 'x') }, 'criteria'],
  [request, 'a criterion at its limit', { acceptance_criteria: [chars(criterionChars)] }, ''],
  [request, 'a long criterion', { acceptance_criteria: [chars(criterionChars + 1)] }, 'criteria.0'],
  [request, 'a context at its limit', { context: chars(contextChars) }, ''],
  [request, 'a context beyond its limit', { context: chars(contextChars + 1) }, 'context'],
  [request, 'a context that is null', { context: null }, 'context'],
  [request, 'no grounding', { grounding: null }, ''],
  [request, 'grounding that is a text', { grounding: 'pgc_first' }, 'grounding'],
  [request, 'an empty grounding', { grounding: {} }, ''],
  [request, 'an unknown field of grounding', grounded({ depth: 3 }), 'grounding'],
  ...strategies.map((each): Row => [strategy, each, { grounding: { strategy: each } }, '']),
  [strategy, 'an unknown one', { grounding: { strategy: 'pgc_last' } }, 'grounding.strategy'],
  [strategy, 'an empty one', { grounding: { strategy: '' } }, 'grounding.strategy'],
  [strategy, 'another case', { grounding: { strategy: 'PGC_FIRST' } }, 'grounding.strategy'],
  ...analysisTypes.map((type): Row => [analysis, type, hinted({ type }), '']),
  [analysis, 'an unknown type', hinted({ type: 'vibes' }), 'analysis_hints.0.type'],
  [analysis, 'no type', hinted({ type: undefined }), 'analysis_hints.0.type'],
  [analysis, 'an unknown field', hinted({ depth: 3 }), 'analysis_hints.0'],
  [analysis, 'a target at its limit', hinted({ target: chars(hintChars) }), ''],
  [analysis, 'a target beyond it', hinted({ target: chars(hintChars + 1) }), 'target'],
  [analysis, 'no target', hinted({ target: undefined }), 'needs a target'],
  [analysis, 'no target to check', hinted({ type: 'dependency_check', target: '' }), ''],
  [analysis, 'options', hinted({ options: { max_depth: 3 } }), ''],
  [analysis, 'options that are a list', hinted({ options: [3] }), 'options'],
  [analysis, 'options that are a text', hinted({ options: '{}' }), 'options'],
  [analysis, 'options at their limit', hinted({ options: { a: chars(3_992) } }), ''],
  [analysis, 'options beyond it', hinted({ options: { a: chars(3_993) } }), 'options'],
  [analysis, 'options without a floor', hinted({ options: nested(9_000) }), 'options'],
  [analysis, 'as many as allowed', grounded({ analysis_hints: many(hints, dependency()) }), ''],
  [analysis, 'more', grounded({ analysis_hints: many(hints + 1, dependency()) }), 'analysis_hints'],
  ['§2 Request: algebra_expression', 'one', grounded({ algebra_expression: 'O1 ∩ O4' }), ''],
  [
    '§2 Request: algebra_expression',
    'a long one',
    grounded({ algebra_expression: chars(expressionChars + 1) }),
    'algebra_expression',
  ],
  ...overlayHints.map((each): Row => [overlay, each, grounded({ overlay_hints: [each] }), '']),
  [overlay, 'all seven', grounded({ overlay_hints: [...overlayHints] }), ''],
  [overlay, 'O8', grounded({ overlay_hints: ['O8'] }), 'overlay_hints.0'],
  [overlay, 'O0', grounded({ overlay_hints: ['O0'] }), 'overlay_hints.0'],
  [overlay, 'in small letters', grounded({ overlay_hints: ['o1'] }), 'overlay_hints.0'],
  [overlay, 'eight of them', grounded({ overlay_hints: many(8, 'O1') }), 'overlay_hints'],
  [overlay, 'one text', grounded({ overlay_hints: 'O1' }), 'overlay_hints'],
  [query, 'as many as allowed', grounded({ query_hints: many(hints, 'q') }), ''],
  [query, 'more', grounded({ query_hints: many(hints + 1, 'q') }), 'query_hints'],
  [query, 'an empty one', grounded({ query_hints: [''] }), 'query_hints.0'],
  [query, 'at its limit', grounded({ query_hints: [chars(hintChars)] }), ''],
  [query, 'beyond it', grounded({ query_hints: [chars(hintChars + 1)] }), 'query_hints.0'],
  ['§2 Request: evidence_required', 'true', grounded({ evidence_required: true }), ''],
  ['§2 Request: evidence_required', 'false', grounded({ evidence_required: false }), ''],
  ['§2 Request: evidence_required', 'a text', grounded({ evidence_required: 'yes' }), 'evidence_r'],
  ...taskKinds.map((kind): Row => ['§7 Right-Size', kind, { kind }, '']),
  ['§7 Right-Size', 'an unknown kind', { kind: 'chore' }, 'kind'],
  [ours, 'criticality C4', { criticality: 'C4' }, ''],
  [ours, 'criticality C5', { criticality: 'C5' }, 'criticality'],
  [ours, 'criticality C0', { criticality: 'C0' }, 'criticality'],
  [ours, 'a check', checked({ cites_symbol: 'kfree', citations_min: 10 }), ''],
  [ours, 'a check of 11 citations', checked({ citations_min: 11 }), 'criteria.0'],
  [ours, 'a check of half a citation', checked({ citations_min: 0.5 }), 'criteria.0'],
  [ours, 'an unknown check', checked({ smells: 'good' }), 'criteria.0'],
  [ours, 'a pattern', checked({ pattern: '^a+b?$' }), ''],
  [ours, 'a pattern that is none', checked({ pattern: '(' }), 'criteria'],
  [ours, 'a pattern that looks around', checked({ pattern: '(?=a)' }), 'criteria'],
  [ours, 'an action', acted({}), ''],
  [ours, 'an action of nothing', acted({ argv: [] }), 'action.argv'],
  [ours, 'an action that is a shell text', { action: { argv: 'rm -rf /' } }, 'action.argv'],
  [ours, 'an unknown field of an action', acted({ shell: true }), 'action'],
  [ours, 'arguments at their limit', acted({ argv: many(argv, 'x') }), ''],
  [ours, 'too many arguments', acted({ argv: many(argv + 1, 'x') }), 'action.argv'],
  [ours, 'a long argument', acted({ argv: [chars(argChars + 1)] }), 'action.argv.0'],
  [ours, 'an environment at its limit', acted({ env: variables(environment) }), ''],
  [ours, 'a large environment', acted({ env: variables(environment + 1) }), 'action.env'],
  [ours, 'a bad variable', acted({ env: { 'A=B': '1' } }), 'action.env'],
  [ours, 'input at its limit', acted({ stdin: chars(stdinChars) }), ''],
  [ours, 'much input', acted({ stdin: chars(stdinChars + 1) }), 'action.stdin'],
  [ours, 'a command without an action', { runner: 'command' }, 'action'],
  [ours, 'an answer with an action', { ...acted({}), runner: 'answer' }, 'action'],
  [ours, 'a model with an action', { ...acted({}), runner: 'model' }, 'action'],
  [ours, 'an agent with an action', { ...acted({}), runner: 'agent' }, ''],
  [ours, 'an unknown runner', { runner: 'shell' }, 'runner'],
  [ours, 'dependencies at their limit', { depends_on: names(dependencies) }, ''],
  [ours, 'too many dependencies', { depends_on: names(dependencies + 1) }, 'depends_on'],
  [ours, 'a dependency on itself', { id: 'a', depends_on: ['a'] }, 'depends_on'],
  [ours, 'a dependency on itself by its default id', { depends_on: ['t-1'] }, 'depends_on'],
  [ours, 'the shortest time', limited({ timeout_ms: timeoutMs.min }), ''],
  [ours, 'a shorter one', limited({ timeout_ms: timeoutMs.min - 1 }), 'limits.timeout_ms'],
  [ours, 'the longest time', limited({ timeout_ms: timeoutMs.max }), ''],
  [ours, 'a longer one', limited({ timeout_ms: timeoutMs.max + 1 }), 'limits.timeout_ms'],
  [ours, 'no attempt', limited({ attempts_max: 0 }), 'limits.attempts_max'],
  [ours, 'all attempts', limited({ attempts_max: attempts.max }), ''],
  [ours, 'one more', limited({ attempts_max: attempts.max + 1 }), 'limits.attempts_max'],
  [ours, 'a worker at the limit of names', { to: chars(idChars) }, ''],
  [ours, 'a worker with a long name', { to: chars(idChars + 1) }, 'to'],
  [ours, 'a PGC agent with a long name', { pgc: chars(idChars + 1) }, 'pgc'],
];

function dependency(): Record<string, unknown> {
  return { type: 'dependency_check' };
}

test.each(taskRows)('%s: %s', (_, __, fields, wrong) => {
  const written = { task: 'do it', ...fields };
  if (wrong === '') {
    expect(readTask(written, 't-1')).toMatchObject({ task: written.task });
    return;
  }
  const { code, detail } = codeOf(() => readTask(written, 't-1'));
  expect(code).toBe('TASK_INVALID');
  expect(detail).toContain(wrong);
});

test('§2 Request: what is left out has one meaning', () => {
  expect(taskOf()).toEqual({
    id: 't-1',
    task: 'say how a packet leaves',
    acceptance_criteria: [],
    context: '',
    grounding: null,
    kind: '',
    criticality: 'C2',
    runner: 'answer',
    action: null,
    depends_on: [],
    limits: { timeout_ms: 600_000, attempts_max: 3, tokens: 0 },
    to: '',
    pgc: '',
    clarifications: [],
    feedback: [],
    session: '',
    scope: [],
    ...{ name: '', model: '' },
  });
  expect(taskOf({ grounding: {} }).grounding).toEqual({
    strategy: '',
    analysis_hints: [],
    algebra_expression: '',
    overlay_hints: [],
    query_hints: [],
  });
  expect(taskOf({ action: { argv: ['ls'] } }).runner).toBe('command');
});

// ---------------------------------------------------------------- the response

const response = '§2 Response';
const blocked = '§5.2 PGC query failure';
const responseRows: Row[] = [
  [response, 'only what it must say', {}, ''],
  [response, 'no task', { task_id: undefined }, 'task_id'],
  [response, 'an empty task', { task_id: '' }, 'task_id'],
  [response, 'no status', { status: undefined }, 'status'],
  [response, 'an unknown status', { status: 'done' }, 'status'],
  ...responseStatuses.map((status): Row => [response, status, { status }, '']),
  [response, 'a result that is an object', { result: {} }, 'result'],
  [response, 'a result at its limit', { result: chars(taskLimits.resultChars) }, ''],
  [response, 'a long result', { result: chars(taskLimits.resultChars + 1) }, 'result'],
  [response, 'no evidence', { grounding_evidence: null }, ''],
  [response, 'evidence that is a text', { grounding_evidence: 'trust me' }, 'grounding_evidence'],
  [response, 'an unknown confidence', evidence({ grounding_confidence: 'sure' }), 'confidence'],
  [response, 'citations that are texts', evidence({ citations: ['a.c:1'] }), 'citations.0'],
  [
    response,
    'a line before the first',
    evidence({ citations: [{ line_start: -1 }] }),
    'line_start',
  ],
  [
    response,
    'more citations than allowed: the review says so',
    evidence({ citations: many(11, {}) }),
    '',
  ],
  [response, 'an unknown field, of a later version', { mood: 'good' }, ''],
  [blocked, 'an error without a text', { errors: [{ code: 'PGC_FAILED' }] }, 'errors.0.text'],
  [blocked, 'an error', { errors: [{ code: 'PGC_FAILED', text: 'no index' }] }, ''],
  [
    '§7 Open Questions',
    'a long question',
    { clarification_request: chars(4_001) },
    'clarification',
  ],
];

function evidence(fields: Record<string, unknown>): Record<string, unknown> {
  return { grounding_evidence: fields };
}

test.each(responseRows)('%s: %s', (_, __, fields, wrong) => {
  const written = { task_id: 't-1', status: 'completed', ...fields };
  if (wrong === '') {
    expect(readResponse(written)).toMatchObject({ task_id: 't-1', status: written.status });
    return;
  }
  const { code, detail } = codeOf(() => readResponse(written));
  expect(code).toBe('MALFORMED_PAYLOAD');
  expect(detail).toContain(wrong);
});

test('§5.2 PGC query failure: an error among the citations is the reason where none is given', () => {
  const content = 'PGC query failed: ask command timed out after 30s';
  const citations = [{ overlay: 'error', content, relevance: 'Unable to ground it' }];
  const written = { task_id: 't-1', status: 'blocked', ...evidence({ citations }) };
  const { reason, errors } = readResponse(written);
  expect(reason).toBe('PGC_FAILED');
  expect(errors).toMatchObject([{ code: 'PGC_FAILED', text: expect.stringContaining(content) }]);
});

test.each(['', null, [], 5])('§5.4 JSON Parsing: %j is no response', (value) => {
  expect(codeOf(() => readResponse(value)).code).toBe('MALFORMED_PAYLOAD');
});

test('§5 Feature Detection: a response that states no version is a legacy one', () => {
  expect(readResponse({ task_id: 't-1', status: 'completed' })).toEqual({
    task_id: 't-1',
    status: 'completed',
    result: '',
    grounding_evidence: null,
    reason: '',
    errors: [],
    protocol_version: '1.0-legacy',
    clarification_request: '',
    attempt: 0,
    partial: false,
    files_modified: [],
    usage: null,
    classification: null,
    steps: [],
  });
});

// ---------------------------------------------------------------- strategies

test('§7 Right-Size: which strategy suits which kind of task', () => {
  expect(strategyOf).toEqual({
    simple_refactor: 'none',
    bug_fix: 'pgc_verify',
    feature: 'pgc_first',
    architecture: 'pgc_first',
    documentation: 'pgc_cite',
    question: 'pgc_cite',
  });
});

test.each(taskKinds)('§7 Right-Size: %s without a strategy gets the one of its kind', (kind) => {
  expect(withStrategy(taskOf({ kind })).grounding?.strategy).toBe(strategyOf[kind]);
  expect(withStrategy(taskOf({ kind, grounding: {} })).grounding?.strategy).toBe(strategyOf[kind]);
});

test.each(strategies)('§3 Grounding Strategy Behaviors: %s, once said, stays', (each) => {
  for (const kind of taskKinds) {
    const { grounding } = withStrategy(taskOf({ kind, grounding: { strategy: each } }));
    expect(grounding?.strategy).toBe(each);
  }
});

test('§2 Request: neither grounding nor a kind is legacy mode', () => {
  expect(withStrategy(taskOf())).toEqual(taskOf());
  expect(withStrategy(taskOf({ grounding: {} })).grounding?.strategy).toBe('pgc_first');
});

test('§7 Right-Size: a change of the architecture is analysed, and as the document says', () => {
  const text = 'move `kfree` and kmem_cache_alloc out of SlabAllocator, kfree first';
  const { grounding } = withStrategy(taskOf({ kind: 'architecture', task: text }));
  expect(grounding?.analysis_hints).toEqual([
    { type: 'blast_radius', target: 'kfree', options: '' },
    { type: 'blast_radius', target: 'kmem_cache_alloc', options: '' },
    { type: 'blast_radius', target: 'SlabAllocator', options: '' },
    { type: 'dependency_check', target: '', options: '' },
  ]);
});

test('§7 Right-Size: of many symbols four are analysed, and none that is no name', () => {
  const long = `a_${chars(hintChars)}`;
  const text = `${long} a_1 a_2 a_3 a_4 a_5`;
  const { grounding } = withStrategy(taskOf({ kind: 'architecture', task: text }));
  const targets = grounding?.analysis_hints.map(({ target }) => target);
  expect(targets).toEqual(['a_1', 'a_2', 'a_3', 'a_4', '']);
});

test('§3 Grounding Strategy Behaviors: none is analysed where nothing shall be grounded', () => {
  const given = taskOf({ kind: 'architecture', grounding: { strategy: 'none' } });
  expect(withStrategy(given).grounding?.analysis_hints).toEqual([]);
});

test('§2 Request: analyses that are asked for stay as they are', () => {
  const given = taskOf({ kind: 'architecture', task: 'move a_b', ...hinted({}) });
  expect(withStrategy(given).grounding?.analysis_hints).toEqual(given.grounding?.analysis_hints);
  expect(withStrategy(withStrategy(given))).toEqual(withStrategy(given));
});
