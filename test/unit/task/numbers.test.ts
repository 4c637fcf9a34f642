import { expect, test } from 'vitest';
import { readTask } from '../../../src/delegation/task/schema.js';
import type { Review } from '../../../src/delegation/manager/review.js';
import type { TaskResponse } from '../../../src/delegation/task/shapes.js';
import { samplesText } from '../../../src/observe/samples.js';
import { beginTask } from '../../../src/task/life/advance.js';
import {
  counted,
  noNumbers,
  ratesOf,
  type TaskNumbers,
} from '../../../src/task/numbers/numbers.js';
import type { TaskRecord } from '../../../src/task/life/record.js';
import { samplesOf } from '../../../src/task/numbers/samples.js';

/** Section 7 of the delegation document, "Success Metrics" and "Efficiency Metrics". */
test('the figures of the document, over four tasks', () => {
  const tasks = [
    ended('completed', { reviews: [review('accepted', 'high')], usage: [100, 400, 3_000, 0] }),
    ended('completed', {
      reviews: [review('refused', 'low', 'EVIDENCE_MISSING'), review('warned', 'low')],
      usage: [100, 200, 1_000, 50],
    }),
    ended('completed', { reviews: [review('undecided', 'medium')], decided: true }),
    ended('failed', { strategy: 'none', reviews: [] }),
  ];
  const numbers = tasks.reduce(counted, noNumbers);
  expect(numbers.outcomes).toEqual({ completed: 3, failed: 1 });
  const rates = ratesOf(numbers);
  expect(rates).toMatchObject({
    completed: 3 / 4,
    accepted_without_revision: 2 / 3,
    accepted_without_manual_review: 2 / 3,
    responses_without_grounding: 1 / 4,
    adoption: 3 / 4,
    grounding_overhead: 200 / 600,
    bytes_per_task: 22_000,
    tokens_per_task: 25,
    rejection_by_confidence: { high: 0, medium: 0, low: 1 / 2 },
    overlay_coverage: { O1: 3 / 4 },
  });
});

test('whatever workers claim, asking the PGC is no more than all of the work', () => {
  const claimed = ended('completed', { reviews: [], usage: [900, 300, 0, 0] });
  expect(ratesOf(counted(noNumbers, claimed)).grounding_overhead).toBe(1);
});

test('of nothing every share is 0', () => {
  const { rejection_by_confidence, overlay_coverage, ...shares } = ratesOf(noNumbers);
  expect(Object.values(shares).every((each) => each === 0)).toBe(true);
  expect([rejection_by_confidence, overlay_coverage]).toEqual([{ high: 0, medium: 0, low: 0 }, {}]);
});

test('a monitor is told the same', async () => {
  const numbers = [
    ended('completed', { reviews: [review('accepted', 'high')] }),
  ].reduce<TaskNumbers>(counted, noNumbers);
  const text = await samplesText(
    samplesOf({
      states: { running: 2 },
      numbers: JSON.stringify(numbers),
      rates: JSON.stringify(ratesOf(numbers)),
      waiting: 7,
      changes: 0,
    }),
  );
  expect(text).toContain('sigma_tasks_now{state="running"} 2');
  expect(text).toContain('sigma_tasks_waiting 7');
  expect(text).toContain('sigma_tasks_finished_total{outcome="completed"} 1');
  expect(text).toContain('sigma_tasks_reviewed_total{confidence="high"} 1');
  expect(text).toContain('sigma_tasks_accepted_without_revision 1');
});

interface Ended {
  reviews: Review[];
  strategy?: string;
  decided?: boolean;
  /** Grounding and all milliseconds, bytes of context, tokens. */
  usage?: [number, number, number, number];
}

function ended(state: string, { reviews, strategy, decided, usage }: Ended): TaskRecord {
  const task = readTask({ task: 'x', grounding: { strategy: strategy ?? 'pgc_first' } }, 'one');
  const nowMs = 1;
  const { record } = beginTask(
    {
      ...{ kind: 'task', version: 1, id: task.id, task, asked: task, parent: 'me' },
      ...{ failed_workers: [], error: null, asks: '', progress: '', reactions: [], reviews },
      ...{
        iterations: [],
        gates: [],
        grants: [],
        findings: [],
        owner: '',
        depth: 0,
        root: '',
        order: 0,
        started_ms: 0,
        is_supervised: false,
        not_before_ms: 0,
      },
      notes: [{ at_ms: nowMs, state: decided === true ? 'deciding' : 'running', text: '' }],
      response: usage === undefined ? cited : { ...cited, usage: usageOf(usage) },
      ...{ created_ms: nowMs, updated_ms: nowMs, finished_ms: nowMs },
    },
    { timeoutMs: 1_000, triesMax: 3, decisionMs: 1_000 },
  );
  return {
    ...record,
    snapshot: { ...record.snapshot, value: state, status: 'done' },
  } as TaskRecord;
}

function usageOf([grounding_ms, elapsed_ms, context_bytes, tokens]: NonNullable<Ended['usage']>) {
  return { grounding_ms, elapsed_ms, context_bytes, tokens, grounding_bytes: 10 * context_bytes };
}

function review(verdict: Review['verdict'], confidence: Review['confidence'], code = ''): Review {
  const findings: Review['findings'] = code === '' ? [] : [{ code, severity: 'error', text: '' }];
  const citations: Review['citations'] = [{ status: 'valid', reason: '', now_at: '' }];
  return {
    attempt: 1,
    worker: 'w',
    verdict,
    confidence,
    similarity: 0.5,
    criteria: [],
    findings,
    citations,
  };
}

const cited: TaskResponse = {
  ...{ task_id: 'one', status: 'completed', result: 'done', reason: '', errors: [] },
  ...{ protocol_version: '2.0', clarification_request: '', attempt: 1, partial: false },
  ...{ files_modified: [], usage: null, classification: null, steps: [] },
  grounding_evidence: {
    queries_executed: [],
    overlays_consulted: ['O1', 'O3'],
    citations: [
      {
        ...{ overlay: 'O1', content: 'x', relevance: '', file_path: 'a.c', line_start: 1 },
        ...{ line_end: 1, symbol: '', blob: '', agent: '' },
      },
    ],
    grounding_confidence: 'high',
    overlay_warnings: [],
  },
};
