import {
  assertMayChange,
  assertMayUseSession,
  isOwnSession,
  mayView,
} from '../task/requests/permissions.js';
import { transitionOf } from '../task/requests/changes.js';
import { givenWithin } from '../base/within.js';
import { systemClock } from '../base/clock.js';
import { newId } from '../base/ids.js';
import { Later, type Message } from '../client/inbox.js';
import { tellingSender } from '../client/malformed.js';
import type { Client } from '../client/client.js';
import type { Incoming } from '../client/responder.js';
import { leaseMs } from '../delegation/manager/manager.machine.js';
import { delegationMessages } from '../delegation/task/messages.js';
import { readWireTask } from '../delegation/task/schema.js';
import type { DelegatedTask } from '../delegation/task/shapes.js';
import { withStrategy } from '../delegation/manager/strategy.js';
import { ReturnWatch, WorkerPool, workersOf } from '../delegation/manager/worker-pool.js';
import { asBusError } from '../errors/bus-error.js';
import type { Config } from '../config/config.js';
import { stateName } from '../machine/step.js';
import type { Logger } from '../observe/log.js';
import type { Store } from '../store/port.js';
import { TaskBook } from '../task/book/book.js';
import { Conductor } from '../task/station/conductor.js';
import { isCritiqued, ratificationIn } from '../task/station/critique-station.js';
import {
  taskMessages,
  taskService,
  type TaskNumbersAnswer,
  type TaskView,
} from '../task/requests/messages.js';
import { Queues } from '../task/queue/queues.js';
import { ratesOf } from '../task/numbers/numbers.js';
import { recordLimits, type TaskRecord } from '../task/life/record.js';
import { TodoLists } from '../task/todo/todo-lists.js';
import { hasSecrets, publicViewOf, viewOf } from '../task/requests/view.js';
import { portsTo } from './conductor-ports.js';
import { tellRatified } from './critiques.js';
import { GateHandler, type AttentionParts } from './gate-handler.js';
import { GateNotices, type NoticeCounts, type NoticeWay } from './gate-notices.js';
import { OverlayMaker, type MakeOverlays } from './overlay-maker.js';
import { assertPrompt, dismissOrphans, enrolTask, QueueHandler } from './queue-handler.js';
import { serveRows } from './task-rows.js';
import { receiveTasks } from './posted-tasks.js';
import { Returns } from './returns.js';
import { heldBy, saidBy, tellDropped } from './responses.js';
import type { Shards } from '../remote/shards.js';
import type { UpstreamRules } from '../attention/session/upstream.js';
import { AttendHandler } from './attend-handler.js';
import { TodoHandler } from './todo-handler.js';

const listMax = 200;
/** A page ends with the task that exceeds it. */
const pageBytesMax = 512 * 1024;
/** Responses that are taken in at once. */
const messagesAtOnce = 64;
/** An answer must still reach the caller in time. */
const waitMarginMs = 250;
/** Publications are at most once: who is there is looked at this often as well. */
const workersEveryMs = 2_000;

export interface TaskHandlerParts {
  client: Client;
  store: Store;
  shards: Shards;
  log: Logger;
  attention: AttentionParts;
  /** Ways to tell a person of a gate outside of the bus; absent: none. */
  noticeWays?: readonly NoticeWay[];
  /** What is missing in an intent; absent: as the product says. */
  upstream?: UpstreamRules;
  config: Config;
  makeOverlays: MakeOverlays;
}

interface TaskHandlerOwn {
  book: TaskBook;
  queues: Queues;
  pool: WorkerPool;
  overlays: OverlayMaker;
  gates: GateHandler;
  notices: GateNotices;
  attend: AttendHandler;
}

/** Tasks as the bus asks for them, and workers as the bus knows them. */
export class TaskHandler implements AsyncDisposable {
  readonly #parts: TaskHandlerParts;
  readonly #book: TaskBook;
  readonly #queues: Queues;
  readonly #pool: WorkerPool;
  readonly #overlays: OverlayMaker;
  readonly #gates: GateHandler;
  readonly #notices: GateNotices;
  readonly #attend: AttendHandler;
  #looking: Disposable | undefined;
  #watching: Disposable | undefined;
  #returns: Returns | undefined;
  readonly #returning = {
    prompt: new ReturnWatch('prompt'),
    agent: new ReturnWatch('agent'),
  };
  #receiving: AsyncDisposable | undefined;
  #posted: AsyncDisposable | undefined;
  #isClosed = false;

  private constructor(parts: TaskHandlerParts, own: TaskHandlerOwn) {
    this.#parts = parts;
    this.#book = own.book;
    this.#queues = own.queues;
    this.#pool = own.pool;
    this.#overlays = own.overlays;
    this.#gates = own.gates;
    this.#notices = own.notices;
    this.#attend = own.attend;
  }

  /** Throws STORE_UNAVAILABLE. */
  static async open(parts: TaskHandlerParts): Promise<TaskHandler> {
    const { client, log, store, shards, config } = parts;
    const pool = new WorkerPool();
    const overlays = new OverlayMaker({
      roots: async () => [...(await shards.lattices()).keys()],
      log,
      make: parts.makeOverlays,
    });
    const notices = new GateNotices({ store, log, ways: parts.noticeWays ?? [] });
    const gates = new GateHandler({ client, store, log, notices, ...parts.attention });
    const queues = await Queues.open({
      store,
      limits: config.prompt ?? {},
      onTrouble: (queue, error) => log.warn({ queue, code: asBusError(error).code }, 'queue waits'),
    });
    const conductor = new Conductor(pool, {
      manager: client.identity.agent,
      ...portsTo(parts, overlays),
      attention: gates.ports,
      clock: systemClock,
      queues,
    });
    const attend = new AttendHandler({ ...parts, gates });
    const book: TaskBook = await TaskBook.open({
      store,
      clock: systemClock,
      random: Math.random,
      perform: conductor.perform,
      onChanged: (record) => {
        conductor.taskChanged(record);
        gates.noticed(record);
        attend.noticed(record);
      },
      onForgotten: (owners) => queues.forget(owners),
      isCritiqued: (task) => isCritiqued(task, config.critic?.reviewFrom ?? 'off'),
      onTrouble: (task, error) => log.warn({ task, code: asBusError(error).code }, 'task waits'),
    });
    queues.attach(book);
    conductor.attach(book);
    await attend.conduct(book);
    return new TaskHandler(parts, { book, queues, pool, overlays, gates, notices, attend });
  }

  /** For monitors, too. */
  get notices(): NoticeCounts {
    return this.#notices.counts;
  }

  /** For monitors. */
  numbers(): TaskNumbersAnswer {
    const { numbers } = this.#book;
    return {
      states: Object.fromEntries(this.#book.counts()),
      numbers: JSON.stringify(numbers),
      rates: JSON.stringify(ratesOf(numbers)),
      waiting: this.#pool.waiting,
      changes: this.#book.changes,
    };
  }

  /** Tasks that are not finished, and all by state. */
  get book(): TaskBook {
    return this.#book;
  }

  /** Once the client is registered: works on what an earlier process left, and takes more. Begun again after a failure. */
  async begin(): Promise<void> {
    const { client } = this.#parts;
    if (this.#watching === undefined) {
      this.#serveOn(client);
      this.#watching = client.onPresence(({ agent }) => {
        if (agent.record.role !== 'pgc') void this.look();
      });
      await this.look();
      this.#returns = new Returns(client, this.#book, this.#parts.log);
      await this.#returns.noteOwn();
      this.#book.resume();
      for (const record of this.#book.open()) this.#gates.remind(record);
      await this.#queues.resume();
      await dismissOrphans(client, this.#book).catch((error: unknown) => {
        this.#parts.log.warn({ code: asBusError(error).code }, 'agents of no task stay');
      });
      this.#attend.resume();
    }
    const received = tellingSender(client, (message) => this.#received(message));
    this.#receiving ??= await client.receive(received, { messages: messagesAtOnce });
    await client.offer([taskService]);
    this.#posted ??= await receiveTasks(client, this.#delegate);
  }

  #serveOn(client: Client): void {
    const inner = async (id: string): Promise<TaskView> => viewOf(await this.#book.get(id));
    const lists = new TodoLists({ store: this.#parts.store, nowMs: () => systemClock.nowMs() });
    const todos = new TodoHandler({ lists, tasks: { delegate: this.#delegate, show: inner } });
    todos.serveOn(client);
    this.#attend.serveOn(client, { lists, todos });
    this.#gates.serveOn(client, this.#book);
    new QueueHandler({ client, queues: this.#queues }).serveOn(client);
    serveRows(client, this.#book);
    const { delegate, show, list, change, numbers } = taskMessages;
    const { claim, progress, lease } = delegationMessages;
    client.serve({
      [delegate.type]: async ({ body, from }) =>
        delegate.answer.encode(await this.#delegate(delegate.request.decode(body), from)),
      [show.type]: async (incoming) => show.answer.encode(await this.#shown(incoming)),
      [list.type]: async ({ body, from }) => {
        const { limit: wanted, ...query } = list.request.decode(body);
        const limit = Math.min(listMax, wanted > 0 ? wanted : listMax);
        const ids = this.#book.list({ ...query, limit: limit + 1 });
        const tasks: TaskView[] = [];
        const viewed = this.#viewsFor(from);
        for (let bytes = 0; tasks.length < Math.min(limit, ids.length) && bytes < pageBytesMax;) {
          const view = await viewed(await this.#book.get(ids[tasks.length] ?? ''));
          tasks.push(view);
          bytes += show.answer.encode(view).length;
        }
        return list.answer.encode({ tasks, more: ids.length > tasks.length });
      },
      [change.type]: async ({ body, from, signal }) =>
        change.answer.encode(await this.#changed(change.request.decode(body), from, signal)),
      [numbers.type]: () => numbers.answer.encode(this.numbers()),
      [claim.type]: async ({ body, from }) => {
        const { task_id, attempt } = claim.codec.decode(body);
        await heldBy(this.#book, task_id, attempt, from);
        await this.#book.sendAssignment(task_id, attempt, { type: 'worker.claimed' });
        return lease.encode({ lease_ms: leaseMs });
      },
      [progress.type]: async ({ body, from }) => {
        const { task_id, attempt, summary } = progress.codec.decode(body);
        await heldBy(this.#book, task_id, attempt, from);
        const event = { type: 'worker.progressed' } as const;
        await this.#book.sendAssignment(task_id, attempt, event, {
          progress: summary.slice(0, recordLimits.progressChars),
        });
        return lease.encode({ lease_ms: leaseMs });
      },
    });
  }

  readonly #delegate = async (asked: DelegatedTask, parent: string): Promise<TaskView> => {
    const named = asked.id === '' ? { ...asked, id: newId('task') } : asked;
    const task = withStrategy(readWireTask(named));
    if (!isOwnSession(task.session, parent))
      assertMayUseSession(task.session, {
        agent: parent,
        role: await this.#parts.client.roleOf(parent),
      });
    assertPrompt(task);
    return viewOf(
      await this.#queues.delegate(task, parent, (id) => enrolTask(this.#parts.client, id)),
    );
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#looking?.[Symbol.dispose]();
    this.#watching?.[Symbol.dispose]();
    this.#returns?.[Symbol.dispose]();
    // Without a broker nothing can be given back: it ends with the client.
    await Promise.allSettled([
      this.#posted?.[Symbol.asyncDispose](),
      this.#receiving?.[Symbol.asyncDispose](),
      this.#overlays[Symbol.asyncDispose](),
      this.#notices[Symbol.asyncDispose](),
      this.#attend[Symbol.asyncDispose](),
      this.#book[Symbol.asyncDispose](),
    ]);
  }

  async #shown(incoming: Incoming): Promise<TaskView> {
    const { id, wait_ms, revision } = taskMessages.show.request.decode(incoming.body);
    const viewed = this.#viewsFor(incoming.from);
    const first = await this.#book.get(id);
    if (wait_ms === 0 || first.revision > revision) return viewed(first);
    const leftMs = incoming.deadlineMs > 0 ? incoming.deadlineMs - waitMarginMs : wait_ms;
    using late = givenWithin(systemClock, Math.max(1, Math.min(wait_ms, leftMs)), incoming.signal);
    return await viewed(await this.#book.changed(id, revision, late.signal));
  }

  /** Whole for those it concerns; see `isConcerned`. Asks the broker for the role of the caller at most once. */
  #viewsFor(agent: string): (record: TaskRecord) => Promise<TaskView> {
    let known: Promise<string> | undefined;
    return async (record) => {
      if (!hasSecrets(record) || mayView(record, { agent, role: '' })) return viewOf(record);
      const role = await (known ??= this.#parts.client.roleOf(agent));
      return mayView(record, { agent, role }) ? viewOf(record) : publicViewOf(record);
    };
  }

  async #changed(
    request: ReturnType<typeof taskMessages.change.request.decode>,
    agent: string,
    signal: AbortSignal,
  ): Promise<TaskView> {
    const record = await this.#book.get(request.id);
    const role = await this.#parts.client.roleOf(agent);
    assertMayChange(record, request.what, { agent, role });
    const by = await this.#parts.client.personOf(agent);
    const { event, patch } = transitionOf(record, request, by);
    if (request.what === 'regenerate') {
      const overlays = record.task.grounding?.overlay_hints ?? [];
      await this.#overlays.generate(overlays, signal);
    }
    const changed = await this.#book.send(request.id, event, patch);
    const ratified = ratificationIn(record, changed);
    if (ratified !== undefined) {
      const { client, log } = this.#parts;
      const said = { by, text: request.text };
      void tellRatified(client, ratified, said).catch((error: unknown) => {
        log.info(
          { task: changed.id, code: asBusError(error).code },
          'the critic did not get the decision',
        );
      });
    }
    return viewOf(changed);
  }

  async #received(message: Message): Promise<void> {
    const { log } = this.#parts;
    const said = await saidBy(message, this.#book);
    try {
      await said.apply();
    } catch (error) {
      const failure = asBusError(error);
      const { code, retryable } = failure;
      if (retryable) throw new Later(1_000, code);
      // Reported twice, or by a worker that lost it: the known state stays.
      log.info({ task: said.task, from: message.from, code }, 'response dropped');
      await tellDropped(this.#parts.client, message, said, failure);
    }
    // It counts as what it is, and who sent it is told.
    if (said.objection !== undefined) throw said.objection;
  }

  /**
   * A worker that is gone and had not begun will not begin, and one without leases is lost for good. What was begun
   * waits for the lease: its worker may be back at once.
   */
  async #recall(online: ReadonlySet<string>): Promise<void> {
    for (const { id, assignment } of this.#book.open()) {
      if (assignment?.snapshot.status !== 'active' || online.has(assignment.worker)) continue;
      if (stateName(assignment.snapshot) === 'working') continue;
      const event = { type: 'worker.lost', reason: 'WORKER_LOST' } as const;
      await this.#book.sendAssignment(id, assignment.attempt, event).catch(() => undefined);
    }
  }

  /** Who is there now. */
  async look(): Promise<void> {
    this.#looking?.[Symbol.dispose]();
    if (this.#isClosed) return;
    try {
      const { client } = this.#parts;
      const views = await client.agents();
      const mine = client.identity.agent;
      const workers = workersOf(
        views.filter(({ record }) => record.role !== 'pgc' && record.id !== mine),
      );
      const nowMs = systemClock.nowMs();
      // Every watch looks each time: it keeps when it saw one.
      const awaited = (['prompt', 'agent'] as const).filter((each) =>
        this.#returning[each].isAwaited(views, nowMs),
      );
      this.#pool.update(workers, new Set(awaited));
      await this.#recall(new Set(workers.map(({ id }) => id)));
    } catch {
      // Without a broker nothing is assigned.
    }
    this.#lookLater();
  }

  /** Several may look at once: one of them looks again. */
  #lookLater(): void {
    this.#looking?.[Symbol.dispose]();
    if (this.#isClosed) return;
    this.#looking = systemClock.after(workersEveryMs, () => void this.look());
  }
}
