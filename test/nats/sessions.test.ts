import type { NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Link, Listener, PeerId } from '../../src/transport/port.js';
import { eventually } from '../support/eventually.js';
import { natsHarness } from '../support/nats-network.js';
import { startNats, type NatsServer } from '../support/nats-server.js';

let server: NatsServer;
let harness: ReturnType<typeof natsHarness>;
let listener: Listener;
let link: Link;
let received: [PeerId, string][];
let parts: string[];
let ups: number;
let downs: number;

beforeEach(async () => {
  server = await startNats();
  harness = natsHarness(server);
  [received, parts, ups, downs] = [[], [], 0, 0];
  listener = await harness.listen();
  listener.listen((peer, part) => received.push([peer, part.toString()]));
  link = harness.dial('bob');
  link.open({
    onUp: () => (ups += 1),
    onDown: () => (downs += 1),
    onPart: (part) => parts.push(part.toString()),
    onPublication: () => undefined,
  });
  await eventually(() => expect(ups).toBe(1));
});

afterEach(async () => {
  await link[Symbol.asyncDispose]();
  await listener[Symbol.asyncDispose]();
  await harness.close();
  await server[Symbol.asyncDispose]();
});

/** A tool that sees all subjects, and the run that the broker has now. */
async function tool(): Promise<{ connection: NatsConnection; root: string; run: string }> {
  const connection = await server.connect();
  const root = `sigma.${new URL(listener.address).pathname.slice(1)}`;
  const word = await connection.request(`${root}.find`, undefined, { timeout: 1_000 });
  return { connection, root, run: word.string().split(' ')[0]! };
}

test('when the server comes back, both sides do, in a new session', async () => {
  await link.send(Buffer.from('before'));
  await eventually(() => expect(received).toHaveLength(1));
  await server.kill();
  await eventually(() => expect(downs).toBe(1));
  expect(await link.send(Buffer.from('lost'))).toBe('gone');
  await server.start();
  await eventually(() => expect(ups).toBe(2), 15_000);
  expect(await listener.send(received[0]![0], Buffer.from('x'))).toBe('gone');
  await link.send(Buffer.from('after'));
  await eventually(() => expect(received.map(([, part]) => part)).toEqual(['before', 'after']));
  await listener.send(received[1]![0], Buffer.from('answer'));
  await eventually(() => expect(parts).toEqual(['answer']));
});

test('a session that lacks a message ends on both sides, and the next one begins', async () => {
  await link.send(Buffer.from('one'));
  await eventually(() => expect(received).toHaveLength(1));
  const [peer] = received[0]!;
  const { connection, root, run } = await tool();
  // As if the link had sent a second message that came to nothing, and then a third.
  connection.publish(`${root}.in.${run}.${peer}`, 'three', { reply: '2' });
  await eventually(() => expect([ups, downs]).toEqual([2, 1]));
  expect(await listener.send(peer, Buffer.from('x'))).toBe('gone');
  await link.send(Buffer.from('again'));
  await eventually(() => expect(received.map(([, part]) => part)).toEqual(['one', 'again']));
});

test('names that no link has are not answered, and do no harm', async () => {
  const { connection, root, run } = await tool();
  const over: string[] = [];
  connection.subscribe(`${root}.out.>`, {
    callback: (_error, message) => void over.push(message.subject),
  });
  await connection.flush();
  for (const id of ['bob', 'bob.x', `bob.${'f'.repeat(3_000)}`, `a.b.${'f'.repeat(16)}`])
    connection.publish(`${root}.in.${run}.${id}`, 'x', { reply: '0' });
  // A session that the broker does not know is told that it is over.
  connection.publish(`${root}.in.${run}.bob.${'0'.repeat(16)}`, 'x', { reply: '7' });
  await eventually(() => expect(over).toEqual([`${root}.out.${run}.bob.${'0'.repeat(16)}`]));
  expect(received).toEqual([]);
  await link.send(Buffer.from('still there'));
  await eventually(() => expect(received.map(([, part]) => part)).toEqual(['still there']));
  expect([ups, downs]).toEqual([1, 0]);
});
