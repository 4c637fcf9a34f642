import { afterEach, describe, expect, test } from 'vitest';
import type { BrokerLimits } from '../../src/broker/limits.js';
import type { Client } from '../../src/client/client.js';
import type { Missed, SubscribeOptions } from '../../src/client/follower.js';
import type { Subscription } from '../../src/client/subscriptions.js';
import { recordOf, testBus, type TestBus } from '../support/bus.js';
import { eventually } from '../support/eventually.js';
import { lossyHarness, type LossyHarness } from '../support/lossy.js';
import type { TransportHarness } from './transport.js';

/** What a publisher and a subscriber may rely on, whatever carries them and whatever it loses. */
export function topicsContract(name: string, open: () => TransportHarness): void {
  describe(`topics contract: ${name}`, () => {
    let bus: TestBus | undefined;
    let network: LossyHarness;
    const openBus = async (limits: Partial<BrokerLimits> = {}): Promise<TestBus> => {
      network = lossyHarness(open());
      bus = testBus(network, limits);
      await bus.start();
      return bus;
    };
    afterEach(async () => {
      await bus?.close();
      bus = undefined;
    });

    interface Heard {
      bodies: string[];
      missed: Missed[];
      forgotten: string[];
      restarts: number;
      subscription: Subscription;
    }
    const follow = async (
      client: Client,
      pattern: string,
      options: SubscribeOptions = {},
    ): Promise<Heard> => {
      const heard: Omit<Heard, 'subscription'> = {
        bodies: [],
        missed: [],
        forgotten: [],
        restarts: 0,
      };
      const subscription = client.subscribe(
        pattern,
        (_topic, frame) => heard.bodies.push(frame.body.toString()),
        {
          onMissed: (missed) => heard.missed.push(missed),
          onForgotten: (stream) => heard.forgotten.push(stream),
          onRestart: () => (heard.restarts += 1),
          ...options,
        },
      );
      if (options.isLive !== true) await eventually(() => expect(subscription.isLevel).toBe(true));
      return Object.assign(heard, { subscription });
    };
    const say = (client: Client, topic: string, ...bodies: string[]): Promise<number[]> =>
      Promise.all(bodies.map((body) => client.publish(topic, 'note', Buffer.from(body))));
    const numbers = (from: number, to: number): string[] =>
      Array.from({ length: to - from + 1 }, (_, at) => String(from + at));

    test('each stream counts its publications from 1, and who published is stamped', async () => {
      await openBus();
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const from: string[] = [];
      const listening = (await bus!.client('listener')).subscribe('log.>', (_topic, frame) =>
        from.push(frame.envelope.from),
      );
      await eventually(() => expect(listening.isLevel).toBe(true));
      expect(await say(speaker, 'log.a', 'x', 'y')).toEqual([1, 2]);
      expect(await say(speaker, 'log.b', 'x')).toEqual([1]);
      expect(await say(speaker, 'task.7.begun', 'x')).toEqual([1]);
      expect(await say(speaker, 'task.7.done', 'x')).toEqual([2]);
      await eventually(() => expect(from).toEqual(['speaker', 'speaker', 'speaker']));
    });

    test('what may not be published is refused with its reason', async () => {
      await openBus({ publicationBytesMax: 1_000 });
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const refusals = [
        ['presence.mm.left', 'UNAUTHORISED'],
        ['sys.anything', 'UNAUTHORISED'],
        ['log.*', 'INVALID_NAME'],
        ['log.>', 'INVALID_NAME'],
        ['log..x', 'INVALID_NAME'],
        ['', 'INVALID_NAME'],
      ] as const;
      for (const [topic, code] of refusals)
        await expect(say(speaker, topic, 'x')).rejects.toMatchObject({ code });
      const other = await bus!.client('other');
      await expect(say(other, 'agent.speaker.x', 'x')).rejects.toMatchObject({
        code: 'UNAUTHORISED',
      });
      await expect(say(speaker, 'log.a', 'x'.repeat(1_000))).rejects.toMatchObject({
        code: 'TOO_LARGE',
      });
      expect(await say(speaker, 'log.a', 'x')).toEqual([1]);
    });

    test('a late joiner sees every agent, also those that were offline before the broker started', async () => {
      await openBus();
      const [away, here, gone] = await Promise.all(
        ['away', 'here', 'gone'].map(async (agent) => {
          const client = await bus!.client(agent);
          await client.register(recordOf(agent));
          return client;
        }),
      );
      await away!.close();
      await bus!.stop();
      await bus!.start();
      await here!.ready({ withinMs: 10_000 });
      await gone!.ready({ withinMs: 10_000 });
      await gone!.close();
      await (await bus!.client('brief', { isEphemeral: true })).register(recordOf('brief'));
      const late = await bus!.client('late');
      const states = new Map<string, string>();
      late.onPresence(({ agent }) => states.set(agent.record.id, agent.state));
      await eventually(() =>
        expect(Object.fromEntries(states)).toEqual({
          away: 'offline',
          brief: 'online',
          gone: 'offline',
          here: 'online',
        }),
      );
    });

    test('publications that the network loses are fetched: in order, none twice', async () => {
      await openBus();
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const heard = await follow(await bus!.client('listener'), 'log.a');
      let count = 0;
      network.loses = () => (count += 1) % 3 === 0;
      await say(speaker, 'log.a', ...numbers(1, 200));
      network.loses = () => false;
      await say(speaker, 'log.a', '201');
      await eventually(() => expect(heard.bodies).toEqual(numbers(1, 201)));
      expect(heard.missed).toEqual([]);
    });

    test('a subscriber is told exactly what is lost for good', async () => {
      await openBus({ streamEntriesMax: 10 });
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const heard = await follow(await bus!.client('listener'), 'log.a');
      await say(speaker, 'log.a', ...numbers(1, 5));
      await eventually(() => expect(heard.bodies).toEqual(numbers(1, 5)));
      network.loses = () => true;
      await say(speaker, 'log.a', ...numbers(6, 50));
      network.loses = () => false;
      await say(speaker, 'log.a', '51');
      await eventually(() => expect(heard.bodies.at(-1)).toBe('51'));
      expect(heard.bodies).toEqual([...numbers(1, 5), ...numbers(42, 51)]);
      expect(heard.missed).toEqual([{ stream: 'log.a', from: 6, to: 41 }]);
    });

    test('the loss of the last publication is found although nothing follows it', async () => {
      await openBus();
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const listener = await bus!.client('listener', { checkMs: 100 });
      const heard = await follow(listener, '>');
      network.loses = () => true;
      await say(speaker, 'log.a', '1', '2');
      await say(speaker, 'log.new', '3');
      await say(speaker, 'task.7.done', '4');
      await eventually(() => expect([...heard.bodies].sort()).toEqual(numbers(1, 4)));
      expect(heard.missed).toEqual([]);
    });

    test('of a stream of states the newest is heard, and nothing counts as missed', async () => {
      await openBus();
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const listener = await bus!.client('listener', { checkMs: 100 });
      const heard = await follow(listener, 'task.>');
      network.loses = () => true;
      await say(speaker, 'task.7.begun', ...numbers(1, 20));
      await eventually(() => expect(heard.bodies.at(-1)).toBe('20'));
      network.loses = () => false;
      await say(speaker, 'task.7.done', '21');
      await eventually(() => expect(heard.bodies.at(-1)).toBe('21'));
      expect(heard.missed).toEqual([]);
    });

    test('an agent that is not remembered is reported gone although its farewell was lost', async () => {
      await openBus();
      const brief = await bus!.client('brief', { isEphemeral: true });
      await brief.register(recordOf('brief'));
      const listener = await bus!.client('listener', { checkMs: 100 });
      const known = new Set<string>();
      listener.onPresence(
        ({ agent }) => known.add(agent.record.id),
        (agent) => known.delete(agent),
      );
      await eventually(() => expect([...known]).toEqual(['brief']));
      network.loses = () => true;
      await brief.close();
      await eventually(() => expect([...known]).toEqual([]));
    });

    test('an agent that the broker forgot to make room is no longer shown to anybody', async () => {
      await openBus({ agentsMax: 1 });
      const old = await bus!.client('old');
      await old.register(recordOf('old'));
      const listener = await bus!.client('listener', { checkMs: 100 });
      const forgotten: string[] = [];
      listener.onPresence(
        () => undefined,
        (agent) => forgotten.push(agent),
      );
      await old.close();
      await (await bus!.client('new')).register(recordOf('new'));
      await eventually(() => expect(forgotten).toEqual(['old']));
      const known: string[] = [];
      const late = listener.onPresence(({ agent }) => known.push(agent.record.id));
      await eventually(() => expect(late.isLevel).toBe(true));
      expect(known).toEqual(['new']);
    });

    test('a new subscriber begins with now, with the states, or with all that is kept', async () => {
      await openBus({ streamEntriesMax: 3 });
      const speaker = await bus!.client('speaker', { role: 'manager' });
      await say(speaker, 'log.a', ...numbers(1, 5));
      await say(speaker, 'task.7.begun', 'old state');
      await say(speaker, 'task.7.done', 'state');
      const listener = await bus!.client('listener');
      const plain = await follow(listener, '>');
      const now = await follow(listener, '>', { from: 'now' });
      const kept = await follow(listener, '>', { from: 'kept' });
      const live = await follow(listener, '>', { isLive: true });
      await say(speaker, 'log.a', 'new');
      await eventually(() => {
        expect(plain.bodies).toEqual(['state', 'new']);
        expect(now.bodies).toEqual(['new']);
        expect(kept.bodies).toEqual(['3', '4', '5', 'state', 'new']);
        expect(live.bodies).toEqual(['new']);
      });
      expect(kept.missed).toEqual([]);
    });

    test('after a broker was killed a subscriber is level again and knows of the restart', async () => {
      await openBus();
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const heard = await follow(await bus!.client('listener'), 'log.>');
      await say(speaker, 'log.a', ...numbers(1, 9));
      await eventually(() => expect(heard.bodies).toHaveLength(9));
      await bus!.crash();
      await bus!.start();
      await speaker.ready({ withinMs: 10_000 });
      // Perhaps before the listener is back: then it is fetched.
      await say(speaker, 'log.a', ...numbers(10, 14));
      await eventually(() => expect(heard.bodies).toEqual(numbers(1, 14)));
      expect([heard.restarts, heard.missed, heard.forgotten]).toEqual([1, [], []]);
    });

    test('what was published while a subscriber was away from the same broker is fetched', async () => {
      await openBus();
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const listener = await bus!.client('listener');
      const heard = await follow(listener, 'log.a');
      await say(speaker, 'log.a', '1');
      await eventually(() => expect(heard.bodies).toEqual(['1']));
      network.loses = () => true;
      await say(speaker, 'log.a', '2', '3');
      network.loses = () => false;
      network.damage();
      await eventually(() => expect(heard.bodies).toEqual(['1', '2', '3']));
    });

    test('overlapping patterns hear their own share, each once', async () => {
      await openBus();
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const listener = await bus!.client('listener');
      const all = await follow(listener, 'log.>');
      const one = await follow(listener, 'log.*.a');
      const narrow = await follow(listener, 'task.7.done');
      let count = 0;
      network.loses = () => (count += 1) % 4 === 0;
      for (let at = 1; at <= 20; at += 1) {
        await say(speaker, 'log.x.a', `a${at}`);
        await say(speaker, 'log.x.b', `b${at}`);
        await say(speaker, at % 2 === 0 ? 'task.7.done' : 'task.7.begun', String(at));
      }
      network.loses = () => false;
      await say(speaker, 'log.x.a', 'a21');
      await say(speaker, 'log.x.b', 'b21');
      await say(speaker, 'task.7.done', '22');
      const prefixed = (prefix: string): string[] => numbers(1, 21).map((at) => prefix + at);
      await eventually(() => {
        expect(all.bodies.filter((body) => body.startsWith('a'))).toEqual(prefixed('a'));
        expect(all.bodies.filter((body) => body.startsWith('b'))).toEqual(prefixed('b'));
        expect(one.bodies).toEqual(prefixed('a'));
        expect(narrow.bodies.at(-1)).toBe('22');
      });
      expect(narrow.bodies.filter((body) => Number(body) % 2 !== 0)).toEqual([]);
      expect(narrow.missed).toEqual([]);
    });

    test('who unsubscribes hears no more, and others of the same pattern still do', async () => {
      await openBus();
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const listener = await bus!.client('listener');
      const first = await follow(listener, 'log.a');
      const second = await follow(listener, 'log.a');
      await say(speaker, 'log.a', '1');
      await eventually(() => expect([first.bodies, second.bodies]).toEqual([['1'], ['1']]));
      first.subscription[Symbol.dispose]();
      await say(speaker, 'log.a', '2');
      await eventually(() => expect(second.bodies).toEqual(['1', '2']));
      expect(first.bodies).toEqual(['1']);
    });

    test('a stream that the broker forgot is reported, and begins again without a gap', async () => {
      await openBus({ streamsMax: 2 });
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const listener = await bus!.client('listener', { checkMs: 100 });
      const heard = await follow(listener, 'log.>');
      await say(speaker, 'log.a', '1', '2', '3');
      await say(speaker, 'log.b', '4');
      await say(speaker, 'log.c', '5');
      await eventually(() => expect(heard.forgotten).toEqual(['log.a']));
      await say(speaker, 'log.a', '6');
      await eventually(() => expect(heard.bodies).toEqual(numbers(1, 6)));
      expect(heard.missed).toEqual([]);
    });

    test('a subscriber that fails costs only itself', async () => {
      await openBus();
      const speaker = await bus!.client('speaker', { role: 'manager' });
      const listener = await bus!.client('listener');
      listener.subscribe('log.a', () => {
        throw new Error('this subscriber is broken');
      });
      const heard = await follow(listener, 'log.a');
      await say(speaker, 'log.a', '1', '2');
      await eventually(() => expect(heard.bodies).toEqual(['1', '2']));
    });
  });
}
