import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { request as requestPlain } from 'node:http';
import { createServer, request } from 'node:https';
import { connect } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { HttpServer } from '../../../services/http-server.js';
import { siteOf } from '../../../services/site.js';
import { makeCertificates } from '../../support/certificates.js';
import {
  json,
  startConsole,
  tokenOf,
  type Answer,
  type RunningConsole,
} from '../../support/console.js';
import { sigma, startProcess } from '../../support/sigma.js';
import { temporaryFolder } from '../../support/temporary.js';

const name = 'console.example';

let folder: ReturnType<typeof temporaryFolder>;
let home: string;
const at = (file: string): string => path.join(folder.path, 'certificates', file);
const files = (host = name) => ({ certificate: at(`${host}.pem`), key: at(`${host}-key.pem`) });
const configure = (console: object): void =>
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ log: 'warn', console }));

beforeAll(() => {
  folder = temporaryFolder();
  home = path.join(folder.path, 'home');
  mkdirSync(home, { mode: 0o700 });
  makeCertificates(at(''), name, 'other.example', '*.wild.example');
});
afterAll(() => folder.remove());

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Believes the authority alone, as a browser in which it is installed. */
function send(port: number, at_: string, { body, ...its }: Asked = {}): Promise<Answer> {
  const options = {
    ...{ host: '127.0.0.1', port, path: at_, servername: name, ca: readFileSync(at('ca.pem')) },
    ...{ ...its, headers: { host: `${name}:${port}`, ...its.headers } },
  };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({
          status,
          headers,
          text,
          json: text.startsWith('{') ? JSON.parse(text) : undefined,
        });
      });
    });
    sent.on('error', reject).end(body);
  });
}

describe('a console for other machines', () => {
  let running: RunningConsole;
  let port: number;
  beforeAll(async () => {
    configure({ address: '0.0.0.0', ...files() });
    running = await startConsole(home, [folder.path]);
    port = Number(new URL(running.origin).port);
  });
  afterAll(async () => {
    running.process.kill('SIGTERM');
    expect(await running.ended).toBe(0);
  });

  test('lets a browser in over TLS, by a cookie for TLS alone', async () => {
    const link = await running.link();
    expect(link).toMatch(new RegExp(`^https://${name}:${port}/#token=`));
    const body = JSON.stringify({ token: tokenOf(link) });
    const entered = await send(port, '/api/login', { method: 'POST', headers: json, body });
    expect(entered).toMatchObject({ status: 200, json: { csrf: expect.any(String) } });
    const [cookie = ''] = entered.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^__Host-.*; HttpOnly; SameSite=Strict; Path=\/; .*; Secure$/);
    const headers = { cookie: cookie.split(';')[0]! };
    const own = { ...headers, origin: `https://${name}:${port}` };
    expect(await send(port, '/api/session', { headers: own })).toMatchObject({ status: 200 });
    expect(await send(port, '/api/session')).toMatchObject({ status: 401 });
  });

  test.each([
    ['another host', { host: 'localhost' }],
    ['its address, which the certificate does not name', { host: '127.0.0.1' }],
    ['another name of the same authority', { host: 'other.example' }],
    ['no host', { host: '' }],
    ['a page of another host', { origin: 'https://evil.example' }],
    ['a page without TLS', { origin: `http://${name}:PORT` }],
    ['a page of another port', { origin: `https://${name}:1` }],
  ])('refuses a request that names %s', async (_, named: Record<string, string>) => {
    const entries = Object.entries(named);
    const headers = Object.fromEntries(
      entries.map(([key, value]) => [key, value.replace('PORT', `${port}`)]),
    );
    const answer = await send(port, '/api/session', { headers });
    expect(answer).toMatchObject({ status: 403, json: { error: { code: 'SERVER_FOREIGN' } } });
  });

  test('answers nothing without TLS', async () => {
    const answer = new Promise((resolve, reject) => {
      requestPlain({ host: '127.0.0.1', port, headers: { host: name } }, resolve)
        .on('error', reject)
        .end();
    });
    await expect(answer).rejects.toThrow(/hang up|ECONNRESET/);
  });

  test('keeps its key out of the file that tells where it is', () => {
    const told = readFileSync(path.join(home, 'console', 'running.json'), 'utf8');
    expect(told).toContain('BEGIN CERTIFICATE');
    expect(told).not.toMatch(/PRIVATE/);
  });
});

test.each([
  ['another name', () => files('other.example')],
  [
    'the same name',
    () => {
      makeCertificates(at(''), name);
      return files();
    },
  ],
])(
  'the secret of a killed console is not shown to what has its port now, with a certificate of its authority for %s',
  async (_, impostor) => {
    const own = { certificate: at('own.pem'), key: at('own-key.pem') };
    copyFileSync(files().key, own.key);
    const chain = [files().certificate, at('ca.pem')].map((each) => readFileSync(each, 'utf8'));
    writeFileSync(own.certificate, chain.join(''));
    configure({ address: '127.0.0.1', ...own });
    const running = await startConsole(home, [folder.path], startProcess);
    expect(await running.link()).toContain(name);
    running.process.kill('SIGKILL');
    await running.ended;
    const heard: unknown[] = [];
    const { certificate, key } = impostor();
    const tls = { cert: readFileSync(certificate), key: readFileSync(key) };
    const other = createServer(tls, ({ headers }, response) => {
      heard.push(headers);
      response.end('{}');
    });
    const port = Number(new URL(running.origin).port);
    await new Promise<void>((resolve) => {
      other.listen(port, '127.0.0.1', resolve);
    });
    try {
      const { code, json: told } = await sigma(home, ['console', '--link', '--json']);
      expect([code, told.error.code, heard]).toEqual([3, 'CONSOLE_NONE', []]);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  },
);

test('a console that is reached by its address gives links, too', async () => {
  const made = (text: string): string => at(`address${text}.pem`);
  const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const named = ['-subj', '/CN=console', '-addext', 'subjectAltName=IP:::1,IP:192.0.2.7'];
  const written = ['-keyout', made('-key'), '-out', made('')];
  execFileSync('openssl', ['req', '-x509', ...options, ...named, ...written], { stdio: 'pipe' });
  chmodSync(made('-key'), 0o600);
  for (const shown of [undefined, '192.0.2.7']) {
    configure({ address: '127.0.0.1', ...files('address'), ...(shown && { name: shown }) });
    const running = await startConsole(home, [folder.path]);
    const { host } = new URL(await running.link());
    expect(host).toBe(new URL(running.origin).host);
    expect(host).toContain(shown ?? '[::1]');
    running.process.kill('SIGTERM');
    expect(await running.ended).toBe(0);
  }
});

test('a server ends while a connection says nothing', async () => {
  const site = siteOf({ address: '127.0.0.1', ...files() }, home, systemClock);
  const requestMs = 3_600_000;
  const nothing = (): undefined => undefined;
  const its = { port: 0, site, requestMs, refusal: nothing, handle: nothing };
  const server = await HttpServer.open(its);
  const silent = connect(server.port, '127.0.0.1').on('error', nothing);
  await once(silent, 'connect');
  const closed = once(silent, 'close');
  await server[Symbol.asyncDispose]();
  await closed;
});

describe('settings that cannot serve are refused at the start', () => {
  test.each([
    ['no certificate', () => ({ address: '0.0.0.0' }), 'CONFIG_INVALID'],
    ['a name as its address', () => ({ address: name, ...files() }), 'CONFIG_INVALID'],
    [
      'a file that is not there',
      () => ({ address: '0.0.0.0', ...files('none') }),
      'SERVER_CERTIFICATE',
    ],
    [
      'the key of another',
      () => ({ address: '0.0.0.0', ...files(), key: files('other.example').key }),
      'SERVER_CERTIFICATE',
    ],
    [
      'a name that is not in it',
      () => ({ address: '0.0.0.0', ...files(), name: 'other.example' }),
      'SERVER_CERTIFICATE',
    ],
    [
      'a pattern alone',
      () => ({ address: '0.0.0.0', ...files('*.wild.example') }),
      'SERVER_CERTIFICATE',
    ],
    [
      'a key that others may read',
      () => {
        chmodSync(files().key, 0o644);
        return { address: '0.0.0.0', ...files() };
      },
      'KEY_FILE_INVALID',
    ],
  ])('%s', async (_, its, code) => {
    configure(its());
    try {
      const { stderr } = await sigma(home, ['console', folder.path]);
      expect(stderr).toContain(code);
    } finally {
      chmodSync(files().key, 0o600);
    }
  });

  test('a certificate that is over', () => {
    const later = { ...systemClock, nowMs: () => Date.parse('2100-01-01') };
    const its = { address: '0.0.0.0', ...files() };
    expect(siteOf(its, home, systemClock).name).toBe(name);
    expect(() => siteOf(its, home, later)).toThrow(/it ended on/);
  });

  test('a pattern serves by the name of it that is configured', () => {
    const its = { address: '0.0.0.0', ...files('*.wild.example'), name: 'a.wild.example' };
    const { isNamed, ...site } = siteOf(its, home, systemClock);
    expect(site.name).toBe('a.wild.example');
    expect(['b.wild.example', 'wild.example', 'evil.example', '[::1]'].map(isNamed)).toEqual([
      ...[true, false, false, false],
    ]);
  });
});
