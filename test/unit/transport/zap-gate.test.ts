import { afterEach, expect, test } from 'vitest';
import { Request } from 'zeromq';
import { ZapGate } from '../../../src/transport/zap-gate.js';
import { z85 } from '../../../src/transport/z85.js';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const key = Buffer.alloc(32, 7);
const told: string[] = [];

async function openGate(isAllowed: (publicKey: string) => boolean): Promise<ZapGate> {
  told.length = 0;
  const gate = await ZapGate.open({
    isAllowed,
    onRefused: (reason, address) => told.push(`${reason} ${address}`),
  });
  closers.push(() => gate[Symbol.asyncDispose]());
  return gate;
}

/** As libzmq asks, RFC 27. Resolves with version, request id, status. */
async function ask(parts: (string | Buffer)[]): Promise<string[]> {
  const socket = new Request({ linger: 0 });
  closers.push(() => socket.close());
  socket.connect('inproc://zeromq.zap.01');
  await socket.send(parts);
  return (await socket.receive()).slice(0, 3).map(String);
}

const good = ['1.0', '17', ZapGate.domain, '10.0.0.9', '', 'CURVE', key];
const replaced = (at: number, part: string | Buffer): (string | Buffer)[] =>
  good.map((each, its) => (its === at ? part : each));

test('an allowed key is answered 200 with the id of the request', async () => {
  const asked: string[] = [];
  await openGate((publicKey) => asked.push(publicKey) > 0);
  expect(await ask(good)).toEqual(['1.0', '17', '200']);
  expect(asked).toEqual([z85(key)]);
});

test('an unknown key is refused, counted, and told with where it came from', async () => {
  const gate = await openGate(() => false);
  expect((await ask(good))[2]).toBe('400');
  expect([gate.refusals()['unknown-key'], told]).toEqual([1, ['unknown-key 10.0.0.9']]);
});

test.each([
  ['of another version', replaced(0, '2.0')],
  ['for another domain', replaced(2, 'elsewhere')],
  ['without a domain', replaced(2, '')],
  ['of another mechanism', replaced(5, 'NULL')],
  ['with a password', [...replaced(5, 'PLAIN').slice(0, 6), 'user', 'password']],
  ['with half a key', replaced(6, key.subarray(0, 16))],
  ['without a key', good.slice(0, 6)],
  ['of one part', ['1.0']],
])(
  'a request %s is refused whatever is allowed, and the next one is served',
  async (_what, parts) => {
    const gate = await openGate(() => true);
    expect((await ask(parts))[2]).toBe('400');
    expect(gate.refusals().malformed).toBe(1);
    expect((await ask(good))[2]).toBe('200');
  },
);

test('keys that cannot be read let nobody in, and the next one is served', async () => {
  let isBroken = true;
  const gate = await openGate(() => {
    if (isBroken) throw new Error('disk on fire');
    return true;
  });
  expect((await ask(good))[2]).toBe('500');
  expect(gate.refusals().failed).toBe(1);
  isBroken = false;
  expect((await ask(good))[2]).toBe('200');
});

test('who tries for ever does not fill the log', async () => {
  const lines: unknown[] = [];
  const gate = await ZapGate.open({
    isAllowed: () => false,
    trace: (_level, _what, fields) => lines.push(fields?.count),
  });
  closers.push(() => gate[Symbol.asyncDispose]());
  for (let at = 0; at < 20; at += 1) await ask(good);
  expect(lines).toEqual([1, 2, 4, 8, 16]);
});

test('a process has one gate at a time, and may open another after it', async () => {
  const first = await openGate(() => true);
  await expect(openGate(() => true)).rejects.toMatchObject({ code: 'BROKER_RUNNING' });
  await first[Symbol.asyncDispose]();
  await openGate(() => false);
  expect((await ask(good))[2]).toBe('400');
});
