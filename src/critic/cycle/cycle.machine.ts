import { assertEvent, assign, setup } from 'xstate';
import {
  verdictOn,
  type CycleMove,
  type CycleReason,
  type CycleSettings,
  type CycleVerdict,
  type Round,
} from './cycle-verdict.js';
import { criticLimits, type PersonJudgement } from '../shapes.js';
import { countedIteration } from './tracking.js';

/** How long a person may take over a ratification; then it is refused. */
export const ratificationMs = 7 * 24 * 3_600_000;

export const cycleOutcomes = [
  'accepted',
  'ratified',
  /** C1 without a threshold: told, not gated. */
  'reported',
  /** There was no critic, and not much hangs on it. */
  'unreviewed',
  'refused',
  'expired',
  'cancelled',
] as const;
export type CycleOutcome = (typeof cycleOutcomes)[number];

export interface CycleInput extends CycleSettings {
  /** Beyond it nobody has it revised any more. */
  iterationsCap?: number;
  ratificationMs?: number;
}

export type CycleEvent =
  /** The creator has a version; `disputed`: findings of the last critique of which it says that they are wrong. */
  | { type: 'artifact.made' }
  | { type: 'creator.blocked'; reason: string }
  | { type: 'critique.done'; round: Round }
  | { type: 'critic.absent'; reason: string }
  | { type: 'person.judged'; judgement: PersonJudgement }
  | { type: 'timer.due'; timer: 'ratification' }
  | { type: 'cycle.cancelled'; reason: string };

export type CycleEffect =
  | { type: 'artifact.create' }
  | { type: 'artifact.critique'; iteration: number }
  /** `reason`: why it is not good enough. */
  | { type: 'artifact.revise'; iteration: number; reason: string }
  /** `isConditional`: somebody has to ratify it; else somebody has to take over. */
  | { type: 'person.ask'; isConditional: boolean; reason: string; flag: string }
  | { type: 'timer.arm'; timer: 'ratification'; delayMs: number }
  | { type: 'timer.clear'; timer: 'ratification' }
  | { type: 'cycle.end'; outcome: CycleOutcome; reason: string };

interface CycleContext extends Required<Omit<CycleInput, 'threshold'>> {
  threshold: number | undefined;
  /** 1: it is being made; each critique is the next one. */
  iteration: number;
  /** Oldest first, the last ones. */
  rounds: Round[];
  reason: CycleReason | '';
  flag: string;
  /** In the words of whoever was blocked, absent or has cancelled. */
  detail: string;
}

function verdictAfter(context: CycleContext, round: Round): CycleVerdict {
  const { threshold, ...rest } = context;
  const settings = { ...rest, ...(threshold === undefined ? {} : { threshold }) };
  const iteration = countedIteration(context.iteration, round.iteration);
  return verdictOn(roundsWith(context, round), iteration, settings);
}

function roundsWith({ rounds }: CycleContext, round: Round): Round[] {
  return [...rounds, round].slice(-criticLimits.iterations);
}

const cycle = setup({
  types: {
    context: {} as CycleContext,
    input: {} as CycleInput,
    events: {} as CycleEvent,
    emitted: {} as CycleEffect,
  },
  guards: {
    isMove: ({ context, event }, { move }: { move: CycleMove }) =>
      event.type === 'critique.done' && verdictAfter(context, event.round).move === move,
    isLight: ({ context }) => context.criticality === 'C1' || context.criticality === 'C2',
    isJudged: ({ event }, { judgement }: { judgement: PersonJudgement }) =>
      event.type === 'person.judged' && event.judgement === judgement,
    mayRevise: ({ context, event }) =>
      event.type === 'person.judged' &&
      event.judgement === 'revise' &&
      context.iteration < context.iterationsCap,
  },
  actions: {
    keepRound: assign(({ context, event }) => {
      assertEvent(event, 'critique.done');
      const { reason, flag } = verdictAfter(context, event.round);
      const iteration = countedIteration(context.iteration, event.round.iteration);
      return { rounds: roundsWith(context, event.round), iteration, reason, flag, detail: '' };
    }),
    rememberBlock: assign({
      reason: 'BLOCKED',
      detail: ({ event }) => ('reason' in event ? event.reason : ''),
    }),
    rememberAbsence: assign({
      reason: 'UNAVAILABLE',
      detail: ({ event }) => ('reason' in event ? event.reason : ''),
    }),
    rememberDetail: assign({ detail: ({ event }) => ('reason' in event ? event.reason : '') }),
    /** A person may have it revised beyond the limit: by one iteration each time. */
    grantIteration: assign({
      iterationsMax: ({ context }) => Math.max(context.iterationsMax, context.iteration + 1),
    }),
  },
});

const create = cycle.emit({ type: 'artifact.create' });
const critique = cycle.emit(({ context }) => ({
  type: 'artifact.critique',
  iteration: countedIteration(context.iteration, 0),
}));
const revise = cycle.emit(({ context }) => ({
  type: 'artifact.revise',
  iteration: context.iteration + 1,
  reason: context.reason,
}));
const ask = (isConditional: boolean): ReturnType<typeof cycle.emit> =>
  cycle.emit(({ context }) => ({
    ...{ type: 'person.ask', isConditional, reason: context.reason, flag: context.flag },
  }));
const arm = cycle.emit(({ context }) => ({
  ...{ type: 'timer.arm', timer: 'ratification', delayMs: context.ratificationMs },
}));
const clear = cycle.emit({ type: 'timer.clear', timer: 'ratification' });
const end = (outcome: CycleOutcome): ReturnType<typeof cycle.emit> =>
  cycle.emit(({ context }) => ({
    ...{ type: 'cycle.end', outcome, reason: context.detail || context.reason },
  }));

/** Where a person decides. */
const judged = {
  'person.judged': [
    { guard: { type: 'isJudged', params: { judgement: 'accept' } }, target: 'ratified' },
    { guard: 'mayRevise', target: 'revising', actions: 'grantIteration' },
    { guard: { type: 'isJudged', params: { judgement: 'refuse' } }, target: 'refused' },
  ],
  'timer.due': 'expired',
} as const;

const absent = [
  { guard: 'isLight', target: 'unreviewed', actions: 'rememberAbsence' },
  { target: 'escalated', actions: 'rememberAbsence' },
] as const;

const cancellable = {
  'cycle.cancelled': { target: 'cancelled', actions: 'rememberDetail' },
} as const;

/**
 * The life of one artifact between its creator, its critic and a person: 1 create, 2 critique, 3 revise, and so on. It
 * knows nobody of them: what they did arrives as an event, what they shall do is emitted.
 */
export const cycleMachine = cycle.createMachine({
  id: 'critic.cycle',
  context: ({ input }) => ({
    iterationsCap: criticLimits.iterations,
    ratificationMs,
    ...input,
    threshold: input.threshold,
    ...{ iteration: 1, rounds: [], reason: '', flag: '', detail: '' },
  }),
  initial: 'creating',
  states: {
    creating: {
      entry: create,
      on: {
        ...cancellable,
        'artifact.made': 'critiquing',
        'creator.blocked': { target: 'escalated', actions: 'rememberBlock' },
      },
    },
    critiquing: {
      entry: critique,
      on: {
        ...cancellable,
        'critic.absent': absent,
        'critique.done': [
          ...(
            [
              ['accept', 'accepted'],
              ['report', 'reported'],
              ['ratify', 'ratifying'],
              ['revise', 'revising'],
            ] as const
          ).map(([move, target]) => ({
            guard: { type: 'isMove' as const, params: { move } },
            target,
            actions: 'keepRound' as const,
          })),
          { target: 'escalated', actions: 'keepRound' },
        ],
      },
    },
    revising: {
      entry: revise,
      on: {
        ...cancellable,
        'artifact.made': 'critiquing',
        'creator.blocked': { target: 'escalated', actions: 'rememberBlock' },
      },
    },
    /** Good, but not good enough to be accepted unseen. */
    ratifying: { entry: [ask(true), arm], exit: clear, on: { ...cancellable, ...judged } },
    /** Revising it again would not help, or must not decide it: a person takes over. */
    escalated: { entry: [ask(false), arm], exit: clear, on: { ...cancellable, ...judged } },
    accepted: { entry: end('accepted'), type: 'final' },
    ratified: { entry: end('ratified'), type: 'final' },
    reported: { entry: end('reported'), type: 'final' },
    unreviewed: { entry: end('unreviewed'), type: 'final' },
    refused: { entry: end('refused'), type: 'final' },
    expired: { entry: end('expired'), type: 'final' },
    cancelled: { entry: end('cancelled'), type: 'final' },
  },
});
