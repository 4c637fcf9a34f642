import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noTrace } from '../../../src/base/trace.js';
import { Topics } from '../../../src/broker/topics.js';
import { defaultLimits } from '../../../src/broker/limits.js';
import type { Missed, SubscribeOptions } from '../../../src/client/follower.js';
import { followLimits } from '../../../src/client/limits.js';
import { Subscriptions, type Subscription } from '../../../src/client/subscriptions.js';
import { BusError } from '../../../src/errors/bus-error.js';
import type { Link } from '../../../src/transport/port.js';
import { isStateStream, runStart, streamOf } from '../../../src/wire/address.js';
import { Command, makeFrame } from '../../../src/wire/frame.js';
import type { TopicsAnswer, TopicsQuery } from '../../../src/wire/messages.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const limits = { ...defaultLimits, streamEntriesMax: 4, streamsMax: 3, topicsAnswerBytesMax: 400 };

/** A broker's topics and one client's subscriptions, with a network between them that does what a test says. */
class Net {
  readonly clock = new VirtualClock();
  isLive = false;
  epoch = 0;
  topics = new Topics({ limits, publish: (topic, bytes) => this.#carry(topic, bytes) });
  /** Whether the next publication is lost, and how long what travels next is under way. */
  loses: () => boolean = () => false;
  delayMs: () => number = () => 1;
  fault: () => BusError | undefined = () => undefined;
  queries: TopicsQuery[] = [];
  prefixes: string[] = [];
  readonly subscriptions: Subscriptions;
  #arrivesMs = 0;

  constructor(random: () => number = () => 0.5) {
    const link: Partial<Link> = {
      subscribe: (prefix) => void this.prefixes.push(prefix),
      unsubscribe: (prefix) => void this.prefixes.splice(this.prefixes.indexOf(prefix), 1),
    };
    this.subscriptions = new Subscriptions({
      link: link as Link,
      query: (query) => this.#ask(query),
      isLive: () => this.isLive,
      clock: this.clock,
      random,
      trace: noTrace,
    });
  }

  say(topic: string, body = ''): number {
    const frame = makeFrame(Command.PUBLISH, { type: 'note' }, Buffer.from(body));
    return this.topics.publish(topic, frame);
  }

  /** Another run of the broker; what was under way is lost. */
  restart(): void {
    this.epoch += 1;
    this.topics = new Topics({ limits, publish: (topic, bytes) => this.#carry(topic, bytes) });
  }

  connect(): void {
    this.isLive = true;
    this.subscriptions.onSession(`epoch-${this.epoch}`);
  }

  #carry(topic: string, bytes: Buffer): void {
    if (this.loses()) return;
    const { epoch } = this;
    // One connection: nothing overtakes.
    this.#arrivesMs = Math.max(this.#arrivesMs, this.clock.monotonicMs() + this.delayMs());
    this.clock.after(this.#arrivesMs - this.clock.monotonicMs(), () => {
      if (epoch === this.epoch) this.subscriptions.onPublication(topic, bytes);
    });
  }

  async #ask(query: TopicsQuery): Promise<TopicsAnswer> {
    const session = this.#session();
    if (!this.isLive) throw new BusError('NO_BROKER', { address: 'here' });
    const fault = this.fault();
    if (fault !== undefined) throw fault;
    this.queries.push(query);
    await this.#travel();
    if (session !== this.#session()) throw new BusError('BROKER_LOST');
    const answer = this.topics.sync(query);
    await this.#travel();
    if (session !== this.#session()) throw new BusError('BROKER_LOST');
    return answer;
  }

  /** Changes when a question can no longer be answered. */
  #session(): string {
    return `${this.epoch} ${this.isLive}`;
  }

  #travel(): Promise<void> {
    return new Promise((resolve) => void this.clock.after(this.delayMs(), resolve));
  }
}

interface Heard {
  /** `epoch stream seq`. */
  delivered: string[];
  bodies: string[];
  missed: Missed[];
  forgotten: string[];
  subscription: Subscription;
}

function follow(net: Net, pattern: string, options: SubscribeOptions = {}): Heard {
  const heard: Omit<Heard, 'subscription'> = {
    delivered: [],
    bodies: [],
    missed: [],
    forgotten: [],
  };
  const subscription = net.subscriptions.add(
    pattern,
    (topic, frame) => {
      heard.bodies.push(frame.body.toString());
      heard.delivered.push(`${net.epoch} ${streamOf(topic)} ${frame.envelope.seq}`);
    },
    {
      onMissed: (missed) => heard.missed.push(missed),
      onForgotten: (stream) => heard.forgotten.push(stream),
      ...options,
    },
  );
  return Object.assign(heard, { subscription });
}

/** Uniform in [0, 1). Source: mulberry32 by T. Ettinger, public domain. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test('whatever is lost, delayed, refused or restarted: in order, none twice, and what is missing is told', async () => {
  const names = ['log.a', 'log.b', 'log.c.d', 'log.e', 'task.1.x', 'task.1.y', 'presence.p.z'];
  const action = fc.oneof(
    { weight: 12, arbitrary: fc.record({ do: fc.constant('say'), at: fc.nat(names.length - 1) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('wait'), at: fc.nat(60) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('part'), at: fc.nat(100) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('restart'), at: fc.nat(100) }) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 10, maxLength: 80 }),
      fc.integer(),
      fc.constantFrom('log.>', '>', 'task.>', '*.*.>'),
      async (actions, seed, pattern) => {
        const random = seeded(seed);
        const net = new Net(random);
        net.loses = () => random() < 0.3;
        net.delayMs = () => Math.floor(random() * 30);
        const heard = follow(net, pattern, { from: 'kept' });
        net.connect();
        await net.clock.advance(1_000);
        expect(heard.subscription.isLevel).toBe(true);
        net.fault = () => (random() < 0.1 ? new BusError('BROKER_BUSY', { limit: 1 }) : undefined);
        for (const each of actions) {
          if (each.do === 'say') net.say(names[each.at] ?? '', String(each.at));
          else if (each.do === 'wait') await net.clock.advance(each.at);
          else {
            net.isLive = false;
            if (each.do === 'restart') net.restart();
            // Publications may come before the session does.
            for (const topic of names) if (random() < 0.5) net.say(topic);
            await net.clock.advance(each.at);
            net.connect();
          }
        }
        net.loses = () => false;
        net.fault = () => undefined;
        await net.clock.advance(60_000);

        expect(new Set(heard.delivered).size).toBe(heard.delivered.length);
        const lastOf = new Map<string, number>();
        for (const line of heard.delivered) {
          const [epoch = '', stream = '', seq = ''] = line.split(' ');
          const key = `${epoch} ${stream}`;
          expect(Number(seq)).toBeGreaterThan(lastOf.get(key) ?? 0);
          lastOf.set(key, Number(seq));
        }
        for (const { stream, seq } of net.topics.sync({
          pattern,
          seen: [],
          after: '',
          positions_only: true,
        }).streams) {
          if (isStateStream(stream)) {
            if (pattern !== '*.*.>') expect(lastOf.get(`${net.epoch} ${stream}`)).toBe(seq);
            continue;
          }
          for (let at = runStart(seq) + 1; at <= seq; at += 1) {
            const isTold = heard.missed.some(
              (each) => each.stream === stream && each.from <= at && at <= each.to,
            );
            const isHeard = heard.delivered.includes(`${net.epoch} ${stream} ${at}`);
            expect(isHeard || isTold, `${stream} ${at}`).toBe(true);
          }
        }
        heard.subscription[Symbol.dispose]();
        expect(net.prefixes).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
}, 60_000);

test('publications beyond what may be held back are fetched afterwards', async () => {
  const net = new Net();
  net.topics = new Topics({
    limits: { ...limits, streamEntriesMax: 10_000, topicsAnswerBytesMax: 1024 * 1024 },
    publish: (topic, bytes) => net.subscriptions.onPublication(topic, bytes),
  });
  const heard = follow(net, 'log.a');
  net.delayMs = () => 50;
  net.connect();
  await net.clock.advance(60);
  // Held back until the first answer is here, though "now" has passed.
  const many = followLimits.publicationsHeldMax + 50;
  for (let at = 1; at <= many; at += 1) net.say('log.a', String(at));
  expect(heard.bodies).toHaveLength(0);
  // Long before the next look at the positions.
  await net.clock.advance(500);
  expect(heard.bodies).toHaveLength(many);
  expect(heard.missed).toEqual([]);
});

test('a broker that does not know the question leaves subscribers with what arrives', async () => {
  const net = new Net();
  net.fault = () => new BusError('UNKNOWN_TYPE', { agent: 'the broker', type: 'topics' });
  const heard = follow(net, 'log.a');
  net.connect();
  net.say('log.a', '1');
  net.loses = () => true;
  net.say('log.a', '2');
  net.loses = () => false;
  net.say('log.a', '3');
  await net.clock.advance(60_000);
  expect(heard.bodies).toEqual(['1', '3']);
  expect(net.queries).toEqual([]);
});

test('a gap is asked about by its stream alone', async () => {
  const net = new Net();
  const heard = follow(net, '>', { from: 'now' });
  net.connect();
  await net.clock.advance(500);
  net.say('log.b', 'b1');
  net.say('log.a', 'a1');
  net.loses = () => true;
  net.say('log.a', 'a2');
  net.loses = () => false;
  net.queries = [];
  net.say('log.a', 'a3');
  net.say('log.b', 'b2');
  await net.clock.advance(100);
  expect(heard.bodies).toEqual(['b1', 'a1', 'b2', 'a2', 'a3']);
  expect(net.queries).toEqual([
    { pattern: 'log.a', seen: [{ stream: 'log.a', seq: 1 }], after: '', positions_only: false },
  ]);
});

test('a stream that the broker forgot before it could be asked costs one question', async () => {
  const net = new Net();
  const heard = follow(net, 'log.a', { from: 'now' });
  net.connect();
  await net.clock.advance(2_000);
  net.say('log.a', '1');
  net.loses = () => true;
  net.say('log.a', '2');
  net.loses = () => false;
  net.say('log.a', '3');
  net.topics.forget('log.a');
  net.queries = [];
  await net.clock.advance(500);
  expect(heard.bodies).toEqual(['1', '3']);
  expect(heard.missed).toEqual([{ stream: 'log.a', from: 2, to: 2 }]);
  expect(net.queries).toHaveLength(1);
});

test('after a restart only states that are gone are told one by one, of the rest the restart has told all', async () => {
  const net = new Net();
  let restarts = 0;
  const heard = follow(net, '>', { onRestart: () => void (restarts += 1) });
  net.connect();
  await net.clock.advance(2_000);
  for (const topic of ['log.a', 'task.1.x', 'presence.p.z']) net.say(topic, topic);
  await net.clock.advance(2_000);
  net.isLive = false;
  net.restart();
  net.say('presence.p.z', 'again');
  net.connect();
  await net.clock.advance(2_000);
  net.say('log.a', 'later');
  await net.clock.advance(2_000);
  expect(heard.bodies).toEqual(['log.a', 'task.1.x', 'presence.p.z', 'again', 'later']);
  expect([restarts, heard.missed, heard.forgotten]).toEqual([1, [], [streamOf('task.1.x')]]);
});

test('after the last subscription has ended nothing is asked and no timer is left', async () => {
  const net = new Net();
  const one = follow(net, 'log.a');
  const other = follow(net, 'log.a');
  net.connect();
  await net.clock.advance(30_000);
  one.subscription[Symbol.dispose]();
  other.subscription[Symbol.dispose]();
  expect([net.clock.waiting, net.prefixes]).toEqual([0, []]);
});

test('a subscriber that waits for its next attempt ends at once', async () => {
  const net = new Net();
  net.fault = () => new BusError('BROKER_BUSY', { limit: 1 });
  const heard = follow(net, 'log.a');
  net.connect();
  await net.clock.advance(1);
  net.subscriptions[Symbol.dispose]();
  expect(net.clock.waiting).toBe(0);
  expect(heard.subscription.isLevel).toBe(false);
});

test.each(['', 'a..b', 'a.>.b', '>a', 'a.*b', 'A', 'a b', '*'.repeat(300)])(
  '%j is no pattern of topics',
  (pattern) => {
    const net = new Net();
    expect(() => follow(net, pattern)).toThrow(
      expect.objectContaining({ code: 'INVALID_NAME' }) as Error,
    );
    expect(net.prefixes).toEqual([]);
  },
);
