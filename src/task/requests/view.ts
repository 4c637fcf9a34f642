import { isGated } from '../../attention/gates.js';
import { attentionLimits, type Finding } from '../../attention/shapes.js';
import { stateOf } from '../life/advance.js';
import { gatesOf } from '../life/gates.js';
import { possibleChanges } from './changes.js';
import type { TaskView } from './messages.js';
import type { TaskRecord } from '../life/record.js';

/** A record as a caller sees it. */
export function viewOf(record: TaskRecord): TaskView {
  const { id, revision, task, parent, assignment, attempt, response, reviews, error } = record;
  const { asks, notes, created_ms, updated_ms, finished_ms, progress } = record;
  const { owner, depth, iterations } = record;
  return {
    id,
    state: stateOf(record),
    revision,
    task,
    parent,
    assigned_to: assignment?.worker ?? '',
    attempt,
    response,
    reviews,
    error,
    asks,
    may: possibleChanges(record),
    notes,
    created_ms,
    updated_ms,
    finished_ms,
    progress,
    gates: gatesOf(record),
    findings: advisoriesOf(record),
    owner,
    depth,
    iterations,
  };
}

/** What passed with a note: seen by the manager, and by the executor, which has the files. */
export function advisoriesOf({ findings, response }: TaskRecord): Finding[] {
  const seen = response?.classification;
  const later = seen === null || seen === undefined || isGated(seen) ? [] : seen.findings;
  const all = new Map([...findings, ...later].map((each) => [JSON.stringify(each), each]));
  return [...all.values()].slice(0, attentionLimits.findings);
}

/** Whether its action may hold secrets: environment values or standard input. */
export function hasSecrets({ task: { action } }: Pick<TaskRecord, 'task'>): boolean {
  return action !== null && (action.stdin !== '' || Object.keys(action.env).length > 0);
}

/** The view for callers that may not see secrets: names of environment variables, length of the input. */
export function publicViewOf(record: TaskRecord): TaskView {
  const view = viewOf(record);
  const { action } = view.task;
  if (action === null) return view;
  const env = Object.fromEntries(Object.keys(action.env).map((name) => [name, hidden]));
  const stdin = action.stdin === '' ? '' : `${hidden} (${action.stdin.length} characters)`;
  return { ...view, task: { ...view.task, action: { ...action, env, stdin } } };
}

const hidden = '[not shown]';
