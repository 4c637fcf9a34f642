import { gatesOf, sessionOf } from '../task/life/gates.js';
import { isDecider } from '../task/requests/permissions.js';
import type { Client } from '../client/client.js';
import { taskOfGate } from '../attention/gates.js';
import { Approvals } from '../attention/approvals.js';
import {
  attentionMessages,
  gateOpened,
  gatesTopic,
  type GateJudgement,
  type GatesAnswer,
  type GatesQuery,
} from '../attention/messages.js';
import { signals, type Classification, type Gate } from '../attention/shapes.js';
import { BoundedMap } from '../base/bounded-map.js';
import { systemClock } from '../base/clock.js';
import { givenWithin } from '../base/within.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { DelegatedTask } from '../delegation/task/shapes.js';
import type { Logger } from '../observe/log.js';
import type { Store } from '../store/port.js';
import {
  gateIn,
  isSameJudgement,
  transitionByJudgement,
  recordOfGate,
  withGrantUsed,
  type AttentionPorts,
} from '../task/station/attention-station.js';
import { withNote } from '../task/life/advance.js';
import type { TaskBook } from '../task/book/book.js';
import { withMissed } from '../task/numbers/attention-numbers.js';
import type { TaskRecord } from '../task/life/record.js';
import { Waiters } from '../machine/waiters.js';
import type { GateNotices } from './gate-notices.js';

/** Announced twice, a gate is still one. */
const announcedMax = 10_000;
/** Gates in one answer. */
const gatesMax = 50;
const waitMsMax = 60_000;

export interface AttentionParts {
  /** See AttentionPorts. */
  classify: (task: DelegatedTask) => Promise<Classification | undefined>;
  /** How long a person may take. */
  gateMs: number;
  /** No judgement came: its task ends, or all that is open of its session. */
  onExpiry: 'halt' | 'withdraw';
}

export interface GateHandlerParts extends AttentionParts {
  client: Client;
  notices: GateNotices;
  store: Store;
  log: Logger;
}

/** Asks persons about risk, and hears what they say. */
export class GateHandler {
  readonly #parts: GateHandlerParts;
  readonly #approvals: Approvals;
  readonly #waiters = new Waiters();
  /** Gates that were announced by this process. */
  readonly #announced = new BoundedMap<string, true>(announcedMax);

  constructor(parts: GateHandlerParts) {
    this.#parts = parts;
    this.#approvals = new Approvals({ store: parts.store, nowMs: () => systemClock.nowMs() });
  }

  /** What the station of a task needs. */
  get ports(): AttentionPorts {
    const { classify, gateMs, onExpiry, client } = this.#parts;
    return {
      ...{ classify, gateMs, onExpiry, self: client.identity.agent },
      approved: (session, seen) => this.#approvals.find(session, seen),
    };
  }

  /** After each change of a record. */
  noticed(record: TaskRecord): void {
    for (const gate of gatesOf(record)) if (gate.state === 'open') this.#announce(gate);
  }

  /** What an earlier process could not tell of is told now. */
  remind(record: TaskRecord): void {
    for (const gate of gatesOf(record)) if (gate.state === 'open') this.#parts.notices.tell(gate);
  }

  /** Another session may bear the name of one that is over: what was approved for that is not approved for this. */
  async forget(session: string): Promise<void> {
    await this.#approvals.revoke(session);
  }

  serveOn(client: Client, book: TaskBook): void {
    const { gates, gate, judge, approvals, use, missed: missing } = attentionMessages;
    client.serve({
      [gates.type]: async ({ body, signal }) =>
        gates.answer.encode(await this.#list(book, gates.request.decode(body), signal)),
      [gate.type]: async ({ body }) => {
        const { id } = gate.request.decode(body);
        const record = await recordOfGate(book, id);
        return gate.answer.encode(gateIn({ gates: gatesOf(record) }, id));
      },
      [judge.type]: async ({ body, from }) =>
        judge.answer.encode(await this.#judge(book, judge.request.decode(body), from)),
      [approvals.type]: async ({ body, from }) => {
        const { session, is_revoked } = approvals.request.decode(body);
        if (!is_revoked)
          return approvals.answer.encode({ approvals: await this.#approvals.list(session) });
        await this.#assertPerson(from, 'the approvals');
        return approvals.answer.encode({ approvals: await this.#approvals.revoke(session) });
      },
      [missing.type]: async ({ body, from }) => {
        const said = missing.request.decode(body);
        await this.#assertPerson(from, `task ${said.task}`);
        if (!signals.includes(said.signal))
          throw new BusError('USAGE', { detail: `a signal is one of ${signals.join(', ')}` });
        const by = await client.personOf(from);
        const note = `missed by ${by}: ${said.signal}${said.text === '' ? '' : `, ${said.text}`}`;
        const record = await book.amend(said.task, (now) => ({
          notes: withNote(now, note, systemClock.nowMs()),
        }));
        await book.updateNumbers((numbers) => ({
          ...numbers,
          attention: withMissed(numbers.attention, said.signal, sessionOf(record)),
        }));
        return missing.answer.encode({});
      },
      [use.type]: async ({ body, from }) => {
        const said = use.request.decode(body);
        // Looked at and marked in one step of the task: two at once use it once.
        await book.amend(said.task_id, (now) => ({
          grants: withGrantUsed(now, said, from, systemClock.nowMs()),
        }));
        return use.answer.encode({});
      },
    });
  }

  /** The same word of the same person once more, who did not hear the answer, is answered again. */
  async #judge(book: TaskBook, said: GateJudgement, agent: string): Promise<Gate> {
    const { assignment, id } = await recordOfGate(book, said.id);
    // No agent judges its own work.
    if (assignment?.worker === agent)
      throw new BusError('GATE_NOT_YOURS', { agent, gate: `gate ${said.id}` });
    await this.#assertPerson(agent, `gate ${said.id}`);
    const by = await this.#parts.client.personOf(agent);
    const after = await book
      .decide(id, said.judgement, (record) =>
        transitionByJudgement(record, said, by, systemClock.nowMs()),
      )
      .catch(async (error: unknown) => {
        const now = await book.get(id);
        if (asBusError(error).code === 'GATE_JUDGED' && isSameJudgement(now, said, by)) return now;
        throw error;
      });
    const { log } = this.#parts;
    log.info({ gate: said.id, task: id, judgement: said.judgement, by, agent }, 'gate judged');
    const gate = gateIn({ gates: gatesOf(after) }, said.id);
    if (said.judgement === 'approve')
      await this.#approvals.remember(gate.session, gate.classification, by);
    return gate;
  }

  async #list(book: TaskBook, query: GatesQuery, signal: AbortSignal): Promise<GatesAnswer> {
    const limit = Math.min(gatesMax, query.limit > 0 ? query.limit : gatesMax);
    const ms = Math.max(1, Math.min(waitMsMax, query.wait_ms));
    using late = givenWithin(systemClock, ms, signal);
    const over = late.signal;
    for (;;) {
      const gates = await this.#found(book, query, limit + 1);
      if (gates.length > 0 || query.wait_ms === 0 || over.aborted || book.isClosed)
        return { gates: gates.slice(0, limit), more: gates.length > limit };
      await this.#waiters.wait('', over);
    }
  }

  /** In the order in which their tasks were delegated, behind `after`. */
  async #found(
    book: TaskBook,
    { session, is_all, after }: GatesQuery,
    limit: number,
  ): Promise<Gate[]> {
    const gates: Gate[] = [];
    const from = after === '' ? '' : (taskOfGate(after) ?? '');
    const add = (record: TaskRecord): void => {
      if (session !== '' && sessionOf(record) !== session) return;
      for (const gate of gatesOf(record)) {
        const isBehind = record.id !== from || numberOf(gate.id) > numberOf(after);
        if (isBehind && (is_all || gate.state === 'open')) gates.push(gate);
      }
    };
    if (from !== '' && book.stateOf(from) !== undefined) add(await book.get(from));
    const states = is_all ? [] : ['attending'];
    for (let last = from; gates.length < limit;) {
      const ids = book.list({ states, parent: '', after: last, limit: gatesMax });
      for (const id of ids) if (gates.length < limit) add(await book.get(id));
      last = ids.at(-1) ?? '';
      if (ids.length < gatesMax) break;
    }
    return gates;
  }

  async #assertPerson(agent: string, what: string): Promise<void> {
    if (!isDecider(await this.#parts.client.roleOf(agent)))
      throw new BusError('GATE_NOT_YOURS', { agent, gate: what });
  }

  #announce(gate: Gate): void {
    if (this.#announced.has(gate.id)) return;
    this.#announced.set(gate.id, true);
    this.#waiters.wake('');
    const { client, log, notices } = this.#parts;
    const { task, id } = gate;
    notices.tell(gate);
    // What would be run may hold a password: it stands in the record, not in the log.
    log.warn({ gate: id, task }, 'a person is asked');
    client
      .publish(gatesTopic, gateOpened.type, gateOpened.codec.encode(gate))
      // A lost notice does no harm: open gates are listed.
      .catch((error: unknown) =>
        log.info({ code: asBusError(error).code, gate: id }, 'notice not sent'),
      );
  }
}

function numberOf(gate: string): number {
  return Number(/\d+$/.exec(gate)?.[0] ?? 0);
}
