import { describe, expect, test } from 'vitest';
import { reportedBy, statedGate } from '../../../src/attention/gate-block.js';
import type { GrantUse } from '../../../src/attention/messages.js';
import type { Classification, Grant } from '../../../src/attention/shapes.js';
import { advance, beginTask } from '../../../src/task/life/advance.js';
import {
  attend,
  transitionByJudgement,
  sessionEndedBy,
  withGrantUsed,
  type AttentionPorts,
} from '../../../src/task/station/attention-station.js';
import type { TaskRecord } from '../../../src/task/life/record.js';
import { responseOf, taskOf } from '../../support/delegation.js';

const nowMs = 1_000_000;
const by = 'w';
const risky: Classification = {
  level: 'Elevated',
  findings: [
    {
      ...{ signal: 'Irreversibility', severity: 'Gate', evidence: 'rm x', rule: 'removes-files' },
      ...{ action_description: '', file: '' },
    },
  ],
  intensity: 'medium',
  pattern: { tool: 'rm', target: 'x', environment: 'local', signals: ['Irreversibility'] },
  is_cacheable: true,
  digest: { action: '1'.repeat(64), files: {} },
  description: 'rm x',
};
const ports: AttentionPorts = {
  classify: () => Promise.resolve(risky),
  approved: () => Promise.resolve(undefined),
  gateMs: 60_000,
  onExpiry: 'halt',
  self: 'manager',
};

function attending(change: Partial<TaskRecord> = {}): TaskRecord {
  const task = taskOf();
  const data = {
    ...{ kind: 'task', version: 1, id: task.id, task, asked: task, parent: 'somebody' },
    ...{ failed_workers: [], response: null, reviews: [], error: null, asks: '', progress: '' },
    ...{ notes: [], reactions: [], gates: [], grants: [], findings: [] },
    ...{
      owner: '',
      depth: 0,
      root: '',
      order: 0,
      started_ms: 0,
      is_supervised: false,
      not_before_ms: 0,
    },
    ...{ created_ms: nowMs, updated_ms: nowMs, finished_ms: 0 },
  } as const;
  const its = structuredClone(data) as unknown as Parameters<typeof beginTask>[0];
  const first = beginTask(its, { timeoutMs: 600_000, triesMax: 2, decisionMs: 60_000 }).record;
  return { ...advance(first, { type: 'task.ready' }, nowMs).record, ...change };
}

async function asked(change: Partial<TaskRecord> = {}): Promise<TaskRecord> {
  const record = attending(change);
  const told = await attend(record, ports, nowMs);
  return advance({ ...record, ...told!.patch }, told!.event, nowMs).record;
}

const grantOf = ({ id }: TaskRecord, change: Partial<Grant> = {}): Grant => ({
  ...{ id: `grant-${id}-1`, task: id, digest: risky.digest, gate: 'g', by: 'p', given_ms: 1 },
  ...{ used_ms: 0, used_attempt: 0, findings: [], ...change },
});
const stopped = { status: 'blocked', reason: 'GATE_DETECTED' } as const;
const saying = (record: TaskRecord, judgement: 'dismiss' | 'modify', direction = '') => ({
  ...{ id: record.gates[0]?.id ?? '', judgement, direction, action: '' },
});

describe('a task that is attended to', () => {
  test('is asked about once, however often it is looked at', async () => {
    expect(await attend(await asked(), ports, nowMs)).toBeUndefined();
  });

  test('stopped in spite of leave is asked about, by no approval sent on, and the leave is gone', async () => {
    const record = attending();
    const response = { ...responseOf(), ...stopped, classification: risky };
    const told = await attend(
      { ...record, response, grants: [grantOf(record)] },
      {
        ...ports,
        approved: (session) =>
          Promise.resolve({
            ...{ session, pattern: risky.pattern, action: '', by: 'p', given_ms: 1 },
            expires_ms: 2 * nowMs,
          }),
      },
      nowMs,
    );
    expect(told).toMatchObject({ event: { type: 'attention.gated' }, patch: { grants: [] } });
  });
});

describe('a judgement', () => {
  test('of a gate whose task went on is refused', async () => {
    const record = await asked();
    const gone = advance(record, { type: 'task.cancelled', reason: 'CANCELLED' }, nowMs).record;
    expect(() => transitionByJudgement(gone, saying(record, 'dismiss'), 'p', nowMs)).toThrow(
      expect.objectContaining({ code: 'GATE_JUDGED' }) as Error,
    );
  });

  test('modify forgets what was stopped at: the new one is looked at', async () => {
    const record = await asked({ response: { ...responseOf(), ...stopped } });
    const told = transitionByJudgement(record, saying(record, 'modify', 'be careful'), 'p', nowMs);
    expect(told.patch).toMatchObject({ response: null, task: { feedback: ['be careful'] } });
  });

  test('of what an agent said of itself goes to it in those words; of a program nothing does', async () => {
    const text = 'Signal: HumanCommunication\nEvidence: it mails';
    const block = statedGate([text], { given: [], mark: '' });
    const classification = reportedBy('t', 'agent', block);
    for (const [seen, findings] of [
      [classification, classification.findings],
      [risky, []],
    ] as const) {
      const response = { ...responseOf(), ...stopped, classification: seen };
      const record = await asked({ response });
      const { patch } = transitionByJudgement(record, saying(record, 'dismiss'), 'p', nowMs);
      expect(patch.grants?.[0]?.findings).toEqual(findings);
    }
  });
});

describe('leave', () => {
  const working = (change: Partial<Grant> = {}): { record: TaskRecord; use: GrantUse } => {
    const record = attending();
    const passed = advance(record, { type: 'attention.passed' }, nowMs).record;
    const chosen = { type: 'worker.chosen', worker: by, isCapable: true } as const;
    const assigned = advance(
      { ...passed, grants: [grantOf(record, change)] },
      chosen,
      nowMs,
    ).record;
    const { id: task_id, attempt, grants } = assigned;
    const use = { task_id, attempt, grant: grants[0]!.id, digest: risky.digest };
    return { record: assigned, use };
  };

  test('that an earlier attempt used is none', () => {
    const { record, use } = working({ used_ms: 1, used_attempt: 7 });
    expect(() => withGrantUsed(record, use, by, nowMs)).toThrow(
      expect.objectContaining({ code: 'GRANT_USED' }) as Error,
    );
  });

  test('is marked with who used it, and told twice it stays the same use', () => {
    const { record, use } = working();
    const grants = withGrantUsed(record, use, by, nowMs);
    expect(grants).toMatchObject([{ used_ms: nowMs, used_attempt: use.attempt }]);
    expect(withGrantUsed({ ...record, grants }, use, by, nowMs + 5)).toEqual(grants);
  });
});

test('a session ends with a task that was withdrawn, and with one that nobody judged if the policy says so', async () => {
  const record = await asked();
  const ended = (outcome: 'halted' | 'withdrawn', reason: string): TaskRecord =>
    advance(record, { type: 'gate.judged', outcome, reason }, nowMs).record;
  const expired = advance(record, { type: 'timer.due', timer: 'gate' }, nowMs).record;
  const withdraw = { onExpiry: 'withdraw' } as const;
  expect(sessionEndedBy(ended('withdrawn', 'GATE_WITHDRAWN'), ports)).toEqual({
    ...{ session: 'somebody', reason: 'GATE_WITHDRAWN', untilMs: nowMs },
  });
  expect(sessionEndedBy(ended('halted', 'GATE_HALTED'), withdraw)).toBeUndefined();
  expect(sessionEndedBy(expired, ports)).toBeUndefined();
  expect(sessionEndedBy(expired, withdraw)).toEqual({
    ...{ session: 'somebody', reason: 'GATE_EXPIRED', untilMs: nowMs },
  });
  const cancelled = { type: 'task.cancelled', reason: 'GATE_WITHDRAWN' } as const;
  expect(sessionEndedBy(advance(record, cancelled, nowMs).record, withdraw)).toBeUndefined();
});
