import { assign, setup } from 'xstate';
import type { Granularity, Route } from './shapes.js';

export interface SessionInput {
  /** Upstream protocols that may be routed to, at most. */
  roundsMax: number;
}

export type SessionEvent =
  | { type: 'upstream.scanned'; isClear: boolean }
  | { type: 'upstream.routed' }
  | { type: 'upstream.restored' }
  | { type: 'upstream.proceeded' }
  /** `isEmpty`: there is nothing to ask about. */
  | { type: 'tasks.found'; route: Route; isEmpty: boolean }
  | { type: 'tasks.confirmed' }
  | { type: 'tasks.declined' }
  | { type: 'tasks.adopted'; isEmpty: boolean; hasTeam: boolean }
  | { type: 'team.decided' }
  /** Roles to add, which a person confirms on their own. */
  | { type: 'roles.proposed' }
  | { type: 'roles.refused' }
  | { type: 'tasks.classified'; checkpoint: Checkpoint }
  | { type: 'plan.agreed' }
  | { type: 'tasks.delegated' }
  /** A task has changed. */
  | { type: 'task.noticed'; granularity: Granularity; end: End }
  | { type: 'session.withdrawn'; reason: string }
  | { type: 'withdrawal.done' }
  | { type: 'session.escaped' };

/** What the last task that was open leaves: all done or halted, one done blindly, one not done. */
export type End = 'none' | 'situated' | 'unsituated' | 'undone';

/** Before anything is delegated: nothing to ask, all is Low (rule 19), several irreversible actions (rule 22). */
export type Checkpoint = 'none' | 'classification' | 'plan';

export type SessionEffect =
  | { type: 'upstream.scan' }
  | { type: 'tasks.find' }
  | { type: 'tasks.adopt' }
  | { type: 'tasks.classify' }
  | { type: 'tasks.delegate' }
  | { type: 'tasks.follow' }
  | { type: 'session.withdraw'; reason: string }
  | { type: 'session.end' };

interface SessionContext extends SessionInput {
  /** Upstream protocols that were routed to. */
  rounds: number;
  /** Sub-A0 was no mere passing through: something was resolved, or the person chose to proceed. */
  isFired: boolean;
  granularity: Granularity;
  reason: string;
}

const session = setup({
  types: {
    context: {} as SessionContext,
    input: {} as SessionInput,
    events: {} as SessionEvent,
    emitted: {} as SessionEffect,
  },
  guards: {
    isClear: ({ event }) => event.type === 'upstream.scanned' && event.isClear,
    roundsLeft: ({ context }) => context.rounds < context.roundsMax,
    asksNothing: ({ event }) =>
      event.type === 'tasks.found' &&
      (event.isEmpty || event.route === 'resume' || event.route === 'auto_proceed'),
    isEmpty: ({ event }) => event.type === 'tasks.adopted' && event.isEmpty,
    hasTeam: ({ event }) => event.type === 'tasks.adopted' && event.hasTeam,
    hasCheckpoint: ({ event }) => event.type === 'tasks.classified' && event.checkpoint !== 'none',
    isSituated: ({ event }) => event.type === 'task.noticed' && event.end === 'situated',
    isUnsituated: ({ event }) => event.type === 'task.noticed' && event.end === 'unsituated',
    isUndone: ({ event }) => event.type === 'task.noticed' && event.end === 'undone',
  },
  actions: {
    countRound: assign({ rounds: ({ context }) => context.rounds + 1 }),
    fire: assign({ isFired: true }),
    adjust: assign({
      granularity: ({ context, event }) =>
        event.type === 'task.noticed' ? event.granularity : context.granularity,
    }),
    rememberReason: assign({ reason: ({ event }) => ('reason' in event ? event.reason : '') }),
    rememberDeclined: assign({ reason: 'DECLINED' }),
    rememberEmpty: assign({ reason: 'NO_TASKS' }),
    rememberUndone: assign({ reason: 'ATTEND_UNDONE' }),
  },
});

type PlainEffect = Exclude<SessionEffect['type'], 'session.withdraw'>;
const doing = (type: PlainEffect): ReturnType<typeof session.emit> => session.emit({ type });
const withdraw = session.emit(({ context }) => ({
  type: 'session.withdraw',
  reason: context.reason,
}));

/**
 * A session of attention: upstream scan (Sub-A0), materialisation (Sub-A), team (Sub-B), classification (phase 0), and the
 * loop over tasks, each of which stops for a judgement by itself (phases 1 to 3, see the task machine). Source: the attention
 * protocol, PHASE TRANSITIONS. It knows no task, no disk and no clock.
 */
export const sessionMachine = session.createMachine({
  id: 'attention.session',
  context: ({ input }) => ({
    ...input,
    ...{ rounds: 0, isFired: false, granularity: 'Meso', reason: '' },
  }),
  initial: 'open',
  states: {
    open: {
      initial: 'scanning',
      on: {
        'session.withdrawn': { target: 'withdrawing', actions: 'rememberReason' },
        'session.escaped': 'escaped',
      },
      states: {
        scanning: {
          entry: doing('upstream.scan'),
          on: {
            'upstream.scanned': [
              { guard: 'isClear', target: 'materialising' },
              { guard: 'roundsLeft', target: 'routing' },
              // The upper bound: what is still missing is said, and tasks are made of what there is.
              { target: 'materialising' },
            ],
          },
        },
        /** Which deficit is resolved first, or none: a person decides. */
        routing: {
          on: {
            'upstream.routed': { target: 'suspended', actions: 'countRound' },
            'upstream.proceeded': { target: 'materialising', actions: 'fire' },
            // Leaves the upstream loop, not the session.
            'session.escaped': 'materialising',
          },
        },
        /** An upstream protocol is under way, elsewhere. */
        suspended: {
          on: {
            'upstream.restored': { target: 'scanning', actions: 'fire' },
            'session.escaped': 'materialising',
          },
        },
        materialising: {
          entry: doing('tasks.find'),
          on: {
            'tasks.found': [{ guard: 'asksNothing', target: 'adopting' }, { target: 'confirming' }],
          },
        },
        confirming: {
          on: {
            'tasks.confirmed': 'adopting',
            'tasks.declined': {
              target: '#deactivated',
              actions: 'rememberDeclined',
            },
          },
        },
        adopting: {
          entry: doing('tasks.adopt'),
          on: {
            'tasks.adopted': [
              {
                guard: 'isEmpty',
                target: '#deactivated',
                actions: 'rememberEmpty',
              },
              { guard: 'hasTeam', target: 'teaming' },
              { target: 'classifying' },
            ],
          },
        },
        teaming: { on: { 'team.decided': 'classifying', 'roles.proposed': 'casting' } },
        casting: { on: { 'team.decided': 'classifying', 'roles.refused': 'teaming' } },
        classifying: {
          entry: doing('tasks.classify'),
          on: {
            'tasks.classified': [
              { guard: 'hasCheckpoint', target: 'planning' },
              { target: 'delegating' },
            ],
          },
        },
        planning: { on: { 'plan.agreed': 'delegating' } },
        delegating: {
          entry: doing('tasks.delegate'),
          on: { 'tasks.delegated': 'looping' },
        },
        looping: {
          entry: doing('tasks.follow'),
          on: {
            'task.noticed': [
              {
                guard: 'isSituated',
                target: '#converged',
                actions: 'adjust',
              },
              {
                guard: 'isUnsituated',
                target: '#diverged',
                actions: 'adjust',
              },
              {
                guard: 'isUndone',
                target: '#diverged',
                actions: ['adjust', 'rememberUndone'],
              },
              { actions: 'adjust' },
            ],
          },
        },
      },
    },
    withdrawing: { entry: withdraw, on: { 'withdrawal.done': 'withdrawn' } },
    converged: { id: 'converged', entry: doing('session.end'), type: 'final' },
    /** A completed task was never situated, or one was not done: no convergence is asserted. */
    diverged: { id: 'diverged', entry: doing('session.end'), type: 'final' },
    withdrawn: { entry: doing('session.end'), type: 'final' },
    escaped: { type: 'final' },
    /** There was nothing to do, or it was not wanted. */
    deactivated: { id: 'deactivated', type: 'final' },
  },
});
