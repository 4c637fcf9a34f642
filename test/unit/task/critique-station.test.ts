import { expect, test } from 'vitest';
import { begun } from '../../../src/task/advance.js';
import {
  absentTold,
  critiqueRequestOf,
  critiqueTold,
  isCritiqued,
  stationLimits,
  withCritique,
} from '../../../src/task/critique-station.js';
import { decodeRecord, encodeRecord, type TaskRecord } from '../../../src/task/record.js';
import { critiqueOf, findingOf } from '../../support/critiques.js';
import { responseOf, taskOf } from '../../support/delegation.js';

/** A task whose result lies there. */
function recordWith(fields: Record<string, unknown> = {}, change: Partial<TaskRecord> = {}) {
  const task = taskOf({ criticality: 'C3', ...fields });
  const { record } = begun(
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
  expect(request.criteria).toHaveLength(stationLimits.criteriaChars);
  expect(request).toMatchObject({ id: 't-1-c2-a1', iteration: 2, root: '/tree' });
  const long = recordWith({}, { id: 'a'.repeat(96) });
  expect(critiqueRequestOf(long, '').id.length).toBeLessThan(60);
});

test('without a critic C2 goes on with a note, and C3 waits for a person', () => {
  const error = { code: 'NO_RESPONDER', message: 'nobody offers critic' };
  const light = absentTold(recordWith({ criticality: 'C2' }), error, 5);
  expect(light.event).toMatchObject({ outcome: 'accepted' });
  expect(light.patch.notes?.at(-1)?.text).toContain('not reviewed: nobody offers critic');
  const critical = absentTold(recordWith(), error, 5);
  expect(critical.event).toMatchObject({ outcome: 'person', reason: 'CRITIC_UNAVAILABLE' });
  expect(critical.patch.asks).toContain('without a critique?');
  expect(critical.patch.error?.text).toContain('NO_RESPONDER');
});

test('the criticality of the task is not lowered by whoever reviews it', () => {
  const told = critiqueTold(recordWith(), critiqueOf('one', 0.2, { criticality: 'C1' }), 5);
  expect(told.event).toMatchObject({ outcome: 'revise' });
});

test('feedback is bounded, worst first, and of the last critique alone', () => {
  const findings = Array.from({ length: 20 }, (_, at) => findingOf(`f-${at}`));
  const told = critiqueTold(recordWith(), critiqueOf('one', 0.5, { findings }), 5);
  const [last] = told.patch.iterations ?? [];
  expect(last?.findings).toHaveLength(stationLimits.findings);
  const feedback = withCritique(['a person said this', 'critique: of an earlier one'], last!);
  expect(feedback[0]).toBe('a person said this');
  expect(feedback).toHaveLength(2 + stationLimits.feedback);
  expect(feedback).not.toContain('critique: of an earlier one');
});

test('a record keeps its critiques, and an older one has none', () => {
  const told = critiqueTold(recordWith(), critiqueOf('one', 0.5), 5);
  const record = { ...recordWith(), ...told.patch };
  expect(decodeRecord(encodeRecord(record)).iterations).toEqual(record.iterations);
  const { iterations: _, ...older } = JSON.parse(encodeRecord(record).toString());
  expect(decodeRecord(Buffer.from(JSON.stringify(older))).iterations).toEqual([]);
});
