import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Histogram } from '../../../src/base/histogram.js';
import { HealthServer, verdictOn } from '../../../src/observe/health-server.js';
import { LoopLag } from '../../../src/observe/loop-lag.js';
import { Metrics } from '../../../src/observe/metrics.js';
import { statusAnswerCodec, type StatusAnswer } from '../../../src/wire/messages.js';
import { eventually } from '../../support/eventually.js';

const acceptLatency = new Histogram();
for (const ms of [0.5, 2, 2, 40]) acceptLatency.record(ms);

const serving: StatusAnswer = {
  ...statusAnswerCodec.decode(new Uint8Array()),
  version: '1.2.3',
  state: 'serving',
  store_state: 'serving',
  sessions: 4,
  messages: 7,
  oldest_ms: 1_500,
  frames_corrupt: 2,
  redelivered: 5,
  dead_letters: 3,
  loop_lag_ms: 12,
  refused: { BROKER_BUSY: 9, NO_RESPONDER: 1 },
};

let status = serving;
let server: HealthServer;

beforeEach(async () => {
  status = serving;
  const metrics = new Metrics({
    status: () => status,
    numbers: () => ({ acceptLatency, audit: { recorded: 11, lost: 1 } }),
    withProcess: true,
  });
  server = await HealthServer.open({
    address: '127.0.0.1:0',
    verdict: () => verdictOn(status),
    metrics,
  });
});
afterEach(() => server[Symbol.asyncDispose]());

interface Answered {
  code: number;
  type: string;
  text: string;
}

function ask(path: string, options: object = {}, body = ''): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: server.port, path, agent: false, ...options });
    asked.once('error', reject);
    asked.once('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.once('end', () =>
        resolve({
          code: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          text,
        }),
      );
    });
    asked.end(body);
  });
}

test('metrics are the numbers of the status in the text format of Prometheus', async () => {
  const { code, type, text } = await ask('/metrics');
  expect([code, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  for (const line of [
    'sigma_sessions 4',
    'sigma_messages 7',
    'sigma_oldest_message_seconds 1.5',
    'sigma_frames_corrupt_total 2',
    'sigma_redelivered_total 5',
    'sigma_dead_letters 3',
    'sigma_event_loop_lag_seconds 0.012',
    'sigma_refused_total{code="BROKER_BUSY"} 9',
    'sigma_store_up 1',
    'sigma_info{version="1.2.3"} 1',
    'sigma_state{state="serving"} 1',
    'sigma_audit_entries_total 11',
    'sigma_audit_lost_total 1',
    '# TYPE sigma_accept_latency_seconds histogram',
    'sigma_accept_latency_seconds_bucket{le="0.0005"} 1',
    'sigma_accept_latency_seconds_bucket{le="0.002"} 3',
    'sigma_accept_latency_seconds_bucket{le="+Inf"} 4',
    'sigma_accept_latency_seconds_count 4',
  ])
    expect(text.split('\n')).toContain(line);
  expect(text).toContain('process_cpu_seconds_total');
});

test('a second scrape tells the new numbers, not their sum', async () => {
  await ask('/metrics');
  status = { ...serving, redelivered: 6, refused: { BROKER_BUSY: 10 } };
  const lines = (await ask('/metrics')).text.split('\n');
  expect(lines).toContain('sigma_redelivered_total 6');
  expect(lines).toContain('sigma_refused_total{code="BROKER_BUSY"} 10');
  expect(lines.join('\n')).not.toContain('NO_RESPONDER');
});

test('a serving broker is healthy and ready', async () => {
  for (const path of ['/healthz', '/readyz', '/healthz?probe=1'])
    expect(await ask(path)).toMatchObject({
      code: 200,
      text: '{"ok":true,"state":"serving","store":"serving"}\n',
    });
});

test.each([
  [{ state: 'draining' }, 503, 503, 'the broker is draining'],
  [{ state: 'opening' }, 200, 503, 'the broker is opening'],
  [{ store_state: 'failed' }, 503, 503, 'the store cannot be written'],
])('%j is told, with why', async (changed, health, ready, why) => {
  status = { ...serving, ...changed };
  expect((await ask('/healthz')).code).toBe(health);
  const answered = await ask('/readyz');
  expect(answered.code).toBe(ready);
  expect(JSON.parse(answered.text)).toMatchObject({ ok: false, why });
});

test.each(['evil.example', 'evil.example:9464', '127.0.0.1.evil.example', '10.0.0.1:80', ''])(
  'a request for the host "%s" reads nothing',
  async (host) => {
    const { code, text } = await ask('/metrics', { headers: { host }, setHost: false });
    expect([code, text.includes('sigma_')]).toEqual([403, false]);
  },
);

test('only GET is answered, only without a body, and only at known paths', async () => {
  expect((await ask('/metrics', { method: 'POST' })).code).toBe(405);
  expect((await ask('/metrics', { headers: { 'content-length': 3 } }, 'abc')).code).toBe(413);
  expect((await ask('/metrics', { headers: { 'transfer-encoding': 'chunked' } }, 'abc')).code).toBe(
    413,
  );
  for (const path of ['/', '/metrics/', '/../etc/passwd']) expect((await ask(path)).code).toBe(404);
});

test('connections beyond the limit are closed, and the others still served', async () => {
  const sockets = Array.from({ length: 60 }, () => connect(server.port, '127.0.0.1'));
  let closed = 0;
  for (const socket of sockets)
    socket.on('error', () => undefined).once('close', () => (closed += 1));
  await eventually(() => expect(closed).toBe(60 - 32));
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect((await ask('/healthz')).code).toBe(200));
});

test.each(['0.0.0.0:0', 'example.com:80', '192.168.0.1:80', ''])(
  'it does not listen on "%s"',
  async (address) => {
    const metrics = new Metrics({ status: () => status });
    await expect(
      HealthServer.open({ address, verdict: () => verdictOn(status), metrics }),
    ).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  },
);

test('an address that is taken is an error with a code', async () => {
  const metrics = new Metrics({ status: () => status });
  const address = `127.0.0.1:${server.port}`;
  await expect(
    HealthServer.open({ address, verdict: () => verdictOn(status), metrics }),
  ).rejects.toMatchObject({
    code: 'HTTP_ADDRESS',
  });
});

test('without the numbers of the process itself only the status is told', async () => {
  const text = await new Metrics({ status: () => status }).text();
  expect(text).toContain('sigma_sessions 4');
  expect(text).not.toContain('process_');
  expect(text).not.toContain('sigma_accept_latency_seconds_bucket');
});

test('an event loop that is blocked shows as late', async () => {
  using lag = new LoopLag();
  // Two ticks are needed to see a distance.
  await eventually(() => {
    const until = performance.now() + 120;
    while (performance.now() < until);
    expect(lag.worstMs()).toBeGreaterThan(50);
  });
});
