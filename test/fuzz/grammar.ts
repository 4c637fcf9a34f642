import { Broker } from '../../src/broker/broker.js';
import { defaultLimits, type BrokerLimits } from '../../src/broker/limits.js';
import { Client } from '../../src/client/client.js';
import { BusError } from '../../src/errors/bus-error.js';
import {
  Command,
  decodeFrames,
  encodeFrame,
  makeFrame,
  type EnvelopeFields,
} from '../../src/wire/frame.js';
import {
  challengeCodec,
  decodeFailure,
  helloCodec,
  proofCodec,
  type Hello,
} from '../../src/wire/messages.js';
import { proofOf } from '../../src/wire/proof.js';
import { SimulatedDisk, SimulatedStore } from '../simulation/disk.js';
import { SimulatedNetwork, type SimulatedLink } from '../simulation/network.js';
import { SeededRandom } from '../simulation/random.js';
import { Process, SimulatedTime } from '../simulation/time.js';
import { commands } from './wire-forms.js';
import { anyBody, anyEnvelope, type Known } from './utterance.js';

export interface GrammarReport {
  sequences: number;
  frames: number;
  answered: Record<string, number>;
  /** Answers of the honest pair. */
  honest: number;
  violations: string[];
}

/** Low, so that every bound is met often. */
const limits: Partial<BrokerLimits> = {
  sessionsMax: 40,
  agentsMax: 40,
  requestsPerSessionMax: 20,
  requestsMax: 60,
  requestMsMax: 3_000,
  servicesPerSessionMax: 8,
  outboxBytesMax: 256 * 1024,
  strangersMax: 20,
  heartbeatMs: 1_000,
  windowMax: 16,
  mailboxMessagesMax: 40,
  messagesMax: 200,
  messageBytesMax: 4 * 1024 * 1024,
  frameCacheBytesMax: 64 * 1024,
  leaseMs: 2_000,
  attemptsMax: 3,
  seenPerSenderMax: 50,
  seenMs: 60_000,
  pruneMs: 5_000,
  receiversPerSessionMax: 8,
  streamEntriesMax: 8,
  streamsMax: 50,
  streamsBytesMax: 1024 * 1024,
};
const all = { ...defaultLimits, ...limits };

/** How long a live session of this kind may be silent: what a fuzzed peer leaves is gone after this. */
const silenceMs = 35_000 * 4;
const operatorSecret = Buffer.from('the secret of the operator of this fuzz run');
/** Sequences between two looks at whether everything is as it was. */
export const lookEvery = 200;
const violationsMax = 10;
/** Peers that speak at once. */
const peersMax = 8;

/**
 * Sessions that say what the grammar of proto/bus.proto does not allow, or what it allows at the wrong
 * time, of the wrong messages, in the wrong size; beside them two honest agents and an operator.
 */
export class GrammarFuzz {
  readonly report: GrammarReport = {
    ...{ sequences: 0, frames: 0, honest: 0 },
    answered: {},
    violations: [],
  };
  readonly #random: SeededRandom;
  readonly #time = new SimulatedTime();
  readonly #network: SimulatedNetwork;
  readonly #broker: Broker;
  readonly #peers: Peer[] = [];
  readonly #known: Known = { ids: [], seqs: [] };
  readonly #honest: { a: Client; b: Client; boss: Client };
  #peersMade = 0;
  #got: string[] = [];

  private constructor(
    random: SeededRandom,
    parts: { time: SimulatedTime; network: SimulatedNetwork; broker: Broker },
    violations: string[],
  ) {
    this.#random = random;
    this.#time = parts.time;
    this.#network = parts.network;
    this.#broker = parts.broker;
    this.report.violations = violations;
    this.#honest = {
      a: this.#client('honest-a', 'honest'),
      b: this.#client('honest-b', 'honest'),
      boss: this.#client('boss', 'operator'),
    };
  }

  static async open(seed: number): Promise<GrammarFuzz> {
    const random = new SeededRandom(`fuzz ${seed}`);
    const time = new SimulatedTime();
    const violations: string[] = [];
    const ignore = (): void => undefined;
    const tap = { onSent: ignore, onReceived: ignore, onConnection: ignore };
    const network = new SimulatedNetwork(time, random.fork('network'), tap);
    const process = new Process(time, 'broker', random.fork('broker'));
    const disk = new SimulatedDisk(time, random.fork('disk'));
    const store = new SimulatedStore(process, disk, random.fork('store'));
    let opened: Broker | undefined;
    const opening = Broker.open({
      store,
      listener: network.listen(process),
      clock: process.clock,
      random: process.random.next,
      proofFor: ({ role }) => (role === 'operator' || role === 'manager' ? operatorSecret : 'none'),
      version: 'fuzzed',
      limits,
      trace: (level, message, fields) => {
        if (level === 'error') violations.push(`${message} ${JSON.stringify(fields)}`);
      },
    }).then((broker) => (opened = broker));
    await time.runUntil(1_000, () => opened !== undefined);
    const fuzz = new GrammarFuzz(random, { time, network, broker: await opening }, violations);
    await fuzz.#settle();
    return fuzz;
  }

  /** Runs so many sequences. */
  async run(sequences: number): Promise<void> {
    for (let count = 0; count < sequences && !this.#isBroken(); count += 1) {
      await this.#sequence();
      this.report.sequences += 1;
      if (this.report.sequences % lookEvery === 0) await this.#look();
    }
  }

  async close(): Promise<void> {
    const { a, b, boss } = this.#honest;
    const closing = Promise.all([a.close(), b.close(), boss.close(), this.#broker.drain()]);
    await this.#expect(
      'the broker ends',
      closing.then(() => undefined),
      60_000,
    );
  }

  #isBroken(): boolean {
    return this.report.violations.length >= violationsMax;
  }

  // --- those who must not be disturbed

  #client(agent: string, role: string): Client {
    const process = new Process(this.#time, agent, this.#random.fork(agent));
    return Client.connect({
      link: this.#network.link(process, agent),
      identity: { agent, role, isEphemeral: false },
      clock: process.clock,
      random: process.random.next,
      secretOf: () => operatorSecret,
    });
  }

  async #settle(): Promise<void> {
    const { a, b, boss } = this.#honest;
    const record = {
      ...{ alias: '', model: '', project: '', scope: [], overlays: {}, capabilities: [] },
      protocol_versions: [],
    };
    const setUp = async (): Promise<void> => {
      for (const each of [a, b, boss]) await each.ready({ withinMs: 10_000 });
      for (const each of [a, b]) await each.register(record);
      b.serve({ echo: (request) => request.body });
      await b.receive((message) => {
        if (message.from === 'honest-a') this.#got.push(message.body.toString());
      });
    };
    await this.#expect('the honest agents begin', setUp(), 30_000);
  }

  /** Everything that fuzzed peers left is gone after a while, and the honest agents still work. */
  async #look(): Promise<void> {
    for (const peer of this.#peers.splice(0)) peer.link.lost();
    await this.#pass(silenceMs);
    const { a, boss } = this.#honest;
    await this.#expect('the operator tidies up', this.#tidy(boss), 60_000);
    await this.#pass(all.requestMsMax);
    const { sessions, requests, registry, mailboxes, topics } = this.#broker;
    this.#bound('sessions', sessions.size, 3);
    this.#bound('requests', requests.size, 0);
    this.#bound('agents', registry.size, all.agentsMax);
    this.#bound('streams', topics.streams, all.streamsMax + all.agentsMax + sessions.size);
    this.#bound('messages', mailboxes.size.messages, 0);
    this.#bound('leases', mailboxes.size.leases, 0);
    this.#bound('dead letters', mailboxes.size.dead, 0);
    this.#bound('bytes of messages', mailboxes.size.bytes, 0);
    this.#bound('takers', mailboxes.receivers.expired(Infinity).length, 0);
    const text = `look ${this.report.sequences}`;
    const work = async (): Promise<void> => {
      const { body } = await a.request('agent:honest-b', 'echo', Buffer.from(text));
      if (body.toString() !== text) this.report.violations.push(`b echoed ${body.toString()}`);
      await a.post('agent:honest-b', 'note', Buffer.from(text));
      while (!this.#got.includes(text)) await pauseOf(this.#time, 50);
      this.#got = [];
      this.report.honest += 2;
    };
    await this.#expect('the honest agents work', work(), 30_000);
  }

  async #tidy(boss: Client): Promise<void> {
    await boss.mail.purgeInbox('*');
    await boss.mail.purgeDead('*');
  }

  #bound(what: string, is: number, max: number): void {
    if (is > max) this.report.violations.push(`${what}: ${is}, at most ${max}`);
  }

  async #expect(what: string, work: Promise<void>, withinMs: number): Promise<void> {
    let outcome: string | undefined;
    work.then(
      () => (outcome = 'done'),
      (error: unknown) => (outcome = String(error)),
    );
    await this.#time.runUntil(this.#time.nowMs + withinMs, () => outcome !== undefined);
    if (outcome !== 'done') this.report.violations.push(`${what}: ${outcome ?? 'never'}`);
  }

  #pass(ms: number): Promise<void> {
    return this.#time.runUntil(this.#time.nowMs + ms, () => false);
  }

  // --- those who disturb

  async #sequence(): Promise<void> {
    const random = this.#random;
    if (this.#peers.length >= peersMax || random.chance(0.1)) this.#peers.shift()?.link.lost();
    const isOld = this.#peers.length > 0 && random.chance(0.5);
    const peer = isOld ? random.pick(this.#peers) : this.#connect();
    const frames: Buffer[] = [];
    // Some speak without a session, some never had one.
    if (!peer.isLive && random.chance(0.9)) frames.push(this.#hello(peer));
    for (let count = random.int(1, 10); count > 0; count -= 1) frames.push(this.#utterance(peer));
    this.report.frames += frames.length;
    // In one part, or in several, with time between them or none.
    if (random.chance(0.5)) peer.say(Buffer.concat(frames));
    else
      for (const frame of frames) {
        peer.say(frame);
        if (random.chance(0.3)) await this.#pass(random.between(0, 20));
      }
    await this.#pass(random.chance(0.02) ? random.between(0, 5_000) : random.between(0, 30));
  }

  #connect(): Peer {
    this.#peersMade += 1;
    const random = this.#random;
    const process = new Process(this.#time, `peer ${this.#peersMade}`, random.fork('peer'));
    const isPlain = random.chance(0.85);
    const role = isPlain ? 'fuzz' : random.pick(['client', 'operator', 'manager', 'Fuzz', '']);
    const own = ['f1', 'f2', 'f3', `g${random.int(1, 200)}`];
    const agent = random.pick(isPlain ? own : [...own, 'honest-a', 'boss', 'no name']);
    const link = this.#network.link(process, agent);
    const peer = new Peer(link, role, agent, (part) => this.#heard(peer, part));
    this.#peers.push(peer);
    return peer;
  }

  #hello(peer: Peer): Buffer {
    const random = this.#random;
    const hello: Hello = {
      agent: peer.agent,
      role: peer.role,
      incarnation: peer.incarnation,
      protocol_min: 1,
      protocol_max: 1,
      heartbeat_ms: random.pick([0, 100, 1_000, 30_000, 2 ** 32 - 1]),
      ephemeral: random.chance(0.2),
      held: random.chance(0.1)
        ? Array.from({ length: random.pick([3, 30, 2_000]) }, () => random.int(0, 500))
        : [],
      person: random.pick(['', 'Ann', 'x'.repeat(2_000)]),
      key: Buffer.alloc(random.chance(0.95) ? 0 : random.pick([16, 64, 65]), random.pick([1, 2])),
    };
    if (random.chance(0.03)) hello.incarnation = random.int(0, Number.MAX_SAFE_INTEGER);
    return encodeFrame(makeFrame(Command.HELLO, { id: 'hello' }, helloCodec.encode(hello)));
  }

  /** Anything that anybody might say. */
  #utterance(peer: Peer): Buffer {
    const random = this.#random;
    if (random.chance(0.03)) return random.bytes(random.int(1, 100));
    if (random.chance(0.05)) return this.#hello(peer);
    if (random.chance(0.03) && peer.nonce.length > 0) return this.#proof(peer);
    // Now and then a number that no command has.
    const command = random.chance(0.98) ? random.pick(commands) : (random.int(0, 255) as never);
    const envelope: EnvelopeFields = anyEnvelope(random, command, this.#known);
    if (envelope.id !== undefined && envelope.id !== '') this.#known.ids.push(envelope.id);
    if (this.#known.ids.length > 300) this.#known.ids.splice(0, 100);
    const body = anyBody(random, command, this.#known);
    try {
      const frame = encodeFrame(makeFrame(command, envelope, body));
      if (random.chance(0.02)) frame[random.int(0, frame.length - 1)]! ^= 1;
      return frame;
    } catch (error) {
      if (error instanceof BusError && error.code === 'TOO_LARGE') return random.bytes(40);
      throw error;
    }
  }

  #proof(peer: Peer): Buffer {
    // Whoever has the secret may take the operator's place, but not here.
    const isRight = peer.agent !== 'boss' && this.#random.chance(0.1);
    const secret = isRight ? operatorSecret : this.#random.bytes(8);
    const hmac = proofOf(secret, peer.nonce, peer.agent, peer.incarnation);
    return encodeFrame(makeFrame(Command.PROOF, { id: 'proof' }, proofCodec.encode({ hmac })));
  }

  #heard(peer: Peer, part: Buffer): void {
    for (const decoded of decodeFrames(part)) {
      if (!decoded.ok) {
        this.report.violations.push('the broker said something corrupt');
        continue;
      }
      const { command, envelope, body } = decoded.frame;
      const code = command === Command.REJECT ? decodeFailure(body).code : Command[command];
      this.report.answered[code] = (this.report.answered[code] ?? 0) + 1;
      if (command === Command.WELCOME) peer.isLive = true;
      if (command === Command.RESET || command === Command.GOODBYE) peer.isLive = false;
      if (code === 'INTERNAL') this.report.violations.push(decodeFailure(body).text);
      if (command === Command.CHALLENGE)
        peer.nonce = Buffer.from(challengeCodec.decode(body).nonce);
      if (envelope.seq > 0) this.#known.seqs.push(envelope.seq);
      if (this.#known.seqs.length > 300) this.#known.seqs.splice(0, 100);
    }
  }
}

/** A connection whose other end says what it likes. */
class Peer {
  nonce: Buffer = Buffer.alloc(0);
  isLive = false;
  /** Later of the same agent wins; in the clock's time, so that honest agents are not ahead for ever. */
  readonly incarnation: number;
  #waiting: Buffer[] = [];
  #isUp = false;

  constructor(
    readonly link: SimulatedLink,
    readonly role: string,
    readonly agent: string,
    onPart: (part: Buffer) => void,
  ) {
    this.incarnation = link.process.clock.nowMs();
    link.open({
      onUp: () => {
        this.#isUp = true;
        for (const part of this.#waiting) void link.send(part);
        this.#waiting = [];
      },
      onDown: () => (this.#isUp = false),
      onPart,
      onPublication: () => undefined,
    });
  }

  say(part: Buffer): void {
    if (this.#isUp) void this.link.send(part);
    else if (this.#waiting.length < 100) this.#waiting.push(part);
  }
}

function pauseOf(time: SimulatedTime, ms: number): Promise<void> {
  return new Promise((resolve) => void time.schedule(ms, resolve));
}
