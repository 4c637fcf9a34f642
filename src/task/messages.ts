import type { Finding as RiskFinding, Gate } from '../attention/shapes.js';
import type { DelegatedTask, TaskFailure, TaskResponse } from '../delegation/shapes.js';
import type { Review } from '../delegation/review.js';
import { codec, delegation, task } from '../wire/codec.js';
import type { Note } from './record.js';

/** The service under which a manager answers for tasks. */
export const taskService = 'tasks';

export interface TaskQuery {
  id: string;
  /** Waits so long for a revision above this one. */
  wait_ms: number;
  revision: number;
}

export interface TasksQuery {
  /** None: all. */
  states: string[];
  parent: string;
  after: string;
  limit: number;
}

export const taskChanges = [
  'cancel',
  'answer',
  'accept',
  'refuse',
  'revise',
  'halt',
  'relax',
  'regenerate',
  'reassign',
  'done',
  'failed',
] as const;
export type TaskChangeName = (typeof taskChanges)[number];

export interface TaskChange {
  id: string;
  what: TaskChangeName;
  /** Of an answer, or why. */
  text: string;
}

export interface TaskView {
  id: string;
  state: string;
  revision: number;
  task: DelegatedTask;
  parent: string;
  assigned_to: string;
  attempt: number;
  response: TaskResponse | null;
  reviews: Review[];
  error: TaskFailure | null;
  asks: string;
  may: string[];
  notes: Note[];
  created_ms: number;
  updated_ms: number;
  finished_ms: number;
  progress: string;
  gates: Gate[];
  findings: RiskFinding[];
}

export interface TasksAnswer {
  tasks: TaskView[];
  more: boolean;
}

/** A SigmaTaskUpdate for the list of this name, as JSON; no bytes: the list is only read. */
export interface TodoUpdate {
  list: string;
  json: Uint8Array;
}

/** The whole list, as JSON (TodoListView). */
export interface TodoAnswer {
  json: Uint8Array;
}

export interface TaskNumbersAnswer {
  states: Record<string, number>;
  /** JSON of TaskNumbers and TaskRates. */
  numbers: string;
  rates: string;
  /** Tasks that wait for a worker. */
  waiting: number;
}

/** What anybody asks a manager; `finished` is the durable word to whoever delegated. */
export const taskMessages = {
  delegate: {
    type: 'task.delegate',
    request: codec<DelegatedTask>(delegation.DelegatedTask),
    answer: codec<TaskView>(task.TaskView),
  },
  show: {
    type: 'task.show',
    request: codec<TaskQuery>(task.TaskQuery),
    answer: codec<TaskView>(task.TaskView),
  },
  list: {
    type: 'task.list',
    request: codec<TasksQuery>(task.TasksQuery),
    answer: codec<TasksAnswer>(task.TasksAnswer),
  },
  change: {
    type: 'task.change',
    request: codec<TaskChange>(task.TaskChange),
    answer: codec<TaskView>(task.TaskView),
  },
  update: {
    type: 'task.update',
    request: codec<TodoUpdate>(task.TodoUpdate),
    answer: codec<TodoAnswer>(task.TodoAnswer),
  },
  numbers: {
    type: 'task.numbers',
    request: codec<object>(task.TaskNumbersQuery),
    answer: codec<TaskNumbersAnswer>(task.TaskNumbersAnswer),
  },
  finished: { type: 'task.finished', codec: codec<TaskView>(task.TaskView) },
} as const;
