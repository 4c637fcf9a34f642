import { contextOfSession } from '../../attention/session/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import type { TaskChangeName } from './messages.js';
import type { TaskRecord } from '../life/record.js';

/** The agent that sends a request; `role` as the broker knows it, empty when it is no longer connected. */
export interface Caller {
  agent: string;
  role: string;
}

/** Roles of a person, or of a program that acts for one. */
const deciders: ReadonlySet<string> = new Set(['operator', 'client', 'manager']);

export function isDecider(role: string): boolean {
  return deciders.has(role);
}

/** What says nothing about whether a result counts: the agent that delegated may do it, and a model is behind it. */
const undecided: ReadonlySet<TaskChangeName> = new Set([
  ...(['cancel', 'answer', 'regenerate', 'reassign'] as const),
]);

/**
 * Operators and the command line may change any task. An agent decides about no result: it may answer and go on with what it delegated,
 * unless it works on that itself, and end it; the owner of a queue may end what is in it. Throws TASK_NOT_YOURS.
 */
export function assertMayChange(
  { id, parent, owner, assignment }: Pick<TaskRecord, 'id' | 'parent' | 'owner' | 'assignment'>,
  what: TaskChangeName,
  { agent, role }: Caller,
): void {
  const isEnd = what === 'cancel';
  const isOwn =
    (agent === parent && undecided.has(what) && (isEnd || assignment?.worker !== agent)) ||
    (isEnd && agent === owner);
  if (!isOwn && !isDecider(role)) throw new BusError('TASK_NOT_YOURS', { agent, what, task: id });
}

/** Whether the caller may see the whole task: its parent, its worker, and deciders. */
export function mayView(
  { parent, assignment }: Pick<TaskRecord, 'parent' | 'assignment'>,
  { agent, role }: Caller,
): boolean {
  return agent === parent || agent === assignment?.worker || isDecider(role);
}

/** A queue belongs to the agent of its name; operators may use all of them. Throws QUEUE_NOT_YOURS. */
export function assertMayQueue(owner: string, { agent, role }: Caller): void {
  if (agent !== owner && role !== 'operator')
    throw new BusError('QUEUE_NOT_YOURS', { owner, agent });
}

/** A list belongs to the agent of its name. Throws TASK_NOT_YOURS. */
export function assertMayUpdateList(list: string, { agent, role }: Caller): void {
  if (agent !== list && !isDecider(role))
    throw new BusError('TASK_NOT_YOURS', { agent, what: 'update', task: `list ${list}` });
}

/** Whether the session is the agent's own one: its approvals count for this agent alone. */
export function isOwnSession(session: string, agent: string): boolean {
  return ['', agent].includes(session) && contextOfSession(agent) === undefined;
}

/**
 * Only deciders may delegate in a named session, because its approvals then count for the task. Throws SESSION_NOT_YOURS.
 */
export function assertMayUseSession(session: string, { agent, role }: Caller): void {
  if (!isDecider(role)) throw new BusError('SESSION_NOT_YOURS', { agent, session });
}
