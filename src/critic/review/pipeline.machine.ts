import { assign, setup } from 'xstate';
import type { AbortReason, ModeReport } from '../shapes.js';
import type { ModeName } from '../strategies.js';

/** Between the signal that a mode has to end and its end without it. */
export const graceMs = 2_000;
/** A mode that was begun so often, and ended with its critic each time, is not begun again. */
export const beginsMax = 3;

export type PipelineTimer = 'mode' | 'grace';

export interface PipelineInput {
  /** In the order in which they run. */
  modes: readonly ModeName[];
  /** Of one mode. */
  modeMs: number;
  /** C3 and C4: a breach of governance ends everything. */
  isGoverned: boolean;
}

export type PipelineEvent =
  | {
      type: 'mode.ended';
      at: number;
      status: Exclude<ModeReport['status'], 'skipped'>;
      abort: AbortReason | '';
      /** No tokens of a model are left. */
      isSpent: boolean;
    }
  | { type: 'timer.due'; timer: PipelineTimer }
  /** The caller waits no longer. `isNow`: also what is under way ends; else it is the last one. */
  | { type: 'review.stopped'; reason: string; isNow: boolean }
  /** This is a new process, and the review is read from disk. */
  | { type: 'critic.restarted' };

export type PipelineEffect =
  | { type: 'mode.begin'; at: number; mode: ModeName }
  /** Its signal; what it has found is its report. */
  | { type: 'mode.cut'; at: number; mode: ModeName; reason: string }
  /** It does not end by itself: its report is what is known of it. */
  | { type: 'mode.leave'; at: number; mode: ModeName; reason: string }
  | { type: 'timer.arm'; timer: PipelineTimer; delayMs: number }
  | { type: 'timer.clear'; timer: PipelineTimer }
  | { type: 'modes.skip'; from: number; reason: string }
  | { type: 'review.end'; outcome: PipelineOutcome; reason: string };

/** `cut`: some modes were not begun. */
export type PipelineOutcome = 'complete' | 'cut' | 'aborted';

export interface PipelineContext extends PipelineInput {
  /** Index of the mode under way; all before it have a report. */
  at: number;
  /** Of the mode under way. */
  begins: number;
  /** Why it is cut. */
  cutReason: string;
  /** Why no further mode begins. */
  stopReason: string;
}

const pipeline = setup({
  types: {
    context: {} as PipelineContext,
    input: {} as PipelineInput,
    events: {} as PipelineEvent,
    emitted: {} as PipelineEffect,
  },
  guards: {
    hasNone: ({ context }) => context.modes.length === 0,
    isAborted: ({ context, event }) => ended(context, event) && aborts(context, event.abort),
    isStopped: ({ context, event }) => ended(context, event) && context.stopReason !== '',
    isSpent: ({ context, event }) => ended(context, event) && event.isSpent && !isLast(context),
    isLast: ({ context, event }) => ended(context, event) && isLast(context),
    isEnded: ({ context, event }) => ended(context, event),
    isTimer: ({ event }, { timer }: { timer: PipelineTimer }) =>
      event.type === 'timer.due' && event.timer === timer,
    isHopeless: ({ context }) => context.begins >= beginsMax,
    isOver: ({ context }) => context.stopReason !== '',
    isNow: ({ event }) => event.type === 'review.stopped' && event.isNow,
  },
  actions: {
    next: assign({ at: ({ context }) => context.at + 1, begins: 1, cutReason: '' }),
    again: assign({ begins: ({ context }) => context.begins + 1, cutReason: '' }),
    count: assign({ at: ({ context }) => context.at + 1 }),
    rememberAbort: assign({
      stopReason: ({ event }) => (event.type === 'mode.ended' ? event.abort : ''),
    }),
    rememberSpent: assign({ stopReason: 'MODEL_BUDGET_SPENT' }),
    rememberStop: assign({
      // The first reason stays.
      stopReason: ({ context, event }) =>
        context.stopReason === '' && event.type === 'review.stopped'
          ? event.reason
          : context.stopReason,
    }),
    cutForTime: assign({ cutReason: 'MODE_TIMED_OUT' }),
    cutForStop: assign({ cutReason: ({ context }) => context.stopReason }),
    cutForKills: assign({ cutReason: 'MODE_INTERRUPTED' }),
  },
});

type Ended = Extract<PipelineEvent, { type: 'mode.ended' }>;

/** What an earlier mode still says when it was left is not heard. */
function ended({ at }: PipelineContext, event: PipelineEvent): event is Ended {
  return event.type === 'mode.ended' && event.at === at;
}

function isLast({ at, modes }: PipelineContext): boolean {
  return at + 1 === modes.length;
}

function aborts({ isGoverned }: PipelineContext, abort: AbortReason | ''): boolean {
  return abort === 'GOVERNANCE_VIOLATION' ? isGoverned : abort !== '';
}

const modeAt = ({ modes, at }: PipelineContext): ModeName => modes[at] ?? 'standard';
const begin = pipeline.emit(({ context }) => ({
  type: 'mode.begin',
  at: context.at,
  mode: modeAt(context),
}));
const armMode = pipeline.emit(({ context }) => ({
  type: 'timer.arm',
  timer: 'mode',
  delayMs: context.modeMs,
}));
const armGrace = pipeline.emit({ type: 'timer.arm', timer: 'grace', delayMs: graceMs });
const clear = (timer: PipelineTimer): ReturnType<typeof pipeline.emit> =>
  pipeline.emit({ type: 'timer.clear', timer });
const cut = pipeline.emit(({ context }) => ({
  type: 'mode.cut',
  at: context.at,
  mode: modeAt(context),
  reason: context.cutReason,
}));
const leave = pipeline.emit(({ context }) => ({
  type: 'mode.leave',
  at: context.at,
  mode: modeAt(context),
  reason: context.cutReason,
}));
const skip = pipeline.emit(({ context }) => ({
  type: 'modes.skip',
  from: context.at,
  reason: context.stopReason,
}));
const end = (outcome: PipelineOutcome): ReturnType<typeof pipeline.emit> =>
  pipeline.emit(({ context }) => ({ type: 'review.end', outcome, reason: context.stopReason }));

/** However a mode ended: the next one, or the reason why there is none. */
const goOn = {
  'mode.ended': [
    { guard: 'isAborted', target: 'aborted', actions: ['rememberAbort', 'count'] },
    { guard: 'isStopped', target: 'cut', actions: 'count' },
    { guard: 'isSpent', target: 'cut', actions: ['rememberSpent', 'count'] },
    { guard: 'isLast', target: 'complete', actions: 'count' },
    { guard: 'isEnded', target: 'working', actions: 'next', reenter: true },
  ],
} as const;

/**
 * One review: one mode after the other, each at most `modeMs`. It knows no mode, no store and no clock. A report and the
 * snapshot after it are kept together before any effect, hence a mode that has a report is never begun again; one whose
 * critic ended under it is.
 */
export const pipelineMachine = pipeline.createMachine({
  id: 'critic.pipeline',
  context: ({ input }) => ({ ...input, at: 0, begins: 1, cutReason: '', stopReason: '' }),
  initial: 'begun',
  states: {
    begun: { always: [{ guard: 'hasNone', target: 'complete' }, { target: 'working' }] },
    working: {
      entry: [begin, armMode],
      exit: clear('mode'),
      on: {
        ...goOn,
        'timer.due': {
          guard: { type: 'isTimer', params: { timer: 'mode' } },
          target: 'cutting',
          actions: 'cutForTime',
        },
        'review.stopped': [
          { guard: 'isNow', target: 'cutting', actions: ['rememberStop', 'cutForStop'] },
          { actions: 'rememberStop' },
        ],
        'critic.restarted': [
          { guard: 'isHopeless', target: 'leaving', actions: 'cutForKills' },
          { target: 'working', reenter: true, actions: 'again' },
        ],
      },
    },
    /** It was told to end, and may still say what it found. */
    cutting: {
      entry: [cut, armGrace],
      exit: clear('grace'),
      on: {
        ...goOn,
        'timer.due': {
          guard: { type: 'isTimer', params: { timer: 'grace' } },
          target: 'leaving',
        },
        'review.stopped': { actions: 'rememberStop' },
        // What it had found is gone with its process.
        'critic.restarted': [
          { guard: 'isOver', target: 'leaving' },
          { guard: 'isHopeless', target: 'leaving', actions: 'cutForKills' },
          { target: 'working', actions: 'again' },
        ],
      },
    },
    leaving: {
      entry: leave,
      on: {
        ...goOn,
        'review.stopped': { actions: 'rememberStop' },
        'critic.restarted': { target: 'leaving', reenter: true },
      },
    },
    complete: { entry: end('complete'), type: 'final' },
    cut: { entry: [skip, end('cut')], type: 'final' },
    aborted: { entry: [skip, end('aborted')], type: 'final' },
  },
});
