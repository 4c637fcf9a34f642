import { fstatSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inTrace } from '../../../src/base/trace-context.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { isJournal } from '../../../src/observe/journal.js';
import { openLog, prioritized, traceTo, type Logger } from '../../../src/observe/log.js';
import { redactedText } from '../../../src/observe/redaction.js';

const secret = 'hunter2-0123456789abcdef';

function captured(fields: Record<string, unknown> = {}): { log: Logger; text: () => string } {
  let text = '';
  const log = openLog({ log: 'debug' }, fields, { write: (line) => void (text += line) });
  return { log, text: () => text };
}

test.each([
  'secret',
  'token',
  'password',
  'hmac',
  'nonce',
  'key',
  'authorization',
  'Authorization',
  'body',
  'payload',
  'clientSecret',
  'api_key',
  'apiKey',
  'secretKey',
  'private_key',
  'accessToken',
  'x-auth-token',
  'set-cookie',
  'proof',
  'tokens',
  'passphrase',
  'curveSecretKey',
])('a field called %s is never written, at whatever depth', (name) => {
  const { log, text } = captured();
  log.info({ [name]: secret }, 'flat');
  log.info({ a: { b: { c: { d: { [name]: secret } } } } }, 'deep');
  log.info({ list: [{ [name]: { nested: secret } }], map: new Map([[name, secret]]) }, 'in lists');
  expect(text()).not.toContain(secret);
  expect(text().match(/\[redacted\]/g)).toHaveLength(4);
});

test('bytes are counted, wherever they stand', () => {
  const { log, text } = captured();
  const bytes = Buffer.from(secret);
  log.info({ proof_: bytes, list: [bytes, new Uint8Array(bytes)], deep: { of: bytes } }, 'bytes');
  expect(text()).not.toContain(secret);
  expect(text()).not.toContain(JSON.stringify([...bytes]).slice(1, 12));
  expect(text()).toContain(`[${bytes.length} bytes]`);
});

test('an error keeps its code and text, and its data and causes lose their secrets', () => {
  const { log, text } = captured();
  const cause = Object.assign(new Error(`failed: password=${secret}`), {
    request: { headers: { Authorization: `Bearer ${secret}` } },
  });
  const error = new BusError(
    'UNAUTHORISED',
    { agent: 'mm', role: 'manager', token: secret },
    { cause },
  );
  log.error(error, 'failed');
  log.error({ err: error }, 'failed');
  log.error({ error }, 'failed');
  log.error(error);
  expect(text()).not.toContain(secret);
  expect(text().match(/UNAUTHORISED/g)).toHaveLength(4);
  expect(text().match(/mm may not act as manager/g)?.length).toBeGreaterThanOrEqual(4);
});

test('a secret inside a text is cut out of it, the rest stays', () => {
  const { log, text } = captured();
  log.warn({ detail: `GET / Authorization: Bearer ${secret} failed` }, `got token=${secret} today`);
  log.warn(`password: ${secret}`);
  expect(text()).not.toContain(secret);
  expect(text()).toContain('failed');
  expect(text()).toContain('today');
});

test('a private key in a text is hidden over all its lines', () => {
  const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ';
  const ends = ['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----'];
  expect(redactedText([ends[0], line, 'Qw==', ends[1]].join('\n'))).toBe(
    [ends[0], '[redacted]', '[redacted]', ends[1]].join('\n'),
  );
});

test('the fields of every line are redacted too', () => {
  const { log, text } = captured({ service: 'broker', key: secret });
  log.info('opened');
  expect(text()).not.toContain(secret);
  expect(text()).toContain('"service":"broker"');
});

test('what only sounds like a secret is told', () => {
  const { log, text } = captured();
  log.info({ order_key: 'task-7', tokens: 1_200, keys: 3, monkey: 'see' }, 'told');
  expect(JSON.parse(text())).toMatchObject({
    order_key: 'task-7',
    tokens: 1_200,
    keys: 3,
    monkey: 'see',
    msg: 'told',
    level: 'info',
  });
});

test('a value without end costs a line, not the process', () => {
  const { log, text } = captured();
  const circle: Record<string, unknown> = { name: 'circle' };
  circle.self = circle;
  traceTo(log)('info', 'a circle', { circle, big: 10n, call: () => 1 });
  expect(JSON.parse(text())).toMatchObject({
    msg: 'a circle',
    big: '10',
    circle: { name: 'circle' },
  });
});

test('a line of a trace has its id; one of none, or of what is no trace, has none', () => {
  const { log, text } = captured();
  const id = '4bf92f3577b34da6a3ce929d0e0e4736';
  inTrace(`00-${id}-00f067aa0ba902b7-01`, () => log.info({}, 'traced'));
  inTrace(`00-${id}`, () => log.info({}, 'not traced'));
  inTrace(`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, () => log.info({}, 'not traced'));
  const lines = text().trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).trace_id)).toEqual([id, undefined, undefined]);
});

test('in the journal each line begins with its priority', () => {
  let text = '';
  const log = openLog(
    { log: 'debug' },
    {},
    prioritized((line) => void (text += line)),
  );
  for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](level);
  const lines = text.trimEnd().split('\n');
  expect(lines.map((line) => line.slice(0, 3))).toEqual(['<7>', '<6>', '<4>', '<3>']);
  const levels = lines.map((line) => (JSON.parse(line.slice(3)) as { level: string }).level);
  expect(levels).toEqual(['debug', 'info', 'warn', 'error']);
});

test('only what goes to the journal itself is taken for it', () => {
  const { dev, ino } = fstatSync(2);
  expect(isJournal(2, `${dev}:${ino}`)).toBe(true);
  expect(isJournal(2, `${dev}:${ino + 1}`)).toBe(false);
});
