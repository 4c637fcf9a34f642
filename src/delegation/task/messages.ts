import { codec, delegation } from '../../wire/codec.js';
import type { Assignment, TaskResponse } from './shapes.js';

export interface Claim {
  task_id: string;
  attempt: number;
}

export interface Progress extends Claim {
  summary: string;
}

export interface Withdrawal extends Claim {
  reason: string;
}

/**
 * What a manager and a worker say. Durable: `assign` and `withdraw` to the worker, `response` to the manager. Asked of
 * the manager: `claim`, before anything is begun, and `progress`; both answer with the lease, or STALE_ATTEMPT.
 */
export const delegationMessages = {
  assign: { type: 'task.assign', codec: codec<Assignment>(delegation.Assignment) },
  withdraw: { type: 'task.withdraw', codec: codec<Withdrawal>(delegation.Withdrawal) },
  response: { type: 'task.response', codec: codec<TaskResponse>(delegation.TaskResponse) },
  claim: { type: 'task.claim', codec: codec<Claim>(delegation.Claim) },
  progress: { type: 'task.progress', codec: codec<Progress>(delegation.Progress) },
  lease: codec<{ lease_ms: number }>(delegation.Lease),
} as const;

/** To and from a worker that knows nothing of this protocol: a task as JSON, and its answer as JSON. */
export const legacyType = 'text';
