import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.js';
import type { Logger } from '../../../src/observe/log.js';
import { Bus } from '../../../services/bus.js';
import { Calls } from '../../../services/console/calls.js';
import { PageFiles } from '../../../services/console/files.js';
import { ConsoleHttp } from '../../../services/console/http.js';
import { Live } from '../../../services/console/live.js';
import { Samples } from '../../../services/console/samples.js';
import { sessionLimits, Sessions } from '../../../services/console/sessions.js';
import { Browser, json, logIn, send, tokenOf, type Answer } from '../../support/console.js';
import { eventually } from '../../support/eventually.js';
import { temporaryFolder } from '../../support/temporary.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const nothing = (): undefined => undefined;
const log: Logger = { error: nothing, warn: nothing, info: nothing, debug: nothing };
const secret = 'a-secret-of-the-person';
const requestMs = 500;

let folder: ReturnType<typeof temporaryFolder>;
let clock: VirtualClock;
let bus: Bus;
let server: ConsoleHttp;

/** A console without a broker, whose time the test advances. */
beforeEach(async () => {
  folder = temporaryFolder();
  const page = path.join(folder.path, 'page');
  mkdirSync(path.join(page, 'assets'), { recursive: true });
  writeFileSync(path.join(page, 'index.html'), '<p>the page');
  writeFileSync(path.join(page, 'assets/main-1.js'), 'page();');
  writeFileSync(path.join(folder.path, 'private.js'), 'private();');
  clock = new VirtualClock();
  const config = loadConfig({}, { home: path.join(folder.path, 'home'), log: 'silent' });
  const its = { as: undefined, role: 'client', person: 'ann', reads: false };
  bus = new Bus({ config, log, folder: folder.path, ...its });
  const checks = () => Promise.resolve([]);
  const samples = new Samples({ bus, home: folder.path, clock, checks });
  const common = { person: 'ann', isReadOnly: false };
  server = await ConsoleHttp.open(0, {
    files: PageFiles.of(page)!,
    sessions: new Sessions(clock),
    calls: new Calls({ ...common, busOf: () => bus, self: () => 'operator', clock, log }),
    ...{ samples, live: new Live({ bus, samples, clock }), secret, log, requestMs },
    greeting: () => Promise.resolve({ person: 'ann', read_only: false, version: '1', trees: [] }),
  });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await bus[Symbol.asyncDispose]();
  folder.remove();
});

const ask = (at: string, its = {}): Promise<Answer> => send(server.origin, at, its);
const refused = (status: number, code: string) => ({ status, json: { error: { code } } });
const enter = (): Promise<Browser> => Browser.open(server.newLink());

test('a link lets one browser in once, and tells it who it is', async () => {
  const link = server.newLink();
  const browser = await Browser.open(link);
  expect(browser.greeting).toMatchObject({ person: 'ann', read_only: false, trees: [] });
  expect(await browser.get('/api/session')).toMatchObject({
    status: 200,
    json: browser.greeting,
  });
  expect(await logIn(server.origin, tokenOf(link))).toMatchObject(refused(401, 'CONSOLE_LINK'));
  const { headers } = await logIn(server.origin, tokenOf(server.newLink()));
  expect(headers['set-cookie']?.[0]).toMatch(
    /^sigma_console_\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200$/,
  );
});

test('a wrong token lets nothing in, and many of them do not keep out the one with the right one', async () => {
  for (let at = 0; at < 32; at += 1)
    expect(await logIn(server.origin, `wrong-${at}`)).toMatchObject(refused(401, 'CONSOLE_LINK'));
  const right = tokenOf(server.newLink());
  expect(await logIn(server.origin, right)).toMatchObject({ status: 200 });
});

test('a link that was not used in time is void', async () => {
  const token = tokenOf(server.newLink());
  await clock.advance(sessionLimits.linkMs);
  expect(await logIn(server.origin, token)).toMatchObject(refused(401, 'CONSOLE_LINK'));
});

test('of links that wait, the oldest gives way', async () => {
  const first = tokenOf(server.newLink());
  const second = tokenOf(server.newLink());
  for (let at = 1; at < sessionLimits.linksMax; at += 1) server.newLink();
  expect(await logIn(server.origin, first)).toMatchObject(refused(401, 'CONSOLE_LINK'));
  expect(await logIn(server.origin, second)).toMatchObject({ status: 200 });
});

test('a new link is for those who can read the secret of the home', async () => {
  const asked = (token: string): Promise<Answer> =>
    ask('/api/link', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  expect(await asked('another')).toMatchObject(refused(401, 'SERVER_TOKEN'));
  const { cookie } = await enter();
  expect(await ask('/api/link', { method: 'POST', headers: { cookie } })).toMatchObject({
    status: 401,
  });
  expect(await Browser.open((await asked(secret)).json.link)).toBeInstanceOf(Browser);
});

test('without the cookie nothing is answered but the page', async () => {
  for (const at of ['/api/session', '/api/live', '/api/health', '/api/nothing'])
    expect(await ask(at)).toMatchObject(refused(401, 'CONSOLE_SESSION'));
  const call = { method: 'POST', headers: json, body: '{}' };
  expect(await ask('/api/call/list_agents', call)).toMatchObject(refused(401, 'CONSOLE_SESSION'));
  const forged = { headers: { cookie: 'sigma_console_1=x; a=b' } };
  expect(await ask('/api/session', forged)).toMatchObject(refused(401, 'CONSOLE_SESSION'));
  expect(await ask('/agents/a.b')).toMatchObject({ status: 200, text: '<p>the page' });
});

test('what is sent needs the mark of its session, and is JSON', async () => {
  const [one, other] = [await enter(), await enter()];
  const codeOf = async (headers: Record<string, string>): Promise<unknown> =>
    (await one.post('/api/call/list_agents', {}, headers)).json.error.code;
  for (const csrf of ['', 'wrong', other.greeting.csrf])
    expect(await codeOf({ 'x-sigma-csrf': csrf })).toBe('CONSOLE_CSRF');
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    expect(await codeOf({ 'content-type': type })).toBe('CONSOLE_CSRF');
  expect(await one.post('/api/logout', {}, { 'x-sigma-csrf': '' })).toMatchObject({ status: 403 });
  // With the mark it comes as far as the bus, which is not there.
  expect(await codeOf({})).toBe('NO_BROKER');
});

test('pages of other origins, and names that were made to lead here, are refused', async () => {
  const browser = await enter();
  const { port } = new URL(server.origin);
  const own = { cookie: browser.cookie };
  const refusedWith = async (headers: Record<string, string>): Promise<void> =>
    expect(await ask('/api/session', { headers: { ...own, ...headers } })).toMatchObject(
      refused(403, 'SERVER_FOREIGN'),
    );
  await refusedWith({ origin: 'https://example.com' });
  await refusedWith({ origin: 'null' });
  // A page of another program of this machine: the browser sends it the same cookies.
  await refusedWith({ origin: 'http://127.0.0.1:1' });
  await refusedWith({ origin: `http://localhost:${port}` });
  await refusedWith({ 'sec-fetch-site': 'same-site' });
  await refusedWith({ 'sec-fetch-site': 'cross-site' });
  await refusedWith({ host: `rebound.example.com:${port}` });
  await refusedWith({ host: '127.0.0.1.example.com' });
  // The page, too, where another name leads to it.
  expect(await ask('/', { headers: { host: 'rebound.example.com' } })).toMatchObject(
    refused(403, 'SERVER_FOREIGN'),
  );
  const fine = { ...own, origin: server.origin, 'sec-fetch-site': 'same-origin' };
  expect(await ask('/api/session', { headers: fine })).toMatchObject({ status: 200 });
});

test('no path leads out of the page', async () => {
  const ways = [
    ...['/../private.js', '/..%2fprivate.js', '/..%2f..%2fprivate.js', '/%2e%2e/private.js'],
    ...['/assets/../../private.js', '/assets/..%2f..%2fprivate.js', '/assets/%2e%2e/private.js'],
    ...['/..\\private.js', '/..%5cprivate.js', '//private.js', '/etc/passwd'],
    ...['/assets/....//private.js', '/.%00/private.js', `file://${folder.path}/private.js`],
    ...[`/${folder.path}/private.js`, 'http://127.0.0.1/../private.js', '*'],
  ];
  for (const way of ways) {
    const { status, text } = await ask(way);
    expect([way, text.includes('private()'), text.includes('root:')]).toEqual([way, false, false]);
    // At most it is the page, which has a view for each path.
    if (status === 200) expect([way, text]).toEqual([way, '<p>the page']);
    else expect([way, status]).toEqual([way, 404]);
  }
  expect(await ask('/assets/main-1.js')).toMatchObject({ status: 200, text: 'page();' });
  expect(await ask('/assets/main-2.js')).toMatchObject({ status: 404 });
  expect(await ask('/', { method: 'POST' })).toMatchObject({ status: 404 });
});

test('a request that is too large is refused before it is read', async () => {
  const browser = await enter();
  const input = { text: 'x'.repeat(1024 * 1024) };
  expect(await browser.call('list_agents', input)).toMatchObject(refused(413, 'TOO_LARGE'));
  const headers = { cookie: 'x'.repeat(64 * 1024) };
  expect(await ask('/api/session', { headers })).toMatchObject({ status: 431 });
});

test('a request that does not end is ended, and others are answered meanwhile', async () => {
  const { port } = new URL(server.origin);
  const slow = ['GET / HTTP/1.1\r\nHost: 127.0.0.1', 'POST /api/login HTTP/1.1\r\n'].map((text) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
    const drip = setInterval(() => socket.writable && socket.write('x'), 50);
    socket.on('error', nothing);
    return new Promise<string>((resolve) => {
      let heard = '';
      socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
      socket.on('close', () => {
        clearInterval(drip);
        resolve(heard);
      });
    });
  });
  expect(await ask('/')).toMatchObject({ status: 200 });
  for (const each of slow) expect(await each).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect(await ask('/')).toMatchObject({ status: 200 });
});

test('one session more than there may be ends the one that was silent longest', async () => {
  const first = await enter();
  const second = await enter();
  const streams = [first.listen(), second.listen()];
  expect(await Promise.all(streams.map(({ status }) => status))).toEqual([200, 200]);
  expect(await first.get('/api/session')).toMatchObject({ status: 200 });
  for (let at = 2; at <= sessionLimits.sessionsMax; at += 1) await enter();
  await streams[1]?.ended;
  expect(await second.get('/api/session')).toMatchObject(refused(401, 'CONSOLE_SESSION'));
  expect(await first.get('/api/session')).toMatchObject({ status: 200 });
  streams[0]?.close();
});

test('a session ends when no request comes, and after its longest time', async () => {
  const { idleMs, lifeMs } = sessionLimits;
  const browser = await enter();
  const open = browser.listen();
  expect(await open.status).toBe(200);
  await clock.advance(idleMs);
  await open.ended;
  expect(await browser.get('/api/session')).toMatchObject(refused(401, 'CONSOLE_SESSION'));

  const busy = await enter();
  for (let ms = 0; ms + idleMs / 2 < lifeMs; ms += idleMs / 2) {
    expect(await busy.get('/api/session')).toMatchObject({ status: 200 });
    await clock.advance(idleMs / 2);
  }
  await clock.advance(idleMs / 2);
  expect(await busy.get('/api/session')).toMatchObject(refused(401, 'CONSOLE_SESSION'));
});

test('who logs out is out, with all open pages, and the browser forgets the cookie', async () => {
  const [browser, other] = [await enter(), await enter()];
  const open = browser.listen();
  expect(await open.status).toBe(200);
  const { status, headers } = await browser.post('/api/logout', {});
  expect([status, headers['set-cookie']?.[0]]).toEqual([
    200,
    expect.stringMatching(/^sigma_console_\d+=; .*Max-Age=0$/),
  ]);
  await open.ended;
  expect(await browser.get('/api/session')).toMatchObject(refused(401, 'CONSOLE_SESSION'));
  expect(await other.get('/api/session')).toMatchObject({ status: 200 });
});

test('what was still on its way when its session ended is not done', async () => {
  const browser = await enter();
  const { port } = new URL(server.origin);
  const headers = { ...json, ...browser.headers, 'content-length': 2 };
  const path = '/api/call/list_agents';
  const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sent.on('response', (response) => resolve(response.resume().statusCode));
    sent.on('error', reject);
  });
  await new Promise((resolve) => sent.write('{', resolve));
  // The server has read the first half when it answers what came behind it.
  expect(await browser.get('/api/session')).toMatchObject({ status: 200 });
  expect(await browser.post('/api/logout', {})).toMatchObject({ status: 200 });
  sent.end('}');
  expect(await answered).toBe(401);
});

test('a browser that logs in anew has one session', async () => {
  const before = await enter();
  const token = tokenOf(server.newLink());
  const headers = { ...json, cookie: before.cookie };
  const again = await ask('/api/login', { method: 'POST', headers, body: `{"token":"${token}"}` });
  expect(again.status).toBe(200);
  expect(await before.get('/api/session')).toMatchObject({ status: 401 });
});

test('open pages of one session have a limit, and closing one makes room', async () => {
  const browser = await enter();
  const { streamsMax } = sessionLimits;
  const open = Array.from({ length: streamsMax }, () => browser.listen());
  for (const { status } of open) expect(await status).toBe(200);
  expect(await browser.get('/api/live')).toMatchObject(refused(429, 'CONSOLE_BUSY'));
  open[0]?.close();
  await eventually(async () => {
    const next = browser.listen();
    const status = await next.status;
    next.close();
    expect(status).toBe(200);
  });
  for (const { close } of open) close();
});

test('every answer says what its page may load, and that it is no page of another', async () => {
  const browser = await enter();
  const answers = [
    ...[await ask('/'), await ask('/assets/main-1.js'), await ask('/x.js'), await ask('/api/live')],
    ...[await ask('/', { headers: { host: 'example.com' } }), await browser.get('/api/session')],
    ...[await logIn(server.origin, 'wrong'), await browser.call('list_agents')],
    ...[await browser.get('/api/health'), await browser.post('/api/logout', {})],
  ];
  expect(answers.map(({ status }) => status)).toEqual([
    ...[200, 200, 404, 401, 403, 200, 401, 503, 200, 200],
  ]);
  for (const { headers } of answers) {
    const policy = headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'; require-trusted-types-for 'script'");
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
  }
  for (const { headers } of answers.slice(3)) expect(headers['cache-control']).toBe('no-store');
});
