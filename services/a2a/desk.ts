import {
  Role,
  TaskState,
  type AgentCard,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '@a2a-js/sdk';
import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { createHash, randomUUID } from 'node:crypto';
import { readTask } from '../../src/delegation/task/schema.js';
import type { ListedAgent } from '../../src/operations/agents.js';
import { drafted } from '../../src/operations/operation.js';
import { inWords } from '../../src/operations/tasks/tasks.js';
import { isOver, Tasks } from '../../src/remote/tasks.js';
import type { TaskView } from '../../src/task/requests/messages.js';
import type { Bus } from '../bus.js';
import { told, toldEach } from './failure.js';
import { useOf } from './roles.js';
import {
  artifactsOf,
  contextOf,
  dataPart,
  stateOf,
  statusOf,
  taskIdOf,
  taskOf,
  textPart,
} from './task-view.js';

/** A client that waits for a task gets it as it is then. Most HTTP clients give up after five minutes. */
const waitMsMax = 240_000;
/** Tasks that a list is made of: more than a week of them, which is how long they are kept. */
const listedMax = 10_000;
const pageSize = { default: 50, max: 100 } as const;
/** The characters of an id of a task; what is left of its length is the task's own. */
const contextPattern = /^[a-z0-9][a-z0-9_-]{0,70}$/;

type Events = AsyncGenerator<StreamResponse, void, undefined>;

interface Said {
  words: string;
  data: Record<string, unknown>;
  taskId: string;
  /** A new one where the client named none: what it sends again without one is said anew. */
  context: string;
  isContextGiven: boolean;
  /** The same for the same message: sent again in its context, it is the same task. */
  digest: string;
}

/**
 * One agent of the bus for one request. Tasks are those of the manager, so that nothing of them is kept here; a client sees those that
 * this server delegated.
 */
export class Desk implements A2ARequestHandler {
  readonly #agent: ListedAgent;
  readonly #card: AgentCard;
  readonly #bus: Bus;
  readonly #signal: AbortSignal;

  /** `signal`: the client went away. */
  constructor(parts: { agent: ListedAgent; card: AgentCard; bus: Bus; signal: AbortSignal }) {
    this.#agent = parts.agent;
    this.#card = parts.card;
    this.#bus = parts.bus;
    this.#signal = parts.signal;
  }

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(this.#card);
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return Promise.reject(new UnsupportedOperationError('This card is all there is.'));
  }

  sendMessage(request: SendMessageRequest): Promise<Message | Task> {
    return told(this.#sent(request));
  }

  sendMessageStream(request: SendMessageRequest): Events {
    return toldEach(this.#streamed(request));
  }

  getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return told(this.#own(id).then((view) => taskOf(view, lengthOf(historyLength))));
  }

  listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    return told(this.#listed(request));
  }

  cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return told(this.#cancelled(id));
  }

  resubscribe({ id }: SubscribeToTaskRequest): Events {
    return toldEach(this.#resumed(id));
  }

  createTaskPushNotificationConfig = noPush;
  getTaskPushNotificationConfig = noPush;
  listTaskPushNotificationConfigs = noPush;
  deleteTaskPushNotificationConfig = noPush;

  // --- messages

  async #sent({ message, configuration }: SendMessageRequest): Promise<Message | Task> {
    const history = lengthOf(configuration?.historyLength);
    const said = saidIn(message);
    if (this.#isAnswering) return this.#answer(said);
    const { tasks } = await this.#desk();
    const view = await this.#begun(said);
    if (configuration?.returnImmediately === true) return taskOf(view, history);
    const options = { signal: this.#signal, withinMs: waitMsMax };
    return taskOf(await tasks.follow(view, () => undefined, options), history);
  }

  async *#streamed({ message, configuration }: SendMessageRequest): Events {
    const history = lengthOf(configuration?.historyLength);
    const said = saidIn(message);
    if (this.#isAnswering) yield { payload: { $case: 'message', value: await this.#answer(said) } };
    else yield* this.#followed(await this.#begun(said), { history });
  }

  get #isAnswering(): boolean {
    return useOf(this.#agent).operation !== undefined;
  }

  /** By an operation, in Markdown and as data. */
  async #answer({ words, data, context, taskId }: Said): Promise<Message> {
    const { operation, argumentsOf } = useOf(this.#agent);
    if (taskId !== '' || operation === undefined) throw noTask(taskId);
    const input = { ...data, ...argumentsOf?.(this.#agent.id, words) };
    const { text, structured } = await drafted(operation, input, {
      ...{ bus: this.#bus, signal: this.#signal },
      ...{ tell: () => undefined, person: () => undefined },
    });
    return {
      ...{ messageId: randomUUID(), contextId: context, taskId: '', role: Role.ROLE_AGENT },
      parts: [textPart(text), dataPart(structured)],
      ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
    };
  }

  /** A new task, or an answer to what one asks. */
  async #begun(said: Said): Promise<TaskView> {
    if (said.taskId !== '') return this.#replied(said);
    const { tasks } = await this.#desk();
    const { words, data, context, digest } = said;
    const { id: worker, role } = this.#agent;
    const id = taskIdOf(context, digest);
    const given = inWords({ project: this.#bus.folder, ...data, task: words });
    const to = role === 'manager' ? {} : { to: worker };
    return tasks.delegate(readTask({ ...given, ...to, id }, id), { signal: this.#signal });
  }

  async #replied({ words, taskId, context, isContextGiven }: Said): Promise<TaskView> {
    const view = await this.#own(taskId);
    if (isContextGiven && context !== contextOf(view))
      throw new RequestMalformedError(`task ${taskId} is of the context ${contextOf(view)}`);
    const { tasks } = await this.#desk();
    const { state, may, asks } = view;
    if (may.includes('answer')) return tasks.change({ id: taskId, what: 'answer', text: words });
    const why = asks === '' ? `it is ${state}` : `a person decides: sigma task review ${taskId}`;
    throw new UnsupportedOperationError(`task ${taskId} takes no message now: ${why}`);
  }

  // --- tasks

  async #desk(): Promise<{ tasks: Tasks; me: string }> {
    const client = await this.#bus.client();
    return { tasks: new Tasks(client), me: client.identity.agent };
  }

  /** Of those that this server delegated, to this agent. */
  #isMine({ parent, task }: TaskView, me: string): boolean {
    const { id, alias, role } = this.#agent;
    return parent === me && (role === 'manager' || [id, alias].includes(task.to));
  }

  async #own(id: string): Promise<TaskView> {
    const { tasks, me } = await this.#desk();
    const view = await tasks.show(id, { signal: this.#signal });
    if (!this.#isMine(view, me)) throw noTask(id);
    return view;
  }

  async #listed(request: ListTasksRequest): Promise<ListTasksResponse> {
    const { contextId, status, statusTimestampAfter: after = '', pageToken } = request;
    const size = request.pageSize ?? pageSize.default;
    const history = lengthOf(request.historyLength);
    const afterMs = after === '' ? 0 : Date.parse(after);
    if (size < 1 || size > pageSize.max || Number.isNaN(afterMs))
      throw new RequestMalformedError(`pageSize is 1 to ${pageSize.max}, a time is of ISO 8601`);
    const { tasks, me } = await this.#desk();
    const found = (await tasks.list({ states: [], parent: me }, listedMax)).tasks
      .filter((view) => this.#isMine(view, me))
      .filter((view) => contextId === '' || contextOf(view) === contextId)
      .filter((view) => status === TaskState.TASK_STATE_UNSPECIFIED || stateOf(view) === status)
      .filter(({ updated_ms }) => updated_ms >= afterMs)
      .sort((one, other) => other.updated_ms - one.updated_ms || (one.id < other.id ? -1 : 1));
    const from = pageToken === '' ? 0 : 1 + found.findIndex((view) => tokenOf(view) === pageToken);
    if (pageToken !== '' && from === 0)
      throw new RequestMalformedError('pageToken: the list has changed, begin again without it');
    const page = found.slice(from, from + size);
    const last = from + size < found.length ? page.at(-1) : undefined;
    const bare = request.includeArtifacts === true ? {} : { artifacts: [] };
    return {
      tasks: page.map((view) => ({ ...taskOf(view, history), ...bare })),
      nextPageToken: last === undefined ? '' : tokenOf(last),
      ...{ pageSize: size, totalSize: found.length },
    };
  }

  async #cancelled(id: string): Promise<Task> {
    const view = await this.#own(id);
    if (view.state === 'cancelled') return taskOf(view);
    if (isOver(view)) throw new TaskNotCancelableError(`task ${id} is ${view.state}`);
    const { tasks } = await this.#desk();
    return taskOf(await tasks.change({ id, what: 'cancel', text: 'asked for over A2A' }));
  }

  async *#resumed(id: string): Events {
    const view = await this.#own(id);
    if (isOver(view)) throw new UnsupportedOperationError(`task ${id} is ${view.state}`);
    yield* this.#followed(view, { alsoAsking: true });
  }

  /** The task as it is, then what changes, to its end; `alsoAsking`: not only until it asks something. */
  async *#followed(
    view: TaskView,
    { history = Infinity, alsoAsking = false }: { history?: number; alsoAsking?: boolean },
  ): Events {
    const { tasks } = await this.#desk();
    yield { payload: { $case: 'task', value: taskOf(view, history) } };
    const ids = { taskId: view.id, contextId: contextOf(view) };
    for await (const now of tasks.revisions(view, { signal: this.#signal, alsoAsking })) {
      if (now === view) continue;
      for (const artifact of artifactsOf(now)) {
        const whole = { append: false, lastChunk: true, metadata: undefined };
        yield { payload: { $case: 'artifactUpdate', value: { ...ids, ...whole, artifact } } };
      }
      const status = { ...ids, status: statusOf(now), metadata: undefined };
      yield { payload: { $case: 'statusUpdate', value: status } };
    }
  }
}

function noTask(id: string): TaskNotFoundError {
  return new TaskNotFoundError(`there is no task ${id}`);
}

function noPush(): Promise<never> {
  return Promise.reject(new PushNotificationNotSupportedError());
}

function tokenOf({ updated_ms, id }: TaskView): string {
  return `${updated_ms}.${id}`;
}

function lengthOf(history: number | undefined): number {
  if (history !== undefined && history < 0)
    throw new RequestMalformedError('historyLength is not negative');
  return history ?? Infinity;
}

/** Throws RequestMalformedError, ContentTypeNotSupportedError. */
function saidIn(message: SendMessageRequest['message']): Said {
  if (message === undefined || message.messageId === '' || message.parts.length === 0)
    throw new RequestMalformedError('a message has a messageId and parts');
  const { messageId, contextId, taskId, parts } = message;
  const texts: string[] = [];
  const data: Record<string, unknown> = {};
  for (const { content } of parts) {
    if (content?.$case === 'text') texts.push(content.value);
    else if (content?.$case === 'data') Object.assign(data, content.value);
    else throw new ContentTypeNotSupportedError('parts are text or data; name files by their path');
  }
  const words = texts.join('\n\n');
  const digest = createHash('sha256')
    .update(JSON.stringify([messageId, words, data]))
    .digest('hex');
  const context = contextId === '' ? randomUUID() : contextId;
  if (!contextPattern.test(context))
    throw new RequestMalformedError(`contextId matches ${contextPattern.source}`);
  return { words, data, context, isContextGiven: contextId !== '', taskId, digest };
}
