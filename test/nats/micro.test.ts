import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { noTrace } from '../../src/base/trace.js';
import { BusError } from '../../src/errors/bus-error.js';
import { microLimits } from '../../src/nats/micro/limits.js';
import { Microservice, type Endpoint } from '../../src/nats/micro/service.js';
import { eventually } from '../support/eventually.js';
import { startNats, type NatsServer } from '../support/nats-server.js';

let server: NatsServer;
let ours: NatsConnection;
let tool: NatsConnection;

beforeAll(async () => {
  server = await startNats();
  ours = await connect({ servers: server.url });
  tool = await connect({ servers: server.url });
});

afterAll(async () => {
  await ours.close();
  await tool.close();
  await server[Symbol.asyncDispose]();
});

const echo: Endpoint = {
  ...{ name: 'echo', subject: 'test.echo' },
  handle: ({ body, respond }) => respond(body),
};

function service(...endpoints: Endpoint[]): Promise<Microservice> {
  return Microservice.start({
    ...{ connection: ours, clock: systemClock, trace: noTrace, endpoints },
    ...{ name: 'test', version: '1.2.3', description: 'A test.', metadata: { a: 'b' } },
  });
}

/** As the official client discovers. */
async function discovered(subject: string, body = ''): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  const options = { strategy: 'stall', maxWait: 2_000 } as const;
  for await (const msg of await tool.requestMany(subject, body, options)) found.push(msg.json());
  return found;
}

test('tools find a service, its endpoints and what they did, in the form of the official schemas', async () => {
  const failing: Endpoint = {
    ...{ name: 'fail', subject: 'test.fail', queueGroup: 'own', metadata: { c: 'd' } },
    handle: () => Promise.reject(new BusError('UNKNOWN_AGENT', { agent: 'none\r\nX: y' })),
  };
  await using its = await service(echo, failing);
  await using other = await service(echo);
  const said = { name: 'test', version: '1.2.3', metadata: { a: 'b' } };
  const ping = { ...said, type: 'io.nats.micro.v1.ping_response' };
  for (const which of ['', '.test']) {
    const found = await discovered(`$SRV.PING${which}`);
    expect(found).toHaveLength(2);
    expect(found).toEqual(expect.arrayContaining([its, other].map(({ id }) => ({ ...ping, id }))));
  }
  expect(await discovered(`$SRV.INFO.test.${its.id}`)).toEqual([
    {
      ...{ ...said, type: 'io.nats.micro.v1.info_response', id: its.id, description: 'A test.' },
      endpoints: [
        { name: 'echo', subject: 'test.echo', queue_group: 'q', metadata: {} },
        { name: 'fail', subject: 'test.fail', queue_group: 'own', metadata: { c: 'd' } },
      ],
    },
  ]);
  // Of one queue group one answers.
  expect(await discovered('test.echo', '"x"')).toEqual(['x']);
  const refused = await tool.request('test.fail', 'x');
  expect(refused.headers?.get('Nats-Service-Error-Code')).toBe('404');
  expect(refused.headers?.get('Nats-Service-Error')).toBe(
    'UNKNOWN_AGENT: there is no agent none X: y',
  );
  expect(refused.headers?.has('X')).toBe(false);
  expect(refused.json()).toMatchObject({ error: 'unknown_agent', retryable: false });
  const [stats] = await discovered(`$SRV.STATS.test.${its.id}`);
  expect(stats).toMatchObject({
    ...{ ...said, type: 'io.nats.micro.v1.stats_response', id: its.id },
    endpoints: [
      { name: 'echo', subject: 'test.echo', queue_group: 'q', num_errors: 0, last_error: '' },
      { name: 'fail', num_requests: 1, num_errors: 1 },
    ],
  });
  const { started, endpoints } = stats as { started: string; endpoints: Record<string, unknown>[] };
  expect(new Date(started).toISOString()).toBe(started);
  expect(endpoints[1]?.last_error).toMatch(/^404: there is no agent/);
  for (const name of ['processing_time', 'average_processing_time'])
    expect(Number.isInteger(endpoints[1]?.[name])).toBe(true);
});

test('requests are counted where they were answered; one that is too large is refused', async () => {
  await using one = await service(echo);
  await using two = await service(echo);
  for (let at = 0; at < 20; at += 1)
    expect((await tool.request('test.echo', `${at}`)).string()).toBe(`${at}`);
  const large = 'x'.repeat(microLimits.requestBytesMax + 1);
  const refused = await tool.request('test.echo', large);
  expect(refused.headers?.get('Nats-Service-Error-Code')).toBe('400');
  const stats = await Promise.all([one, two].map(({ id }) => discovered(`$SRV.STATS.test.${id}`)));
  const counts = stats.flatMap(([its]) => its?.endpoints as Record<string, number>[]);
  const sum = (name: 'num_requests' | 'num_errors'): number =>
    counts.reduce((all, its) => all + (its[name] ?? 0), 0);
  expect([sum('num_requests'), sum('num_errors')]).toEqual([21, 1]);
});

test('a service takes only so many requests at once', async () => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  await using _ = await service({
    ...echo,
    async handle({ respond }) {
      await gate;
      respond('done');
    },
  });
  const asked = Array.from({ length: microLimits.requestsAtOnce + 1 }, () =>
    tool.request('test.echo', '', { timeout: 10_000 }),
  );
  const first = await Promise.race(asked);
  expect(first.headers?.get('Nats-Service-Error-Code')).toBe('429');
  open();
  const answers = (await Promise.all(asked)).map((each) => each.string());
  expect(answers.filter((each) => each === 'done')).toHaveLength(microLimits.requestsAtOnce);
});

test('a service that stops answers what it has begun, and is found no more', async () => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  let isBegun = false;
  const its = await service({
    ...echo,
    async handle({ respond }) {
      isBegun = true;
      await gate;
      respond('done');
    },
  });
  const asked = tool.request('test.echo', '', { timeout: 10_000 });
  await eventually(() => expect(isBegun).toBe(true));
  const stopped = its[Symbol.asyncDispose]();
  open();
  expect((await asked).string()).toBe('done');
  await stopped;
  await expect(discovered('$SRV.PING.test')).rejects.toThrow();
  await expect(tool.request('test.echo', '')).rejects.toThrow();
});

test('what does not end when its service stops is cancelled', async () => {
  let isBegun = false;
  const its = await service({
    ...{ ...echo, isStream: true },
    handle: ({ signal }) => {
      isBegun = true;
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new BusError('CANCELLED'))),
      );
    },
  });
  const replies = await tool.requestMany('test.echo', '', {
    maxWait: 10_000,
    maxMessages: 2,
    strategy: 'count',
  });
  await eventually(() => expect(isBegun).toBe(true));
  await its[Symbol.asyncDispose]();
  const codes: (string | undefined)[] = [];
  for await (const reply of replies) codes.push(reply.headers?.get('Nats-Service-Error-Code'));
  // The error, then the end of the stream.
  expect(codes).toEqual(['500', undefined]);
});

test('an answer goes to no subject of the server or of a bus', async () => {
  await using _ = await service(echo);
  const seen: string[] = [];
  const watching = tool.subscribe('>', { callback: (_error, msg) => void seen.push(msg.subject) });
  tool.publish('test.echo', 'a', { reply: 'sigma.main.in.broker', headers: headers() });
  tool.publish('test.echo', 'b', { reply: '$JS.API.STREAM.PURGE.x' });
  tool.publish('test.echo', 'c', { reply: '_INBOX.c' });
  await eventually(() => expect(seen).toContain('_INBOX.c'));
  watching.unsubscribe();
  expect(seen.filter((each) => each !== 'test.echo')).toEqual(['_INBOX.c']);
});
