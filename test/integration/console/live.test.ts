import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import type { Client } from '../../../src/client/client.js';
import { Live } from '../../../services/console/live.js';
import {
  Browser,
  startConsole,
  type LiveEvent,
  type RunningConsole,
} from '../../support/console.js';
import { eventually } from '../../support/eventually.js';
import { sigma, startProcess, startSigma, type Running } from '../../support/sigma.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();
const home = path.join(folder.path, 'home');
let bus: Running;
let manager: Running;
let its: RunningConsole;
let browser: Browser;

async function startBus(): Promise<void> {
  bus = startProcess(home, ['bus', '--log', 'warn']);
  expect((await sigma(home, ['status', '--wait', '20s'])).code).toBe(0);
}

beforeAll(async () => {
  await startBus();
  manager = startSigma(home, ['agent', 'manager']);
  await eventually(() => expect(manager.output()).toContain('"tasks are taken"'), 50_000);
  its = await startConsole(home, [folder.path]);
  browser = await Browser.open(await its.link());
});
afterAll(async () => {
  for (const each of [its, manager, bus]) {
    each.process.kill('SIGTERM');
    await each.ended;
  }
  folder.remove();
});

const states = (events: LiveEvent[]): unknown[] =>
  events.filter(({ event }) => event === 'bus').map(({ data }) => data.state);
const changed = (events: LiveEvent[]): Set<string> =>
  new Set(events.flatMap(({ event, data }) => (event === 'changed' ? data.what : [])));

test('a page is told at once how the bus is, then what has changed, and of its health', async () => {
  const open = browser.listen();
  await eventually(() => expect(states(open.events)).toEqual(['online']));
  await eventually(() => expect(open.events.map(({ event }) => event)).toContain('sample'));
  expect(changed(open.events).has('tasks')).toBe(false);
  const action = { argv: ['git', 'push', '--force', 'origin', 'main'] };
  const task = { task: 'push', action, wait: false };
  expect((await browser.call('delegate_task', task)).status).toBe(200);
  await eventually(() =>
    expect([...changed(open.events)]).toEqual(
      expect.arrayContaining(['tasks', 'gates', 'prompts']),
    ),
  );
  const sent = await sigma(home, ['send', 'operator', 'hello']);
  expect([sent.code, sent.stderr]).toEqual([0, '']);
  await eventually(() => expect([...changed(open.events)]).toContain('mail'));
  open.close();
});

test('the health of the last hour is kept, whether or not a page is open', async () => {
  await eventually(async () => {
    const { json } = await browser.get('/api/health');
    expect(json.samples.length).toBeGreaterThan(1);
    const last = json.samples.at(-1);
    expect(last.rss_bytes).toBeGreaterThan(0);
    expect(last.disk_free_bytes).toBeGreaterThan(0);
    expect(last.accepted).toBeGreaterThanOrEqual(0);
    expect(last.requests).toBeGreaterThanOrEqual(0);
    expect(json.doctor.map(({ name }: any) => name)).toEqual(
      expect.arrayContaining(['node', 'home', 'settings']),
    );
  }, 20_000);
});

test('a page that closes before there is a connection leaves nothing that listens', async () => {
  let found: (client: Client) => void = () => undefined;
  const opened = new Promise<Client>((resolve) => (found = resolve));
  let subscriptions = 0;
  const client = {
    onPresence: () => ((subscriptions += 1), { [Symbol.dispose]: () => (subscriptions -= 1) }),
    status: () => Promise.reject(new Error('not asked')),
  };
  const nothing = { [Symbol.dispose]: () => undefined };
  const parts = { onState: () => nothing, client: () => opened, watch: () => undefined };
  const live = new Live({ bus: parts, samples: parts, clock: systemClock } as any);
  live.add(() => undefined)[Symbol.dispose]();
  found(client as any);
  await new Promise((resolve) => setImmediate(resolve));
  expect(subscriptions).toBe(0);
});

test('a broker that is killed and comes back is told to an open page', async () => {
  const open = browser.listen();
  await eventually(() => expect(states(open.events)).toEqual(['online']));
  bus.process.kill('SIGKILL');
  await bus.ended;
  await eventually(() => expect(states(open.events)).toEqual(['online', 'offline']));
  expect((await browser.call('list_agents')).json.error.code).toMatch(/^(NO_BROKER|BROKER_LOST)$/);
  await startBus();
  await eventually(() => expect(states(open.events)).toEqual(['online', 'offline', 'online']));
  const offline = open.events.find(({ data }) => data.state === 'offline');
  expect(offline?.data.code).not.toBe('');
  await eventually(async () => expect((await browser.call('list_agents')).status).toBe(200));
  open.close();
});
