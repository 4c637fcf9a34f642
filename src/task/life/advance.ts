import {
  assignmentMachine,
  type AssignmentEffect,
  type AssignmentEvent,
} from '../../delegation/manager/manager.machine.js';
import { failureOf } from '../../delegation/worker/task-response.js';
import { hasEffects, type TaskFailure } from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { start, stateName, step } from '../../machine/step.js';
import { retryOrAbort, retryPauseMs } from '../../prompt/retry-policy.js';
import { recordLimits, type TaskRecord } from './record.js';
import { taskMachine, type TaskEffect, type TaskEvent, type TimerName } from './task.machine.js';

/** What the shell has still to do, when the record and these are on disk. Timers are part of the record. */
export type SideEffect =
  | Exclude<
      TaskEffect,
      { type: 'timer.arm' | 'timer.clear' | 'assignment.begin' | 'assignment.end' }
    >
  | Extract<AssignmentEffect, { type: 'assignment.send' | 'withdrawal.send' }>
  /** It has a mailbox of its own. */
  | { type: 'agent.enrol' };

export interface Advanced {
  record: TaskRecord;
  sideEffects: SideEffect[];
}

type TaskData = Omit<TaskRecord, 'snapshot' | 'revision' | 'attempt' | 'assignment' | 'timers'>;

/** A task in its first state. */
export function beginTask(
  data: TaskData,
  input: {
    timeoutMs: number;
    triesMax: number;
    decisionMs: number;
    isQueued?: boolean;
    isCritiqued?: boolean;
  },
): Advanced {
  const { snapshot, effects } = start(taskMachine, input);
  const record: TaskRecord = {
    ...data,
    snapshot,
    revision: 1,
    attempt: 0,
    assignment: null,
    timers: {},
  };
  const first = withEffects(record, effects, data.created_ms);
  return hasAgent(record)
    ? { ...first, sideEffects: [{ type: 'agent.enrol' }, ...first.sideEffects] }
    : first;
}

/** Whether it is an agent of its own on the bus, called by its id: so is what others receive from by name. */
export function hasAgent({
  owner,
  root,
  task,
}: Pick<TaskRecord, 'owner' | 'root' | 'task'>): boolean {
  return owner !== '' || root !== '' || task.runner === 'prompt';
}

/** One event of the task itself. Throws PROTOCOL_UNEXPECTED_EVENT. */
export function advance(record: TaskRecord, event: TaskEvent, nowMs: number): Advanced {
  // The choice of a worker may be made twice, when the first was not noted as done: the first one stands.
  const isChoice = event.type === 'worker.chosen' || event.type === 'worker.absent';
  if (isChoice && isActive(record)) {
    const state = `${taskMachine.id}.${stateName(record.snapshot)}`;
    throw new BusError('PROTOCOL_UNEXPECTED_EVENT', { event: event.type, state });
  }
  const { snapshot, effects } = step(taskMachine, record.snapshot, event);
  const next = { ...record, snapshot, revision: record.revision + 1, updated_ms: nowMs };
  return withEffects(withStateNote(next, record, event, nowMs), effects, nowMs);
}

/**
 * One event of the assignment with this fencing token. Throws STALE_ATTEMPT when there is a newer one, or when this one is
 * over; PROTOCOL_UNEXPECTED_EVENT.
 */
export function advanceAssignment(
  record: TaskRecord,
  attempt: number,
  event: AssignmentEvent,
  nowMs: number,
): Advanced {
  const { assignment } = record;
  if (assignment?.attempt !== attempt || assignment.snapshot.status !== 'active')
    throw new BusError('STALE_ATTEMPT', { task: record.id, attempt, now: record.attempt });
  const { snapshot, effects } = step(assignmentMachine, assignment.snapshot, event);
  const next: TaskRecord = {
    ...record,
    assignment: { ...assignment, snapshot },
    revision: record.revision + 1,
    updated_ms: nowMs,
  };
  return withAssignmentEffects(next, effects, nowMs);
}

export function stateOf({ snapshot }: Pick<TaskRecord, 'snapshot'>): string {
  return stateName(snapshot).replace(/^open\./, '');
}

/** Whether nothing will ever change any more. */
export function isOver({ snapshot }: Pick<TaskRecord, 'snapshot'>): boolean {
  return snapshot.status !== 'active';
}

function isActive({ assignment }: TaskRecord): boolean {
  return assignment?.snapshot.status === 'active';
}

/** Timers into the record, assignments begun and ended, the rest for the shell. */
function withEffects(record: TaskRecord, effects: readonly TaskEffect[], nowMs: number): Advanced {
  let current = record;
  const sideEffects: SideEffect[] = [];
  for (const effect of effects) {
    switch (effect.type) {
      case 'timer.arm':
        current = withTimer(current, effect.timer, nowMs + effect.delayMs);
        break;
      case 'timer.clear':
        current = withTimer(current, effect.timer, undefined);
        break;
      case 'assignment.begin': {
        const { worker, isCapable } = effect;
        const attempt = current.attempt + 1;
        const first = start(assignmentMachine, { worker, attempt, isCapable });
        const assignment = { worker, attempt, snapshot: first.snapshot };
        const after = withAssignmentEffects(
          { ...current, attempt, assignment },
          first.effects,
          nowMs,
        );
        current = after.record;
        sideEffects.push(...after.sideEffects);
        break;
      }
      case 'assignment.end': {
        const after = withAssignmentWithdrawn(current, effect.reason, nowMs);
        current = after.record;
        sideEffects.push(...after.sideEffects);
        break;
      }
      default:
        sideEffects.push(effect);
    }
  }
  if (!statesWithWorker.includes(stateOf(current))) {
    const after = withAssignmentWithdrawn(current, 'CANCELLED', nowMs);
    current = after.record;
    sideEffects.push(...after.sideEffects);
  }
  if (current.started_ms === 0 && !statesBeforeWork.includes(stateOf(current)) && !isOver(current))
    current = { ...current, started_ms: nowMs };
  const isEnd = isOver(current) && current.finished_ms === 0;
  return { record: isEnd ? withEnd(current, nowMs) : current, sideEffects };
}

/** What ended without a result says why, also where nobody did. */
function withEnd(record: TaskRecord, nowMs: number): TaskRecord {
  const { reason } = record.snapshot.context;
  const state = stateOf(record);
  // What was wrong with an attempt is not why its time was over, why it was cancelled, or that nobody decided.
  const isOther = state === 'timed_out' || state === 'cancelled' || reason === 'DECISION_EXPIRED';
  const isTold = reason === '' || state === 'completed' || (record.error !== null && !isOther);
  // Whoever cancelled it may have said more.
  const isSame = record.error?.code === reason;
  return {
    ...record,
    finished_ms: nowMs,
    error: isTold || isSame ? record.error : failureAtEnd(record),
  };
}

function failureAtEnd({ id, snapshot, assignment }: TaskRecord): TaskFailure {
  const { reason, timeoutMs: ms } = snapshot.context;
  const agent = assignment?.worker ?? '';
  const known = failureOf(reason, { ms, agent, task: id });
  // Who cancels it gives a reason in words of their own.
  return stateOf({ snapshot }) === 'cancelled' && !isErrorCode(reason)
    ? { ...failureOf('CANCELLED'), text: reason }
    : known;
}

/** States in which nobody was looked for yet. */
const statesBeforeWork: readonly string[] = ['queued', 'pending', 'attending'];

/** States in which a worker may have it. Whoever has it in another one is told to stop. */
const statesWithWorker: readonly string[] = ['assigned', 'running'];

/** The worker that has it, if there is one, is told that it has it no longer. */
function withAssignmentWithdrawn(record: TaskRecord, reason: string, nowMs: number): Advanced {
  const { assignment } = record;
  if (assignment?.snapshot.status !== 'active') return { record, sideEffects: [] };
  const event = { type: 'assignment.withdrawn', reason } as const;
  const { snapshot, effects } = step(assignmentMachine, assignment.snapshot, event);
  return withAssignmentEffects(
    { ...record, assignment: { ...assignment, snapshot } },
    effects,
    nowMs,
  );
}

function withAssignmentEffects(
  record: TaskRecord,
  effects: readonly AssignmentEffect[],
  nowMs: number,
): Advanced {
  let current = record;
  const sideEffects: SideEffect[] = [];
  for (const effect of effects) {
    switch (effect.type) {
      case 'lease.arm':
        current = withTimer(current, 'lease', nowMs + effect.delayMs);
        break;
      case 'lease.clear':
        current = withTimer(current, 'lease', undefined);
        break;
      case 'task.notify': {
        const told = taskEventAfter(current, effect);
        if (told === undefined) break;
        const after = advance(withFailure(current, told, nowMs), told, nowMs);
        current = { ...after.record, revision: current.revision };
        sideEffects.push(...after.sideEffects);
        break;
      }
      default:
        sideEffects.push(effect);
    }
  }
  return { record: current, sideEffects };
}

/** Who failed at it is not the next to try, as long as there are others; unless the task names whom it wants. */
function withFailure(record: TaskRecord, event: TaskEvent, nowMs: number): TaskRecord {
  const { type } = event;
  const { assignment, task, failed_workers } = record;
  if (type === 'worker.failed' && event.isRetried === true)
    return { ...record, not_before_ms: nowMs + retryPauseMs(record.snapshot.context.tries) };
  const hasFailed = type === 'worker.failed' || type === 'worker.lost';
  if (!hasFailed || assignment === null || task.to !== '') return record;
  return { ...record, failed_workers: [...new Set([...failed_workers, assignment.worker])] };
}

/**
 * What becomes of the task by what became of an assignment. What may have had an effect is not done a second time by
 * itself: not where a worker was lost that had begun, nor where it failed.
 */
function taskEventAfter(
  { response, snapshot, task, is_supervised }: TaskRecord,
  effect: Extract<AssignmentEffect, { type: 'task.notify' }>,
): TaskEvent | undefined {
  const event = ((): TaskEvent => {
    if (effect.what === 'accepted') return { type: 'worker.accepted' };
    if (effect.what === 'lost') {
      const hasBegun = stateOf({ snapshot }) === 'running';
      return hasBegun && hasEffects(task)
        ? { type: 'worker.blocked', reason: 'OUTCOME_UNKNOWN' }
        : { type: 'worker.lost', reason: effect.reason };
    }
    const reason = response?.reason ?? '';
    switch (response?.status) {
      case 'completed':
        return { type: 'worker.completed' };
      case 'needs_clarification':
        return { type: 'worker.asked' };
      case 'blocked':
        return reason === 'GATE_DETECTED'
          ? { type: 'worker.gated', reason }
          : { type: 'worker.blocked', reason };
      default:
        if (is_supervised && response !== null) {
          const [first] = response.errors;
          const failure = { code: first?.code ?? reason };
          const isRetried = retryOrAbort(failure, snapshot.context.tries) === 'retry';
          return { type: 'worker.failed', reason, isFinal: !isRetried, isRetried };
        }
        return { type: 'worker.failed', reason, isFinal: hasEffects(task) };
    }
  })();
  // Of a task that is over, or waits for something else by now.
  return snapshot.can(event) ? event : undefined;
}

function withTimer(record: TaskRecord, name: TimerName, atMs: number | undefined): TaskRecord {
  const others = Object.entries(record.timers).filter(([each]) => each !== name);
  const mine: [string, number][] = atMs === undefined ? [] : [[name, atMs]];
  return { ...record, timers: Object.fromEntries([...others, ...mine]) };
}

/** The story of a task, in a line for each change of state; of a long one the beginning and the end are kept. */
function withStateNote(
  next: TaskRecord,
  before: TaskRecord,
  event: TaskEvent,
  nowMs: number,
): TaskRecord {
  const state = stateOf(next);
  if (state === stateOf(before)) return next;
  const reason = 'reason' in event && event.reason !== '' ? `: ${event.reason}` : '';
  return { ...next, notes: withNote(next, `${event.type}${reason}`, nowMs) };
}

export function withNote(record: TaskRecord, said: string, nowMs: number): TaskRecord['notes'] {
  const text = said.slice(0, recordLimits.noteChars);
  const notes = [...record.notes, { at_ms: nowMs, state: stateOf(record), text }];
  if (notes.length > recordLimits.notes) notes.splice(recordLimits.notes / 2, 1);
  return notes;
}
