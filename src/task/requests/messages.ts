import type { Finding as RiskFinding, Gate } from '../../attention/shapes.js';
import type { DelegatedTask, TaskFailure, TaskResponse } from '../../delegation/task/shapes.js';
import type { Review } from '../../delegation/manager/review.js';
import { codec, delegation, task } from '../../wire/codec.js';
import type { TaskIteration } from '../life/task-iteration.js';
import type { Note } from '../life/record.js';

/** The service under which a manager answers for tasks. */
export const taskService = 'tasks';

export interface TaskQuery {
  id: string;
  /** Waits at most this long for a revision above `revision`. */
  wait_ms: number;
  revision: number;
}

export interface TasksQuery {
  /** Empty: all. */
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
  /** The answer, or a reason. */
  text: string;
}

/** Puts a task into a queue: see proto/task.proto. */
export interface Push {
  owner: string;
  task: DelegatedTask;
  to_parent: boolean;
}

export interface Run {
  owner: string;
  /** 0: all. */
  count: number;
  /** 0: unchanged. */
  concurrency: number;
  /** 0: the limit with which each was pushed. */
  timeout_ms: number;
  key: string;
  supervised: boolean;
}

export interface RunAnswer {
  started: string[];
  queued: number;
  running: number;
}

export interface QueueRow {
  id: string;
  name: string;
  status: 'queued' | 'running' | 'finished';
  state: string;
  created_ms: number;
  /** 0: not yet. */
  started_ms: number;
  finished_ms: number;
  progress: string;
  is_delivering: boolean;
}

export interface QueueAnswer {
  owner: string;
  rows: QueueRow[];
  /** Parent of the owner if that is a task; else empty. */
  parent: string;
  siblings: QueueRow[];
  concurrency: number;
  supervised: boolean;
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
  /** Owner of the queue that it stands in; empty: it was delegated. */
  owner: string;
  /** Number of tasks above it. */
  depth: number;
  /** Critiques of its results, oldest first. */
  iterations: TaskIteration[];
}

export interface TasksAnswer {
  tasks: TaskView[];
  more: boolean;
}

/** A SigmaTaskUpdate for a list, as JSON; no bytes: the list is only read. */
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

/** A score that is absent on the wire is null in the JSON. */
function scored(view: TaskView): TaskView {
  const iterations = view.iterations.map((each) => ({ ...each, score: each.score ?? null }));
  return { ...view, iterations };
}

const plainViewCodec = codec<TaskView>(task.TaskView);
const viewCodec = {
  ...plainViewCodec,
  decode: (bytes: Uint8Array): TaskView => scored(plainViewCodec.decode(bytes)),
};
const tasksCodec = codec<TasksAnswer>(task.TasksAnswer);

/** Requests to a manager; `finished` is the durable message to the parent. */
export const taskMessages = {
  delegate: {
    type: 'task.delegate',
    request: codec<DelegatedTask>(delegation.DelegatedTask),
    answer: viewCodec,
  },
  show: {
    type: 'task.show',
    request: codec<TaskQuery>(task.TaskQuery),
    answer: viewCodec,
  },
  list: {
    type: 'task.list',
    request: codec<TasksQuery>(task.TasksQuery),
    answer: {
      ...tasksCodec,
      decode: (bytes: Uint8Array): TasksAnswer => {
        const { tasks, more } = tasksCodec.decode(bytes);
        return { tasks: tasks.map(scored), more };
      },
    },
  },
  change: {
    type: 'task.change',
    request: codec<TaskChange>(task.TaskChange),
    answer: viewCodec,
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
  push: {
    type: 'task.push',
    request: codec<Push>(task.Push),
    answer: viewCodec,
  },
  run: {
    type: 'task.run',
    request: codec<Run>(task.Run),
    answer: codec<RunAnswer>(task.RunAnswer),
  },
  queue: {
    type: 'task.queue',
    request: codec<{ owner: string }>(task.QueueQuery),
    answer: codec<QueueAnswer>(task.QueueAnswer),
  },
  finished: { type: 'task.finished', codec: viewCodec },
} as const;
