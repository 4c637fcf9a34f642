import { createHash } from 'node:crypto';
import { Broker } from '../../src/broker/broker.js';
import { defaultLimits, type BrokerLimits } from '../../src/broker/limits.js';
import { asBusError } from '../../src/errors/bus-error.js';
import {
  deadKey,
  deadPrefix,
  messagePrefix,
  nextSeqKey,
  seqOfKey,
  statePrefix,
} from '../../src/store/keys.js';
import { Command, decodeFrames } from '../../src/wire/frame.js';
import type { MessageView } from '../../src/wire/messages.js';
import { SimulatedDisk, SimulatedStore, type Boundary } from './disk.js';
import { Ledger, Violation, type Intent } from './ledger.js';
import { watchMailboxes } from './mailbox-probe.js';
import { SimulatedNetwork, soundNetwork } from './network.js';
import { operatorSecret, type Node, type NodeParts } from './node.js';
import { dropsSeen, type Plant } from './plants.js';
import { profileOf, type FaultRates, type Profile } from './profile.js';
import { SeededRandom } from './random.js';
import { Operator, Receiver, Taker } from './receiver.js';
import { Sender } from './sender.js';
import { Process, SimulatedTime } from './time.js';

/** Longest time that a healed world may take to come to rest; backoff, leases and delays are seconds. */
const healMsMax = 300_000;
const tailLines = 120;
/** An event more than this, and something spins without time passing. */
const eventsMax = 3_000_000;

export interface WorldReport {
  seed: number;
  /** Undefined: everything held. */
  violation: string | undefined;
  tail: string[];
  /** Of the whole trace: equal for equal seeds. */
  digest: string;
  events: number;
  virtualMs: number;
  faults: Record<string, number>;
  counts: Ledger['counts'];
}

/** One broker, its disk, its clients and the network between them, through trouble and back to rest. */
export class World {
  readonly profile: Profile;
  readonly #seed: number;
  readonly #random: SeededRandom;
  readonly #time = new SimulatedTime();
  readonly #network: SimulatedNetwork;
  readonly #disk: SimulatedDisk;
  readonly #ledger: Ledger;
  readonly #limits: BrokerLimits;
  readonly #senders: Sender[] = [];
  readonly #others: Node[] = [];
  readonly #operator: Operator;
  readonly #plant: Plant | undefined;
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #tail: string[] = [];
  readonly #digest = createHash('sha256');
  readonly #faults: Record<string, number> = {};
  /** Durable SENDs of each agent's connection that have no answer. */
  readonly #out = new Map<string, Set<string>>();
  /** Messages that a client has ceased to wait for, perhaps to send them anew: an outbox may still hold a copy. */
  readonly #givenUp = new Set<string>();
  #broker: Broker | undefined;
  #brokerProcess: Process | undefined;
  #store: SimulatedStore | undefined;
  #brokers = 0;
  #isOpen = false;
  #isHealing = false;
  #isEnding = false;
  #isEnded = false;
  #violation: string | undefined;

  constructor(seed: number, options: { plant?: Plant; onLine?: (line: string) => void } = {}) {
    this.#seed = seed;
    this.#plant = options.plant;
    this.#onLine = options.onLine;
    this.#random = new SeededRandom(seed);
    this.profile = profileOf(this.#random.fork('profile'));
    this.#limits = { ...defaultLimits, ...this.profile.limits };
    this.#ledger = new Ledger(this.profile);
    this.#disk = new SimulatedDisk(this.#time, this.#random.fork('disk'));
    this.#disk.rotateShare = this.profile.rotateShare;
    this.#network = new SimulatedNetwork(this.#time, this.#random.fork('network'), {
      onSent: (agent, part) => this.#onSent(agent, part),
      onReceived: (agent, part) => this.#onReceived(agent, part),
      onConnection: (agent) => void this.#out.set(agent, new Set()),
    });
    this.#operator = this.#people();
  }

  async run(): Promise<WorldReport> {
    const watch = watchMailboxes({
      onLease: (mailbox, consumer, message) => {
        const { credit, leased, leasedBytes, peer } = consumer;
        const what = `${message.seq} of ${mailbox.name} was leased`;
        if (mailbox.consumers.get(peer) !== consumer)
          this.#fail(new Violation(`${what} to a session that is over`));
        if (leased.size > credit.messages || (leasedBytes > credit.bytes && leased.size > 1))
          this.#fail(new Violation(`${what} beyond the credit`));
      },
      losesLease: () => this.#plant === 'lost-lease' && this.#random.chance(0.2),
    });
    try {
      await this.#live();
    } finally {
      watch[Symbol.dispose]();
      for (const node of this.#nodes()) if (node.isUp) node.crash();
      this.#brokerProcess?.kill();
      this.#isEnded = true;
    }
    return {
      seed: this.#seed,
      violation: this.#violation,
      tail: this.#tail,
      digest: this.#digest.digest('hex'),
      events: this.#time.events,
      virtualMs: Math.round(this.#time.nowMs),
      faults: this.#faults,
      counts: this.#ledger.counts,
    };
  }

  // --- the course of a run

  async #live(): Promise<void> {
    this.#note('world', JSON.stringify(this.profile));
    this.#startBroker();
    for (const node of this.#nodes()) node.start();
    // Everybody is known before trouble begins: a message to who was never there is refused for good.
    await this.#until(() => this.#areAllKnown(), 10_000, 'everybody registers');
    this.#isOpen = true;
    this.#network.faults = this.profile.network;
    this.#armFaults();
    await this.#pass(this.profile.activeMs);
    this.#heal();
    await this.#until(() => this.#isAtRest(), healMsMax, 'the world comes to rest');
    await this.#checkRest();
    if (this.#isOver()) return;
    this.#killBroker('to see what it remembers');
    this.#startBroker();
    await this.#until(() => this.#isAtRest(), healMsMax, 'the world is at rest after a restart');
    await this.#checkRest();
    this.#operator.isPurging = true;
    await this.#until(() => this.#operator.purged >= 0, 60_000, 'dead letters are purged');
    await this.#pass(1_000);
    this.#checkEmpty();
    if (!this.#isOver()) await this.#end();
  }

  async #end(): Promise<void> {
    let isClosed = false;
    const closing = Promise.all(this.#nodes().map((node) => node.close()));
    void closing.then(() => (isClosed = true));
    await this.#until(() => isClosed, 30_000, 'clients close');
    this.#check(() => {
      const open = this.#nodes().filter((node) => node.openCalls > 0);
      if (open.length > 0)
        throw new Violation(`calls of ${open.map((node) => node.agent).join(' ')} never end`);
    });
    let isDrained = false;
    this.#isEnding = true;
    void this.#broker?.drain().then(() => (isDrained = true));
    await this.#until(() => isDrained, 30_000, 'the broker drains');
  }

  #heal(): void {
    this.#note('world', 'heals');
    this.#isHealing = true;
    this.#network.faults = soundNetwork;
    this.#disk.isFull = false;
    this.#disk.rotateShare = 0;
    this.#time.wallOffsetMs = 0;
    for (const link of this.#network.links) link.block(false, false);
    for (const node of this.#nodes()) if (!node.isUp) node.start();
  }

  #people(): Operator {
    const { senders, receivers, hasTaker, credit, load } = this.profile;
    const parts: NodeParts = {
      time: this.#time,
      network: this.#network,
      ledger: this.#ledger,
      seed: this.#seed,
      note: (who, what) => this.#note(who, what),
      fail: (error) => this.#fail(error),
      isOpen: () => this.#isOpen,
      isHealing: () => this.#isHealing,
      isDead: (seq) => this.#isDead(seq),
      givenUp: (agent, id) => {
        this.#givenUp.add(id);
        this.#out.get(agent)?.delete(id);
      },
    };
    const targets = ['service:work.pool'];
    for (let at = 0; at < receivers; at += 1) {
      const services = at < 2 ? ['work.pool'] : [];
      targets.push(`agent:r${at}`);
      this.#others.push(new Receiver(`r${at}`, { services, handlerMs: 5_000, ...credit }, parts));
    }
    if (hasTaker) {
      targets.push('agent:taker');
      this.#others.push(new Taker('taker', parts));
    }
    for (let at = 0; at < senders; at += 1)
      this.#senders.push(new Sender(`s${at}`, { ...load, targets }, parts));
    const roomMax = Math.min(this.#limits.mailboxMessagesMax, this.#limits.messagesMax) / 8;
    const operator = new Operator('boss', roomMax, parts);
    this.#others.push(operator);
    return operator;
  }

  #nodes(): Node[] {
    return [...this.#others, ...this.#senders];
  }

  async #pass(ms: number): Promise<void> {
    await this.#time.runUntil(this.#time.nowMs + ms, () => this.#isOver());
  }

  /** Looks now and then: most claims cost more than the events between. */
  async #until(isSo: () => boolean, withinMs: number, what: string): Promise<void> {
    const untilMs = this.#time.nowMs + withinMs;
    while (!this.#isOver() && !isSo()) {
      if (this.#time.nowMs >= untilMs) return this.#fail(new Violation(this.#stuck(what)));
      await this.#pass(250);
    }
  }

  #isOver(): boolean {
    if (this.#time.events > eventsMax) this.#fail(new Violation('it spins'));
    return this.#violation !== undefined;
  }

  // --- the broker

  #startBroker(): void {
    this.#brokers += 1;
    const name = `broker#${this.#brokers}`;
    const process = new Process(this.#time, name, this.#random.fork(name));
    const store = new SimulatedStore(process, this.#disk, process.random.fork('store'));
    const plant = process.random.fork('plant');
    store.onBoundary = (boundary) => this.#onBoundary(boundary);
    store.skipsSync = () => this.#plant === 'skip-fsync' && plant.chance(0.3);
    this.#brokerProcess = process;
    this.#store = store;
    this.#broker = undefined;
    this.#note(name, 'opens');
    const listener = this.#network.listen(process);
    const opening = Broker.open({
      store: this.#plant === 'skip-dedupe' ? dropsSeen(store, plant) : store,
      listener,
      clock: process.clock,
      random: process.random.next,
      proofFor: ({ role }) => (role === 'operator' ? operatorSecret : 'none'),
      version: 'simulated',
      limits: this.#limits,
      trace: (level, message, fields) => {
        if (level === 'error')
          this.#fail(new Violation(`${name}: ${message} ${JSON.stringify(fields)}`));
        if (level !== 'debug') this.#note(name, `${message} ${JSON.stringify(fields)}`);
      },
    });
    opening.then(
      (broker) => {
        if (process.isAlive) this.#broker = broker;
      },
      (error: unknown) => {
        if (!process.isAlive) return;
        // Its store failed while it was read: whoever supervises it starts it again.
        this.#note(name, `did not open: ${asBusError(error).code}`);
        this.#killBroker('as it did not open');
        this.#restartSoon();
      },
    );
  }

  #killBroker(why: string): void {
    const process = this.#brokerProcess;
    if (process?.isAlive !== true) return;
    this.#note(process.name, `is killed ${why}`);
    process.kill();
    this.#broker = undefined;
    if (this.#network.listener !== undefined) this.#network.listenerLost(this.#network.listener);
  }

  #restartSoon(): void {
    this.#time.schedule(this.#random.between(20, 1_500), () => {
      if (this.#brokerProcess?.isAlive !== true) this.#startBroker();
    });
  }

  #cutPower(): void {
    this.#killBroker('with the power');
    const lost = this.#disk.cutPower();
    this.#note('disk', `${lost} batches are lost`);
    this.#restartSoon();
  }

  async #drainBroker(): Promise<void> {
    const broker = this.#broker;
    const process = this.#brokerProcess;
    if (broker === undefined) return;
    this.#note('broker', 'drains');
    await broker.drain();
    if (process?.isAlive !== true) return;
    this.#killBroker('when drained');
    this.#restartSoon();
  }

  // --- trouble

  #armFaults(): void {
    const { faults } = this.profile;
    const acts: Record<Exclude<keyof FaultRates, 'boundaryShare'>, () => void> = {
      brokerKill: () => {
        this.#killBroker('by a fault');
        this.#restartSoon();
      },
      powerCut: () => this.#cutPower(),
      drain: () => void this.#drainBroker(),
      diskFull: () => {
        this.#disk.isFull = true;
        this.#time.schedule(this.#random.between(20, 2_500), () => (this.#disk.isFull = false));
      },
      clientKill: () => {
        const node = this.#random.pick(this.#nodes());
        if (!node.isUp) return;
        node.crash();
        this.#time.schedule(this.#random.between(10, 3_000), () => {
          if (!node.isUp) node.start();
        });
      },
      reset: () => this.#random.pick(this.#nodes()).connection.cut(),
      partition: () => {
        const { connection } = this.#random.pick(this.#nodes());
        const [up, down] = this.#random.pick([
          [true, true],
          [true, false],
          [false, true],
        ] as const);
        connection.block(up, down);
        this.#time.schedule(this.#random.between(50, 6_000), () => {
          if (this.#random.chance(0.3)) connection.cut();
          else connection.block(false, false);
        });
      },
      hang: () => {
        const ms = this.#random.between(50, 4_000);
        if (this.#random.chance(0.3)) this.#brokerProcess?.block(ms);
        else this.#random.pick(this.#nodes()).block(ms);
      },
      wallJump: () => (this.#time.wallOffsetMs = this.#random.between(-60_000, 60_000)),
    };
    for (const [kind, act] of Object.entries(acts)) {
      const meanMs = faults[kind as keyof FaultRates];
      if (meanMs !== Infinity) this.#arm(kind, meanMs, act);
    }
  }

  #arm(kind: string, meanMs: number, act: () => void): void {
    this.#time.schedule(-Math.log(1 - this.#random.next()) * meanMs, () => {
      if (this.#isHealing) return;
      this.#note('fault', kind);
      this.#faults[kind] = (this.#faults[kind] ?? 0) + 1;
      act();
      this.#arm(kind, meanMs, act);
    });
  }

  #onBoundary(boundary: Boundary): void {
    if (this.#isHealing || !this.#random.chance(this.profile.faults.boundaryShare)) return;
    this.#faults.boundary = (this.#faults.boundary ?? 0) + 1;
    this.#note('fault', `at the boundary: ${boundary}`);
    if (this.#random.chance(0.5)) return this.#cutPower();
    this.#killBroker('by a fault');
    this.#restartSoon();
  }

  // --- what is seen on the way

  #onSent(agent: string, part: Buffer): void {
    const out = this.#out.get(agent);
    if (out === undefined) return;
    for (const decoded of decodeFrames(part)) {
      if (!decoded.ok) continue;
      const { command, envelope } = decoded.frame;
      const isPost = command === Command.SEND && envelope.durable;
      if (isPost && !this.#givenUp.has(envelope.id)) out.add(envelope.id);
    }
    // What is given up makes room before we hear of it.
    if (out.size > this.#limits.windowMax) this.#time.schedule(0, () => this.#checkWindow(agent));
  }

  #checkWindow(agent: string): void {
    const size = this.#out.get(agent)?.size ?? 0;
    const limit = this.#limits.windowMax;
    if (size > limit && !this.profile.isHarsh)
      this.#fail(new Violation(`${agent} has ${size} messages out; its window is ${limit}`));
  }

  #onReceived(agent: string, part: Buffer): void {
    const out = this.#out.get(agent);
    if (out === undefined) return;
    for (const decoded of decodeFrames(part)) {
      // What was in it is not known: nothing is claimed about this connection from here on.
      if (!decoded.ok) this.#out.delete(agent);
      // Everything goes out anew.
      else if (decoded.frame.command === Command.WELCOME) out.clear();
      else {
        const { command, envelope } = decoded.frame;
        out.delete(envelope.correlation);
        if (command === Command.ACCEPT) this.#givenUp.add(envelope.correlation);
      }
    }
  }

  #note(who: string, what: string): void {
    if (this.#isEnded) return;
    const line = `${this.#time.nowMs.toFixed(2).padStart(10)} ${who}: ${what}`;
    this.#digest.update(line);
    this.#onLine?.(line);
    this.#tail.push(line);
    if (this.#tail.length > tailLines) this.#tail.shift();
  }

  #fail(error: unknown): void {
    if (this.#violation !== undefined) return;
    const isOurs = error instanceof Violation;
    this.#violation = isOurs ? error.message : String((error as Error).stack ?? error);
    this.#note('VIOLATION', this.#violation);
  }

  #check(claim: () => void): void {
    if (this.#isOver()) return;
    try {
      claim();
    } catch (error) {
      this.#fail(error);
    }
  }

  // --- rest

  #areAllKnown(): boolean {
    const broker = this.#broker;
    if (broker === undefined) return false;
    const isPoolOffered = broker.sessions.isOffered('work.pool');
    return (
      isPoolOffered &&
      this.#nodes().every((node) => broker.registry.record(node.agent) !== undefined)
    );
  }

  #isAtRest(): boolean {
    const broker = this.#broker;
    if (broker === undefined) return false;
    const dead = this.#graves();
    const isHopeless = (intent: Intent): boolean =>
      this.#ledger.excuse(intent, dead) !== undefined ||
      [...dead.values()].some(
        ({ mailbox, correlation }) =>
          mailbox === `reply:${intent.from}` && correlation === intent.id,
      );
    return (
      this.#senders.every((sender) => sender.isDone(isHopeless)) &&
      broker.mailboxes.size.messages === 0
    );
  }

  #isDead(seq: number): boolean {
    if (this.#broker === undefined) return this.#disk.image.has(deadKey(seq));
    return (this.#broker.mailboxes.messageBySeq(seq)?.deadMs ?? 0) > 0;
  }

  #graves(): Map<number, MessageView> {
    const views = this.#broker?.mailboxes.list('all', true, 0, Infinity) ?? [];
    return new Map(views.map((view) => [view.seq, view]));
  }

  async #checkRest(): Promise<void> {
    this.#operator.isResting = true;
    // What was written last is on its way to the disk, and answers to settlements.
    await this.#pass(3_000);
    this.#operator.isResting = false;
    this.#check(() => {
      const broker = this.#broker;
      if (broker === undefined) throw new Violation('the broker is gone');
      const dead = this.#graves();
      this.#ledger.checkAcceptance();
      this.#ledger.final(dead);
      const { size } = broker.mailboxes;
      const deadBytes = [...dead.values()].reduce((sum, view) => sum + view.bytes, 0);
      this.#expect('messages', size.messages, 0);
      this.#expect('leases', size.leases, 0);
      this.#expect('dead letters', size.dead, dead.size);
      this.#expect('bytes', size.bytes, deadBytes);
      this.#expect('requests', broker.requests.size, 0);
      const onDisk = (prefix: string): number[] =>
        [...this.#disk.image.keys()]
          .filter((key) => key.startsWith(prefix))
          .map(seqOfKey)
          .sort(byNumber);
      const numbers = [...dead.keys()].sort(byNumber).join(' ');
      this.#expect('messages on disk', onDisk(messagePrefix).join(' '), numbers);
      this.#expect('graves on disk', onDisk(deadPrefix).join(' '), numbers);
      this.#expect('states on disk', onDisk(statePrefix).join(' '), '');
      const reserved = Number(this.#disk.image.get(nextSeqKey)?.toString() ?? 0);
      const last = Math.max(0, ...[...this.#ledger.intents.values()].map(({ seq }) => seq));
      if (reserved <= last) throw new Violation(`${last} was used and ${reserved} is reserved`);
    });
  }

  #checkEmpty(): void {
    this.#check(() => {
      const { size } = this.#broker!.mailboxes;
      this.#expect('messages', size.messages, 0);
      this.#expect('dead letters', size.dead, 0);
      this.#expect('bytes', size.bytes, 0);
      const kept = [messagePrefix, deadPrefix, statePrefix].flatMap((prefix) =>
        [...this.#disk.image.keys()].filter((key) => key.startsWith(prefix)),
      );
      this.#expect('keys on disk', kept.join(' '), '');
    });
  }

  #expect(what: string, is: number | string, ought: number | string): void {
    if (is !== ought) throw new Violation(`${what}: ${is}, not ${ought}`);
  }

  #stuck(what: string): string {
    const broker = this.#broker;
    const waiting = broker?.mailboxes.list('all', false, 0, 8) ?? [];
    const open = this.#senders.flatMap((sender) =>
      sender.log
        .filter((each) => each.seq === 0 || (each.wantsReply && !each.isCollected))
        .map((each) => `${each.id}(${each.seq}${each.wantsReply ? ' wants reply' : ''})`),
    );
    return [
      `never: ${what}`,
      `broker ${broker === undefined ? 'is down' : JSON.stringify(broker.mailboxes.size)}`,
      ...waiting.map((view) => JSON.stringify(view)),
      `unknown to senders: ${open.slice(0, 8).join(' ')}`,
      `store ${this.#store?.state ?? 'none'}${this.#isEnding ? ', ending' : ''}`,
    ].join('\n  ');
  }
}

const byNumber = (a: number, b: number): number => a - b;
