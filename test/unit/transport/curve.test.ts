import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Dealer, Subscriber } from 'zeromq';
import { newAgentKeys, revokeAgentKeys, storeAgentKeys } from '../../../src/config/agent-keys.js';
import { newCurveKeyPair, type LinkKeys } from '../../../src/transport/curve.js';
import type { Link, Listener } from '../../../src/transport/port.js';
import { isListening } from '../../../src/transport/probe.js';
import { ZeromqLink } from '../../../src/transport/zeromq.js';
import { eventually } from '../../support/eventually.js';
import { curveHarness, type CurveHarness } from '../../support/networks.js';

let network: CurveHarness;
let listener: Listener;
const received: string[] = [];
const closers: (() => Promise<void> | void)[] = [];

beforeEach(async () => {
  network = curveHarness();
  listener = await network.listen();
  received.length = 0;
  listener.listen((_peer, part) => received.push(part.toString()));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await listener[Symbol.asyncDispose]();
  await network.close();
});

interface Watched {
  link: Link;
  ups: () => number;
  publications: string[];
  close: () => Promise<void>;
}

function opened(link: Link): Watched {
  let ups = 0;
  const publications: string[] = [];
  link.open({
    onUp: () => (ups += 1),
    onDown: () => undefined,
    onPart: () => undefined,
    onPublication: (topic) => publications.push(topic),
  });
  const close = async (): Promise<void> => link[Symbol.asyncDispose]();
  closers.push(close);
  return { link, ups: () => ups, publications, close };
}

/** Somebody who is let in: what it says arrives. */
async function expectServed(): Promise<void> {
  const friend = opened(network.dial('friend'));
  await eventually(() => expect(friend.ups()).toBe(1));
  const count = received.length;
  expect(await friend.link.send(Buffer.from('friend'))).toBe('sent');
  await eventually(() => expect(received.length).toBe(count + 1));
}

const stranger = (): LinkKeys => ({ ...newCurveKeyPair(), serverKey: network.serverKey });

describe('a stranger with the public key of the broker', () => {
  test('is refused, told so, and counted', async () => {
    const watched = opened(network.dialWith(stranger()));
    await eventually(() => {
      expect(watched.link.refusal?.code).toBe('CURVE_REFUSED');
      expect(listener.refusals().CURVE_REFUSED).toBeGreaterThan(0);
      expect(network.gate().refusals()['unknown-key']).toBeGreaterThan(0);
    });
    expect([watched.ups(), await watched.link.send(Buffer.from('in'))]).toEqual([0, 'gone']);
    await expectServed();
    expect(received).toEqual(['friend']);
  });

  test('gets no publication either', async () => {
    const { publicKey, secretKey, serverKey } = stranger();
    const subscriber = new Subscriber({
      linger: 0,
      curvePublicKey: publicKey,
      curveSecretKey: secretKey,
      curveServerKey: serverKey,
    });
    closers.push(() => subscriber.close());
    await expectNoPublication(subscriber, 'CURVE_REFUSED');
  });
});

describe('a plain client', () => {
  test('is refused and counted, and the others are served', async () => {
    for (let at = 0; at < 20; at += 1) {
      const plain = new Dealer({ linger: 0, sendTimeout: 0 });
      closers.push(() => plain.close());
      plain.connect(network.address);
      await plain.send('in').catch(() => undefined);
    }
    await eventually(() => expect(listener.refusals().CURVE_REQUIRED).toBeGreaterThanOrEqual(20));
    await expectServed();
    expect(received).toEqual(['friend']);
  });

  test('gets no publication', async () => {
    const subscriber = new Subscriber({ linger: 0 });
    closers.push(() => subscriber.close());
    await expectNoPublication(subscriber, 'CURVE_REQUIRED');
  });
});

async function expectNoPublication(subscriber: Subscriber, code: string): Promise<void> {
  const got: string[] = [];
  void (async () => {
    for await (const [topic] of subscriber) got.push(String(topic));
  })().catch(() => undefined);
  subscriber.subscribe('');
  subscriber.connect(listener.topicsAddress);
  const friend = opened(network.dial('friend'));
  friend.link.connectTopics(listener.topicsAddress);
  friend.link.subscribe('news');
  await eventually(() => {
    listener.publish('news', Buffer.from('secret'));
    expect(friend.publications).toContain('news');
    expect(listener.refusals()[code]).toBeGreaterThan(0);
  });
  expect(got).toEqual([]);
}

test.each([
  ['nothing at all', ''],
  ['another protocol', 'GET / HTTP/1.1\r\nHost: bus\r\n\r\n'.repeat(20)],
  ['half a greeting', '\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00CURVE'],
  [
    'a greeting and then noise',
    `\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00CURVE${'\0'.repeat(47)}${'noise'.repeat(500)}`,
  ],
])('who connects and says %s does not disturb the others', async (_what, bytes) => {
  for (let at = 0; at < 10; at += 1) {
    const { port } = new URL(network.address.replace('tcp:', 'http:'));
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(Buffer.from(bytes, 'latin1'));
    closers.push(() => void socket.destroy());
  }
  await expectServed();
  expect(received).toEqual(['friend']);
});

test('who leaves before it greeted was not refused', async () => {
  for (let at = 0; at < 5; at += 1) expect(await isListening(network.address)).toBe(true);
  const plain = new Dealer({ linger: 0 });
  closers.push(() => plain.close());
  plain.connect(network.address);
  await eventually(() => expect(listener.refusals().CURVE_REQUIRED).toBeGreaterThan(0));
  expect(listener.refusals().HANDSHAKE_FAILED).toBeUndefined();
});

test('who was promised another broker does not speak to this one', async () => {
  const keys = network.keysOf('friend');
  const fooled = opened(network.dialWith({ ...keys, serverKey: newCurveKeyPair().publicKey }));
  await eventually(() => expect(listener.refusals().HANDSHAKE_FAILED).toBeGreaterThan(1));
  expect(fooled.ups()).toBe(0);
});

test('a key that is revoked is refused at the next connection', async () => {
  const keys = network.keysOf('leaver');
  const before = opened(network.dialWith(keys));
  await eventually(() => expect(before.ups()).toBe(1));
  await before.close();
  revokeAgentKeys(network.home, 'leaver');
  const after = opened(network.dialWith(keys));
  await eventually(() => expect(after.link.refusal?.code).toBe('CURVE_REFUSED'));
  expect(after.ups()).toBe(0);
});

test('a key that is added while the broker runs is let in, by a client that waits for it', async () => {
  await expectServed();
  const { link, ups } = opened(network.dialWith(stranger()));
  await eventually(() => expect(link.refusal?.code).toBe('CURVE_REFUSED'));
  const keys = network.keysOf('newcomer');
  const newcomer = opened(network.dialWith(keys));
  await eventually(() => expect(newcomer.ups()).toBe(1));
  expect(ups()).toBe(0);
});

test('a refused client comes in by itself once its key is restored', async () => {
  const keys = network.keysOf('returner');
  revokeAgentKeys(network.home, 'returner');
  const watched = opened(network.dialWith(keys));
  watched.link.connectTopics(listener.topicsAddress);
  watched.link.subscribe('news');
  await eventually(() => expect(watched.link.refusal?.code).toBe('CURVE_REFUSED'));
  const restored = newAgentKeys(
    { agent: 'returner', role: 'tester', nowMs: 0 },
    { curve_public: keys.publicKey },
  );
  storeAgentKeys(network.home, restored, { replace: false });
  await eventually(() => {
    listener.publish('news', Buffer.from('x'));
    expect([watched.ups(), watched.link.refusal]).toEqual([1, undefined]);
    expect(watched.publications).toContain('news');
  });
});

test('without its gate a listener lets nobody in', async () => {
  await network.gate()[Symbol.asyncDispose]();
  const keys = network.keysOf('friend');
  const locked = opened(network.dialWith(keys));
  await eventually(() => expect(listener.refusals().HANDSHAKE_FAILED).toBeGreaterThan(0));
  expect(locked.ups()).toBe(0);
});

test('a client has no use for tcp without keys', () => {
  expect(() => new ZeromqLink(network.address)).toThrow(
    expect.objectContaining({ code: 'KEYS_MISSING' }) as Error,
  );
});
