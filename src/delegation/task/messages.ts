import { codec, delegation, type Plain, type sigma } from '../../wire/codec.js';
import type { Assignment, TaskResponse } from './shapes.js';

export type Claim = Plain<sigma.delegation.Claim>;

export interface Progress extends Claim {
  summary: string;
}

export interface Withdrawal extends Claim {
  reason: string;
}

/**
 * Messages between a manager and a worker. Durable: `assign` and `withdraw` to the worker, `response` to the manager. Requests to the manager: `claim`, before the work begins, and `progress`; both answer with the lease, or STALE_ATTEMPT.
 */
export const delegationMessages = {
  assign: { type: 'task.assign', codec: codec<Assignment>(delegation.Assignment) },
  withdraw: { type: 'task.withdraw', codec: codec<Withdrawal>(delegation.Withdrawal) },
  response: { type: 'task.response', codec: codec<TaskResponse>(delegation.TaskResponse) },
  claim: { type: 'task.claim', codec: codec<Claim>(delegation.Claim) },
  progress: { type: 'task.progress', codec: codec<Progress>(delegation.Progress) },
  lease: codec<{ lease_ms: number }>(delegation.Lease),
} as const;

/** Type of messages to and from a legacy worker: the task and the answer as JSON. */
export const legacyType = 'text';

/** Id of the message that carries an assignment: sent again, it is stored once. */
export const assignmentId = {
  of: (task: string, attempt: number): string => `${task}-${attempt}-assign`,
  read(id: string): { task: string; attempt: number } | undefined {
    const [, task = '', attempt = ''] = /^(.+)-(\d{1,9})-assign$/.exec(id) ?? [];
    return task === '' ? undefined : { task, attempt: Number(attempt) };
  },
} as const;
