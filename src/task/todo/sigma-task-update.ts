import { createHash } from 'node:crypto';
import { confidenceOf } from '../../base/confidence.js';
import { readTask } from '../../delegation/task/schema.js';
import type { DelegatedTask, GroundingEvidence } from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import { isFinal } from '../life/states.js';
import type { TaskView } from '../requests/messages.js';
import {
  invalid,
  todoLimits,
  type Grounding,
  type TodoStatus,
  type TodoUpdateDocument,
  type Work,
} from './todo-update.js';

/** One entry as it is kept. */
export interface Todo {
  id: string;
  content: string;
  activeForm: string;
  status: TodoStatus;
  acceptance_criteria: string[];
  delegated_to: string;
  context: string;
  delegate_session_id: string;
  result_summary: string;
  grounding: Grounding | null;
  /** Absent: nothing, as of a release without it. */
  work?: Work;
  grounding_evidence: GroundingEvidence | null;
  /** The task it was delegated as, last; empty: never. */
  task_id: string;
  /** Who gets its result. */
  parent: string;
  /** How often it was. */
  delegations: number;
  /** The task whose checked result it holds, which stays as it is; empty or absent: what it says is said by its agent alone. */
  result_of?: string;
  /** That task is at the manager; before, it has still to be handed over. */
  is_handed_over: boolean;
}

/** The task of a delegated entry, as the list shows it. */
export interface TodoTask {
  state: string;
  asks: string;
  /** What it does, or waits for. */
  progress: string;
  may: string[];
}

/** A list as its owner sees it. */
export interface TodoListView {
  list: string;
  todos: (Todo & { task: TodoTask | null })[];
  /** Entries that its owner should check. */
  warnings: string[];
}

/**
 * The list after an update, merged by id: fields that an entry does not name stay. Newly delegated entries get a new `task_id`. Throws TASK_UPDATE_INVALID for a broken rule, TASK_INVALID for an entry that cannot be a task, LIST_FULL.
 */
export function mergeUpdate(
  { list, parent }: { list: string; parent: string },
  before: readonly Todo[],
  update: TodoUpdateDocument,
): Todo[] {
  const { todos, grounding, grounding_evidence } = update;
  assertOnce('todos', todos);
  for (const what of ['grounding', 'grounding_evidence'] as const)
    assertOnce(what, [...update[what], ...todos.filter((each) => each[what] !== undefined)]);
  const after = new Map(before.map((each) => [each.id, each]));
  for (const { id, ...named } of todos) after.set(id, amended(after.get(id), id, named));
  for (const { id, ...its } of grounding)
    after.set(id, { ...existingEntry(after, id), grounding: its });
  for (const { id, ...its } of grounding_evidence)
    after.set(id, { ...existingEntry(after, id), grounding_evidence: its as GroundingEvidence });
  const earlier = new Map(before.map((each) => [each.id, each]));
  const all = [...after.values()].map((todo): Todo => {
    if (todo.status !== 'delegated' || earlier.get(todo.id)?.status === 'delegated') return todo;
    // Each delegation is a task of its own.
    const delegations = todo.delegations + 1;
    const task_id = taskIdOf(list, todo.id, delegations);
    const handed = { delegations, task_id, parent, is_handed_over: false };
    return { ...todo, ...handed, result_of: '', result_summary: '' };
  });
  assertRules(all, earlier);
  return withinLimits(list, all);
}

function assertOnce(what: string, entries: readonly { id: string }[]): void {
  const ids = new Set<string>();
  for (const { id } of entries) {
    if (ids.has(id)) throw invalid(`${what}: ${id} is named twice`);
    ids.add(id);
  }
}

function existingEntry(todos: ReadonlyMap<string, Todo>, id: string): Todo {
  const todo = todos.get(id);
  if (todo === undefined) throw invalid(`there is no entry ${id} in the list`);
  return todo;
}

function amended(
  before: Todo | undefined,
  id: string,
  named: Partial<Omit<TodoUpdateDocument['todos'][number], 'id'>>,
): Todo {
  if (before === undefined && named.content === undefined)
    throw invalid(`${id} is new, and needs a content`);
  const said = Object.fromEntries(
    Object.entries(named).filter(([, value]) => value !== undefined),
  ) as Partial<Todo>;
  const isReopened = hasResult(before) && said.status !== 'completed';
  return { ...(before ?? emptyTodo(id)), ...(isReopened && noResult), ...said };
}

const noResult = { result_of: '', result_summary: '', grounding_evidence: null } as const;

/** Whether what it says came from its task, whose result was checked. */
export function hasResult(todo: Pick<Todo, 'result_of'> | undefined): boolean {
  return (todo?.result_of ?? '') !== '';
}

/** An entry with all fields empty. */
export function emptyTodo(id: string): Todo {
  return {
    ...{ id, content: '', activeForm: '', status: 'pending', acceptance_criteria: [] },
    ...{ delegated_to: '', context: '', delegate_session_id: '', result_summary: '' },
    ...{ grounding: null, grounding_evidence: null },
    ...{ task_id: '', parent: '', delegations: 0, is_handed_over: false },
  };
}

/** Deterministic: an entry that is handed over twice is one task. */
function taskIdOf(list: string, id: string, n: number): string {
  const digest = createHash('sha256').update(`${list}\0${id}\0${n}`).digest('hex').slice(0, 12);
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 48);
  return `todo-${readable}-${digest}`;
}

function assertRules(todos: readonly Todo[], before: ReadonlyMap<string, Todo>): void {
  const [one, other] = todos.filter(({ status }) => status === 'in_progress');
  if (one !== undefined && other !== undefined)
    throw invalid(`${one.id} and ${other.id} are both in_progress; one may be at a time`);
  for (const todo of todos) {
    const was = before.get(todo.id);
    if (was?.status === 'delegated') assertUntouched(todo, was);
    if (was !== undefined && hasResult(todo)) assertResultKept(todo, was);
    if (todo.status === 'delegated' && was?.status !== 'delegated') assertDelegable(todo);
    const { min } = todoLimits.summaryChars;
    if (todo.status === 'completed' && todo.result_summary.trim().length < min)
      throw invalid(`${todo.id} is completed, and needs a result_summary of ${min} characters`);
  }
}

/** What was asked, as text. */
function words({ content, context, acceptance_criteria, delegated_to, grounding, work }: Todo) {
  return JSON.stringify([content, context, acceptance_criteria, delegated_to, grounding, work]);
}

/** Another text beside citations that were checked for the first one would pass for checked. */
function assertResultKept(todo: Todo, was: Todo): void {
  const result = ({ result_summary, grounding_evidence }: Todo): string =>
    JSON.stringify([result_summary, grounding_evidence]);
  if (words(todo) !== words(was) || result(todo) !== result(was))
    throw invalid(
      `${todo.id} holds the result of task ${was.task_id}, which was checked, and stays as it is; to do it anew, set it to pending, or add another entry`,
    );
}

/** An entry cannot change while a worker has its task. */
function assertUntouched(todo: Todo, was: Todo): void {
  if (todo.status !== 'delegated')
    throw invalid(
      `${todo.id} is delegated as task ${was.task_id}; cancel or decide that one first (sigma task)`,
    );
  if (words(todo) !== words(was))
    throw invalid(`${todo.id} is delegated as task ${was.task_id}, which stays as it was`);
}

function assertDelegable(todo: Todo): void {
  if (todo.acceptance_criteria.length === 0)
    throw invalid(`${todo.id} is delegated, and needs acceptance_criteria`);
  if (todo.delegated_to === '') throw invalid(`${todo.id} is delegated, and needs delegated_to`);
  taskOf(todo);
}

/** The list within the limits: completed entries are dropped, the oldest first. Throws LIST_FULL. */
function withinLimits(list: string, todos: readonly Todo[]): Todo[] {
  const kept = [...todos];
  const isOver = (): boolean =>
    kept.length > todoLimits.todos || JSON.stringify(kept).length > todoLimits.listBytes;
  while (isOver()) {
    const at = kept.findIndex(({ status }) => status === 'completed');
    if (at < 0) {
      const { todos: entries, listBytes } = todoLimits;
      const limit = kept.length > entries ? `${entries} entries` : `${listBytes} bytes`;
      throw new BusError('LIST_FULL', { what: `list ${list}`, limit });
    }
    kept.splice(at, 1);
  }
  return kept;
}

/** The task of a delegated entry. Throws TASK_INVALID. */
export function taskOf(todo: Todo): DelegatedTask {
  const { content, acceptance_criteria, context, grounding, delegated_to, task_id } = todo;
  const required = grounding?.evidence_required;
  const its = grounding && {
    ...grounding,
    ...(required === undefined
      ? {}
      : { evidence_required: required === true || required === 'true' }),
  };
  const task = { task: content, acceptance_criteria, context, grounding: its, to: delegated_to };
  const { acceptance_criteria: checked = [], ...work } = todo.work ?? {};
  const criteria = checked.length > 0 ? { acceptance_criteria: checked } : {};
  return readTask({ ...task, ...work, ...criteria }, task_id);
}

/** The status of a list entry for a state of its task. */
export function todoStatusOf(state: string): Exclude<TodoStatus, 'in_progress'> {
  if (state === 'completed') return 'completed';
  // It failed or was ended: the work is still open.
  return isFinal(state) ? 'pending' : 'delegated';
}

/** The entry with the outcome of its task; unchanged while the task is open. */
export function withTaskOutcome(
  todo: Todo,
  task: Pick<TaskView, 'id' | 'state' | 'response' | 'reviews' | 'error'>,
): Todo {
  const status = todoStatusOf(task.state);
  if (todo.status !== 'delegated' || status === 'delegated') return todo;
  const { response, error } = task;
  const why = error === null ? '' : `: ${error.code} ${error.text}`;
  const detail = status === 'completed' ? `: ${response?.result ?? ''}` : why;
  const evidence = response?.grounding_evidence ?? null;
  // How sure it is, the manager says, not the worker.
  const grounding_confidence = task.reviews.at(-1)?.confidence;
  return {
    ...todo,
    status,
    result_of: status === 'completed' ? task.id : '',
    result_summary: `Task ${task.id} ${task.state}${detail}`.slice(0, todoLimits.summaryChars.max),
    grounding_evidence:
      evidence === null
        ? todo.grounding_evidence
        : { ...evidence, ...(grounding_confidence !== undefined && { grounding_confidence }) },
  };
}

/** Warnings about completed entries with weak or missing evidence. */
export function warningsOf(todos: readonly Todo[]): string[] {
  return todos.flatMap((todo): string[] => {
    const { id, status, grounding, grounding_evidence: evidence } = todo;
    if (status !== 'completed' || grounding === null || grounding.strategy === 'none') return [];
    if (['false', false].includes(grounding.evidence_required ?? true)) return [];
    const citations = evidence?.citations ?? [];
    if (evidence === null || citations.length === 0)
      return [`${id}: completed without the required evidence`];
    const stated = citations.flatMap(({ similarity }) => similarity ?? []);
    const level =
      hasResult(todo) || stated.length === 0 ? evidence.grounding_confidence : confidenceOf(stated);
    if (level !== 'low') return [];
    const mean = stated.reduce((sum, each) => sum + each, 0) / stated.length;
    const figure = stated.length === 0 ? '' : ` (${mean.toFixed(2)})`;
    return [`${id}: completed with LOW grounding confidence${figure}; review its citations`];
  });
}
