import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sigma, startSigma, type Running } from '../support/sigma.js';
import { openTestStore } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
let home: string;
let backup: string;
let broker: Running | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  home = path.join(folder.path, 'home');
  backup = path.join(folder.path, 'backup');
});
afterEach(async () => {
  await stop();
  folder.remove();
});

const bus = (...args: string[]) => sigma(home, ['bus', ...args, '--json']);
const storePath = (): string => path.join(home, 'bus/store');

async function start(): Promise<void> {
  broker = startSigma(home, ['bus', '--log', 'warn']);
  const status = await sigma(home, ['status', '--wait', '20s', '--json']);
  expect(status.code, broker.output() + status.stderr).toBe(0);
}

async function stop(): Promise<void> {
  broker?.process.kill('SIGTERM');
  await broker?.ended;
  broker = undefined;
}

async function keep(value: string): Promise<void> {
  await using store = await openTestStore(storePath());
  await store.commit([{ type: 'put', key: 'kept/one', value: Buffer.from(value) }]);
}

async function kept(): Promise<string | undefined> {
  await using store = await openTestStore(storePath());
  return (await store.get('kept/one'))?.toString();
}

test('a running broker backs its store up and compacts it, and will not be restored under its feet', async () => {
  await keep('before');
  await start();
  const copied = await bus('backup', backup);
  expect(copied.code, copied.stdout).toBe(0);
  expect(copied.json).toMatchObject({ folder: backup, entries: expect.any(Number) });
  expect((await bus('backup', backup)).json.error.code).toBe('BACKUP_FOLDER');
  expect((await bus('compact')).json).toEqual({ elapsed_ms: expect.any(Number) });
  const restored = await bus('restore', backup, '--force');
  expect([restored.code, restored.json.error.code]).toEqual([1, 'BROKER_RUNNING']);

  await stop();
  rmSync(storePath(), { recursive: true });
  expect((await bus('restore', backup)).code).toBe(0);
  expect(await kept()).toBe('before');
});

test('without a broker the store is backed up, compacted and restored by the command itself', async () => {
  expect((await bus('backup', backup)).json.error.code).toBe('STORE_UNAVAILABLE');
  expect(existsSync(storePath())).toBe(false);
  await keep('before');
  expect((await bus('backup', backup)).code).toBe(0);
  expect((await bus('compact')).code).toBe(0);
  await keep('after');
  expect((await bus('restore', backup)).json.error.code).toBe('STORE_NOT_EMPTY');
  const restored = await bus('restore', backup, '--force');
  expect(restored.json).toMatchObject({ store: storePath(), entries: expect.any(Number) });
  expect(existsSync(restored.json.moved_to)).toBe(true);
  expect(await kept()).toBe('before');
});

test('a store that another process holds without answering counts as a running broker', async () => {
  await using store = await openTestStore(storePath());
  expect(store.state).toBe('serving');
  expect((await bus('compact')).json.error.code).toBe('BROKER_RUNNING');
});
