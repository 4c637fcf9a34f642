import {
  assignmentMachine,
  type AssignmentEffect,
  type AssignmentEvent,
} from '../../delegation/manager/manager.machine.js';
import { failureOf } from '../../delegation/worker/task-response.js';
import { hasEffects, type TaskFailure, type TaskResponse } from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { start, stateName, step } from '../../machine/step.js';
import { retryOrAbort, retryPauseMs } from '../../prompt/retry-policy.js';
import { recordLimits, type TaskRecord } from './record.js';
import { taskMachine, type TaskEffect, type TaskEvent, type TimerName } from './task.machine.js';

/** What the book performs once the record is on disk. Timers are part of the record. */
export type SideEffect =
  | Exclude<
      TaskEffect,
      { type: 'timer.arm' | 'timer.clear' | 'assignment.begin' | 'assignment.end' }
    >
  | Extract<AssignmentEffect, { type: 'assignment.send' | 'withdrawal.send' }>
  /** Register the agent of this task on the bus. */
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

/** Whether the task is an agent on the bus, with its id as name. */
export function hasAgent({
  owner,
  root,
  task,
}: Pick<TaskRecord, 'owner' | 'root' | 'task'>): boolean {
  return owner !== '' || root !== '' || task.runner === 'prompt';
}

/** One event of the task itself. Throws PROTOCOL_UNEXPECTED_EVENT. */
export function advance(record: TaskRecord, event: TaskEvent, nowMs: number): Advanced {
  // After a crash a worker may be chosen twice: the first choice stands.
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
 * One event of the assignment with this fencing token. Throws STALE_ATTEMPT when a newer one exists or this one is over, and PROTOCOL_UNEXPECTED_EVENT.
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
  // It was started again, and has the assignment still.
  const isAgain = event.type === 'worker.claimed' && stateOf(record) === 'running';
  const notes = isAgain
    ? withNote(next, `worker.returned: ${assignment.worker}`, nowMs)
    : next.notes;
  return withAssignmentEffects({ ...next, notes }, effects, nowMs);
}

export function stateOf({ snapshot }: Pick<TaskRecord, 'snapshot'>): string {
  return stateName(snapshot).replace(/^open\./, '');
}

/** Whether it is in a final state. */
export function isOver({ snapshot }: Pick<TaskRecord, 'snapshot'>): boolean {
  return snapshot.status !== 'active';
}

function isActive({ assignment }: TaskRecord): boolean {
  return assignment?.snapshot.status === 'active';
}

/** Applies timers and assignments to the record; the other effects are left to the book. */
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

/** A task that ends without a result has an error, also where no event brought one. */
function withEnd(record: TaskRecord, nowMs: number): TaskRecord {
  const { reason } = record.snapshot.context;
  const state = stateOf(record);
  // The error of an attempt is not the reason of a timeout, a cancellation or an expired decision.
  const isOther = state === 'timed_out' || state === 'cancelled' || reason === 'DECISION_EXPIRED';
  const hasError = reason === '' || state === 'completed' || (record.error !== null && !isOther);
  // The caller that cancelled it may have given more detail.
  const isSame = record.error?.code === reason;
  return {
    ...record,
    finished_ms: nowMs,
    error: hasError || isSame ? record.error : failureAtEnd(record),
  };
}

function failureAtEnd({ id, snapshot, assignment }: TaskRecord): TaskFailure {
  const { reason, timeoutMs: ms } = snapshot.context;
  const agent = assignment?.worker ?? '';
  const known = failureOf(reason, { ms, agent, task: id });
  // The reason of a cancellation may be free text.
  return stateOf({ snapshot }) === 'cancelled' && !isErrorCode(reason)
    ? { ...failureOf('CANCELLED'), text: reason }
    : known;
}

/** States before the first search for a worker. */
const statesBeforeWork: readonly string[] = ['queued', 'pending', 'attending'];

/** States in which a worker may have the task. In any other state its assignment is withdrawn. */
const statesWithWorker: readonly string[] = ['assigned', 'running'];

/** Withdraws the active assignment, if there is one. */
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
        const event = taskEventAfter(current, effect);
        if (event === undefined) break;
        const after = advance(withFailure(current, event, nowMs), event, nowMs);
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

/** A worker that failed is not the next to try while there are others, unless the task names its worker. */
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
 * The event of the task that follows from the outcome of an assignment. Work that may have had effects is not repeated by itself: neither after a worker was lost that had begun, nor after a failure.
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
        if (reason === 'NOT_DONE') return { type: 'task.declined', reason };
        if (is_supervised && response !== null) {
          const [first] = response.errors;
          const failure = { code: first?.code ?? reason };
          const isRetried = retryOrAbort(failure, snapshot.context.tries) === 'retry';
          return { type: 'worker.failed', reason, isFinal: !isRetried, isRetried };
        }
        return { type: 'worker.failed', reason, isFinal: hasEffects(task) || isSettled(response) };
    }
  })();
  // The task may be over, or wait for something else by now.
  return snapshot.can(event) ? event : undefined;
}

/** Failures of one worker, which another one may not meet with. */
const ofTheWorker: ReadonlySet<string> = new Set([
  ...['NO_RUNNER', 'ACTION_REFUSED', 'MODEL_REFUSED', 'MALFORMED_PAYLOAD', 'INTERNAL'],
]);

/** It said itself that doing it again will not help. */
function isSettled(response: TaskResponse | null): boolean {
  const [first] = response?.errors ?? [];
  return first !== undefined && !first.retryable && !ofTheWorker.has(first.code);
}

function withTimer(record: TaskRecord, name: TimerName, atMs: number | undefined): TaskRecord {
  const others = Object.entries(record.timers).filter(([each]) => each !== name);
  const mine: [string, number][] = atMs === undefined ? [] : [[name, atMs]];
  return { ...record, timers: Object.fromEntries([...others, ...mine]) };
}

/** Adds a note for each change of state. */
function withStateNote(
  next: TaskRecord,
  before: TaskRecord,
  event: TaskEvent,
  nowMs: number,
): TaskRecord {
  const state = stateOf(next);
  if (state === stateOf(before)) return next;
  const more = detailOf(next, event);
  const said = more === '' ? event.type : `${event.type}: ${more}`;
  return { ...next, notes: withNote(next, said, nowMs) };
}

function detailOf({ assignment }: TaskRecord, event: TaskEvent): string {
  if (event.type === 'worker.accepted') return assignment?.worker ?? '';
  if ('by' in event) return event.by;
  return 'reason' in event ? event.reason : '';
}

/** What is said again and again is noted once. */
export function withNoteOnce(record: TaskRecord, said: string, nowMs: number): TaskRecord['notes'] {
  const { text = '' } = record.notes.at(-1) ?? {};
  return text === said ? record.notes : withNote(record, said, nowMs);
}

/** The notes with one more; of too many the ones in the middle are dropped. */
export function withNote(record: TaskRecord, said: string, nowMs: number): TaskRecord['notes'] {
  const text = said.slice(0, recordLimits.noteChars);
  const notes = [...record.notes, { at_ms: nowMs, state: stateOf(record), text }];
  if (notes.length > recordLimits.notes) notes.splice(recordLimits.notes / 2, 1);
  return notes;
}
