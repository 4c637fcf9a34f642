import { afterEach, describe, expect, test } from 'vitest';
import type { Claim, ProofNeeded } from '../../src/config/key-ring.js';
import type { Link, Listener, PeerId } from '../../src/transport/port.js';
import { eventually } from '../support/eventually.js';

export interface TransportHarness {
  listen(): Promise<Listener>;
  /** Where the transport has keys, with those of this agent, which is let in in this role. */
  dial(agent?: string, role?: string): Link;
  /** Where the transport has keys: what the broker asks of an agent, and what it answers with. */
  readonly keys?: {
    proofFor: (claim: Claim) => ProofNeeded;
    secretOf: (agent: string, role?: string) => Buffer;
  };
  close(): Promise<void>;
}

interface Recorded {
  parts: string[];
  publications: [string, string][];
  ups: number;
  downs: number;
}

/** What every transport must do. An implementation is tested by naming its harness. */
export function transportContract(name: string, open: () => TransportHarness): void {
  describe(`transport contract: ${name}`, () => {
    const closers: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    const setUp = (): TransportHarness => {
      const harness = open();
      closers.push(() => harness.close());
      return harness;
    };
    const listenOn = async (harness: TransportHarness) => {
      const listener = await harness.listen();
      let isOpen = true;
      const close = async (): Promise<void> => {
        if (isOpen) await listener[Symbol.asyncDispose]();
        isOpen = false;
      };
      closers.push(close);
      const received: [PeerId, string][] = [];
      listener.listen((peer, part) => received.push([peer, part.toString()]));
      return { listener, received, close };
    };
    const dialTo = (harness: TransportHarness) => {
      const link = harness.dial();
      closers.push(async () => link[Symbol.asyncDispose]());
      const recorded: Recorded = { parts: [], publications: [], ups: 0, downs: 0 };
      link.open({
        onUp: () => (recorded.ups += 1),
        onDown: () => (recorded.downs += 1),
        onPart: (part) => recorded.parts.push(part.toString()),
        onPublication: (topic, frame) => recorded.publications.push([topic, frame.toString()]),
      });
      return { link, recorded };
    };

    test('parts arrive in order in both directions', async () => {
      const harness = setUp();
      const { listener, received } = await listenOn(harness);
      const { link, recorded } = dialTo(harness);
      await eventually(() => expect(recorded.ups).toBe(1));
      const numbers = Array.from({ length: 50 }, (_, at) => String(at));
      for (const number of numbers) expect(await link.send(Buffer.from(number))).toBe('sent');
      await eventually(() => expect(received.map(([, part]) => part)).toEqual(numbers));
      const peer = received[0]![0];
      for (const number of numbers)
        expect(await listener.send(peer, Buffer.from(number))).toBe('sent');
      await eventually(() => expect(recorded.parts).toEqual(numbers));
    });

    test('a megabyte arrives whole', async () => {
      const harness = setUp();
      const { received } = await listenOn(harness);
      const { link, recorded } = dialTo(harness);
      await eventually(() => expect(recorded.ups).toBe(1));
      const text = 'x'.repeat(1024 * 1024);
      expect(await link.send(Buffer.from(text))).toBe('sent');
      await eventually(() => expect(received[0]?.[1].length).toBe(text.length));
      expect(received[0]?.[1]).toBe(text);
    });

    test('two links are two peers', async () => {
      const harness = setUp();
      const { listener, received } = await listenOn(harness);
      const one = dialTo(harness);
      const two = dialTo(harness);
      await eventually(() => expect(one.recorded.ups + two.recorded.ups).toBe(2));
      await one.link.send(Buffer.from('one'));
      await two.link.send(Buffer.from('two'));
      await eventually(() => expect(received).toHaveLength(2));
      for (const [peer, part] of received) await listener.send(peer, Buffer.from(`hello ${part}`));
      await eventually(() =>
        expect([one.recorded.parts, two.recorded.parts]).toEqual([['hello one'], ['hello two']]),
      );
    });

    test('a send to an unknown peer says that it is gone', async () => {
      const { listener } = await listenOn(setUp());
      expect(await listener.send('nobody', Buffer.from('x'))).toBe('gone');
    });

    test('a send without a connection is never kept for later', async () => {
      const harness = setUp();
      const { link, recorded } = dialTo(harness);
      expect(await link.send(Buffer.from('lost'))).not.toBe('sent');
      const { received } = await listenOn(harness);
      await eventually(() => expect(recorded.ups).toBe(1));
      await link.send(Buffer.from('kept'));
      await eventually(() => expect(received.map(([, part]) => part)).toEqual(['kept']));
    });

    test('a link comes back by itself when a new listener opens, as a new peer', async () => {
      const harness = setUp();
      const first = await listenOn(harness);
      const { link, recorded } = dialTo(harness);
      await eventually(() => expect(recorded.ups).toBe(1));
      await link.send(Buffer.from('a'));
      await eventually(() => expect(first.received).toHaveLength(1));
      await first.close();
      await eventually(() => expect(recorded.downs).toBe(1));
      const second = await listenOn(harness);
      await eventually(() => expect(recorded.ups).toBe(2));
      await link.send(Buffer.from('b'));
      await eventually(() => expect(second.received.map(([, part]) => part)).toEqual(['b']));
      expect(await second.listener.send(first.received[0]![0], Buffer.from('x'))).toBe('gone');
    });

    test('publications reach the prefixes that are subscribed, and end with the subscription', async () => {
      const harness = setUp();
      const { listener } = await listenOn(harness);
      const { link, recorded } = dialTo(harness);
      await eventually(() => expect(recorded.ups).toBe(1));
      link.connectTopics(listener.topicsAddress);
      link.subscribe('presence.');
      await eventually(() => {
        listener.publish('presence.mm.joined', Buffer.from('yes'));
        listener.publish('pres', Buffer.from('no'));
        expect(recorded.publications.length).toBeGreaterThan(0);
      });
      expect(new Set(recorded.publications.map(String))).toEqual(
        new Set(['presence.mm.joined,yes']),
      );
      link.unsubscribe('presence.');
      link.subscribe('end\0');
      await eventually(() => {
        listener.publish('end', Buffer.from('last'));
        expect(recorded.publications.at(-1)).toEqual(['end', 'last']);
      });
      const before = recorded.publications.filter(([topic]) => topic !== 'end').length;
      listener.publish('presence.mm.left', Buffer.from('late'));
      listener.publish('end', Buffer.from('marker'));
      await eventually(() => expect(recorded.publications.at(-1)).toEqual(['end', 'marker']));
      expect(recorded.publications.filter(([topic]) => topic !== 'end')).toHaveLength(before);
    });
  });
}
