import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AssignmentEvent } from '../../../src/delegation/manager/manager.machine.js';
import { responseStatuses } from '../../../src/delegation/task/shapes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import {
  advance,
  advanceAssignment,
  beginTask,
  isOver,
  stateOf,
  type Advanced,
  type SideEffect,
} from '../../../src/task/life/advance.js';
import {
  decodeRecord,
  encodeRecord,
  recordLimits,
  type TaskRecord,
} from '../../../src/task/life/record.js';
import { isFinal } from '../../../src/task/life/states.js';
import type { TaskEvent, TimerName } from '../../../src/task/life/task.machine.js';
import { responseOf, taskOf } from '../../support/delegation.js';
import { runs } from '../../support/runs.js';

const startMs = 1_000_000;

function first(triesMax: number): Advanced {
  const task = taskOf();
  const data = {
    kind: 'task',
    version: 1,
    id: task.id,
    task,
    asked: task,
    parent: 'somebody',
    failed_workers: [],
    response: null,
    reviews: [],
    iterations: [],
    error: null,
    asks: '',
    progress: '',
    notes: [],
    reactions: [],
    gates: [],
    grants: [],
    findings: [],
    ...{
      owner: '',
      depth: 0,
      root: '',
      order: 0,
      started_ms: 0,
      is_supervised: false,
      not_before_ms: 0,
    },
    created_ms: startMs,
    updated_ms: startMs,
    finished_ms: 0,
  } as const;
  // Every other life goes by a critic.
  const isCritiqued = triesMax % 2 === 0;
  const times = { timeoutMs: 600_000, triesMax, decisionMs: 60_000, isCritiqued };
  return beginTask(structuredClone(data) as unknown as Parameters<typeof beginTask>[0], times);
}

// ---------------------------------------------------------------- what may happen

type Move =
  | { on: 'task'; event: TaskEvent }
  /** `age` 0: of the newest token. */
  | { on: 'assignment'; event: AssignmentEvent; age: number; status: string; reason: string }
  | { on: 'time' }
  /** One of the events that are possible now. */
  | { on: 'course'; pick: number };

const reason = fc.constantFrom('', 'WORKER_LOST', 'GATE_DETECTED', 'x'.repeat(1_000));
const one = <T extends string>(type: T): fc.Arbitrary<{ type: T }> => fc.constant({ type });
const because = <T extends string>(type: T): fc.Arbitrary<{ type: T; reason: string }> =>
  fc.record({ type: fc.constant(type), reason });

const taskEvent: fc.Arbitrary<TaskEvent> = fc.oneof(
  { arbitrary: one('task.ready'), weight: 4 },
  { arbitrary: one('attention.passed'), weight: 4 },
  {
    arbitrary: fc.record({
      type: fc.constant('worker.chosen' as const),
      worker: fc.constantFrom('a', 'b'),
      isCapable: fc.boolean(),
    }),
    weight: 6,
  },
  because('dependency.failed'),
  fc.record({
    type: fc.constant('attention.gated' as const),
    reason,
    expiresMs: fc.constantFrom(1, 1_000),
  }),
  {
    arbitrary: fc.record({
      type: fc.constant('gate.judged' as const),
      outcome: fc.constantFrom('granted', 'modified', 'halted', 'withdrawn'),
      reason,
    }),
    weight: 2,
  },
  because('worker.absent'),
  one('worker.accepted'),
  one('worker.completed'),
  because('worker.failed'),
  because('worker.blocked'),
  because('worker.gated'),
  one('worker.asked'),
  because('worker.lost'),
  {
    arbitrary: fc.record({
      type: fc.constant('review.done' as const),
      verdict: fc.constantFrom('accepted', 'warned', 'refused', 'undecided'),
      reason,
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      type: fc.constant('critique.done' as const),
      outcome: fc.constantFrom('accepted', 'revise', 'person'),
      reason,
    }),
    weight: 2,
  },
  { arbitrary: one('revision.prepared'), weight: 3 },
  { arbitrary: one('clarification.given'), weight: 2 },
  { arbitrary: one('block.resolved'), weight: 2 },
  { arbitrary: one('result.kept'), weight: 2 },
  fc.record({
    type: fc.constant('outcome.reported' as const),
    outcome: fc.constantFrom('done', 'failed'),
  }),
  fc.record({
    type: fc.constant('decision.made' as const),
    judgement: fc.constantFrom('accept', 'refuse', 'revise', 'halt'),
  }),
  because('task.cancelled'),
);
const assignmentEvent: fc.Arbitrary<AssignmentEvent> = fc.oneof(
  one('worker.claimed'),
  one('worker.progressed'),
  { arbitrary: one('worker.answered'), weight: 3 },
  because('worker.lost'),
  one('lease.expired'),
  because('assignment.withdrawn'),
);
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    arbitrary: fc.record({ on: fc.constant('task' as const), event: taskEvent }),
    weight: 6,
  },
  {
    arbitrary: fc.record({
      on: fc.constant('assignment' as const),
      event: assignmentEvent,
      age: fc.constantFrom(0, 0, 0, 1, -1),
      status: fc.constantFrom(...responseStatuses),
      reason,
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ on: fc.constant('time' as const) }), weight: 1 },
  { arbitrary: fc.record({ on: fc.constant('course' as const), pick: fc.nat() }), weight: 20 },
);
/** Each property lives other ones. */
const livesPerTest = runs(40);
const lives = fc.tuple(
  fc.integer({ min: 1, max: 5 }),
  fc.array(move, { minLength: 5, maxLength: 60 }),
);

/** What happens in the course of things: nothing that ends a task at once. */
const courses: Exclude<Move, { on: 'time' | 'course' }>[] = [
  ...(
    [
      { type: 'task.ready' },
      { type: 'attention.passed' },
      { type: 'attention.gated', reason: 'GATE_DETECTED', expiresMs: 60_000 },
      { type: 'gate.judged', outcome: 'granted', reason: '' },
      { type: 'gate.judged', outcome: 'modified', reason: '' },
      { type: 'worker.chosen', worker: 'a', isCapable: true },
      { type: 'worker.chosen', worker: 'b', isCapable: false },
      { type: 'review.done', verdict: 'refused', reason: 'EVIDENCE_REFUSED' },
      { type: 'review.done', verdict: 'undecided', reason: 'CONFIDENCE_LOW' },
      { type: 'critique.done', outcome: 'accepted', reason: '' },
      { type: 'critique.done', outcome: 'revise', reason: 'CRITIQUE_REFUSED' },
      { type: 'critique.done', outcome: 'person', reason: 'CRITIQUE_CONDITIONAL' },
      { type: 'revision.prepared' },
      { type: 'clarification.given' },
      { type: 'block.resolved' },
      { type: 'decision.made', judgement: 'revise' },
    ] as TaskEvent[]
  ).map((event) => ({ on: 'task' as const, event })),
  ...(
    [
      ['worker.claimed', 'completed'],
      ['worker.answered', 'completed'],
      ['worker.answered', 'blocked'],
      ['worker.answered', 'needs_clarification'],
      ['worker.lost', 'failed'],
      ['lease.expired', 'failed'],
    ] as const
  ).map(([type, status]) => {
    const event = { type, reason: 'WORKER_LOST' } as AssignmentEvent;
    return { on: 'assignment' as const, event, age: 0, status, reason: 'GATE_DETECTED' };
  }),
];

/** The event that is meant by a move in this state. */
function meant(record: TaskRecord, its: Move): Exclude<Move, { on: 'course' }> {
  if (its.on !== 'course') return its;
  const possible = courses.filter((each) => moved(record, each, startMs).code === '');
  return possible[its.pick % possible.length] ?? { on: 'time' };
}

interface Moved extends Advanced {
  nowMs: number;
  code: string;
}

function moved(record: TaskRecord, its: Exclude<Move, { on: 'course' }>, nowMs: number): Moved {
  try {
    return { nowMs, code: '', ...(its.on === 'time' ? due(record) : told(record, its, nowMs)) };
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    return { record, sideEffects: [], nowMs, code: error.code };
  }
}

function told(
  record: TaskRecord,
  its: Exclude<Move, { on: 'time' | 'course' }>,
  nowMs: number,
): Advanced {
  if (its.on === 'task') return advance(record, its.event, nowMs);
  const { event, age, status } = its;
  const response = responseOf({ status, reason: its.reason, attempt: record.attempt });
  const given = event.type === 'worker.answered' ? { ...record, response } : record;
  return advanceAssignment(given, record.attempt - age, event, nowMs);
}

/** The earliest timer, as the book has it fire: when it is due it is gone. */
function due(record: TaskRecord): Advanced & { nowMs: number } {
  const [timer] = Object.entries(record.timers).sort(([, a], [, b]) => a - b);
  if (timer === undefined) return { record, sideEffects: [], nowMs: startMs };
  const [name, nowMs] = timer as [TimerName, number];
  const timers = Object.fromEntries(Object.entries(record.timers).filter(([it]) => it !== name));
  const cleared: TaskRecord = { ...record, timers };
  const after =
    name === 'lease'
      ? advanceAssignment(cleared, record.attempt, { type: 'lease.expired' }, nowMs)
      : advance(cleared, { type: 'timer.due', timer: name }, nowMs);
  return { ...after, nowMs };
}

/** Runs a life; `look` sees every step. */
function live(
  [triesMax, moves]: [number, Move[]],
  look: (
    after: Moved,
    before: TaskRecord,
    its: Exclude<Move, { on: 'course' }> | undefined,
  ) => void,
): TaskRecord {
  const start = first(triesMax);
  let { record } = start;
  let nowMs = startMs;
  look({ ...start, nowMs, code: '' }, record, undefined);
  for (const each of moves) {
    const its = meant(record, each);
    const after = moved(record, its, nowMs);
    look(after, record, its);
    record = after.record;
    nowMs = Math.max(nowMs, after.nowMs) + 1;
  }
  return record;
}

const isActive = ({ assignment }: TaskRecord): boolean => assignment?.snapshot.status === 'active';
const of = <T extends SideEffect['type']>(
  sideEffects: SideEffect[],
  type: T,
): Extract<SideEffect, { type: T }>[] =>
  sideEffects.filter((each): each is Extract<SideEffect, { type: T }> => each.type === type);

// ---------------------------------------------------------------- what holds all the while

test('whatever happens, only coded errors are thrown, and a refused event changes nothing', () => {
  fc.assert(
    fc.property(lives, (life) => {
      live(life, ({ code, record }, before) => {
        expect(['', 'PROTOCOL_UNEXPECTED_EVENT', 'STALE_ATTEMPT']).toContain(code);
        if (code === '') return;
        expect(record).toBe(before);
      });
    }),
    { numRuns: livesPerTest },
  );
});

test('a timer that is set is never one that its task does not expect', () => {
  fc.assert(
    fc.property(lives, (life) => {
      live(life, ({ code }, _, its) => {
        if (its?.on === 'time') expect(code).toBe('');
      });
    }),
    { numRuns: livesPerTest },
  );
});

test('a final state is never left, has its time and no timer, and is told once', () => {
  fc.assert(
    fc.property(lives, (life) => {
      let finishes = 0;
      live(life, ({ record, sideEffects }, before) => {
        finishes += of(sideEffects, 'task.finish').length;
        expect(finishes).toBe(isOver(record) ? 1 : 0);
        if (isOver(before)) expect(record).toBe(before);
        expect(record.finished_ms > 0).toBe(isOver(record));
        expect(isFinal(stateOf(record))).toBe(isOver(record));
        if (isOver(record)) expect(record.timers).toEqual({});
        for (const { outcome } of of(sideEffects, 'task.finish'))
          expect(outcome).toBe(stateOf(record));
      });
    }),
    { numRuns: livesPerTest },
  );
});

test('an open task has a time at which it is over, and time alone ends it', () => {
  fc.assert(
    fc.property(lives, (life) => {
      let record = live(life, (after) => {
        if (isOver(after.record)) return;
        const { whole, gate, decision, block } = after.record.timers;
        // While a person thinks about a risk, a question or a result, their time counts, and that of the task stands still.
        const asking = ['critiquing', 'deciding', 'clarifying', 'blocked'];
        const isLooked = asking.includes(stateOf(after.record));
        expect(
          [whole, gate, isLooked ? (decision ?? block) : undefined].some(
            (each) => each !== undefined,
          ),
        ).toBe(true);
        expect(isLooked && whole !== undefined).toBe(false);
        expect(whole === undefined || gate === undefined).toBe(true);
        expect(whole ?? Infinity).toBeGreaterThanOrEqual(startMs + 600_000);
      });
      // At most: a lease, a decision or a block, and the whole; each lost worker is one lease.
      for (let left = 4; !isOver(record) && left > 0; left -= 1) record = due(record).record;
      expect(isOver(record)).toBe(true);
    }),
    { numRuns: livesPerTest },
  );
});

test('a fencing token is never given twice, and only the last one is heard', () => {
  fc.assert(
    fc.property(lives, (life) => {
      let last = 0;
      live(life, ({ record, sideEffects, code }, before, its) => {
        for (const { attempt } of of(sideEffects, 'assignment.send')) {
          expect(attempt).toBe(last + 1);
          last = attempt;
        }
        expect(record.attempt).toBe(last);
        if (its?.on === 'assignment' && (its.age !== 0 || !isActive(before)))
          expect(code).toBe('STALE_ATTEMPT');
      });
    }),
    { numRuns: livesPerTest },
  );
});

test('a worker has a task only while it may, and is told when it has it no longer', () => {
  fc.assert(
    fc.property(lives, (life) => {
      const holders = new Set<number>();
      live(life, ({ record, sideEffects, code }, before, its) => {
        if (code === '' && its?.on === 'assignment' && its.event.type === 'worker.answered')
          holders.delete(before.attempt);
        for (const effect of sideEffects) {
          if (effect.type === 'withdrawal.send') expect(holders.delete(effect.attempt)).toBe(true);
          if (effect.type === 'assignment.send') holders.add(effect.attempt);
        }
        expect([...holders]).toEqual(isActive(record) ? [record.attempt] : []);
        if (isActive(record)) expect(['assigned', 'running']).toContain(stateOf(record));
        else expect(record.timers).not.toHaveProperty('lease');
      });
    }),
    { numRuns: livesPerTest },
  );
});

test('kept and read again after every step, a task goes on as if nothing had been', () => {
  fc.assert(
    fc.property(lives, ([triesMax, moves]) => {
      let kept = decodeRecord(encodeRecord(first(triesMax).record));
      let nowMs = startMs;
      live([triesMax, moves], (after, _, its) => {
        if (its === undefined) return;
        const again = moved(kept, its, nowMs);
        nowMs = Math.max(nowMs, again.nowMs) + 1;
        expect(again.code).toBe(after.code);
        expect(again.sideEffects).toEqual(after.sideEffects);
        expect(encodeRecord(again.record).equals(encodeRecord(after.record))).toBe(true);
        kept = decodeRecord(encodeRecord(again.record));
        expect([stateOf(kept), isOver(kept)]).toEqual([
          stateOf(after.record),
          isOver(after.record),
        ]);
      });
    }),
    { numRuns: livesPerTest },
  );
});

test('a revision counts every change by one', () => {
  fc.assert(
    fc.property(lives, (life) => {
      live(life, ({ record, code }, before, its) => {
        const isChange = its !== undefined && code === '' && record !== before;
        expect(record.revision).toBe(before.revision + (isChange ? 1 : 0));
      });
    }),
    { numRuns: livesPerTest },
  );
});

test('of a long story the beginning and the end are kept, each line in bounds', () => {
  let { record } = first(10);
  const say = (event: TaskEvent): void => void ({ record } = advance(record, event, startMs));
  say({ type: 'task.ready' });
  say({ type: 'attention.passed' });
  const reason = 'r'.repeat(1_000);
  for (let round = 0; round < recordLimits.notes; round += 1) {
    say({ type: 'worker.absent', reason: `${round} ${reason}` });
    say({ type: 'task.ready' });
    expect(record.notes.length).toBeLessThanOrEqual(recordLimits.notes);
  }
  expect(record.notes.map(({ text }) => text).slice(0, 2)).toEqual([
    'task.ready',
    'attention.passed',
  ]);
  expect(record.notes.at(-2)?.text).toContain('99 r');
  for (const { text } of record.notes)
    expect(text.length).toBeLessThanOrEqual(recordLimits.noteChars);
});

// ---------------------------------------------------------------- what an answer leads to

function running(): TaskRecord {
  let { record } = first(3);
  const say = (event: TaskEvent): void => void ({ record } = advance(record, event, startMs));
  say({ type: 'task.ready' });
  say({ type: 'attention.passed' });
  say({ type: 'worker.chosen', worker: 'a', isCapable: true });
  return advanceAssignment(record, 1, { type: 'worker.claimed' }, startMs).record;
}

test('what ends without a result says why, by a code and in whole sentences', () => {
  const errorOf = ({ record }: Advanced): unknown => record.error;
  const cancelled = (reason: string): unknown =>
    errorOf(advance(running(), { type: 'task.cancelled', reason }, startMs));
  expect(cancelled('not needed')).toMatchObject({ code: 'CANCELLED', text: 'not needed' });
  expect(cancelled('CANCELLED')).toMatchObject({ text: 'the request was cancelled' });
  const lost = (reason: string): unknown => {
    let { record } = first(1);
    const say = (event: TaskEvent): void => void ({ record } = advance(record, event, startMs));
    say({ type: 'task.ready' });
    say({ type: 'attention.passed' });
    say({ type: 'worker.chosen', worker: 'a', isCapable: true });
    return errorOf(advanceAssignment(record, 1, { type: 'worker.lost', reason }, startMs));
  };
  expect(lost('WORKER_LOST')).toMatchObject({
    code: 'WORKER_LOST',
    text: 'worker a disconnected before it answered',
  });
  expect(lost('TOO_LARGE')).toMatchObject({ code: 'TOO_LARGE', text: 'TOO_LARGE' });
});

test.each([
  ['completed', '', 'reviewing'],
  ['needs_clarification', '', 'clarifying'],
  ['blocked', 'PGC_FAILED', 'blocked'],
  ['blocked', 'GATE_DETECTED', 'attending'],
  ['failed', 'ACTION_FAILED', 'pending'],
])('a worker that answers %s %s brings its task to %s', (status, reason, state) => {
  const record = { ...running(), response: responseOf({ status, reason }) };
  const after = advanceAssignment(record, 1, { type: 'worker.answered' }, startMs);
  expect(stateOf(after.record)).toBe(state);
});

test('a worker that says again that it began is believed', () => {
  let { record } = first(3);
  const say = (event: TaskEvent): void => void ({ record } = advance(record, event, startMs));
  say({ type: 'task.ready' });
  say({ type: 'attention.passed' });
  say({ type: 'worker.chosen', worker: 'a', isCapable: true });
  say({ type: 'worker.accepted' });
  for (const type of ['worker.claimed', 'worker.claimed'] as const)
    ({ record } = advanceAssignment(record, 1, { type }, startMs));
  expect(stateOf(record)).toBe('running');
});

test('a note says who works on a task, and that a worker came back', () => {
  const { notes } = running();
  expect(notes.at(-1)?.text).toBe('worker.accepted: a');
  const again = advanceAssignment(running(), 1, { type: 'worker.claimed' }, startMs).record;
  expect(again.notes.slice(notes.length).map(({ text }) => text)).toEqual(['worker.returned: a']);
});

test('an answer counts also without the word that it began', () => {
  let { record } = first(3);
  for (const type of ['task.ready', 'attention.passed'] as const)
    ({ record } = advance(record, { type }, startMs));
  const chosen = { type: 'worker.chosen', worker: 'a', isCapable: true } as const;
  ({ record } = advance(record, chosen, startMs));
  const given = { ...record, response: responseOf() };
  const after = advanceAssignment(given, 1, { type: 'worker.answered' }, startMs);
  expect(stateOf(after.record)).toBe('reviewing');
});

test('a record of another version, or a damaged one, is not read', () => {
  const bytes = encodeRecord(first(1).record);
  const other = bytes.toString().replace('"version":1', '"version":2');
  expect(() => decodeRecord(Buffer.from(other))).toThrow('version 2');
  expect(() => decodeRecord(bytes.subarray(0, 40))).toThrow();
  const renamed = bytes.toString().replace('"open":"pending"', '"open":"waiting"');
  expect(() => decodeRecord(Buffer.from(renamed))).toThrow();
});
