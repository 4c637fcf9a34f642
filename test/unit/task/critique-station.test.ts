import { expect, test } from 'vitest';
import { advance, beginTask, stateOf } from '../../../src/task/life/advance.js';
import { transitionOf } from '../../../src/task/requests/changes.js';
import {
  transitionWithoutCritic,
  critiqueRequestOf,
  transitionAfterCritique,
  isCritiqued,
  ratificationIn,
  critiqueLimits,
  feedbackWithCritique,
} from '../../../src/task/station/critique-station.js';
import { decodeRecord, encodeRecord, type TaskRecord } from '../../../src/task/life/record.js';
import { critiqueOf, findingOf } from '../../support/critiques.js';
import { responseOf, taskOf } from '../../support/delegation.js';

/** A task whose result lies there. */
function recordWith(fields: Record<string, unknown> = {}, change: Partial<TaskRecord> = {}) {
  const task = taskOf({ criticality: 'C3', ...fields });
  const { record } = beginTask(
    {
      ...{ kind: 'task', version: 1, id: task.id, task, asked: task, parent: 'me', owner: '' },
      ...{ depth: 0, root: '', order: 1, started_ms: 0, is_supervised: false, not_before_ms: 0 },
      ...{ failed_workers: [], response: responseOf(), reviews: [], iterations: [], error: null },
      ...{ asks: '', progress: '', notes: [], reactions: [], gates: [], grants: [], findings: [] },
      ...{ created_ms: 1, updated_ms: 1, finished_ms: 0 },
    },
    { timeoutMs: 1_000, triesMax: 1, decisionMs: 1_000, isCritiqued: true },
  );
  return { ...record, attempt: 1, ...change };
}

test('the policy is a floor: a task may ask for a critic, and not go without one', () => {
  const of = (criticality: 'C1' | 'C2' | 'C3' | 'C4', critique?: boolean) => ({
    ...{ criticality },
    ...(critique !== undefined && { critique }),
  });
  expect(isCritiqued(of('C4'), 'off')).toBe(false);
  expect(isCritiqued(of('C1', true), 'off')).toBe(true);
  expect(isCritiqued(of('C2'), 'C3')).toBe(false);
  expect(isCritiqued(of('C3'), 'C3')).toBe(true);
  expect(isCritiqued(of('C4', false), 'C3')).toBe(true);
});

test('a request is the same for the same attempt, and within the limits of a critic', () => {
  const record = recordWith({ task: 'x'.repeat(16_000), acceptance_criteria: ['it cites'] });
  const request = critiqueRequestOf(record, '/tree');
  expect(critiqueRequestOf(record, '/tree')).toEqual(request);
  expect(request.criteria).toHaveLength(critiqueLimits.criteriaChars);
  expect(request).toMatchObject({ id: 't-1-c2-a1', iteration: 2, root: '/tree' });
  const long = recordWith({}, { id: 'a'.repeat(96) });
  expect(critiqueRequestOf(long, '').id.length).toBeLessThan(60);
});

test('without a critic C2 goes on with a note, and C3 waits for a person', () => {
  const error = { code: 'NO_RESPONDER', message: 'nobody offers critic' };
  const light = transitionWithoutCritic(recordWith({ criticality: 'C2' }), error, 5);
  expect(light.event).toMatchObject({ outcome: 'accepted' });
  expect(light.patch.notes?.at(-1)?.text).toContain('not reviewed: nobody offers critic');
  const critical = transitionWithoutCritic(recordWith(), error, 5);
  expect(critical.event).toMatchObject({ outcome: 'person', reason: 'CRITIC_UNAVAILABLE' });
  expect(critical.patch.asks).toContain('without a critique?');
  expect(critical.patch.error?.text).toContain('NO_RESPONDER');
});

test('the criticality of the task is not lowered by whoever reviews it', () => {
  const told = transitionAfterCritique(
    recordWith(),
    critiqueOf('one', 0.2, { criticality: 'C1' }),
    5,
  );
  expect(told.event).toMatchObject({ outcome: 'revise' });
});

test('feedback is bounded, worst first, and of the last critique alone', () => {
  const findings = Array.from({ length: 20 }, (_, at) => findingOf(`f-${at}`));
  const told = transitionAfterCritique(recordWith(), critiqueOf('one', 0.5, { findings }), 5);
  const [last] = told.patch.iterations ?? [];
  expect(last?.findings).toHaveLength(critiqueLimits.findings);
  const feedback = feedbackWithCritique(
    ['a person said this', 'critique: of an earlier one'],
    last!,
  );
  expect(feedback[0]).toBe('a person said this');
  expect(feedback).toHaveLength(2 + critiqueLimits.feedback);
  expect(feedback).not.toContain('critique: of an earlier one');
});

test('a record keeps its critiques, and an older one has none', () => {
  const told = transitionAfterCritique(recordWith(), critiqueOf('one', 0.5), 5);
  const record = { ...recordWith(), ...told.patch };
  expect(decodeRecord(encodeRecord(record)).iterations).toEqual(record.iterations);
  const { iterations: _, ...older } = JSON.parse(encodeRecord(record).toString());
  expect(decodeRecord(Buffer.from(JSON.stringify(older))).iterations).toEqual([]);
});

test('the gate of the settings is the gate of the critic and of the cycle', () => {
  const gate = { threshold: 0.8, iterationsMax: 5 };
  expect(critiqueRequestOf(recordWith(), '', gate)).toMatchObject({
    threshold: 0.8,
    iterations_max: 5,
  });
  const passing = { threshold: 0.8, iteration: 3, verdict: 'PASS' as const };
  const passed = transitionAfterCritique(recordWith(), critiqueOf('one', 0.84, passing), 5, gate);
  expect(passed.event).toMatchObject({ outcome: 'accepted' });
  const late = { threshold: 0.8, iteration: 4 };
  const revised = transitionAfterCritique(recordWith(), critiqueOf('one', 0.5, late), 5, gate);
  expect(revised.event).toMatchObject({ outcome: 'revise' });
  const told = recordWith({ criticality: 'C1' });
  const low = critiqueOf('one', 0.2, { criticality: 'C1', iteration: 5, threshold: 0.8 });
  expect(transitionAfterCritique(told, low, 5).event).toMatchObject({ outcome: 'accepted' });
  expect(transitionAfterCritique(told, low, 5, gate).event).toMatchObject({ outcome: 'person' });
});

test('criteria in words that no model has read are for a person', () => {
  const findings = [{ code: 'CRITERIA_UNCHECKED', severity: 'warning' as const, text: '' }];
  const review = { findings } as unknown as TaskRecord['reviews'][number];
  const record = recordWith({ acceptance_criteria: ['it is polite'] }, { reviews: [review] });
  const score = { score: 0.95, coverage: 1, dimensions: [] };
  const by = (engine: 'rules' | 'model') => {
    const critique = critiqueOf('one', 0.95, { iteration: 3 });
    return { ...critique, reports: critique.reports.map((each) => ({ ...each, score, engine })) };
  };
  expect(transitionAfterCritique(record, by('model'), 5).event).toMatchObject({
    outcome: 'accepted',
  });
  const told = transitionAfterCritique(record, by('rules'), 5);
  expect(told.event).toMatchObject({ outcome: 'person', reason: 'CRITIQUE_CONDITIONAL' });
  expect(told.patch.asks).toMatch(/^accept it\? no model has checked the 1 criteria in words/);
});

/** A critique of a result that lies there, told. */
function critiqued(score: number, change = {}): TaskRecord {
  const { snapshot } = [
    { type: 'task.ready' } as const,
    { type: 'attention.passed' } as const,
    { type: 'worker.completed' } as const,
    { type: 'review.done', verdict: 'accepted', reason: '' } as const,
  ].reduce((record, event) => advance(record, event, 10).record, recordWith());
  const record = { ...recordWith({}, change), snapshot };
  const { event, patch } = transitionAfterCritique(
    record,
    critiqueOf('one', score, { iteration: 3 }),
    20,
  );
  return advance({ ...record, ...patch }, event, 20).record;
}

test('the time of a task stands still while a critic or a person looks at its result', () => {
  const first = recordWith();
  expect(first.timers).toHaveProperty('whole');
  const asking = critiqued(0.87);
  expect(stateOf(asking)).toBe('deciding');
  expect(Object.keys(asking.timers)).toEqual(['decision']);
  const { event, patch } = transitionOf(asking, { what: 'revise', text: '' }, 'somebody');
  const again = advance({ ...asking, ...patch }, event, 5_000).record;
  expect(again.timers).toEqual({ whole: 6_000 });
});

test('a note says who decided what, and why', () => {
  const asking = critiqued(0.87);
  const { event, patch } = transitionOf(asking, { what: 'revise', text: 'cite it' }, 'Ann');
  const { notes } = advance({ ...asking, ...patch }, event, 5_000).record;
  expect(notes.at(-1)?.text).toBe('decision.made: revise by Ann: cite it');
});

test('what a person says is told to the critic once, and a refused result was refused', () => {
  const asking = critiqued(0.87);
  expect(asking.error?.code).toBe('CRITIQUE_CONDITIONAL');
  expect(ratificationIn(asking, asking)).toBeUndefined();
  const { event, patch } = transitionOf(asking, { what: 'refuse', text: '' }, 'somebody');
  const refused = advance({ ...asking, ...patch }, event, 30).record;
  expect(ratificationIn(asking, refused)).toEqual({
    critique: 'one',
    artifact: 'task/t-1',
    judgement: 'refuse',
  });
  expect(ratificationIn(refused, refused)).toBeUndefined();
  expect(refused.error?.code).toBe('CRITIQUE_REFUSED');
  expect(refused.error?.text).toMatch(/^the critic did not accept the result: the limit/);
});

test('where nobody decides, that is why it failed', () => {
  const expired = advance(critiqued(0.87), { type: 'timer.due', timer: 'decision' }, 30).record;
  expect(stateOf(expired)).toBe('failed');
  expect(expired.error?.code).toBe('DECISION_EXPIRED');
});
