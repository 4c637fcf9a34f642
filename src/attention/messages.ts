import { attention, codec } from '../wire/codec.js';
import type { Approval } from './approvals.js';
import type { ActionDigest, Gate, Judgement, Signal } from './shapes.js';

export interface GatesQuery {
  /** Empty: of all. */
  session: string;
  /** Also those that are judged, expired or void. */
  is_all: boolean;
  after: string;
  limit: number;
  /** Waits so long for one that is open. */
  wait_ms: number;
}

export interface GatesAnswer {
  gates: Gate[];
  more: boolean;
}

export interface GateJudgement {
  id: string;
  judgement: Judgement;
  direction: string;
  /** SHA-256 of the action that was shown; empty: whichever it is. */
  action: string;
}

export interface GrantUse {
  task_id: string;
  attempt: number;
  grant: string;
  digest: ActionDigest;
}

export interface MissedSignal {
  task: string;
  signal: Signal;
  text: string;
}

export interface ApprovalsQuery {
  session: string;
  is_revoked: boolean;
}

/** What is said about risk to a manager: by persons about gates, by executors about grants. Under the service of tasks. */
export const attentionMessages = {
  gates: {
    type: 'gate.list',
    request: codec<GatesQuery>(attention.GatesQuery),
    answer: codec<GatesAnswer>(attention.GatesAnswer),
  },
  gate: {
    type: 'gate.show',
    request: codec<{ id: string }>(attention.GateQuery),
    answer: codec<Gate>(attention.Gate),
  },
  judge: {
    type: 'gate.judge',
    request: codec<GateJudgement>(attention.GateJudgement),
    answer: codec<Gate>(attention.Gate),
  },
  approvals: {
    type: 'gate.approvals',
    request: codec<ApprovalsQuery>(attention.ApprovalsQuery),
    answer: codec<{ approvals: Approval[] }>(attention.ApprovalsAnswer),
  },
  missed: {
    type: 'gate.missed',
    request: codec<MissedSignal>(attention.MissedSignal),
    answer: codec<object>(attention.GrantUsed),
  },
  /** By the executor that has the assignment, before the action begins. */
  use: {
    type: 'grant.use',
    request: codec<GrantUse>(attention.GrantUse),
    answer: codec<object>(attention.GrantUsed),
  },
} as const;

/** Events: a gate was opened; the body is a Gate. */
export const gatesTopic = 'gates';
export const gateOpened = { type: 'gate.opened', codec: codec<Gate>(attention.Gate) } as const;
