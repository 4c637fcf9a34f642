import { attendCapability, type Classification } from '../attention/shapes.js';
import type { Approval } from '../attention/approvals.js';
import { isGated } from '../attention/gates.js';
import { materialised } from '../attention/session/materialise.js';
import { shutdownBody, shutdownType } from '../attention/session/messages.js';
import type { SessionTold } from '../attention/session/record.js';
import type { SessionRecord } from '../attention/session/session-record.js';
import {
  sessionLimits,
  sessionOfContext,
  type Draft,
  type Member,
  type Row,
} from '../attention/session/shapes.js';
import { membersOf } from '../attention/session/team.js';
import { scanned, type UpstreamRules } from '../attention/session/upstream.js';
import type { Client } from '../client/client.js';
import type { DelegatedTask } from '../delegation/task/shapes.js';
import { withStrategy } from '../delegation/manager/strategy.js';
import { asBusError } from '../errors/bus-error.js';
import {
  assessed,
  checkpointOf,
  draftOf,
  endStep,
  entryOf,
  stepAfterTaskLoss,
  isOpenEntry,
  stepAfterTaskChange,
  newRow,
  currentRows,
  taskFor,
  taskIdOf,
  unclassified,
  workerFor,
} from '../task/station/session-tasks.js';
import type { TaskBook } from '../task/book/book.js';
import type { TaskRecord } from '../task/life/record.js';
import type { SessionBook } from '../task/book/session-book.js';
import type { Todo } from '../task/todo/sigma-task-update.js';
import type { TodoLists } from '../task/todo/todo-lists.js';
import type { TodoHandler } from './todo-handler.js';

export interface AttendEffectsParts {
  client: Client;
  rules: UpstreamRules;
  classify: (task: DelegatedTask) => Promise<Classification | undefined>;
  approved: (session: string, seen: Classification) => Promise<Approval | undefined>;
  lists: TodoLists;
  todos: TodoHandler;
  tasks: TaskBook;
  sessions: SessionBook;
  /** Cancels all that is open of a session. */
  withdraw: (session: string, reason: string) => Promise<void>;
}

/** What the states of a session ask for. Each may be done twice, and changes nothing the second time. */
export class AttendEffects {
  readonly #parts: AttendEffectsParts;

  constructor(parts: AttendEffectsParts) {
    this.#parts = parts;
  }

  /** Sub-A0: what is missing, as far as the caller or a rule says so. */
  async scan({ asked, resolved, brought, snapshot }: SessionRecord): Promise<SessionTold> {
    const tasks = merged(await this.#entries(asked.context), asked.tasks);
    const what = { ...asked, tasks, brought };
    const deficits = scanned(what, asked.deficits, new Set(resolved), this.#parts.rules);
    const isClear = deficits.length === 0;
    const { rounds, roundsMax } = snapshot.context;
    const left = deficits.map(({ protocol }) => protocol).join(', ');
    const isSpent = !isClear && rounds >= roundsMax;
    return {
      event: { type: 'upstream.scanned', isClear },
      patch: { deficits, ...(isSpent && { note: `${rounds} rounds are over, with ${left} left` }) },
    };
  }

  /** Sub-A: by which route tasks come to be. */
  async find({ asked, brought, snapshot }: SessionRecord): Promise<SessionTold> {
    const tasks = merged(await this.#entries(asked.context), asked.tasks);
    const { prior, args } = asked;
    // What was brought in this session is no prior protocol: it goes with the tasks as their context.
    const isFired = snapshot.context.isFired || brought.length > 0;
    const { route, ...made } = materialised({ tasks, prior, args, isFired });
    const isEmpty = made.drafts.length === 0 && route !== 'conflict';
    return { event: { type: 'tasks.found', route, isEmpty }, patch: { route, ...made } };
  }

  /** The list holds what is to be done from here on. */
  async adopt(record: SessionRecord): Promise<SessionTold> {
    const { asked, drafts, found } = record;
    const wanted = new Set(drafts.map(({ id }) => id));
    const replaced = new Set(found.map(({ id }) => id).filter((id) => !wanted.has(id)));
    const named: string[] = [];
    const list = await this.#parts.lists.change(sessionOfContext(record.id), (before) => {
      const entries = new Map(before.map((each) => [each.id, each]));
      for (const [id, { status }] of entries)
        if (replaced.has(id) && status !== 'delegated') entries.delete(id);
      for (const draft of drafts) {
        const id = freeId(entries, draft);
        entries.set(id, entryOf({ ...draft, id }, entries.get(id)));
        named.push(id);
      }
      return [...entries.values()];
    });
    const rows = list.filter(({ id }) => named.includes(id)).map(newRow);
    const isEmpty = rows.length === 0;
    return {
      event: { type: 'tasks.adopted', isEmpty, hasTeam: asked.team !== null },
      patch: {
        rows: rows.slice(0, sessionLimits.tasks),
        absent: await this.#absent(asked.team?.members ?? []),
      },
    };
  }

  /** Phase 0, of every task: also of one that an earlier session has begun. */
  async classify(record: SessionRecord): Promise<SessionTold> {
    const entries = await this.#byId(record.id);
    const rows: Row[] = [];
    for (const row of record.rows) rows.push(await this.#assessed(record, row, entries));
    const checkpoint = checkpointOf(rows);
    return {
      event: { type: 'tasks.classified', checkpoint },
      patch: {
        ...{ rows, checkpoint: checkpoint === 'none' ? '' : checkpoint },
        absent: await this.#absent(membersOf(record.team)),
      },
    };
  }

  async #assessed(record: SessionRecord, row: Row, entries: Entries): Promise<Row> {
    const todo = entries.get(row.entry);
    if (todo === undefined) return row;
    const { classify, approved } = this.#parts;
    try {
      const task = taskFor(record, todo, { to: '', taskOfEntry: () => undefined });
      const seen = await classify(task);
      const isApproved =
        seen !== undefined &&
        isGated(seen) &&
        (await approved(sessionOfContext(record.id), seen)) !== undefined;
      return assessed(row, seen, isApproved);
    } catch (error) {
      const { code, message, retryable } = asBusError(error);
      if (retryable) throw error;
      return { ...row, risk: 'Elevated', findings: [unclassified(`${code}: ${message}`)] };
    }
  }

  /** All of them, each behind those that it depends on. */
  async delegate(record: SessionRecord): Promise<SessionTold> {
    const entries = await this.#byId(record.id);
    const attending = await this.#attending(record);
    const serving = await this.#serving(membersOf(record.team));
    const rows = new Map(record.rows.map((row) => [row.entry, row]));
    for (const row of inOrder(record.rows, entries)) {
      const todo = entries.get(row.entry);
      // Begun by an earlier process, or in an earlier session.
      const known = row.task || begunAs(entries, row);
      const its =
        known !== ''
          ? { ...row, task: known }
          : await this.#begun(record, row, todo, { rows, entries, attending, serving });
      rows.set(row.entry, its);
    }
    await this.#parts.lists.change(sessionOfContext(record.id), (all) =>
      all.map((todo) => handedOver(todo, rows.get(todo.id), record)),
    );
    return { event: { type: 'tasks.delegated' }, patch: { rows: [...rows.values()] } };
  }

  async #begun(
    record: SessionRecord,
    row: Row,
    todo: Todo | undefined,
    known: {
      rows: ReadonlyMap<string, Row>;
      entries: Entries;
      attending: ReadonlySet<string>;
      serving: ReadonlySet<string>;
    },
  ): Promise<Row> {
    if (todo === undefined) return { ...row, outcome: 'removed', is_over: true };
    const { rows, entries, attending, serving } = known;
    const wanted = workerFor(record, row, (agent) => attending.has(agent));
    const to = serving.has(wanted) ? '' : wanted;
    const taskOfEntry = (entry: string): string | null | undefined => {
      if (entries.get(entry)?.status === 'completed') return null;
      return rows.get(entry)?.task || undefined;
    };
    const refused = (why: string): Row => ({ ...row, outcome: 'refused', why, is_over: true });
    // A circle, or it was refused itself.
    const missing = todo.work?.depends_on?.find(
      (each) => rows.has(each) && taskOfEntry(each) === undefined,
    );
    if (missing !== undefined)
      return refused(`it depends on ${missing}, which could not be begun before it`);
    try {
      const task = withStrategy(taskFor(record, todo, { to, taskOfEntry }));
      await this.#parts.tasks.begin(task, record.owner);
      return { ...row, task: task.id, to };
    } catch (error) {
      const { code, message, retryable } = asBusError(error);
      if (retryable || code === 'TASKS_FULL') throw error;
      // Begun before a crash, with another worker.
      if (code === 'TASK_EXISTS') return { ...row, task: taskIdOf(record, todo), to };
      return refused(message);
    }
  }

  /** Looks at every task once; later changes are events. */
  async follow(record: SessionRecord, rows = record.rows): Promise<void> {
    const { sessions, tasks } = this.#parts;
    const looping = (told: (now: SessionRecord) => SessionTold | undefined): Promise<unknown> =>
      sessions.decide(record.id, (now) => (isLooping(now) ? told(now) : undefined));
    for (const { task } of rows) {
      if (task === '') continue;
      const found = await unlessUnknown(tasks.get(task));
      await looping((now) =>
        found === undefined ? stepAfterTaskLoss(now, task) : stepAfterTaskChange(now, found),
      );
    }
    await looping(endStep);
  }

  /** Ends what it has begun, and asks its team to end. */
  async withdraw(record: SessionRecord, reason: string): Promise<SessionTold> {
    const { withdraw, client, tasks } = this.#parts;
    const session = sessionOfContext(record.id);
    await withdraw(session, reason);
    const members = await this.#workingOf(membersOf(record.team ?? teamOf(record)));
    for (const { name } of members) {
      const said = { session, team: record.asked.team?.name ?? '', reason };
      const body = shutdownBody(said);
      const id = `${session}-${record.run}-shutdown-${name}`;
      await client.post(`agent:${name}`, shutdownType, body, { id }).catch(unlessGone);
    }
    // What was being delegated meanwhile stands in the list alone.
    const entries = await this.#byId(record.id);
    const rows = record.rows.map((row) => ({ ...row, task: row.task || begunAs(entries, row) }));
    const now = new Map<string, TaskRecord>();
    for (const { task } of rows) {
      const found = task === '' ? undefined : await unlessUnknown(tasks.get(task));
      if (found !== undefined) now.set(task, found);
    }
    return {
      event: { type: 'withdrawal.done' },
      patch: { rows: currentRows({ ...record, rows }, now) },
    };
  }

  /** The list learns what became of its entries. */
  async settle({ id, owner }: SessionRecord): Promise<void> {
    await this.#parts.todos.update(sessionOfContext(id), Buffer.alloc(0), owner);
  }

  async #entries(context: string): Promise<Draft[]> {
    const { todos } = await this.#parts.todos.update(
      ...([sessionOfContext(context), Buffer.alloc(0), ''] as const),
    );
    return todos.filter(isOpenEntry).map(draftOf);
  }

  async #byId(context: string): Promise<Entries> {
    const all = await this.#parts.lists.read(sessionOfContext(context));
    return new Map(all.map((each) => [each.id, each]));
  }

  /** Members that answer questions or lead take no work by mail: there is nothing that they could stop. */
  async #workingOf(members: readonly Member[]): Promise<Member[]> {
    const serving = await this.#serving(members);
    return members.filter(({ name }) => !serving.has(name));
  }

  /** Names and aliases of agents that take no tasks; none is asked for where there is no team. */
  async #serving(members: readonly Member[]): Promise<ReadonlySet<string>> {
    if (members.length === 0) return new Set();
    const views = await this.#parts.client.agents();
    return new Set(
      views.flatMap(({ record: { id, alias, role } }) =>
        servingRoles.has(role) ? [id, alias] : [],
      ),
    );
  }

  /** Members that can be given nothing, with the reason. */
  async #absent(members: readonly Member[]): Promise<Record<string, string>> {
    if (members.length === 0) return {};
    const serving = await this.#serving(members);
    const online = new Set(
      (await this.#parts.client.agents()).flatMap(({ state, record: { id, alias } }) =>
        state === 'online' ? [id, alias] : [],
      ),
    );
    return Object.fromEntries(
      members.flatMap(({ name }) => {
        if (serving.has(name)) return [[name, 'takes no tasks']];
        return online.has(name) ? [] : [[name, 'is not there']];
      }),
    );
  }

  /** By name and by alias. */
  async #attending({ team, rows }: SessionRecord): Promise<ReadonlySet<string>> {
    if (membersOf(team).length === 0 && rows.every(({ role }) => role === '')) return new Set();
    const views = await this.#parts.client.agents();
    return new Set(
      views.flatMap(({ record: { id, alias, capabilities } }) =>
        capabilities.includes(attendCapability) ? [id, alias] : [],
      ),
    );
  }
}

/** Roles of the product that take no tasks. */
const servingRoles: ReadonlySet<string> = new Set(['manager', 'critic', 'pgc']);

type Entries = ReadonlyMap<string, Todo>;

const isLooping = ({ snapshot }: SessionRecord): boolean => snapshot.matches({ open: 'looping' });

/** Under which task an entry was begun; empty: it was not. */
function begunAs(entries: Entries, { entry }: Row): string {
  const todo = entries.get(entry);
  return todo?.status === 'delegated' ? todo.task_id : '';
}

function teamOf({ asked: { team } }: SessionRecord): SessionRecord['team'] {
  return team === null ? null : { kind: 'retained', team };
}

/** Tasks that the caller gave, over those of the list of the same name. */
function merged(entries: readonly Draft[], given: readonly Draft[]): Draft[] {
  const ids = new Set(given.map(({ id }) => id));
  return [...entries.filter(({ id }) => !ids.has(id)), ...given].slice(0, sessionLimits.tasks);
}

/** What is completed under this name, and said something else, stays what it is. */
function freeId(entries: ReadonlyMap<string, Todo>, { id, document }: Draft): string {
  let free = id;
  for (let n = 2; ; n += 1) {
    const taken = entries.get(free);
    if (taken?.status !== 'completed' || taken.content === document.task) return free;
    free = `${id}-${n}`;
  }
}

function handedOver(todo: Todo, row: Row | undefined, { owner }: SessionRecord): Todo {
  if (row === undefined || row.task === '' || todo.status !== 'pending') return todo;
  return {
    ...todo,
    ...{ status: 'delegated', task_id: row.task, parent: owner, is_handed_over: true },
    delegations: todo.delegations + 1,
    result_summary: '',
  };
}

/** Each behind those of its list that it depends on; in a circle as they come. */
function inOrder(rows: readonly Row[], entries: Entries): Row[] {
  const left = new Map(rows.map((row) => [row.entry, row]));
  const ordered: Row[] = [];
  while (left.size > 0) {
    const ready = [...left.values()].filter(({ entry }) =>
      (entries.get(entry)?.work?.depends_on ?? []).every((each) => !left.has(each)),
    );
    for (const row of ready.length > 0 ? ready : [...left.values()]) {
      left.delete(row.entry);
      ordered.push(row);
    }
  }
  return ordered;
}

async function unlessUnknown(found: Promise<TaskRecord>): Promise<TaskRecord | undefined> {
  try {
    return await found;
  } catch (error) {
    if (asBusError(error).code === 'NO_SUCH_TASK') return undefined;
    throw error;
  }
}

/** No member of the team is there. */
function unlessGone(error: unknown): void {
  if (asBusError(error).retryable) throw error;
}
