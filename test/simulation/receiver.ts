import { Later, type Message } from '../../src/client/inbox.js';
import { BusError } from '../../src/errors/bus-error.js';
import { Violation, type Intent } from './ledger.js';
import { Node, type NodeParts } from './node.js';

export interface Receiving {
  services: string[];
  messages: number;
  bytes: number;
  handlerMs: number;
}

/** Handles what comes into its mailbox and those of its services; a hang ends it only by its deadline. */
export class Receiver extends Node {
  readonly #receiving: Receiving;

  constructor(agent: string, receiving: Receiving, parts: NodeParts) {
    super(agent, 'receiver', parts);
    this.#receiving = receiving;
  }

  protected override async work(): Promise<void> {
    const { messages, bytes, handlerMs, services } = this.#receiving;
    const options = { messages, bytes, handlerMs };
    const handle = this.#handlerOf(this.processName);
    await this.persist('receive', () => this.client.receive(handle, options));
    if (services.length === 0) return;
    await this.persist('offer', () => this.client.offer(services));
    for (const service of services) {
      const mailbox = `service:${service}`;
      await this.persist('receive', () => this.client.receive(handle, { ...options, mailbox }));
    }
  }

  #handlerOf(name: string): (message: Message) => Promise<void> {
    const { process, parts } = this;
    /** Handlers of this process, by lane. */
    const running = new Map<string, Message>();
    return async (message) => {
      // Its process is dead: what it would do is not done.
      if (!process.isAlive) return new Promise(() => undefined);
      let intent: Intent;
      try {
        intent = parts.ledger.delivered(this.agent, message, message.attempt);
      } catch (error) {
        parts.fail(error);
        throw error;
      }
      parts.note(name, `runs ${intent.id} (${message.seq}) attempt ${message.attempt}`);
      if (parts.ledger.hasProcessed(this.agent, intent)) return;
      const lane = `${message.mailbox} ${message.from} ${message.orderKey}`;
      const other = running.get(lane);
      if (other !== undefined && !other.signal.aborted)
        parts.fail(new Violation(`${message.id} runs beside ${other.id} of its lane`));
      running.set(lane, message);
      try {
        await this.#do(message, intent);
      } finally {
        if (running.get(lane) === message) running.delete(lane);
      }
      if (message.signal.aborted) throw new BusError('CANCELLED');
      if (intent.wantsReply && !(await this.#answer(message, intent))) return;
      parts.note(name, `has done ${intent.id}`);
      try {
        parts.ledger.processed(this.agent, intent, message.seq, parts.isDead(message.seq));
      } catch (error) {
        parts.fail(error);
      }
    };
  }

  async #do(message: Message, intent: Intent): Promise<void> {
    const { process } = this;
    const { script } = intent;
    intent.runs += 1;
    switch (script.kind) {
      case 'ok':
        return process.pause(script.workMs);
      case 'flaky':
        await process.pause(script.workMs);
        if (intent.runs <= script.failures) throw new Error('not yet');
        return;
      case 'later':
        if (intent.runs <= script.times) throw new Later(script.delayMs);
        return;
      case 'hang':
        if (intent.runs > script.times) return;
        return new Promise((_, reject) => {
          message.signal.addEventListener('abort', () => reject(new BusError('CANCELLED')));
        });
      case 'poison':
        throw new Error('poison');
      case 'terminal':
        throw new BusError('MALFORMED_PAYLOAD', { detail: 'never' });
    }
  }

  async #answer(message: Message, intent: Intent): Promise<boolean> {
    await this.counted(this.client.reply(message, 'done', Buffer.from(`re ${intent.id}`)));
    if (message.signal.aborted) throw new BusError('CANCELLED');
    return true;
  }
}

/** Takes one message after the other, out of turn now and then, and settles each. */
export class Taker extends Node {
  constructor(agent: string, parts: NodeParts) {
    super(agent, 'receiver', parts);
  }

  protected override async work(): Promise<void> {
    const { process, client, parts, random } = this;
    while (process.isAlive) {
      try {
        const lifo = random.chance(0.2);
        const deadlineMs = random.int(0, 2_000);
        const abort = new AbortController();
        // Now and then it is given up before its time, when a message may be on its way already.
        if (random.chance(0.2))
          void process.pause(random.between(0, deadlineMs)).then(() => abort.abort());
        const { signal } = abort;
        const { view, body } = await this.counted(client.take({ deadlineMs, lifo, signal }));
        const intent = parts.ledger.delivered(this.agent, { ...view, body }, undefined);
        intent.isTaken = true;
        parts.note(process.name, `took ${intent.id} (${view.seq})`);
        await process.pause(random.between(0, 50));
        if (!parts.ledger.hasProcessed(this.agent, intent)) {
          if (intent.wantsReply) await this.#answer(intent, view.seq);
          parts.ledger.processed(this.agent, intent, view.seq, parts.isDead(view.seq));
        }
        client.settle([view.seq]);
      } catch (error) {
        const isGivenUp = error instanceof BusError && error.code === 'CANCELLED';
        if (!isGivenUp && !this.isPassing(error)) throw error;
        await process.pause(random.between(10, 200));
      }
    }
  }

  async #answer(intent: Intent, seq: number): Promise<void> {
    const to = `reply:${intent.from}`;
    const options = { id: `re-${seq}-0`, correlation: intent.id };
    await this.counted(this.client.post(to, 'done', Buffer.from(`re ${intent.id}`), options));
  }
}

/** Looks after dead letters: now and then it has them tried again. */
export class Operator extends Node {
  isPurging = false;
  /** The world is looked at: nothing may change. */
  isResting = false;
  purged = -1;
  readonly #roomMax: number;

  /** `roomMax`: dead letters that a mailbox may keep when the world heals. */
  constructor(agent: string, roomMax: number, parts: NodeParts) {
    super(agent, 'operator', parts);
    this.#roomMax = roomMax;
  }

  protected override async work(): Promise<void> {
    const { process, random } = this;
    while (process.isAlive) {
      await process.pause(random.between(500, 6_000));
      try {
        if (this.isPurging) await this.#purge();
        else if (this.isResting) continue;
        else if (this.parts.isHealing()) await this.#makeRoom();
        else if (random.chance(0.3)) await this.#requeue();
      } catch (error) {
        const isGone = error instanceof BusError && error.code === 'NO_SUCH_MESSAGE';
        if (!isGone && !this.isPassing(error)) throw error;
      }
    }
  }

  async #requeue(): Promise<void> {
    const { messages } = await this.counted(this.client.mail.dead({ mailbox: '*' }));
    if (messages.length === 0) return;
    const chosen = messages.filter(() => this.random.chance(0.5)).slice(0, 3);
    for (const { from, id } of chosen) {
      const intent = this.parts.ledger.intents.get(`${from} ${id}`);
      if (intent !== undefined) intent.isRequeued = true;
    }
    const seqs = chosen.map(({ seq }) => seq);
    this.parts.note(this.process.name, `requeues ${seqs.join(' ')}`);
    if (seqs.length > 0) await this.counted(this.client.mail.requeue('*', seqs));
  }

  /** Dead letters count as stored: a mailbox that is full of them takes nothing. */
  async #makeRoom(): Promise<void> {
    const boxes = await this.counted(this.client.mail.mailboxes());
    for (const { mailbox, dead } of boxes) {
      if (dead < this.#roomMax) continue;
      const { messages } = await this.counted(this.client.mail.dead({ mailbox }));
      for (const view of messages) this.parts.ledger.purging(view);
      this.parts.note(this.process.name, `purges ${mailbox}`);
      const seqs = messages.map(({ seq }) => seq);
      await this.counted(this.client.mail.purgeDead(mailbox, seqs));
    }
  }

  async #purge(): Promise<void> {
    this.purged = await this.counted(this.client.mail.purgeDead('*'));
  }
}
