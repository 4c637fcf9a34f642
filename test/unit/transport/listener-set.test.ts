import { afterEach, expect, test } from 'vitest';
import { ListenerSet } from '../../../src/transport/listener-set.js';
import { MemoryNetwork } from '../../support/memory-network.js';
import type { Link, Listener, PeerId } from '../../../src/transport/port.js';
import { ZeromqListener } from '../../../src/transport/zeromq.js';
import { eventually } from '../../support/eventually.js';
import { curveHarness } from '../../support/networks.js';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function opened(link: Link): { link: Link; parts: string[]; ups: () => number } {
  const parts: string[] = [];
  let ups = 0;
  link.open({
    onUp: () => (ups += 1),
    onDown: () => undefined,
    onPart: (part) => parts.push(part.toString()),
    onPublication: () => undefined,
  });
  closers.push(async () => link[Symbol.asyncDispose]());
  return { link, parts, ups: () => ups };
}

test('peers of two listeners that use the same ids are told apart', async () => {
  const networks = [new MemoryNetwork(), new MemoryNetwork()] as const;
  const set = new ListenerSet(networks[0].listener(), networks[1].listener());
  closers.push(() => set[Symbol.asyncDispose]());
  const received: [PeerId, string][] = [];
  set.listen((peer, part) => received.push([peer, part.toString()]));
  const one = opened(networks[0].link());
  const two = opened(networks[1].link());
  await one.link.send(Buffer.from('one'));
  await two.link.send(Buffer.from('two'));
  await eventually(() => expect(received).toHaveLength(2));
  expect(new Set(received.map(([peer]) => peer)).size).toBe(2);
  for (const [peer, part] of received) await set.send(peer, Buffer.from(`hello ${part}`));
  await eventually(() => expect([one.parts, two.parts]).toEqual([['hello one'], ['hello two']]));
});

test('who came over the network is remote, who came by the socket file is not', async () => {
  const tcp = curveHarness();
  closers.push(() => tcp.close());
  const memory = new MemoryNetwork();
  const set = new ListenerSet(memory.listener(), await tcp.listen());
  closers.push(() => set[Symbol.asyncDispose]());
  const isRemote = new Map<string, boolean>();
  set.listen((peer, part) => isRemote.set(part.toString(), set.isRemote(peer)));
  const near = opened(memory.link());
  const far = opened(tcp.dial());
  await eventually(() => expect(far.ups()).toBe(1));
  await near.link.send(Buffer.from('near'));
  await far.link.send(Buffer.from('far'));
  await eventually(() => expect(Object.fromEntries(isRemote)).toEqual({ near: false, far: true }));
});

test.each(['', 'x', '9peer', '\u0000'])('nobody vouches for the unknown peer %j', async (peer) => {
  const set = new ListenerSet(new MemoryNetwork().listener());
  expect([set.isRemote(peer), await set.send(peer, Buffer.from('x'))]).toEqual([true, 'gone']);
});

test('more listeners than ids can tell apart are refused', () => {
  const all = Array.from({ length: 11 }, () => new MemoryNetwork().listener());
  expect(() => new ListenerSet(...(all as [Listener, ...Listener[]]))).toThrow(RangeError);
});

test('a port that is taken is said to be, and the other socket is let go', async () => {
  const tcp = curveHarness();
  closers.push(() => tcp.close());
  const first = await tcp.listen();
  await expect(tcp.listen()).rejects.toMatchObject({ code: 'BROKER_RUNNING' });
  await first[Symbol.asyncDispose]();
  await eventually(async () => {
    const again = await tcp.listen();
    closers.push(async () => again[Symbol.asyncDispose]());
  });
});

test('tcp without keys is not served', async () => {
  await expect(ZeromqListener.bind('tcp://127.0.0.1:7447')).rejects.toMatchObject({
    code: 'KEYS_MISSING',
  });
});
