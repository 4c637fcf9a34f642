import { attention, codec, type Plain, type sigma } from '../wire/codec.js';
import type { Approval } from './approvals.js';
import type { ActionDigest, Gate, Judgement, Signal } from './shapes.js';

export type GatesQuery = Plain<sigma.attention.GatesQuery>;
export type GatesAnswer = Plain<sigma.attention.GatesAnswer, { gates: Gate[] }>;
export type GateJudgement = Plain<sigma.attention.GateJudgement, { judgement: Judgement }>;
export type GrantUse = Plain<sigma.attention.GrantUse, { digest: ActionDigest }>;
export type MissedSignal = Plain<sigma.attention.MissedSignal, { signal: Signal }>;
export type ApprovalsQuery = Plain<sigma.attention.ApprovalsQuery>;

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
