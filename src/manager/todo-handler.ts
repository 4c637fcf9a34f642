import { assertMayUpdateList } from '../task/requests/permissions.js';
import type { Client } from '../client/client.js';
import type { DelegatedTask } from '../delegation/task/shapes.js';
import { asBusError } from '../errors/bus-error.js';
import { taskMessages, type TaskView } from '../task/requests/messages.js';
import {
  mergeUpdate,
  withTaskOutcome,
  taskOf,
  warningsOf,
  type Todo,
  type TodoListView,
} from '../task/todo/sigma-task-update.js';
import { readTodoUpdate } from '../task/todo/todo-update.js';
import type { TodoLists } from '../task/todo/todo-lists.js';

/** The tasks of this manager, as far as lists need them. */
export interface TasksOfLists {
  /** The same task again is the same task. */
  delegate(task: DelegatedTask, parent: string): Promise<TaskView>;
  /** Throws NO_SUCH_TASK. */
  show(id: string): Promise<TaskView>;
}

/** Keeps the lists of agents, and hands over what they delegate. */
export class TodoHandler {
  readonly #lists: TodoLists;
  readonly #tasks: TasksOfLists;

  constructor(parts: { lists: TodoLists; tasks: TasksOfLists }) {
    this.#lists = parts.lists;
    this.#tasks = parts.tasks;
  }

  serveOn(client: Client): void {
    const { type, request, answer } = taskMessages.update;
    client.serve({
      [type]: async ({ body, from }) => {
        const { list, json } = request.decode(body);
        if (from !== list)
          assertMayUpdateList(list, { agent: from, role: await client.roleOf(from) });
        const view = await this.update(list, json, from);
        return answer.encode({ json: Buffer.from(JSON.stringify(view)) });
      },
    });
  }

  /**
   * The list after an update, or as it is for no bytes. `parent` gets the results. It is on disk before anything is handed
   * over; what was not, for a crash or a manager that is full, is by the next update. Throws TASK_UPDATE_INVALID,
   * TASK_INVALID, LIST_FULL, INVALID_NAME, TASKS_FULL, STORE_UNAVAILABLE.
   */
  async update(list: string, json: Uint8Array, parent: string): Promise<TodoListView> {
    const update = json.byteLength === 0 ? undefined : readTodoUpdate(json);
    await this.#lists.change(list, async (before) => {
      const now = await Promise.all(before.map((todo) => this.#settled(todo)));
      return update === undefined ? now : mergeUpdate({ list, parent }, now, update);
    });
    const todos = await this.#lists.change(list, async (all) => {
      const handed: Todo[] = [];
      for (const todo of all) handed.push(await this.#handedOver(todo));
      return handed;
    });
    const tasks = await Promise.all(todos.map((todo) => this.#taskOf(todo)));
    const rows = todos.map((todo, at) => {
      const task = tasks[at];
      if (task === undefined) return { ...todo, task: null };
      const { state, asks, progress, may } = task;
      return { ...todo, task: { state, asks, progress, may } };
    });
    return { list, todos: rows, warnings: warningsOf(todos) };
  }

  async #handedOver(todo: Todo): Promise<Todo> {
    if (todo.status !== 'delegated' || todo.is_handed_over) return todo;
    await this.#tasks.delegate(taskOf(todo), todo.parent);
    return { ...todo, is_handed_over: true };
  }

  async #settled(todo: Todo): Promise<Todo> {
    if (todo.status !== 'delegated' || !todo.is_handed_over) return todo;
    const task = await this.#taskOf(todo);
    if (task !== undefined) return withTaskOutcome(todo, task);
    // Finished so long ago that the manager knows it no more.
    const result_summary = `Task ${todo.task_id} is not known any more`;
    return { ...todo, status: 'pending', result_summary };
  }

  async #taskOf({ task_id }: Todo): Promise<TaskView | undefined> {
    if (task_id === '') return undefined;
    try {
      return await this.#tasks.show(task_id);
    } catch (error) {
      if (asBusError(error).code === 'NO_SUCH_TASK') return undefined;
      throw error;
    }
  }
}
