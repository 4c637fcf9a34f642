import type { RequestOptions } from '../client/request.js';
import type { Client } from '../client/client.js';
import type { DelegatedTask } from '../delegation/task/shapes.js';
import {
  taskMessages,
  taskService,
  type Push,
  type QueueAnswer,
  type Run,
  type RunAnswer,
  type QueueCounts,
  type TaskChange,
  type TasksAnswer,
  type TaskRowsAnswer,
  type TaskRowsQuery,
  type TasksQuery,
  type TaskView,
} from '../task/requests/messages.js';
import type { TodoListView } from '../task/todo/sigma-task-update.js';
import { isFinal } from '../task/life/states.js';
import { askManager, type Exchange } from './request.js';

/** One wait for a change; the manager answers earlier when there is one. */
const waitMs = 20_000;
const marginMs = 10_000;
const deadlineMs = 30_000;
/** A queue is looked at during the wait for a message. */
const queueMs = 5_000;
/** Missing overlays may be made before a change is answered. */
const changeMsMax = 180_000;
/** Rows of one request. */
const pageRows = 100;
/** Rows of a whole list. */
export const tasksListedMax = 2_000;

interface Waiting {
  signal?: AbortSignal;
}

/** A manager's tasks over the bus. */
export class Tasks {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Asked twice under its id, it is the same task. Throws TASK_EXISTS, TASKS_FULL, NO_SUCH_TASK, NO_RESPONDER. */
  delegate(task: DelegatedTask, options: Waiting = {}): Promise<TaskView> {
    return this.#ask(taskMessages.delegate, task, { ...options, isIdempotent: true });
  }

  /**
   * In the name of another agent, who gets the result: durable, so that no manager need be there; `accepted` is called
   * when it is stored. Throws UNAUTHORISED, INBOX_EMPTY when no answer comes in time, and as `delegate`.
   */
  async delegateAs(from: string, task: DelegatedTask, accepted: () => void): Promise<TaskView> {
    const { type, request, answer } = taskMessages.delegate;
    const body = request.encode(task);
    const id = `${task.id}-delegate`;
    const address = `service:${taskService}`;
    await this.#client.post(address, type, body, { id, from, wantsReply: true, deadlineMs });
    accepted();
    const reply = await this.#client.collect(id, { deadlineMs, from });
    return answer.decode(reply.body);
  }

  /** Throws NO_SUCH_TASK. */
  show(id: string, options: Waiting = {}): Promise<TaskView> {
    const query = { id, wait_ms: 0, revision: 0 };
    return this.#ask(taskMessages.show, query, { ...options, isIdempotent: true });
  }

  /** All of them, up to a limit. */
  async list(query: Pick<TasksQuery, 'states' | 'parent'>, max: number): Promise<TasksAnswer> {
    const tasks: TaskView[] = [];
    for (let after = ''; ;) {
      const limit = Math.min(pageRows, max - tasks.length);
      const page = await this.#ask(
        taskMessages.list,
        { ...query, after, limit },
        { isIdempotent: true },
      );
      tasks.push(...page.tasks);
      after = page.tasks.at(-1)?.id ?? '';
      if (!page.more || after === '' || tasks.length >= max) return { tasks, more: page.more };
    }
  }

  /** A page of the list, latest first. */
  rows(query: TaskRowsQuery): Promise<TaskRowsAnswer> {
    return this.#ask(taskMessages.rows, query, { isIdempotent: true });
  }

  /** Those that hold tasks, with how many. */
  async queues(): Promise<QueueCounts[]> {
    return (await this.#ask(taskMessages.queues, {}, { isIdempotent: true })).queues;
  }

  /** Throws NO_SUCH_TASK, TASK_STATE. */
  change(change: TaskChange): Promise<TaskView> {
    return this.#ask(taskMessages.change, change, { deadlineMs: changeMsMax });
  }

  /**
   * A task into a queue, where it waits to be started. Throws NAME_TAKEN, QUEUE_FULL, TREE_FULL, SPAWN_DEPTH, PARENT_OVER,
   * QUEUE_NOT_YOURS, and as `delegate`.
   */
  push(push: Push, options: Waiting = {}): Promise<TaskView> {
    return this.#ask(taskMessages.push, push, { ...options, isIdempotent: true });
  }

  /** Starts what is queued; once under its key. Throws QUEUE_NOT_YOURS. */
  run(run: Run, options: Waiting = {}): Promise<RunAnswer> {
    return this.#ask(taskMessages.run, run, { ...options, isIdempotent: true });
  }

  /** The queue of an agent; empty: of the caller. Throws QUEUE_NOT_YOURS. */
  queue(owner = '', options: Waiting = {}): Promise<QueueAnswer> {
    return this.#ask(
      taskMessages.queue,
      { owner },
      {
        ...options,
        isIdempotent: true,
        deadlineMs: queueMs,
      },
    );
  }

  /** The list after a SigmaTaskUpdate. Throws TASK_UPDATE_INVALID, TASK_INVALID, LIST_FULL. */
  async update(list: string, json: Uint8Array, options: Waiting = {}): Promise<TodoListView> {
    const asked = { ...options, isIdempotent: true };
    const answer = await this.#ask(taskMessages.update, { list, json }, asked);
    return JSON.parse(Buffer.from(answer.json).toString()) as TodoListView;
  }

  /**
   * Until it is over, waits for a person, or `withinMs` have passed. `onChange` gets every revision, the
   * first included. The signal ends the waiting, not the task. Throws CANCELLED.
   */
  async follow(
    view: TaskView,
    onChange: (view: TaskView) => void,
    options: Waiting & { withinMs?: number } = {},
  ): Promise<TaskView> {
    let last = view;
    for await (last of this.revisions(view, options)) onChange(last);
    return last;
  }

  /** The same one by one; `alsoAsking`: while it waits for a person, too. */
  async *revisions(
    view: TaskView,
    {
      withinMs = Infinity,
      alsoAsking = false,
      ...options
    }: Waiting & { withinMs?: number; alsoAsking?: boolean } = {},
  ): AsyncGenerator<TaskView, void, undefined> {
    const untilMs = performance.now() + withinMs;
    let now = view;
    yield now;
    while (!isOver(now) && (alsoAsking || !isAsking(now))) {
      const leftMs = Math.floor(untilMs - performance.now());
      if (leftMs < 1) return;
      const { id, revision } = now;
      const query = { id, revision, wait_ms: Math.min(waitMs, leftMs) };
      const asked = { ...options, isIdempotent: true, deadlineMs: query.wait_ms + marginMs };
      now = await this.#ask(taskMessages.show, query, asked);
      if (now.revision !== revision) yield now;
    }
  }

  #ask<Q, A>(message: Exchange<Q, A>, request: Q, options: RequestOptions): Promise<A> {
    return askManager(this.#client, message, request, options);
  }
}

export function isOver({ state }: Pick<TaskView, 'state'>): boolean {
  return isFinal(state);
}

/** It goes on only after an answer. */
export function isAsking({ state, asks }: Pick<TaskView, 'state' | 'asks'>): boolean {
  return !isFinal(state) && (asks !== '' || state === 'deciding' || state === 'clarifying');
}
