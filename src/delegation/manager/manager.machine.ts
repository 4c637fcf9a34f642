import { assertEvent, assign, setup } from 'xstate';

/** A worker that was sent a task says within this that it begins. */
export const claimMs = 20_000;
/** And gives a sign of life at least so often. */
export const leaseMs = 20_000;

export interface AssignmentInput {
  worker: string;
  /** The fencing token. */
  attempt: number;
  /** It knows the protocol: it claims what it begins, and gives signs of life. */
  isCapable: boolean;
}

export type AssignmentEvent =
  | { type: 'worker.claimed' }
  | { type: 'worker.progressed' }
  | { type: 'worker.answered' }
  | { type: 'worker.lost'; reason: string }
  | { type: 'lease.expired' }
  | { type: 'assignment.withdrawn'; reason: string };

export type AssignmentEffect =
  | { type: 'assignment.send'; worker: string; attempt: number }
  | { type: 'lease.arm'; delayMs: number }
  | { type: 'lease.clear' }
  | { type: 'withdrawal.send'; worker: string; attempt: number; reason: string }
  /** What became of it, for the task. */
  | { type: 'task.notify'; what: 'accepted' | 'answered' }
  | { type: 'task.notify'; what: 'lost'; reason: string };

interface AssignmentContext extends AssignmentInput {
  reason: string;
}

const assignment = setup({
  types: {
    context: {} as AssignmentContext,
    input: {} as AssignmentInput,
    events: {} as AssignmentEvent,
    emitted: {} as AssignmentEffect,
  },
  guards: { isCapable: ({ context }) => context.isCapable },
  actions: {
    rememberReason: assign({
      reason: ({ event }) => {
        assertEvent(event, ['worker.lost', 'assignment.withdrawn']);
        return event.reason;
      },
    }),
    rememberSilence: assign({ reason: 'LEASE_EXPIRED' }),
  },
});

const send = assignment.emit(({ context: { worker, attempt } }) => ({
  type: 'assignment.send',
  worker,
  attempt,
}));
const waitForClaim = assignment.emit({ type: 'lease.arm', delayMs: claimMs });
const extend = assignment.emit({ type: 'lease.arm', delayMs: leaseMs });
const clear = assignment.emit({ type: 'lease.clear' });
const withdraw = assignment.emit(({ context: { worker, attempt, reason } }) => ({
  type: 'withdrawal.send',
  worker,
  attempt,
  reason,
}));
const notifyAccepted = assignment.emit({ type: 'task.notify', what: 'accepted' });
const notifyAnswered = assignment.emit({ type: 'task.notify', what: 'answered' });
const notifyLost = assignment.emit(({ context }) => ({
  type: 'task.notify',
  what: 'lost',
  reason: context.reason,
}));

/**
 * One worker and one attempt at a task: sent, claimed, kept by signs of life, answered, lost or withdrawn. A worker that
 * knows nothing of leases has the time of the whole task, and its answer counts without a claim.
 */
export const assignmentMachine = assignment.createMachine({
  id: 'delegation.manager',
  context: ({ input }) => ({ ...input, reason: '' }),
  initial: 'choosing',
  on: {
    'worker.answered': { target: '.answered' },
    'worker.lost': { target: '.lost', actions: 'rememberReason' },
    'assignment.withdrawn': { target: '.withdrawn', actions: 'rememberReason' },
  },
  states: {
    choosing: {
      always: [{ guard: 'isCapable', target: 'offered' }, { target: 'entrusted' }],
    },
    /** To a worker that says when it begins. */
    offered: {
      entry: [send, waitForClaim],
      on: {
        'worker.claimed': 'working',
        'lease.expired': { target: 'lost', actions: 'rememberSilence' },
      },
    },
    working: {
      entry: [extend, notifyAccepted],
      on: {
        // Asked again by a worker that was started anew.
        'worker.claimed': { actions: extend },
        'worker.progressed': { actions: extend },
        'lease.expired': { target: 'lost', actions: 'rememberSilence' },
      },
    },
    /** To a legacy worker. */
    entrusted: { entry: [send, notifyAccepted] },
    answered: { entry: [clear, notifyAnswered], type: 'final' },
    lost: { entry: [clear, withdraw, notifyLost], type: 'final' },
    withdrawn: { entry: [clear, withdraw], type: 'final' },
  },
});
