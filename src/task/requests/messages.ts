import type { Finding as RiskFinding, Gate } from '../../attention/shapes.js';
import type { DelegatedTask, TaskFailure, TaskResponse } from '../../delegation/task/shapes.js';
import type { Review } from '../../delegation/manager/review.js';
import { codec, delegation, task, type Plain, type sigma } from '../../wire/codec.js';
import type { TaskIteration } from '../life/task-iteration.js';
import type { Note } from '../life/record.js';

/** The service under which a manager answers for tasks. */
export const taskService = 'tasks';

export type TaskQuery = Plain<sigma.task.TaskQuery>;
export type TasksQuery = Plain<sigma.task.TasksQuery>;

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

export type TaskChange = Plain<sigma.task.TaskChange, { what: TaskChangeName }>;

/** Puts a task into a queue: see proto/task.proto. */
export type Push = Plain<sigma.task.Push, { task: DelegatedTask }>;
export type Run = Plain<sigma.task.Run>;
export type RunAnswer = Plain<sigma.task.RunAnswer>;
export type QueueRow = Plain<sigma.task.QueueRow, { status: 'queued' | 'running' | 'finished' }>;
export type QueueAnswer = Plain<sigma.task.QueueAnswer, { rows: QueueRow[]; siblings: QueueRow[] }>;
export type TaskView = Plain<
  sigma.task.TaskView,
  {
    task: DelegatedTask;
    response: TaskResponse | null;
    reviews: Review[];
    error: TaskFailure | null;
    notes: Note[];
    gates: Gate[];
    findings: RiskFinding[];
    iterations: TaskIteration[];
  }
>;
export type TasksAnswer = Plain<sigma.task.TasksAnswer, { tasks: TaskView[] }>;

export type TaskRowsQuery = Plain<sigma.task.TaskRowsQuery>;
export type TaskRow = Plain<sigma.task.TaskRow>;
export type TaskRowsAnswer = Plain<sigma.task.TaskRowsAnswer>;
export type QueueCounts = Plain<sigma.task.QueueCounts>;

/** A SigmaTaskUpdate for a list, as JSON; no bytes: the list is only read. */
export type TodoUpdate = Plain<sigma.task.TodoUpdate>;

/** The whole list, as JSON (TodoListView). */
export type TodoAnswer = Plain<sigma.task.TodoAnswer>;
export type TaskNumbersAnswer = Plain<sigma.task.TaskNumbersAnswer>;

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
  rows: {
    type: 'task.rows',
    request: codec<TaskRowsQuery>(task.TaskRowsQuery),
    answer: codec<TaskRowsAnswer>(task.TaskRowsAnswer),
  },
  queues: {
    type: 'task.queues',
    request: codec<object>(task.QueuesQuery),
    answer: codec<{ queues: QueueCounts[] }>(task.QueuesAnswer),
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
