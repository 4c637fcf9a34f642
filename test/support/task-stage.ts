import path from 'node:path';
import { expect } from 'vitest';
import type { NoticeWay } from '../../src/manager/gate-notices.js';
import type { AttentionParts } from '../../src/manager/gate-handler.js';
import { Shards } from '../../src/remote/shards.js';
import { TaskHandler } from '../../src/manager/task-handler.js';
import { attendCapability } from '../../src/attention/shapes.js';
import type { Client } from '../../src/client/client.js';
import { loadConfig, type Config } from '../../src/config/config.js';
import { delegationMessages, legacyType } from '../../src/delegation/task/messages.js';
import { readTask } from '../../src/delegation/task/schema.js';
import {
  delegationCapability,
  runnerCapability,
  type Assignment,
  type TaskResponse,
} from '../../src/delegation/task/shapes.js';
import { slotsCapability } from '../../src/delegation/manager/worker-pool.js';
import { openLog } from '../../src/observe/log.js';
import { tasksLayout } from '../../src/store/layouts.js';
import type { LevelStore } from '../../src/store/level-store.js';
import {
  taskMessages,
  taskService,
  type TaskChangeName,
  type TaskView,
} from '../../src/task/requests/messages.js';
import { recordOf, testBus, type TestBus } from './bus.js';
import { memoryHarness } from './networks.js';
import { openTestStore } from './store.js';
import { temporaryFolder } from './temporary.js';

interface Manager {
  desk: TaskHandler;
  store: LevelStore;
  client: Client;
}

/** What a worker of a test answers when it says nothing else. */
export const plainAnswer: TaskResponse = {
  task_id: '',
  status: 'completed',
  result: 'done as it was asked for',
  grounding_evidence: null,
  reason: '',
  errors: [],
  protocol_version: '2.0',
  clarification_request: '',
  attempt: 0,
  partial: false,
  files_modified: [],
  usage: null,
  classification: null,
  steps: [],
};

/** Nothing is risky. */
const silent: AttentionParts = {
  classify: () => Promise.resolve(undefined),
  gateMs: 60_000,
  onExpiry: 'halt',
};

/** A manager with its store on a bus, and `asker`, who delegates. */
export class TaskStage {
  readonly bus: TestBus = testBus(memoryHarness());
  readonly #attention: AttentionParts;
  readonly #folder = temporaryFolder();
  #asker: Client | undefined;
  #person: Client | undefined;
  #manager: Manager | undefined;

  readonly #prompt: Config['prompt'];

  readonly #critic: Config['critic'];

  readonly #noticeWays: readonly NoticeWay[];

  /** `prompt`: how far tasks may push tasks; `critic`: which results are reviewed. */
  constructor(
    attention: Partial<AttentionParts> = {},
    prompt: Config['prompt'] = {},
    critic: Config['critic'] = {},
    noticeWays: readonly NoticeWay[] = [],
  ) {
    this.#noticeWays = noticeWays;
    this.#prompt = prompt;
    this.#critic = critic;
    this.#attention = { ...silent, ...attention };
  }

  get asker(): Client {
    if (this.#asker === undefined) throw new Error('not begun');
    return this.#asker;
  }

  get manager(): Manager {
    if (this.#manager === undefined) throw new Error('not begun');
    return this.#manager;
  }

  async begin(): Promise<void> {
    await this.bus.start();
    this.#asker = await this.bus.client('asker');
    await this.asker.register(recordOf('asker'));
    await this.startManager();
  }

  async end(): Promise<void> {
    await this.stopManager();
    await this.bus.close();
    this.#folder.remove();
  }

  async startManager(): Promise<void> {
    const home = this.#folder.path;
    const config = { ...loadConfig({}, { home }), prompt: this.#prompt, critic: this.#critic };
    const log = openLog(config, { service: 'manager' });
    const client = await this.bus.client('manager', { role: 'manager' });
    await client.register(recordOf('manager'));
    const store = await openTestStore(path.join(home, 'tasks'), tasksLayout);
    const shards = new Shards(client, log);
    const attention = this.#attention;
    const makeOverlays = () => Promise.resolve(false);
    const desk = await TaskHandler.open({
      client,
      store,
      shards,
      log,
      config,
      attention,
      noticeWays: this.#noticeWays,
      makeOverlays,
    });
    await desk.begin();
    this.#manager = { desk, store, client };
  }

  async stopManager(): Promise<void> {
    const { desk, store, client } = this.manager;
    await desk[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await client.close();
  }

  /** A worker that claims its tasks and answers what `work` returns; undefined: no answer. */
  async worker(
    agent: string,
    work: (
      assignment: Assignment,
      client: Client,
    ) => Partial<TaskResponse> | undefined | Promise<Partial<TaskResponse> | undefined>,
    {
      capabilities = [
        ...[delegationCapability, attendCapability],
        ...[runnerCapability('answer'), slotsCapability(4)],
      ],
      role = 'executor',
      /** Tasks do not wait for each other. */
      isParallel = false,
    } = {},
  ): Promise<{ client: Client; withdrawn: string[] } & AsyncDisposable> {
    const client = await this.bus.client(agent, { role });
    const withdrawn: string[] = [];
    const { assign, claim, response, withdraw } = delegationMessages;
    await client.receive(async ({ type, body }) => {
      if (type === withdraw.type) {
        withdrawn.push(withdraw.codec.decode(body).reason);
        return;
      }
      const given =
        type === legacyType
          ? { task: JSON.parse(body.toString()) as Assignment['task'], attempt: 0 }
          : assign.codec.decode(body);
      const { task, attempt } = given;
      if (type !== legacyType) {
        const asked = claim.codec.encode({ task_id: task.id, attempt });
        await client.request('agent:manager', claim.type, asked);
      }
      const working = (async () => {
        const said = await work(given as Assignment, client);
        if (said === undefined) return;
        const whole = { ...plainAnswer, task_id: task.id, attempt, ...said };
        if (type === legacyType)
          await client.post('agent:manager', legacyType, Buffer.from(JSON.stringify(whole)));
        else await client.post('agent:manager', response.type, response.codec.encode(whole));
      })();
      // Work may be unfinished when the test ends.
      if (isParallel) working.catch(() => undefined);
      else await working;
    });
    await client.register({ ...recordOf(agent), capabilities });
    return { client, withdrawn, [Symbol.asyncDispose]: () => this.#gone(client) };
  }

  /** Closes a worker and waits until the manager knows: it is given no more tasks. */
  async #gone(client: Client): Promise<void> {
    await client.close();
    const { agent } = client.identity;
    await expect
      .poll(
        async () => (await this.asker.agents()).find(({ record }) => record.id === agent)?.state,
      )
      .toBe('offline');
    await this.manager.desk.look();
  }

  async delegate(task: object, client = this.asker): Promise<TaskView> {
    const { delegate: message } = taskMessages;
    const body = message.request.encode({ ...readTask({ task: 'do it', ...task }, ''), id: '' });
    const reply = await client.request(`service:${taskService}`, message.type, body);
    return message.answer.decode(reply.body);
  }

  async until(id: string, states: string[]): Promise<TaskView> {
    const { show } = taskMessages;
    let revision = 0;
    for (;;) {
      const body = show.request.encode({ id, wait_ms: 5_000, revision });
      const reply = await this.asker.request(`service:${taskService}`, show.type, body);
      const view = show.answer.decode(reply.body);
      if (states.includes(view.state)) return view;
      revision = view.revision;
    }
  }

  /** What a person says of a task, on the command line. */
  async decide(id: string, what: TaskChangeName, text = ''): Promise<TaskView> {
    this.#person ??= await this.bus.client('cli-decides', { role: 'client', isEphemeral: true });
    return this.change(id, what, text, this.#person);
  }

  async change(
    id: string,
    what: TaskChangeName,
    text = '',
    client = this.asker,
  ): Promise<TaskView> {
    const { change: message } = taskMessages;
    const body = message.request.encode({ id, what, text });
    const reply = await client.request(`service:${taskService}`, message.type, body);
    return message.answer.decode(reply.body);
  }
}
