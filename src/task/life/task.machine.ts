import { assertEvent, assign, setup } from 'xstate';
import type { FinalState } from './states.js';
import { retriesMax } from '../../prompt/retry-policy.js';

export type ReviewVerdict = 'accepted' | 'warned' | 'refused' | 'undecided';
export type Judgement = 'accept' | 'refuse' | 'revise' | 'halt';
/** What was decided about a gate. */
export type GateOutcome = 'granted' | 'modified' | 'halted' | 'withdrawn';
/** `person`: a person has to decide. */
export type CritiqueOutcome = 'accepted' | 'revise' | 'person';
/** `whole`: the time limit of the task. The names are stored in records. */
export type TimerName = 'lease' | 'whole' | 'decision' | 'block' | 'gate' | 'queue';

/** Time that a task may stay in a queue without being started. */
export const queuedMsMax = 7 * 24 * 3_600_000;

export interface TaskInput {
  timeoutMs: number;
  /** Attempts that may fail before the task does. */
  triesMax: number;
  /** Time that a person has for a decision or a block. */
  decisionMs: number;
  /** It begins in a queue and waits to be started. */
  isQueued?: boolean;
  /** A critic reviews an accepted result before it counts. */
  isCritiqued?: boolean;
}

/** `by`: what was said, and by whom. */
export type TaskEvent =
  /** `timeoutMs` 0: the limit with which it was pushed. */
  | { type: 'task.released'; timeoutMs: number }
  | { type: 'task.ready' }
  | { type: 'dependency.failed'; reason: string }
  | { type: 'attention.passed' }
  /** A person is asked; without an answer in this time the policy decides. */
  | { type: 'attention.gated'; reason: string; expiresMs: number }
  | { type: 'gate.judged'; outcome: GateOutcome; reason: string }
  | { type: 'worker.chosen'; worker: string; isCapable: boolean }
  | { type: 'worker.absent'; reason: string }
  | { type: 'worker.accepted' }
  | { type: 'worker.completed' }
  /** `isFinal`: it must not be done again. `isRetried`: a supervised queue tries it again, apart from `triesMax`. */
  | { type: 'worker.failed'; reason: string; isFinal?: boolean; isRetried?: boolean }
  | { type: 'worker.blocked'; reason: string }
  | { type: 'worker.gated'; reason: string }
  | { type: 'worker.asked' }
  /** Nothing went wrong, and it was not done: its worker cannot do it, or it was never started. */
  | { type: 'task.declined'; reason: string }
  | { type: 'worker.lost'; reason: string }
  | { type: 'review.done'; verdict: ReviewVerdict; reason: string }
  | { type: 'critique.done'; outcome: CritiqueOutcome; reason: string }
  | { type: 'revision.prepared' }
  | { type: 'clarification.given'; by?: string }
  | { type: 'block.resolved'; by?: string }
  /** Without the evidence that could not be had, its result is reviewed. */
  | { type: 'result.kept'; by?: string }
  | { type: 'outcome.reported'; outcome: 'done' | 'failed'; by?: string }
  | { type: 'decision.made'; judgement: Judgement; by?: string }
  | { type: 'timer.due'; timer: TimerName }
  | { type: 'task.cancelled'; reason: string };

export type TaskEffect =
  /** Wait until its dependencies are completed and a worker is free. */
  | { type: 'turn.await' }
  | { type: 'task.attend' }
  | { type: 'worker.choose' }
  | { type: 'assignment.begin'; worker: string; isCapable: boolean }
  | { type: 'assignment.end'; reason: string }
  | { type: 'response.review' }
  | { type: 'result.critique' }
  | { type: 'revision.prepare' }
  | { type: 'block.react'; reason: string }
  | { type: 'timer.arm'; timer: TimerName; delayMs: number }
  | { type: 'timer.clear'; timer: TimerName }
  | { type: 'task.finish'; outcome: FinalState; reason: string };

interface TaskContext extends TaskInput {
  /** Failed attempts so far. */
  tries: number;
  isAttended: boolean;
  /** A person is being asked about its risk. */
  isGated: boolean;
  reason: string;
}

const task = setup({
  types: {
    context: {} as TaskContext,
    input: {} as TaskInput,
    events: {} as TaskEvent,
    emitted: {} as TaskEffect,
  },
  guards: {
    isQueued: ({ context }) => context.isQueued === true,
    isAttended: ({ context }) => context.isAttended,
    triesLeft: ({ context, event }) => {
      const { isFinal = false, isRetried = false } = event.type === 'worker.failed' ? event : {};
      if (isRetried) return context.tries < retriesMax;
      return context.tries + 1 < context.triesMax && !isFinal;
    },
    isAccepted: ({ event }) =>
      event.type === 'review.done' && (event.verdict === 'accepted' || event.verdict === 'warned'),
    isToCritic: ({ context, event }) =>
      context.isCritiqued === true &&
      event.type === 'review.done' &&
      (event.verdict === 'accepted' || event.verdict === 'warned'),
    isOutcome: ({ event }, { outcome }: { outcome: CritiqueOutcome }) =>
      event.type === 'critique.done' && event.outcome === outcome,
    isUndecided: ({ event }) => event.type === 'review.done' && event.verdict === 'undecided',
    isJudged: ({ event }, { judgement }: { judgement: Judgement }) =>
      event.type === 'decision.made' && event.judgement === judgement,
    isJudgedAs: ({ context, event }, { outcome }: { outcome: GateOutcome }) =>
      context.isGated && event.type === 'gate.judged' && event.outcome === outcome,
    isUnasked: ({ context }) => !context.isGated,
    isRefusal: ({ event }) =>
      event.type === 'gate.judged' && ['halted', 'withdrawn'].includes(event.outcome),
    isDone: ({ event }) => event.type === 'outcome.reported' && event.outcome === 'done',
    isTimer: ({ event }, { timer }: { timer: TimerName }) =>
      event.type === 'timer.due' && event.timer === timer,
  },
  actions: {
    rememberReason: assign({ reason: ({ event }) => ('reason' in event ? event.reason : '') }),
    rememberSilence: assign({ reason: 'DECISION_EXPIRED' }),
    rememberUnjudged: assign({ reason: 'GATE_EXPIRED' }),
    rememberTimeout: assign({ reason: 'TASK_TIMED_OUT' }),
    rememberNeglect: assign({ reason: 'QUEUE_EXPIRED' }),
    takeTime: assign({
      timeoutMs: ({ context, event }) =>
        event.type === 'task.released' && event.timeoutMs > 0 ? event.timeoutMs : context.timeoutMs,
    }),
    rememberRefusal: assign({ reason: 'REFUSED' }),
    forgetReason: assign({ reason: '' }),
    countTry: assign({ tries: ({ context }) => context.tries + 1 }),
    passAttention: assign({ isAttended: true }),
    openGate: assign({ isGated: true }),
    closeGate: assign({ isGated: false }),
    // The executor has seen more: the action is judged again.
    recallAttention: assign({ isAttended: false }),
  },
});

function delayOf(timer: TimerName, { timeoutMs, decisionMs }: TaskContext): number {
  if (timer === 'queue') return queuedMsMax;
  return timer === 'whole' ? timeoutMs : decisionMs;
}

const arm = (timer: TimerName): ReturnType<typeof task.emit> =>
  task.emit(({ context }) => ({
    type: 'timer.arm',
    timer,
    delayMs: delayOf(timer, context),
  }));
const armGate = task.emit(({ event }) => {
  assertEvent(event, 'attention.gated');
  return { type: 'timer.arm', timer: 'gate', delayMs: event.expiresMs };
});
const clear = (timer: TimerName): ReturnType<typeof task.emit> =>
  task.emit({ type: 'timer.clear', timer });
const awaitTurn = task.emit({ type: 'turn.await' });
const attend = task.emit({ type: 'task.attend' });
const choose = task.emit({ type: 'worker.choose' });
const begin = task.emit(({ event }) => {
  assertEvent(event, 'worker.chosen');
  return { type: 'assignment.begin', worker: event.worker, isCapable: event.isCapable };
});
const review = task.emit({ type: 'response.review' });
const critique = task.emit({ type: 'result.critique' });
const prepare = task.emit({ type: 'revision.prepare' });
const react = task.emit(({ context }) => ({ type: 'block.react', reason: context.reason }));
const endAssignment = task.emit(({ context }) => ({
  type: 'assignment.end',
  reason: context.reason,
}));
const finish = (outcome: FinalState): ReturnType<typeof task.emit> =>
  task.emit(({ context }) => ({ type: 'task.finish', outcome, reason: context.reason }));

/** A worker failed or was lost: another attempt, or the end. */
const tryAgain = [
  { guard: 'triesLeft', target: 'pending', actions: ['rememberReason', 'countTry'] },
  { target: '#task.failed', actions: ['rememberReason', 'countTry'] },
] as const;

/** An answer may arrive before the claim that the work began. */
const answers = {
  'worker.completed': 'reviewing',
  'worker.failed': tryAgain,
  'worker.blocked': { target: 'blocked', actions: 'rememberReason' },
  'worker.gated': { target: 'attending', actions: ['rememberReason', 'recallAttention'] },
  'worker.asked': 'clarifying',
  'task.declined': { target: '#task.not_done', actions: 'rememberReason' },
  'worker.lost': tryAgain,
} as const;

/**
 * The life of a task, from `queued` or `pending` to one of six final states. It knows no worker, no network and no clock: workers, leases and retries of messages belong to the assignment (delegation.manager), whose outcome arrives as an event.
 */
export const taskMachine = task.createMachine({
  id: 'task',
  context: ({ input }) => ({ ...input, tries: 0, isAttended: false, isGated: false, reason: '' }),
  initial: 'begun',
  states: {
    begun: { always: [{ guard: 'isQueued', target: 'queued' }, { target: 'open' }] },
    /** In a queue, until its owner starts it. */
    queued: {
      entry: arm('queue'),
      exit: clear('queue'),
      on: {
        'task.released': { target: 'open', actions: 'takeTime' },
        'task.cancelled': { target: 'cancelled', actions: 'rememberReason' },
        'task.declined': { target: 'not_done', actions: 'rememberReason' },
        'timer.due': {
          guard: { type: 'isTimer', params: { timer: 'queue' } },
          target: 'timed_out',
          actions: 'rememberNeglect',
        },
      },
    },
    open: {
      initial: 'pending',
      entry: arm('whole'),
      exit: clear('whole'),
      on: {
        'task.cancelled': { target: 'cancelled', actions: 'rememberReason' },
        'timer.due': {
          guard: { type: 'isTimer', params: { timer: 'whole' } },
          target: 'timed_out',
          actions: 'rememberTimeout',
        },
      },
      states: {
        /** Waits for its dependencies, or for a worker. */
        pending: {
          entry: awaitTurn,
          on: {
            'task.ready': [{ guard: 'isAttended', target: 'assigned' }, { target: 'attending' }],
            'dependency.failed': { target: 'blocked', actions: 'rememberReason' },
          },
        },
        attending: {
          entry: attend,
          exit: [clear('gate'), 'closeGate'],
          on: {
            'attention.passed': {
              guard: 'isUnasked',
              target: 'assigned',
              actions: 'passAttention',
            },
            // The time limit is paused while a person decides.
            'attention.gated': {
              guard: 'isUnasked',
              actions: ['rememberReason', 'openGate', clear('whole'), armGate],
            },
            'gate.judged': [
              {
                guard: { type: 'isJudgedAs', params: { outcome: 'granted' } },
                target: 'assigned',
                actions: ['passAttention', 'forgetReason', arm('whole')],
              },
              // The action was changed, so it is judged again.
              {
                guard: { type: 'isJudgedAs', params: { outcome: 'modified' } },
                target: 'attending',
                reenter: true,
                actions: arm('whole'),
              },
              // Also when a task asked too often.
              { guard: 'isRefusal', target: '#task.halted', actions: 'rememberReason' },
            ],
            'timer.due': {
              guard: { type: 'isTimer', params: { timer: 'gate' } },
              target: '#task.halted',
              actions: 'rememberUnjudged',
            },
          },
        },
        assigned: {
          entry: choose,
          on: {
            'worker.chosen': { actions: begin },
            'worker.absent': { target: 'pending', actions: 'rememberReason' },
            'worker.accepted': { target: 'running', actions: 'forgetReason' },
            ...answers,
          },
        },
        running: { on: answers },
        /** Waits for an answer of a person or the parent; the time limit is paused. */
        clarifying: {
          entry: [clear('whole'), arm('decision')],
          exit: clear('decision'),
          on: {
            'clarification.given': { target: 'assigned', actions: arm('whole') },
            'timer.due': {
              guard: { type: 'isTimer', params: { timer: 'decision' } },
              target: '#task.failed',
              actions: 'rememberSilence',
            },
          },
        },
        /** Something is missing, and a person may be asked about it; the time limit is paused. */
        blocked: {
          entry: [clear('whole'), react, arm('block')],
          exit: clear('block'),
          on: {
            'block.resolved': { target: 'pending', actions: arm('whole') },
            // The work is done, and was not verified: it is not done again.
            'result.kept': {
              guard: 'isAttended',
              target: 'reviewing',
              actions: arm('whole'),
            },
            'outcome.reported': [
              { guard: 'isDone', target: '#task.completed' },
              { target: '#task.failed' },
            ],
            // The reason stays what blocked it.
            'timer.due': {
              guard: { type: 'isTimer', params: { timer: 'block' } },
              target: '#task.failed',
            },
          },
        },
        reviewing: {
          entry: review,
          on: {
            'review.done': [
              { guard: 'isToCritic', target: 'critiquing', actions: 'forgetReason' },
              { guard: 'isAccepted', target: '#task.completed', actions: 'forgetReason' },
              { guard: 'isUndecided', target: 'deciding', actions: 'rememberReason' },
              { guard: 'triesLeft', target: 'revising', actions: ['rememberReason', 'countTry'] },
              { target: '#task.failed', actions: ['rememberReason', 'countTry'] },
            ],
          },
        },
        /** Its evidence holds; a critic reviews the result. A revision is not a failed attempt: the critic's cycle bounds it. */
        critiquing: {
          // The work is done and the review has limits of its own: the time limit is paused.
          entry: [clear('whole'), arm('decision'), critique],
          exit: clear('decision'),
          on: {
            'timer.due': {
              guard: { type: 'isTimer', params: { timer: 'decision' } },
              target: '#task.failed',
              actions: 'rememberSilence',
            },
            'critique.done': [
              {
                guard: { type: 'isOutcome', params: { outcome: 'accepted' } },
                target: '#task.completed',
                actions: 'forgetReason',
              },
              {
                guard: { type: 'isOutcome', params: { outcome: 'revise' } },
                target: 'revising',
                actions: ['rememberReason', arm('whole')],
              },
              { target: 'deciding', actions: 'rememberReason' },
            ],
          },
        },
        /** Waits for a decision of a person or the parent; the time limit is paused. */
        deciding: {
          entry: [clear('whole'), arm('decision')],
          exit: clear('decision'),
          on: {
            'decision.made': [
              {
                guard: { type: 'isJudged', params: { judgement: 'accept' } },
                target: '#task.completed',
                actions: 'forgetReason',
              },
              {
                guard: { type: 'isJudged', params: { judgement: 'revise' } },
                target: 'revising',
                actions: arm('whole'),
              },
              {
                guard: { type: 'isJudged', params: { judgement: 'halt' } },
                target: '#task.halted',
              },
              { target: '#task.failed', actions: 'rememberRefusal' },
            ],
            'timer.due': {
              guard: { type: 'isTimer', params: { timer: 'decision' } },
              target: '#task.failed',
              actions: 'rememberSilence',
            },
          },
        },
        revising: { entry: prepare, on: { 'revision.prepared': 'assigned' } },
      },
    },
    completed: { id: 'task.completed', entry: [endAssignment, finish('completed')], type: 'final' },
    not_done: { id: 'task.not_done', entry: [endAssignment, finish('not_done')], type: 'final' },
    failed: { id: 'task.failed', entry: [endAssignment, finish('failed')], type: 'final' },
    halted: { id: 'task.halted', entry: [endAssignment, finish('halted')], type: 'final' },
    cancelled: { entry: [endAssignment, finish('cancelled')], type: 'final' },
    timed_out: { entry: [endAssignment, finish('timed_out')], type: 'final' },
  },
});
