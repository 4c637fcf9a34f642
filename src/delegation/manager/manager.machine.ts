import { assertEvent, assign, setup } from 'xstate';

/** Time in which a worker must claim a task. */
export const claimMs = 20_000;
/** Lease: the worker must report progress within this time. */
export const leaseMs = 20_000;

export interface AssignmentInput {
  worker: string;
  /** The fencing token. */
  attempt: number;
  /** It speaks the protocol: it claims its task and renews its lease. */
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
  /** The outcome, for the task. */
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
 * One attempt of one worker at a task: sent, claimed, kept by lease, then answered, lost or withdrawn. A legacy worker has no lease: its time is that of the task, and its answer counts without a claim.
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
    /** Sent to a worker that claims its tasks. */
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
        // A restarted worker claims again.
        'worker.claimed': { actions: extend },
        'worker.progressed': { actions: extend },
        'lease.expired': { target: 'lost', actions: 'rememberSilence' },
      },
    },
    /** Sent to a legacy worker. */
    entrusted: { entry: [send, notifyAccepted] },
    answered: { entry: [clear, notifyAnswered], type: 'final' },
    lost: { entry: [clear, withdraw, notifyLost], type: 'final' },
    withdrawn: { entry: [clear, withdraw], type: 'final' },
  },
});
