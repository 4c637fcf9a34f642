import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AuditEntry } from '../../../src/base/audit.js';
import { AuditLog, type AuditParts } from '../../../src/observe/audit.js';
import { AuditBatch, unpacked } from '../../../src/observe/audit-batch.js';
import { AuditFile } from '../../../src/observe/audit-file.js';
import { auditLine, type AuditLine } from '../../../src/observe/audit-line.js';
import { auditFiles, tailAudit } from '../../../src/observe/audit-reader.js';
import { canMount, mountSmallDisk } from '../../support/disk.js';
import { eventually } from '../../support/eventually.js';
import { temporaryFolder } from '../../support/temporary.js';

/** Threads run compiled code only. */

let home: ReturnType<typeof temporaryFolder>;
let folder: string;
beforeEach(() => {
  home = temporaryFolder();
  folder = path.join(home.path, 'bus/audit');
});
afterEach(() => home.remove());

const open = (parts: Partial<AuditParts> = {}): AuditLog =>
  new AuditLog({ folder, form: 'metadata', bytesMax: 1e6, filesMax: 3, ...parts });

function entry(fields: Partial<AuditEntry> = {}): AuditEntry {
  return {
    atMs: 1_700_000_000_000,
    what: 'delivered',
    from: 'asker',
    person: '',
    to: 'agent:worker',
    type: 'echo',
    id: 'm1',
    correlation: '',
    seq: 0,
    code: '',
    body: Buffer.from('hello'),
    ...fields,
  };
}

const tail = (limit = 1_000): Promise<AuditLine[]> => tailAudit(auditFiles(folder), {}, limit);

test('an entry is one line with metadata and the digest of the body, and not the body', async () => {
  const audit = open();
  audit.record(
    entry({ seq: 7, correlation: 'm0', what: 'refused', code: 'INBOX_FULL', person: 'ann' }),
  );
  await audit[Symbol.asyncDispose]();
  expect(await tail()).toEqual([
    {
      at: '2023-11-14T22:13:20.000Z',
      what: 'refused',
      from: 'asker',
      person: 'ann',
      to: 'agent:worker',
      type: 'echo',
      id: 'm1',
      correlation: 'm0',
      seq: 7,
      code: 'INBOX_FULL',
      bytes: 5,
      sha256: createHash('sha256').update('hello').digest('hex'),
    },
  ]);
});

test('only the owner may enter the folder and read the files', async () => {
  const audit = open();
  audit.record(entry());
  await audit[Symbol.asyncDispose]();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(folder, 'audit.jsonl')).mode & 0o777).toBe(0o600);
});

test('entries of all sizes arrive whole and in order, through many batches', async () => {
  const audit = open({ bytesMax: 1e8 });
  const bodies = Array.from({ length: 3_000 }, (_, at) =>
    randomBytes(at % 97 === 0 ? 400_000 : at % 50),
  );
  for (const [at, body] of bodies.entries()) {
    audit.record(entry({ id: `m${at}`, type: `t"\n\u2028${at}`, body }));
    if (at % 100 === 0) await new Promise(setImmediate);
  }
  await audit[Symbol.asyncDispose]();
  const lines = (await tail(10_000)).filter((each) => each.what !== 'lost');
  expect(lines.length + audit.lost).toBe(3_000);
  expect(lines.length).toBeGreaterThan(1_000);
  for (const line of lines) {
    const at = Number(line.id?.slice(1));
    expect(line.type).toBe(`t"\n\u2028${at}`);
    const body = bodies[at]!;
    if (body.length > 0) expect(line.sha256).toBe(createHash('sha256').update(body).digest('hex'));
  }
  const ids = lines.map((line) => Number(line.id?.slice(1)));
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
});

test('what the writer cannot take is dropped, counted, and named in the log', async () => {
  const audit = open({ bytesMax: 1e9 });
  const body = randomBytes(100_000);
  // All in one turn: the thread cannot give anything back meanwhile.
  for (let at = 0; at < 1_000; at += 1) audit.record(entry({ id: `m${at}`, body }));
  expect(audit.lost).toBeGreaterThan(500);
  await eventually(async () => {
    audit.record(entry({ id: 'after' }));
    const lines = await tail(2_000);
    const lost = lines.filter((each) => each.what === 'lost');
    expect(lost.reduce((sum, each) => sum + (each.count ?? 0), 0)).toBe(audit.lost);
    expect(lines.at(-1)?.id).toBe('after');
  });
  await audit[Symbol.asyncDispose]();
});

test('a folder that cannot be written costs entries, not the bus, and is tried again', async () => {
  mkdirSync(path.dirname(folder), { recursive: true });
  writeFileSync(folder, 'a file where the folder should be');
  const told: string[] = [];
  const audit = open({ trace: (_level, what) => void told.push(what) });
  audit.record(entry({ id: 'm1' }));
  audit.record(entry({ id: 'm2' }));
  await eventually(() => expect(audit.lost).toBe(2));
  rmSync(folder);
  audit.record(entry({ id: 'm3' }));
  await eventually(async () => {
    expect((await tail()).map((each) => each.id ?? each.count)).toEqual([2, 'm3']);
  });
  await audit[Symbol.asyncDispose]();
  expect(audit.recorded).toBe(1);
  expect(told).toEqual(['the audit log cannot be written', 'the audit log is written again']);
});

test.skipIf(!canMount)(
  'on a full disk entries are counted, no half line stays, and writing goes on when there is room',
  async () => {
    using disk = mountSmallDisk(1);
    const onDisk = path.join(disk.path, 'audit');
    const audit = open({ folder: onDisk });
    audit.record(entry({ id: 'before' }));
    await eventually(async () =>
      expect(await tailAudit(auditFiles(onDisk), {}, 9)).toHaveLength(1),
    );
    disk.fill();
    for (let at = 0; at < 100; at += 1) audit.record(entry({ id: `lost${at}` }));
    await eventually(() => expect(audit.lost).toBeGreaterThan(0));
    disk.free();
    audit.record(entry({ id: 'after' }));
    await audit[Symbol.asyncDispose]();
    const text = readFileSync(path.join(onDisk, 'audit.jsonl'), 'utf8');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditLine);
    expect(lines.at(0)?.id).toBe('before');
    expect(lines.at(-1)?.id).toBe('after');
    expect(lines.find((each) => each.what === 'lost')?.count).toBe(audit.lost);
  },
);

test('a writer that dies is replaced, and what it had is counted', async () => {
  const script = path.join(home.path, 'dies.mjs');
  writeFileSync(
    script,
    "import { parentPort } from 'node:worker_threads';\nparentPort.on('message', () => process.exit(1));",
  );
  const audit = open({ writer: new URL(`file://${script}`) });
  audit.record(entry());
  await eventually(() => expect(audit.lost).toBe(1));
  await audit[Symbol.asyncDispose]();
});

test('files are turned over by size, the oldest goes, and no line is cut', async () => {
  const audit = open({ bytesMax: 64 * 1024, filesMax: 3 });
  for (let at = 0; at < 5_000; at += 1) {
    audit.record(entry({ id: `m${at}` }));
    if (at % 500 === 499) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await audit[Symbol.asyncDispose]();
  expect(readdirSync(folder).sort()).toEqual(['audit.1.jsonl', 'audit.2.jsonl', 'audit.jsonl']);
  for (const name of readdirSync(folder)) {
    const text = readFileSync(path.join(folder, name), 'utf8');
    expect(text.endsWith('\n')).toBe(true);
    for (const line of text.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
  }
  const ids = (await tail(5_000)).map((each) => Number(each.id?.slice(1)));
  expect(ids.at(-1)).toBe(4_999);
  expect(ids).toEqual(ids.map((_, at) => 5_000 - ids.length + at));
});

test('after a crash in the middle of a line the next one begins a line of its own', async () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    path.join(folder, 'audit.jsonl'),
    `${auditLine(entry({ id: 'm1' }), 'metadata')}\n{"at":"20`,
  );
  const file = new AuditFile({ folder, bytesMax: 1e6, filesMax: 2 });
  file.append(`${auditLine(entry({ id: 'm2' }), 'metadata')}\n`);
  file.close();
  expect((await tail()).map((each) => each.id)).toEqual(['m1', 'm2']);
});

test('a batch refuses what does not fit and gives back what it took', () => {
  const batch = new AuditBatch(undefined, new ArrayBuffer(10));
  expect(batch.add(entry({ body: Buffer.from('12345678'), from: 'ä€😀' }))).toBe(true);
  expect(batch.add(entry({ body: Buffer.from('123') }))).toBe(false);
  expect(batch.add(entry({ body: Buffer.from('90'), id: '' }))).toBe(true);
  const all = [...unpacked(batch.packed(0))].map(({ body, ...rest }) => ({
    ...rest,
    body: Buffer.from(body).toString(),
  }));
  expect(all).toEqual([
    { ...entry({ from: 'ä€😀' }), body: '12345678' },
    { ...entry({ id: '' }), body: '90' },
  ]);
});

test('bodies are written only on demand: JSON without its secrets, all else in base64 up to a limit', () => {
  const lineOf = (body: string | Buffer): AuditLine =>
    JSON.parse(auditLine(entry({ body: Buffer.from(body) }), 'bodies')) as AuditLine;
  expect(lineOf('{"user":"a","auth":{"apiKey":"s3cr3t-value"},"body":"said"}').json).toEqual({
    user: 'a',
    auth: { apiKey: '[redacted]' },
    body: 'said',
  });
  expect(lineOf(Buffer.from([1, 2, 3])).body).toBe('AQID');
  const long = lineOf(Buffer.alloc(100_000, 1));
  expect([long.body?.length, long.body_cut]).toEqual([Math.ceil((16 * 1024) / 3) * 4, true]);
  for (const half of ['{"password":"s3cr3t-value"', ` \n[{"password":"s3cr3t-value"},`]) {
    expect(lineOf(half).body_omitted).toBe('not the JSON it looks like');
    expect(JSON.stringify(lineOf(half))).not.toContain('s3cr3t-value');
  }
  expect(lineOf(JSON.stringify({ a: ['x'.repeat(20_000)] })).body_omitted).toBe('too large');
});

test('the tail is filtered by sender, receiver, type and age, and told oldest first', async () => {
  const file = new AuditFile({ folder, bytesMax: 20_000, filesMax: 50 });
  for (let at = 0; at < 1_000; at += 1) {
    const fields = {
      id: `m${at}`,
      atMs: 1_700_000_000_000 + at * 1_000,
      from: at % 2 === 0 ? 'even' : 'odd',
      to: at % 3 === 0 ? 'service:lattice' : 'agent:mm',
      type: at % 5 === 0 ? 'pgc.ask' : 'pgc.hop',
    };
    file.append(`${auditLine(entry(fields), 'metadata')}\n`);
  }
  file.close();
  expect(readdirSync(folder).length).toBeGreaterThan(5);
  const ids = async (filter: Parameters<typeof tailAudit>[1], limit = 1_000): Promise<number[]> =>
    (await tailAudit(auditFiles(folder), filter, limit)).map((each) => Number(each.id?.slice(1)));
  const all = Array.from({ length: 1_000 }, (_, at) => at);
  expect(await ids({})).toEqual(all);
  expect(await ids({}, 3)).toEqual([997, 998, 999]);
  expect(await ids({ from: 'od*', to: 'lattice', type: 'pgc.ask' })).toEqual(
    all.filter((at) => at % 2 === 1 && at % 3 === 0 && at % 5 === 0),
  );
  expect(await ids({ to: 'agent:mm' })).toEqual(all.filter((at) => at % 3 !== 0));
  expect(await ids({ sinceMs: 1_700_000_990_000 })).toEqual(all.slice(990));
});

test('without a log there is nothing to tell', async () => {
  expect(await tail()).toEqual([]);
});

test('what an agent sent and what was sent to it is found together, in so many lines at most', async () => {
  const audit = open();
  audit.record(entry({ from: 'ann', to: 'agent:bob', id: 'to' }));
  audit.record(entry({ from: 'bob', to: 'ann', id: 'back' }));
  audit.record(entry({ from: 'bob', to: 'service:ann', id: 'service' }));
  audit.record(entry({ from: 'x', to: 'agent:y', id: 'others' }));
  await audit[Symbol.asyncDispose]();
  const idsOf = async (filter: object): Promise<unknown[]> =>
    (await tailAudit(auditFiles(folder), filter, 10)).map(({ id }) => id);
  expect(await idsOf({ agent: 'bob' })).toEqual(['to', 'back', 'service']);
  expect(await idsOf({ agent: 'y' })).toEqual(['others']);
  expect(await idsOf({ agent: 'bob', linesMax: 2 })).toEqual(['service']);
});
