import { createHash } from 'node:crypto';
import type { SessionTold } from '../../attention/session/record.js';
import type { SessionRecord } from '../../attention/session/session-record.js';
import { memberFor } from '../../attention/session/team.js';
import {
  sessionLimits,
  sessionOfContext,
  type Draft,
  type Row,
} from '../../attention/session/shapes.js';
import { endOf, granularityOf, situatedBy } from '../../attention/session/trace.js';
import { attentionLimits, type Classification, type Finding } from '../../attention/shapes.js';
import { readTask } from '../../delegation/task/schema.js';
import { taskLimits, type DelegatedTask } from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import { isOver, stateOf } from '../life/advance.js';
import { gatesOf } from '../life/gates.js';
import type { TaskRecord } from '../life/record.js';
import { advisoriesOf } from '../requests/view.js';
import { emptyTodo, taskOf, type Todo } from '../todo/sigma-task-update.js';
import type { Work } from '../todo/todo-update.js';

/** An entry of the list as a session sees it. */
export function draftOf(todo: Todo): Draft {
  const { id, content, acceptance_criteria, context, grounding, work } = todo;
  const criteria = acceptance_criteria.length > 0 ? { acceptance_criteria } : {};
  const document: Record<string, unknown> = {
    ...{ task: content, context, ...criteria, ...work },
    ...(grounding === null ? {} : { grounding }),
  };
  return { id, role: todo.delegated_to, document };
}

/** Whether an entry is not completed. */
export const isOpenEntry = ({ status }: Todo): boolean => status !== 'completed';

/** Checks that a draft can become a task. Throws TASK_INVALID, which names the field. */
export function assertTask({ id, document }: Draft): void {
  try {
    readTask(documentOf(document), 'checked');
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    throw new BusError('TASK_INVALID', { detail: `${id}: ${error.data.detail ?? error.message}` });
  }
}

/** Without the fields that the session sets itself. */
function documentOf(document: Record<string, unknown>): Record<string, unknown> {
  const { id: _id, session: _session, depends_on: _depends, ...rest } = document;
  return rest;
}

/** The list entry for a draft. A known entry keeps the fields that the draft does not name. */
export function entryOf({ id, role, document }: Draft, before: Todo | undefined): Todo {
  const { task, context, grounding, acceptance_criteria, depends_on, to, ...rest } = document;
  const { id: _id, session: _session, ...work } = rest;
  const known = before ?? emptyTodo(id);
  const criteria = Array.isArray(acceptance_criteria) ? (acceptance_criteria as unknown[]) : [];
  const isPlain = criteria.every((each) => typeof each === 'string');
  const its = {
    ...work,
    ...(depends_on === undefined ? {} : { depends_on }),
    ...(isPlain ? {} : { acceptance_criteria }),
  } as Work;
  return {
    ...known,
    content: typeof task === 'string' ? task : known.content,
    context: typeof context === 'string' ? context : known.context,
    acceptance_criteria: isPlain ? criteria : [],
    delegated_to: role !== '' ? role : typeof to === 'string' ? to : '',
    ...(Object.keys(its).length > 0 && { work: its }),
    grounding: (grounding as Todo['grounding'] | undefined) ?? null,
    status: known.status === 'delegated' ? 'delegated' : 'pending',
  };
}

/** The row of an entry that is not classified yet. */
export function newRow(todo: Todo): Row {
  const isUnderWay = todo.status === 'delegated';
  return {
    ...{ entry: todo.id, task: isUnderWay ? todo.task_id : '', content: firstLineOf(todo.content) },
    ...{ role: todo.delegated_to, to: '', risk: '', findings: [], is_approved: false },
    ...{ description: '', judgements: [], open_gate: '', gates: 0, situated_by: '' },
    ...{ outcome: '', is_over: false, revision: 0 },
  };
}

function firstLineOf(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/** Deterministic: an entry that is delegated twice after a crash is one task. */
export function taskIdOf(
  { id: context, run }: Pick<SessionRecord, 'id' | 'run'>,
  todo: Todo,
): string {
  const said = `${context}\0${run}\0${todo.id}\0${todo.delegations}`;
  const digest = createHash('sha256').update(said).digest('hex').slice(0, 12);
  const readable = todo.id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 32);
  return `attend-${readable || 'task'}-${digest}`;
}

/**
 * The task for an entry: with the approvals of its session, the results of upstream protocols, and the worker of the team. Throws TASK_INVALID.
 */
export function taskFor(
  record: SessionRecord,
  todo: Todo,
  { to, taskOfEntry }: { to: string; taskOfEntry: (entry: string) => string | null | undefined },
): DelegatedTask {
  const id = taskIdOf(record, todo);
  const { depends_on = [], ...work } = todo.work ?? {};
  const task = taskOf({ ...todo, work, delegated_to: to, task_id: id });
  return {
    ...task,
    session: sessionOfContext(record.id),
    depends_on: depends_on.flatMap((each) => {
      const known = taskOfEntry(each);
      // Null: it is completed, and its task may be deleted.
      return known === null ? [] : [known ?? each];
    }),
    context: contextWithClarifications(task.context, record),
  };
}

function contextWithClarifications(context: string, { brought }: SessionRecord): string {
  const texts = brought.map(({ protocol, text }) => `Cleared up before (/${protocol}):\n${text}`);
  return [context, ...texts]
    .filter((each) => each !== '')
    .join('\n\n')
    .slice(0, taskLimits.contextChars);
}

/**
 * The worker for a row; empty: any. An unknown role means any worker. An elevated task goes to a named worker only if it enforces judgements (`isAttending`). Source: phase 0, "always prosoche-executor".
 */
export function workerFor(
  { team }: Pick<SessionRecord, 'team'>,
  row: Pick<Row, 'role' | 'risk'>,
  isAttending: (agent: string) => boolean,
): string {
  const isTeam = team !== null && team.kind !== 'solo';
  const wanted = isTeam ? (memberFor(team, row.role)?.name ?? '') : row.role;
  return row.risk === 'Elevated' && wanted !== '' && !isAttending(wanted) ? '' : wanted;
}

/** The row with its risk. An action that cannot be classified is elevated (fail closed). */
export function assessed(row: Row, seen: Classification | undefined, isApproved: boolean): Row {
  const after: Row = {
    ...row,
    risk: seen === undefined || isApproved ? 'Low' : seen.level,
    findings: (seen?.findings ?? []).slice(0, sessionLimits.findings),
    is_approved: isApproved,
    description: seen?.description ?? '',
  };
  return { ...after, situated_by: situatedBy(after) };
}

export function unclassified(error: string): Finding {
  return {
    ...{ signal: 'Emergent', severity: 'Gate', action_description: '', rule: 'unclassified' },
    ...{ evidence: error.slice(0, attentionLimits.evidenceChars), file: '' },
  };
}

/** Several irreversible tasks are one question about the plan (rule 22); a plan without risk is shown first (rule 19). */
export function checkpointOf(rows: readonly Row[]): 'none' | 'classification' | 'plan' {
  const fresh = rows.filter(({ task }) => task === '');
  if (fresh.length === 0) return 'none';
  const final = fresh.filter(
    ({ risk, findings }) =>
      risk === 'Elevated' && findings.some(({ signal }) => signal === 'Irreversibility'),
  );
  if (final.length > 1) return 'plan';
  return fresh.every(({ risk }) => risk === 'Low') ? 'classification' : 'none';
}

/** The step of a session after a change of its task. Undefined: none. */
export function stepAfterTaskChange(
  record: SessionRecord,
  task: TaskRecord,
): SessionTold | undefined {
  const before = record.rows.find((each) => each.task === task.id);
  if (before === undefined || before.revision >= task.revision) return undefined;
  return stepWithRow(record, rowAfter(before, task));
}

/** The step after the manager deleted a task. Undefined: none. */
export function stepAfterTaskLoss(record: SessionRecord, task: string): SessionTold | undefined {
  const before = record.rows.find((each) => each.task === task && !each.is_over);
  if (before === undefined) return undefined;
  return stepWithRow(record, { ...before, outcome: 'unknown', is_over: true, open_gate: '' });
}

function stepWithRow(record: SessionRecord, row: Row): SessionTold {
  const rows = record.rows.map((each) => (each.task === row.task ? row : each));
  if (row.judgements.some(({ judgement }) => judgement === 'withdraw'))
    return { event: { type: 'session.withdrawn', reason: 'GATE_WITHDRAWN' }, patch: { rows } };
  const granularity = granularityOf(rows);
  return { event: { type: 'task.noticed', granularity, end: endOf(rows) }, patch: { rows } };
}

function rowAfter(before: Row, task: TaskRecord): Row {
  const gates = gatesOf(task);
  const last = gates.at(-1);
  const seen = last?.classification;
  const isApproved = task.grants.some(({ gate }) => gate === '');
  const noted = advisoriesOf(task);
  const findings = seen?.findings ?? (before.findings.length > 0 ? before.findings : noted);
  const after: Row = {
    ...before,
    // The executor reads scripts: its classification wins over that of the arguments.
    risk: gates.length > 0 || isApproved || noted.length > 0 ? 'Elevated' : before.risk,
    findings: findings.slice(0, sessionLimits.findings),
    is_approved: before.is_approved || isApproved,
    description: seen?.description ?? before.description,
    judgements: gates.flatMap(
      ({ id: gate, state, judgement, judged_by: by }): Row['judgements'] => {
        if (judgement !== '') return [{ gate, judgement, by }];
        return state === 'expired' ? [{ gate, judgement: 'expired', by }] : [];
      },
    ),
    open_gate: gates.find(({ state }) => state === 'open')?.id ?? '',
    gates: gates.length,
    outcome: stateOf(task),
    why: whyOf(task),
    asks: isOver(task) || gates.some(({ state }) => state === 'open') ? '' : task.asks,
    is_over: isOver(task),
    revision: task.revision,
  };
  return { ...after, situated_by: situatedBy(after) };
}

/** Why it was not done, or does not go on by itself. */
function whyOf({ error, snapshot }: TaskRecord): string {
  const isAlone = stateOf({ snapshot }) === 'pending' && snapshot.context.reason === 'NO_WORKER';
  return isAlone ? 'no worker that can do it is there yet' : (error?.text ?? '');
}

/** The step that ends a session whose tasks are all over. Undefined: some are open. */
export function endStep({ rows }: SessionRecord): SessionTold | undefined {
  const end = endOf(rows);
  if (end === 'none') return undefined;
  return { event: { type: 'task.noticed', granularity: granularityOf(rows), end }, patch: {} };
}

/** The rows with the current state of their tasks. */
export function currentRows(record: SessionRecord, tasks: ReadonlyMap<string, TaskRecord>): Row[] {
  return record.rows.map((row) => {
    const task = tasks.get(row.task);
    return task === undefined || task.revision <= row.revision ? row : rowAfter(row, task);
  });
}
