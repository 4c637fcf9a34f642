import { contextOfSession } from '../../attention/session/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import type { TaskChangeName } from './messages.js';
import type { TaskRecord } from '../life/record.js';

/** Who asks; `role` as the broker knows it, empty when it is connected no more. */
export interface Caller {
  agent: string;
  role: string;
}

/** Roles behind which there is a person, or what acts for one. */
const deciders: ReadonlySet<string> = new Set(['operator', 'client', 'manager']);

export function isDecider(role: string): boolean {
  return deciders.has(role);
}

/**
 * Whoever delegated a task may change it, and so may operators and the command line; whoever pushed it may end it. But nobody judges their own work: who
 * has the assignment may at most cancel what they delegated to themselves. Throws TASK_NOT_YOURS.
 */
export function assertMayChange(
  { id, parent, owner, assignment }: Pick<TaskRecord, 'id' | 'parent' | 'owner' | 'assignment'>,
  what: TaskChangeName,
  { agent, role }: Caller,
): void {
  const isEnd = what === 'cancel';
  const isOwn =
    (agent === parent && (isEnd || assignment?.worker !== agent)) || (isEnd && agent === owner);
  if (!isOwn && !isDecider(role)) throw new BusError('TASK_NOT_YOURS', { agent, what, task: id });
}

/** Who may see all of a task: whoever delegated it, whoever has it, and those who decide. */
export function mayView(
  { parent, assignment }: Pick<TaskRecord, 'parent' | 'assignment'>,
  { agent, role }: Caller,
): boolean {
  return agent === parent || agent === assignment?.worker || isDecider(role);
}

/** A queue is that of the agent after which it is named; operators see to all of them. Throws QUEUE_NOT_YOURS. */
export function assertMayQueue(owner: string, { agent, role }: Caller): void {
  if (agent !== owner && role !== 'operator')
    throw new BusError('QUEUE_NOT_YOURS', { owner, agent });
}

/** A list is kept by the agent after which it is named. Throws TASK_NOT_YOURS. */
export function assertMayUpdateList(list: string, { agent, role }: Caller): void {
  if (agent !== list && !isDecider(role))
    throw new BusError('TASK_NOT_YOURS', { agent, what: 'update', task: `list ${list}` });
}

/** What agents delegate without a word about a session: approvals count for them alone. */
export function isOwnSession(session: string, agent: string): boolean {
  return ['', agent].includes(session) && contextOfSession(agent) === undefined;
}

/**
 * What a person approved for one session is no leave for whoever names it: only persons share theirs.
 * Throws SESSION_NOT_YOURS.
 */
export function assertMayUseSession(session: string, { agent, role }: Caller): void {
  if (!isDecider(role)) throw new BusError('SESSION_NOT_YOURS', { agent, session });
}
