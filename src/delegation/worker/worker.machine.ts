import { assertEvent, assign, setup } from 'xstate';
import type { ResponseStatus, Strategy } from '../task/shapes.js';

/** Turns of a runner at one task: the proposal, and one correction. */
export const turnsMax = 2;

export interface WorkInput {
  strategy: Strategy;
  /** The work has effects and no idempotency key: it cannot begin a second time without a decision. */
  isOnce: boolean;
  /** The runner takes feedback, so that a second turn makes sense. */
  isTeachable: boolean;
}

export type WorkEvent =
  /** A slot of the executor is free for it. */
  | { type: 'slot.given' }
  | { type: 'claim.granted' }
  | { type: 'claim.refused' }
  | { type: 'grounding.done' }
  | { type: 'grounding.failed'; reason: string }
  /** The begin mark is on disk. */
  | { type: 'begin.stored' }
  | { type: 'runner.finished' }
  | { type: 'runner.failed'; reason: string }
  | { type: 'runner.blocked'; reason: string }
  | { type: 'runner.asked' }
  | { type: 'runner.stopped' }
  | { type: 'verification.done'; conflicts: number }
  | { type: 'verification.failed'; reason: string }
  | { type: 'response.accepted' }
  | { type: 'assignment.withdrawn' }
  /** A newer attempt exists, or the task is over. */
  | { type: 'attempt.over' }
  | { type: 'time.over' }
  /** A new process has read the work from disk. */
  | { type: 'executor.restarted' };

export type WorkEffect =
  | { type: 'claim.ask' }
  | { type: 'grounding.start' }
  | { type: 'begin.store' }
  | { type: 'runner.start'; turn: number }
  | { type: 'runner.stop' }
  | { type: 'verification.start' }
  | { type: 'response.send'; status: ResponseStatus; reason: string; isPartial: boolean }
  | { type: 'record.delete' };

export interface WorkContext extends WorkInput {
  turn: number;
  hasBegun: boolean;
  /** The response is no longer wanted. */
  isStale: boolean;
  reason: string;
}

const work = setup({
  types: {
    context: {} as WorkContext,
    input: {} as WorkInput,
    events: {} as WorkEvent,
    emitted: {} as WorkEffect,
  },
  guards: {
    isInterrupted: ({ context }) => context.hasBegun && context.isOnce,
    isFirst: ({ context }) => context.strategy === 'pgc_first',
    isVerified: ({ context }) =>
      context.strategy === 'pgc_verify' || context.strategy === 'pgc_cite',
    mayTryAgain: ({ context, event }) => {
      assertEvent(event, 'verification.done');
      const { strategy, isTeachable, turn } = context;
      return strategy === 'pgc_verify' && event.conflicts > 0 && isTeachable && turn < turnsMax;
    },
    isStale: ({ context }) => context.isStale,
  },
  actions: {
    begin: assign({ hasBegun: true }),
    nextTurn: assign({ turn: ({ context }) => context.turn + 1 }),
    firstTurn: assign({ turn: 1 }),
    goStale: assign({ isStale: true }),
    forgetBegin: assign({ hasBegun: ({ context }) => context.hasBegun && context.isOnce }),
    lateReason: assign({ reason: 'TASK_TIMED_OUT' }),
    unknownOutcome: assign({ reason: 'OUTCOME_UNKNOWN' }),
    rememberReason: assign({
      reason: ({ event }) => {
        assertEvent(event, [
          'grounding.failed',
          'runner.failed',
          'runner.blocked',
          'verification.failed',
        ]);
        return event.reason;
      },
    }),
  },
});

const askClaim = work.emit({ type: 'claim.ask' });
const ground = work.emit({ type: 'grounding.start' });
const storeBegin = work.emit({ type: 'begin.store' });
const run = work.emit(({ context }) => ({ type: 'runner.start', turn: context.turn }));
const stop = work.emit({ type: 'runner.stop' });
const verify = work.emit({ type: 'verification.start' });
const forget = work.emit({ type: 'record.delete' });
const send = (status: ResponseStatus, isPartial: boolean) =>
  work.emit(({ context: { reason } }) => ({ type: 'response.send', status, reason, isPartial }));

const nobodyWaits = {
  'assignment.withdrawn': 'dropped',
  'attempt.over': 'dropped',
  'time.over': 'dropped',
} as const;
/** While the runner works it is stopped first. After a timeout the partial result is sent; otherwise nothing is. */
const interruptible = {
  'assignment.withdrawn': { target: 'stopping', actions: 'goStale' },
  'attempt.over': { target: 'stopping', actions: 'goStale' },
  'time.over': { target: 'stopping', actions: 'lateReason' },
} as const;
const answered = {
  'response.accepted': 'done',
  'attempt.over': 'dropped',
  'assignment.withdrawn': {},
  'time.over': {},
} as const;

/**
 * One assignment at an executor. Work that has begun and cannot be repeated never begins again: after a restart it ends `blocked`, and a person resolves it.
 */
export const workerMachine = work.createMachine({
  id: 'delegation.worker',
  context: ({ input }) => ({ ...input, turn: 1, hasBegun: false, isStale: false, reason: '' }),
  initial: 'received',
  states: {
    received: {
      on: { 'slot.given': 'claiming', 'executor.restarted': {}, ...nobodyWaits },
    },
    claiming: {
      entry: askClaim,
      on: {
        'claim.granted': [
          { guard: 'isInterrupted', target: 'blocked', actions: 'unknownOutcome' },
          { guard: 'isFirst', target: 'grounding' },
          { target: 'beginning' },
        ],
        'claim.refused': 'dropped',
        'executor.restarted': 'received',
        ...nobodyWaits,
      },
    },
    grounding: {
      entry: ground,
      on: {
        'grounding.done': 'beginning',
        'grounding.failed': { target: 'blocked', actions: 'rememberReason' },
        'executor.restarted': 'received',
        'assignment.withdrawn': 'dropped',
        'attempt.over': 'dropped',
        'time.over': { target: 'failed', actions: 'lateReason' },
      },
    },
    beginning: {
      entry: ['begin', storeBegin],
      on: {
        'begin.stored': 'acting',
        // The begin mark is on disk: whether the runner was started is unknown.
        'executor.restarted': { target: 'received', actions: ['forgetBegin', 'firstTurn'] },
        ...interruptible,
      },
    },
    acting: {
      entry: run,
      on: {
        'runner.finished': [{ guard: 'isVerified', target: 'verifying' }, { target: 'completed' }],
        'runner.failed': { target: 'failed', actions: 'rememberReason' },
        'runner.blocked': { target: 'blocked', actions: 'rememberReason' },
        'runner.asked': 'asking',
        'executor.restarted': { target: 'received', actions: ['forgetBegin', 'firstTurn'] },
        ...interruptible,
      },
    },
    stopping: {
      entry: stop,
      on: {
        'runner.stopped': [{ guard: 'isStale', target: 'dropped' }, { target: 'stopped' }],
        // Its outcome no longer matters.
        'runner.finished': [{ guard: 'isStale', target: 'dropped' }, { target: 'stopped' }],
        'attempt.over': { actions: 'goStale' },
        'assignment.withdrawn': { actions: 'goStale' },
        'time.over': {},
        'executor.restarted': [{ guard: 'isStale', target: 'dropped' }, { target: 'stopped' }],
      },
    },
    verifying: {
      entry: verify,
      on: {
        'verification.done': [
          { guard: 'mayTryAgain', target: 'beginning', actions: 'nextTurn' },
          { target: 'completed' },
        ],
        'verification.failed': { target: 'unverified', actions: 'rememberReason' },
        // The outcome of the runner is on disk.
        'executor.restarted': { target: 'verifying', reenter: true },
        'assignment.withdrawn': 'dropped',
        'attempt.over': 'dropped',
        'time.over': { target: 'stopped', actions: 'lateReason' },
      },
    },
    completed: {
      entry: send('completed', false),
      on: { 'executor.restarted': { target: 'completed', reenter: true }, ...answered },
    },
    failed: {
      entry: send('failed', true),
      on: { 'executor.restarted': { target: 'failed', reenter: true }, ...answered },
    },
    /** Timed out. */
    stopped: {
      entry: send('failed', true),
      on: { 'executor.restarted': { target: 'stopped', reenter: true }, ...answered },
    },
    blocked: {
      entry: send('blocked', false),
      on: { 'executor.restarted': { target: 'blocked', reenter: true }, ...answered },
    },
    /** Done, but the PGC could not verify it. */
    unverified: {
      entry: send('blocked', true),
      on: { 'executor.restarted': { target: 'unverified', reenter: true }, ...answered },
    },
    asking: {
      entry: send('needs_clarification', false),
      on: { 'executor.restarted': { target: 'asking', reenter: true }, ...answered },
    },
    done: { entry: forget, type: 'final' },
    dropped: { entry: forget, type: 'final' },
  },
});
