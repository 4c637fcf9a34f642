import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { takePortPair } from '../support/ports.js';
import { sigma, startSigma, type Running } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';

let home: ReturnType<typeof temporaryFolder>;
let broker: Running;
const { port, release } = takePortPair();
const base = `127.0.0.1:${port}`;

beforeAll(async () => {
  home = temporaryFolder();
  mkdirSync(home.path, { recursive: true });
  writeFileSync(path.join(home.path, 'config.json'), JSON.stringify({ http: base }));
  broker = startSigma(home.path, ['bus']);
  const ready = await sigma(home.path, ['status', '--wait', '20s']);
  expect(ready.code, broker.output()).toBe(0);
});
afterAll(async () => {
  broker.process.kill('SIGTERM');
  await broker.ended;
  release();
  home.remove();
});

test('status tells the queue, the latency and the state of the store', async () => {
  const { stdout } = await sigma(home.path, ['status']);
  expect(stdout).toMatch(/^messages \d+ queued/m);
  expect(stdout).toContain('store serving');
});

test('metrics over the bus are in the text format of Prometheus', async () => {
  const { stdout, code } = await sigma(home.path, ['metrics']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^sigma_sessions [1-9]/m);
  expect(stdout).toMatch(/^# TYPE sigma_redelivered_total counter$/m);
});

test('top in a pipe is plain text, and once is one look with rates', async () => {
  const once = await sigma(home.path, ['top', '--once', '--interval', '200ms']);
  expect([once.code, once.stderr]).toEqual([0, '']);
  expect(once.stdout).not.toContain('\u001b');
  expect(once.stdout.match(/^frames\/s [\d.]+ in/gm)).toHaveLength(1);
  const { json } = await sigma(home.path, ['top', '--once', '--json', '--interval', '200ms']);
  expect(json).toMatchObject({ state: 'serving', mailboxes: [], rates: { accepted: 0 } });
});

test('top in a pipe goes on until it is interrupted, which is no failure', async () => {
  const running = startSigma(home.path, ['top', '--interval', '100ms']);
  await eventually(() =>
    expect(running.output().match(/^frames\/s/gm)?.length ?? 0).toBeGreaterThan(2),
  );
  running.process.kill('SIGINT');
  expect(await running.ended).toBe(0);
});

test('a monitor on this machine reads metrics and health over HTTP', async () => {
  const metrics = await (await fetch(`http://${base}/metrics`)).text();
  expect(metrics).toContain('sigma_accept_latency_seconds_bucket');
  expect(metrics).toContain('process_resident_memory_bytes');
  const health = await fetch(`http://${base}/healthz`);
  expect([health.status, await health.json()]).toMatchObject([200, { ok: true }]);
});

test('what passed between agents is in the audit log, without what it said', async () => {
  const word = 'a-word-that-nobody-else-says';
  await sigma(home.path, ['send', 'agent:nobody', word, '--json']);
  await eventually(async () => {
    const { json } = await sigma(home.path, ['audit', '--to', 'nobody', '--since', '1h', '--json']);
    expect(json.entries).toMatchObject([
      { what: 'refused', to: 'agent:nobody', code: 'UNKNOWN_AGENT' },
    ]);
  });
  const { stdout } = await sigma(home.path, ['audit']);
  expect(stdout).toContain('UNKNOWN_AGENT');
  expect(stdout).not.toContain(word);
  expect(existsSync(path.join(home.path, 'bus/audit/audit.jsonl'))).toBe(true);
});

test('a wrong age and a broker that is not there are told with a code', async () => {
  const wrong = await sigma(home.path, ['audit', '--since', 'yesterday', '--json']);
  expect([wrong.code, wrong.json.error.code]).toEqual([2, 'USAGE']);
  const elsewhere = temporaryFolder();
  const none = await sigma(elsewhere.path, ['top', '--once', '--json']);
  expect([none.code, none.json.error.code]).toEqual([3, 'NO_BROKER']);
  elsewhere.remove();
});
