import { asBusError, BusError } from '../../src/errors/bus-error.js';
import { Violation, type Intent, type Script } from './ledger.js';
import { Node, type NodeParts } from './node.js';

export interface Load {
  /** Where messages go, `agent:…` and `service:…`. */
  targets: string[];
  orderKeys: number;
  perSenderMax: number;
  pauseMsMax: number;
  failingShare: number;
  delayShare: number;
  ttlShare: number;
  replyShare: number;
  cancelShare: number;
}

/** Posts what it has written into its log until it knows the outcome, and collects the replies it wants. */
export class Sender extends Node {
  readonly log: Intent[] = [];
  readonly #load: Load;

  constructor(agent: string, load: Load, parts: NodeParts) {
    super(agent, 'sender', parts);
    this.#load = load;
  }

  /** Of everything in its log the outcome is known; replies are in, or never come. */
  isDone(isDead: (intent: Intent) => boolean): boolean {
    return this.log.every(
      (each) =>
        each.seq > 0 && (!each.wantsReply || each.isCollected || each.isCancelled || isDead(each)),
    );
  }

  protected override work(): Promise<void> {
    // What an earlier process left unknown comes first, in its order and under its ids.
    for (const intent of this.log) {
      if (intent.seq === 0) this.background(this.#post(intent));
      else if (intent.wantsReply && !intent.isCollected) this.background(this.#collect(intent));
    }
    this.background(this.#clear());
    return this.#produce();
  }

  async #produce(): Promise<void> {
    const { process, random } = this;
    while (!this.parts.isOpen()) await process.pause(50);
    while (process.isAlive && this.log.length < this.#load.perSenderMax) {
      await process.pause(random.between(0, this.#load.pauseMsMax));
      if (this.parts.isHealing()) return;
      const burst = random.chance(0.2) ? random.int(2, 12) : 1;
      for (let count = 0; count < burst; count += 1) {
        const intent = this.#intend();
        this.log.push(intent);
        this.parts.ledger.add(intent);
        this.background(this.#post(intent));
      }
    }
  }

  #intend(): Intent {
    const { random } = this;
    const load = this.#load;
    const id = `${this.agent}-${this.log.length + 1}`;
    const to = random.pick(load.targets);
    const size = random.chance(0.05) ? random.int(2_000, 20_000) : random.int(0, 200);
    return {
      ...{ id, from: this.agent, to },
      orderKey: `k${random.int(1, load.orderKeys)}`,
      body: Buffer.concat([
        Buffer.from(`${this.agent} ${id} `),
        Buffer.alloc(size, random.int(0, 255)),
      ]),
      delayMs: random.chance(load.delayShare) ? random.int(1, 3_000) : 0,
      ttlMs: random.chance(load.ttlShare) ? random.int(50, 4_000) : 0,
      wantsReply: random.chance(load.replyShare),
      script: this.#script(),
      ...{ seq: 0, firstPost: undefined, posts: 0, runs: 0, processedAt: 0 },
      ...{ isCancelled: false, isPurged: false, isCollected: false, isRequeued: false },
      isTaken: false,
    };
  }

  #script(): Script {
    const { random } = this;
    const workMs = random.chance(0.1) ? random.between(500, 4_500) : random.between(0, 40);
    if (!random.chance(this.#load.failingShare)) return { kind: 'ok', workMs };
    return random.pick<Script>([
      { kind: 'flaky', failures: random.int(1, 3), workMs },
      { kind: 'flaky', failures: 1, workMs },
      { kind: 'later', times: random.int(1, 2), delayMs: random.int(1, 800) },
      { kind: 'hang', times: 1 },
      { kind: 'poison' },
      { kind: 'terminal' },
    ]);
  }

  async #post(intent: Intent): Promise<void> {
    const { process, client, random, parts } = this;
    while (intent.seq === 0) {
      intent.posts += 1;
      intent.firstPost ??= { process: process.name, place: this.log.indexOf(intent) };
      try {
        const { seq } = await this.counted(
          client.post(intent.to, 'work', intent.body, {
            id: intent.id,
            orderKey: intent.orderKey,
            delayMs: intent.delayMs,
            ttlMs: intent.ttlMs,
            wantsReply: intent.wantsReply,
            deadlineMs: random.int(1_000, 20_000),
          }),
        );
        parts.note(process.name, `${intent.id} accepted as ${seq}`);
        parts.ledger.accepted(intent, seq);
      } catch (error) {
        const { code } = asBusError(error);
        parts.givenUp(this.agent, intent.id);
        parts.note(process.name, `${intent.id} not accepted: ${code}`);
        if (!this.isPassing(error)) throw error;
        await process.pause(random.between(10, 500));
      }
    }
    if (intent.wantsReply) this.background(this.#collect(intent));
    if (random.chance(this.#load.cancelShare)) await this.#cancel(intent);
  }

  async #cancel(intent: Intent): Promise<void> {
    await this.process.pause(this.random.between(0, 200));
    if (!this.process.isAlive) return;
    // From now on it may be gone: whether the broker hears of it is not known before the answer.
    intent.isCancelled = true;
    this.parts.note(this.process.name, `${intent.id} is cancelled`);
    try {
      await this.counted(this.client.cancel(intent.id));
    } catch (error) {
      const isOver = error instanceof BusError && error.code === 'UNKNOWN_REQUEST';
      if (!isOver && !this.isPassing(error)) throw error;
    }
  }

  async #collect(intent: Intent): Promise<void> {
    const { process, client, parts, random } = this;
    while (process.isAlive && !intent.isCollected) {
      try {
        const reply = await this.counted(
          client.collect(intent.id, { deadlineMs: random.int(200, 4_000) }),
        );
        if (reply.body.toString() !== `re ${intent.id}`)
          throw new Violation(`the reply to ${intent.id} reads ${reply.body.toString()}`);
        parts.note(process.name, `${intent.id} answered by ${reply.from}`);
        intent.isCollected = true;
      } catch (error) {
        if (!this.isPassing(error)) throw error;
        await process.pause(random.between(10, 300));
      }
    }
  }

  /** Replies that came twice, because two workers did the work or our settlement was lost. */
  async #clear(): Promise<void> {
    const { process, client, agent } = this;
    while (process.isAlive) {
      await process.pause(1_000);
      if (!this.parts.isHealing()) continue;
      try {
        const mailbox = `reply:${agent}`;
        const { view } = await this.counted(client.take({ mailbox, deadlineMs: 1 }));
        const intent = this.log.find((each) => each.id === view.correlation);
        if (intent === undefined) throw new Violation(`a reply to ${view.correlation}`);
        intent.isCollected = true;
        client.settle([view.seq]);
      } catch (error) {
        if (!this.isPassing(error)) throw error;
      }
    }
  }
}
