import { BoundedMap } from '../base/bounded-map.js';
import { readShutdown, shutdownType } from '../attention/session/messages.js';
import { Later, type Message } from '../client/inbox.js';
import type { Client } from '../client/client.js';
import { malformedType, tellingSender } from '../client/malformed.js';
import { idsOf, objectionTo } from '../delegation/task/assignment.js';
import { delegationMessages } from '../delegation/task/messages.js';
import { workClassOf, type WorkClass } from '../delegation/manager/worker-pool.js';
import { malformed } from '../delegation/worker/task-response.js';
import type { Assignment } from '../delegation/task/shapes.js';
import { BusError } from '../errors/bus-error.js';
import type { Logger } from '../observe/log.js';
import { Conversation, newWork, type ConversationParts } from './conversation.js';
import { postResponse } from './manager-link.js';

/** Accepted assignments, with those that wait for a slot; the broker keeps any more. */
const assignmentsMax = 256;
const fullAgainMs = 5_000;
const leftMs = 1_000;
const endedMax = 4_096;
/** What is received at once; each is on disk before it is settled. */
const receivedAtOnce = 16;

export interface ExecutorSlots {
  /** Tasks at once. */
  work: number;
  /** Prompts at once, of each depth. */
  prompts: number;
}

/** Takes assignments out of its mailbox, works on as many as it has slots, and drops what is withdrawn. */
export class Executor {
  readonly #parts: Omit<ConversationParts, 'onIdle' | 'onEnd'>;
  readonly #slots: ExecutorSlots;
  readonly #client: Client;
  readonly #log: Logger;
  /** By task and attempt, in the order of coming. */
  readonly #inHand = new Map<string, Conversation>();
  readonly #busy = new Set<Conversation>();
  /** The last attempts that are over: one whose settling was lost is delivered again, and must not be done again. */
  readonly #ended = new BoundedMap<string, true>(endedMax);
  #isLeaving = false;

  constructor(parts: Omit<ConversationParts, 'onIdle' | 'onEnd'>, slots: ExecutorSlots) {
    this.#parts = parts;
    this.#slots = slots;
    this.#client = parts.client;
    this.#log = parts.log;
  }

  /** Goes on with what is on disk; before anything new is received. */
  async resume(): Promise<void> {
    for (const kept of await this.#parts.book.all()) {
      if (this.#isLeaving) return;
      const { task, attempt } = kept.assignment;
      this.#log.info({ task: task.id, attempt }, 'going on after a restart');
      const conversation = this.#add(keyOf(kept.assignment), (its) => new Conversation(its, kept));
      await conversation.tell({ type: 'executor.restarted' });
    }
    this.#fill();
  }

  receive(): Promise<AsyncDisposable> {
    const received = tellingSender(this.#client, (message) => this.#on(message));
    return this.#client.receive(received, { messages: receivedAtOnce });
  }

  /** Its runners are stopped; what they were at stays on disk. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await Promise.all([...this.#inHand.values()].map((each) => each.leave()));
  }

  async #on(message: Message): Promise<void> {
    if (this.#isLeaving) throw new Later(leftMs, 'the executor is leaving');
    switch (message.type) {
      case delegationMessages.assign.type:
        return this.#assigned(message);
      case delegationMessages.withdraw.type:
        return this.#withdrawn(message);
      case malformedType:
        return this.#log.warn({ from: message.from, id: message.id }, 'a message was not read');
      case shutdownType:
        return this.#sessionEnded(message);
      default:
        throw new BusError('UNKNOWN_TYPE', {
          agent: this.#client.identity.agent,
          type: message.type,
        });
    }
  }

  async #assigned(message: Message): Promise<void> {
    const decoded = delegationMessages.assign.codec.decode(message.body);
    const ids = idsOf(decoded);
    if (ids === undefined)
      throw new BusError('MALFORMED_PAYLOAD', { detail: 'it names no task and attempt' });
    const manager = decoded.manager === '' ? message.from : decoded.manager;
    const objection = objectionTo(decoded);
    if (objection !== '') {
      this.#log.warn({ task: ids.task, objection }, 'a malformed assignment');
      return postResponse(this.#client, manager, malformed(ids.task, ids.attempt, objection));
    }
    await this.#take({ ...decoded, manager }, message.from);
  }

  async #take(assignment: Assignment, from: string): Promise<void> {
    const { task, attempt } = assignment;
    if (this.#ended.has(deliveryOf(assignment))) return;
    const others = [...this.#inHand.values()].filter((each) => each.assignment.task.id === task.id);
    // Delivered twice, or overtaken by a later attempt.
    if (others.some((each) => each.assignment.attempt >= attempt)) return;
    if (this.#inHand.size >= assignmentsMax) throw new Later(fullAgainMs, 'the executor is full');
    const kept = newWork(assignment);
    const { book } = this.#parts;
    await book.turn(kept, () => book.write(kept));
    this.#log.info({ task: task.id, attempt, runner: task.runner }, 'assigned');
    for (const each of others)
      if (each.assignment.manager === from) await each.tell({ type: 'attempt.over' });
    // It is on disk: the next process begins it.
    if (this.#isLeaving) return;
    this.#add(keyOf(assignment), (its) => new Conversation(its, kept));
    this.#fill();
  }

  /** Only its manager can withdraw it. */
  async #withdrawn({ body, from }: Message): Promise<void> {
    const { task_id, attempt, reason } = delegationMessages.withdraw.codec.decode(body);
    this.#log.info({ task: task_id, attempt, reason }, 'withdrawn');
    for (const each of this.#inHand.values()) {
      const { task, attempt: its, manager } = each.assignment;
      if (task.id === task_id && its <= attempt && manager === from)
        await each.tell({ type: 'assignment.withdrawn' });
    }
  }

  /** The team of a session is told to stop: what its manager gave out for it ends here. */
  async #sessionEnded({ body, from }: Message): Promise<void> {
    const { session, reason } = readShutdown(body);
    this.#log.info({ session, reason }, 'the session ends');
    for (const each of this.#inHand.values()) {
      const { task, manager } = each.assignment;
      if (task.session === session && manager === from)
        await each.tell({ type: 'assignment.withdrawn' });
    }
  }

  #add(key: string, make: (parts: ConversationParts) => Conversation): Conversation {
    const conversation: Conversation = make({
      ...this.#parts,
      onIdle: () => this.#release(conversation),
      onEnd: () => {
        this.#inHand.delete(key);
        this.#ended.set(deliveryOf(conversation.assignment), true);
        this.#release(conversation);
      },
    });
    this.#inHand.set(key, conversation);
    return conversation;
  }

  #release(conversation: Conversation): void {
    if (this.#busy.delete(conversation)) this.#fill();
  }

  /** Gives free slots to those who wait for one, in the order of coming within their class. */
  #fill(): void {
    const taken = new Map<WorkClass, number>();
    const count = (each: Conversation): number => taken.get(classOf(each.assignment)) ?? 0;
    const take = (each: Conversation): void =>
      void taken.set(classOf(each.assignment), count(each) + 1);
    for (const each of this.#busy) take(each);
    for (const each of this.#inHand.values()) {
      if (this.#isLeaving) return;
      if (each.state !== 'received' || this.#busy.has(each)) continue;
      const { work, prompts } = this.#slots;
      if (count(each) >= (classOf(each.assignment) === 'work' ? work : prompts)) continue;
      take(each);
      this.#busy.add(each);
      void each.tell({ type: 'slot.given' });
    }
  }
}

function classOf({ task, depth }: Assignment): WorkClass {
  return workClassOf(task.runner, depth);
}

function keyOf({ task, attempt }: Assignment): string {
  return `${task.id}/${attempt}`;
}

/** Also of a task that bears the id of one that was forgotten long ago. */
function deliveryOf(assignment: Assignment): string {
  return `${keyOf(assignment)}/${assignment.until_ms}`;
}
