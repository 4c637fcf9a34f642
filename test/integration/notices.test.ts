import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { noticeWaysOf } from '../../services/notices.js';
import type { Gate } from '../../src/attention/shapes.js';
import { loadConfig, type Config } from '../../src/config/config.js';
import { GateNotices, type NoticeWay } from '../../src/manager/gate-notices.js';
import type { Logger } from '../../src/observe/log.js';
import { tasksLayout } from '../../src/store/layouts.js';
import { eventually } from '../support/eventually.js';
import { openTestStore } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

const token = `ghp_${'Ab3dE6gH9jK2'.repeat(3)}`;
const gate = (id: string): Gate =>
  ({
    ...{ id, task: 't', session: 's', state: 'open', asked_ms: 1, expires_ms: 2 },
    classification: {
      description: `git push https://${token}@example.com`,
      findings: [{ signal: 'ExternalEffect', severity: 'Gate', evidence: '--exec=evil' }],
    },
  }) as unknown as Gate;

let folder: ReturnType<typeof temporaryFolder>;
let ends: (() => unknown)[];
let logged: string[];
beforeEach(() => {
  folder = temporaryFolder();
  logged = [];
  ends = [() => folder.remove()];
});
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
});

async function noticesBy(
  ways: readonly NoticeWay[],
): Promise<GateNotices & { end: () => Promise<void> }> {
  const store = await openTestStore(path.join(folder.path, 'tasks'), tasksLayout);
  const log = { warn: (...said: unknown[]) => logged.push(JSON.stringify(said)) };
  const notices = new GateNotices({ store, ways, log: log as unknown as Logger });
  let isOver = false;
  const end = async (): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await notices[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  };
  ends.push(end);
  return Object.assign(notices, { end });
}

type Notify = NonNullable<NonNullable<Config['attention']>['notify']>;
const waysOf = (notify: Notify, env: Record<string, string> = {}): NoticeWay[] =>
  noticeWaysOf(
    { ...loadConfig({}, { home: folder.path }), attention: { notify } },
    { PATH: process.env.PATH ?? '', ...env },
  );

async function listening(on: RequestListener): Promise<string> {
  const server: Server = createServer(on);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Appends its arguments and what it reads to a file. */
const recorder = (file: string): string[] => [
  process.execPath,
  ...[
    '-e',
    `const fs=require('fs');fs.appendFileSync(${JSON.stringify(file)},JSON.stringify([process.argv.slice(1),fs.readFileSync(0,'utf8'),Object.keys(process.env)])+'\\n')`,
  ],
  ...['--', 'my argument'],
];
const rows = (file: string): [string[], string, string[]][] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((each) => JSON.parse(each))
    : [];

test('a program reads the gate, gets its own arguments alone and no secret; each gate once, over a restart', async () => {
  const file = path.join(folder.path, 'told');
  const ways = waysOf(
    { command: recorder(file), secretEnv: 'HOOK' },
    { HOOK: 'my secret', SIGMA_MODEL_KEY: 'key' },
  );
  const first = await noticesBy(ways);
  first.tell(gate('gate-t-1'));
  first.tell(gate('gate-t-1'));
  await eventually(() => expect(first.counts.sent).toBe(1));
  await first.end();
  const second = await noticesBy(ways);
  second.tell(gate('gate-t-1'));
  second.tell(gate('gate-t-2'));
  await eventually(() => expect(second.counts.sent).toBe(1));
  const [one, two, ...more] = rows(file);
  expect(more).toEqual([]);
  expect(one![0]).toEqual(['my argument']);
  expect(JSON.parse(one![1])).toMatchObject({
    ...{ event: 'gate.opened', gate: 'gate-t-1', next: 'sigma gate show gate-t-1' },
    findings: [{ signal: 'ExternalEffect', evidence: '--exec=evil' }],
  });
  expect(JSON.parse(two![1]).gate).toBe('gate-t-2');
  expect(one![1]).not.toContain(token);
  expect(one![2]).not.toEqual(expect.arrayContaining(['HOOK']));
  expect(one![2]).not.toEqual(expect.arrayContaining(['SIGMA_MODEL_KEY']));
});

test('a webhook gets the same, signed; a redirect is not followed', async () => {
  const got: [string, IncomingHttpHeaders][] = [];
  let status = 302;
  let elsewhere = 0;
  const other = await listening((_, answer) => void (elsewhere++, answer.end()));
  const url = await listening((request, answer) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      got.push([body, request.headers]);
      answer.writeHead(status, { location: other }).end();
    });
  });
  const notify = { webhook: `${url}/hook?token=hidden`, secretEnv: 'HOOK' };
  const notices = await noticesBy(waysOf(notify, { HOOK: 'my secret' }));
  notices.tell(gate('gate-t-1'));
  await eventually(() => expect(notices.counts).toMatchObject({ sent: 0, failed: 1 }));
  expect([elsewhere, logged.join().includes('it answered 302')]).toEqual([0, true]);
  await notices.end();
  status = 204;
  // What failed is told by the next process.
  const again = await noticesBy(waysOf(notify, { HOOK: 'my secret' }));
  again.tell(gate('gate-t-1'));
  await eventually(() => expect(again.counts).toMatchObject({ sent: 1, failed: 0 }));
  const [body, headers] = got[1]!;
  const hmac = createHmac('sha256', 'my secret').update(body).digest('hex');
  expect(headers).toMatchObject({
    ...{ 'content-type': 'application/json', 'x-sigma-signature': `sha256=${hmac}` },
  });
  expect(logged.join()).not.toMatch(/hidden|my secret|ghp_/);
});

test('what cannot be started or fails is counted, and one way does not stop the other', async () => {
  const file = path.join(folder.path, 'told');
  const ways = [
    ...waysOf({ command: ['/nowhere/at/all'] }),
    ...waysOf({ command: [process.execPath, '-e', 'process.exit(3)'] }),
    ...waysOf({ webhook: 'http://127.0.0.1:9' }),
    ...waysOf({ command: recorder(file) }),
  ];
  const notices = await noticesBy(ways);
  notices.tell(gate('gate-t-1'));
  await eventually(() => expect(notices.counts).toEqual({ sent: 1, failed: 3, dropped: 0 }));
  expect(logged.join()).toMatch(/ENOENT.*it ended with 3/);
  expect(rows(file)).toHaveLength(1);
});

test('two at once, a few wait, the rest is dropped; what still runs ends with the manager', async () => {
  const file = path.join(folder.path, 'pids');
  const sleeper = `require('fs').appendFileSync(${JSON.stringify(file)},process.pid+'\\n');setTimeout(()=>{},60000)`;
  const notices = await noticesBy(waysOf({ command: [process.execPath, '-e', sleeper] }));
  for (let at = 0; at < 110; at += 1) notices.tell(gate(`gate-t-${at}`));
  const pids = (): number[] =>
    existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
  await eventually(() => expect(pids()).toHaveLength(2));
  expect(notices.counts.dropped).toBe(8);
  await notices.end();
  expect(pids()).toHaveLength(2);
  await eventually(() => {
    for (const pid of pids()) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

test('a secret that is named and not there, and an address that others can read, are refused', () => {
  expect(() => waysOf({ webhook: 'https://example.com', secretEnv: 'HOOK' })).toThrow(
    'HOOK is not set',
  );
  const settings = (webhook: string): Config => {
    const file = path.join(folder.path, 'config.json');
    writeFileSync(file, JSON.stringify({ attention: { notify: { webhook } } }));
    return loadConfig({}, { home: folder.path });
  };
  expect(settings('https://example.com/?key=1').attention?.notify?.webhook).toMatch(/key=1$/);
  expect(() => settings('http://example.com/')).toThrow('it must begin with https://');
});
