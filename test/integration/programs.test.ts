import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.js';
import { malformed } from '../../src/delegation/worker/task-response.js';
import { readTask } from '../../src/delegation/task/schema.js';
import { BusError } from '../../src/errors/bus-error.js';
import type { Logger } from '../../src/observe/log.js';
import { runGuarded } from '../../src/executor/guarded-child.js';
import { ManagerLink } from '../../src/executor/manager-link.js';
import { OverlayWorks, type GenerateOverlays } from '../../src/executor/overlay-works.js';
import { commandRunner } from '../../src/executor/runners/command.js';
import type { Runner } from '../../src/executor/runners/runner.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/temporary.js';

const stage = temporaryFolder();
afterAll(stage.remove);
const newFolder = (): { path: string } => ({ path: mkdtempSync(path.join(stage.path, 'a')) });

const nothing = (): undefined => undefined;
const silent: Logger = { error: nothing, warn: nothing, info: nothing, debug: nothing };
const sandbox = { kind: 'off' as const };
const never = new AbortController().signal;
const run = (argv: string[], more: { stdin?: string; stdoutMax?: number } = {}) =>
  runGuarded(
    {
      ...{ argv, cwd: '/', env: { PATH: process.env.PATH ?? '' }, stdin: '' },
      ...{ stdoutMax: 64 * 1024, stderrMax: 1024, ...more },
    },
    never,
  );
const node = (script: string): string[] => [process.execPath, '-e', script];
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

test('a program whose guard somebody ends is ended with it', async () => {
  const folder = newFolder();
  const file = path.join(folder.path, 'pid');
  const end = await run(
    node(`
      require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid));
      process.kill(process.ppid, 'SIGKILL');
      setInterval(() => {}, 1000);
    `),
  );
  expect(end).toMatchObject({ code: null, signal: null, isStopped: false });
  await eventually(() => expect(isAlive(Number(readFileSync(file, 'utf8')))).toBe(false));
});

test('what cannot be started is said by its code', async () => {
  const words = Array.from({ length: 40 }, () => 'x'.repeat(100_000));
  expect(await run(['true', ...words])).toMatchObject({ error: 'E2BIG', stderr: '' });
  expect(await run(['/nowhere'])).toMatchObject({ error: 'ENOENT' });
  expect(await run([''])).toMatchObject({ error: 'ERR_INVALID_ARG_VALUE', stderr: '' });
});

test('one whose script is another than the one that was judged is not started', async () => {
  const { path: folder } = newFolder();
  const file = path.join(folder, 'job.sh');
  const effect = path.join(folder, 'effect');
  const text = '\ufeff# of a system that marks its texts\n';
  writeFileSync(file, `${text}touch ${effect}\n`);
  // Of the text, as it is judged: without its mark.
  const sha256 = createHash('sha256')
    .update(`${text.slice(1)}touch ${effect}\n`)
    .digest('hex');
  const task = readTask(
    { id: 'job', task: 'x', runner: 'command', action: { argv: ['sh', file] } },
    '',
  );
  const runner = commandRunner({ root: folder, environment: [], env: process.env, sandbox });
  const started = (unchanged: Record<string, string>): ReturnType<Runner> =>
    runner({
      ...{ task, attempt: 1, parent: '', gathered: null, pgc: null, conflicts: [], earlier: '' },
      ...{ unchanged, signal: never, progress: nothing },
    });
  const changed = { code: 'ACTION_CHANGED' };
  await expect(started({ [file]: '0'.repeat(64) })).rejects.toMatchObject(changed);
  const gone = path.join(folder, 'gone.sh');
  await expect(started({ [file]: sha256, [gone]: sha256 })).rejects.toMatchObject(changed);
  expect(existsSync(effect)).toBe(false);
  expect(await started({ [file]: sha256 })).toMatchObject({ kind: 'finished' });
  expect(existsSync(effect)).toBe(true);
});

test('input larger than a pipe arrives whole, and a flood is cut and counted', async () => {
  const stdin = 'x'.repeat(3_000_000);
  expect((await run(['wc', '-c'], { stdin })).stdout.trim()).toBe('3000000');
  // Read by nobody.
  expect(await run(['true'], { stdin })).toMatchObject({ code: 0 });
  const flood = await run(node(`process.stdout.write('y'.repeat(5_000_000))`), { stdoutMax: 1000 });
  expect(flood.stdout).toHaveLength(1000);
  expect(flood.stdoutCut).toBe(4_999_000);
});

test('one that closes its streams and lives on is waited for; of the guard it gets nothing', async () => {
  const end = await run(['sh', '-c', 'ls /proc/$$/fd; exec >&- 2>&-; sleep 0.5; exit 7']);
  expect(end).toMatchObject({ code: 7 });
  expect(end.stdout.trim().split('\n')).not.toContain('3');
});

function turn(action: Record<string, unknown>): Parameters<Runner>[0] {
  return {
    ...{ task: readTask({ id: 'one', task: 'x', action }, 'one'), attempt: 1, gathered: null },
    ...{ pgc: null, parent: '', conflicts: [], earlier: '', signal: never },
    progress: () => undefined,
  };
}

test.each([
  ...['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'BASH_ENV', 'GIT_SSH_COMMAND', 'PYTHONPATH', 'HOME'],
  ...['SIGMA_HOME', 'SIGMA_CONTEXT', 'SIGMA_IDEMPOTENCY_KEY', 'ld_preload'],
])('a task may not set %s', async (name) => {
  const folder = newFolder();
  const runner = commandRunner({ root: folder.path, environment: [], env: process.env, sandbox });
  const action = { argv: ['env'], env: { [name]: 'x' } };
  await expect(runner(turn(action))).rejects.toMatchObject({ code: 'ACTION_REFUSED' });
});

test('a program gets what is its own and what the executor lets it have: no keys', async () => {
  const folder = newFolder();
  const env = { ...process.env, SIGMA_MODEL_KEY: 'secret-1', MINE: 'mine', NODE_OPTIONS: '--no' };
  const runner = commandRunner({ root: folder.path, environment: ['MINE'], env, sandbox });
  const { result } = await runner(turn({ argv: ['env'], env: { LEVEL: '3' } }));
  expect(result).toContain('LEVEL=3');
  expect(result).toContain('MINE=mine');
  expect(result).not.toMatch(/secret-1|NODE_OPTIONS/);
});

test('without a sandbox nothing is started: neither where there is none, nor where it cannot be made', async () => {
  const folder = newFolder();
  const settings = { root: folder.path, environment: [], env: process.env };
  const started = path.join(folder.path, 'started');
  const action = { argv: ['touch', started] };
  // Where a folder is, no file can be put.
  for (const its of [
    { kind: 'missing' as const, detail: 'no namespaces' },
    { kind: 'on' as const, folders: [], files: [folder.path] },
  ])
    await expect(commandRunner({ ...settings, sandbox: its })(turn(action))).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
    });
  expect(existsSync(started)).toBe(false);
});

test('a link that leaves the root is refused', async () => {
  const folder = newFolder();
  const root = path.join(folder.path, 'root');
  mkdirSync(root);
  mkdirSync(path.join(folder.path, 'root-of-others'));
  symlinkSync(folder.path, path.join(root, 'out'));
  symlinkSync(path.join(folder.path, 'root-of-others'), path.join(root, 'beside'));
  const runner = commandRunner({ root, environment: [], env: process.env, sandbox });
  for (const cwd of ['out', 'beside', 'out/root-of-others', '..', '/'])
    await expect(runner(turn({ argv: ['true'], cwd }))).rejects.toMatchObject({
      code: 'ACTION_REFUSED',
    });
  expect((await runner(turn({ argv: ['true'], cwd: 'out/root' }))).kind).toBe('finished');
});

test('what a link cannot send, and never will, is given up', async () => {
  const client = { post: () => Promise.reject(new BusError('TOO_LARGE')) } as unknown as Client;
  const task = readTask({ id: 'one', task: 'x' }, 'one');
  const assignment = {
    ...{ task, attempt: 1, lease_ms: 1, until_ms: 1 },
    manager: 'desk',
    ...{ grants: [], depth: 0, parent: 'me' },
  };
  const link = new ManagerLink(client, silent, assignment);
  expect(await link.respond(malformed('one', 1, 'x'), never)).toBe('given up');
});

test('so many overlays are made at once, and what failed is tried again after a rest', async () => {
  let begun = 0;
  const generate: GenerateOverlays = () => {
    begun += 1;
    return Promise.resolve({ code: 'INDEX_MISSING', text: 'no index', retryable: false });
  };
  using works = new OverlayWorks(generate, silent, { restMs: 0 });
  using resting = new OverlayWorks(generate, silent);
  const ask = (of: InstanceType<typeof OverlayWorks>, ...roots: string[]) =>
    of.make({ roots, overlays: ['O5'], isThere: () => Promise.resolve(false), signal: never });
  const many = ['a', 'b', 'c', 'd', 'e', 'f'];
  const said = await ask(works, ...many);
  expect(begun).toBe(4);
  expect(said.filter((each) => each.includes('too many'))).toHaveLength(2);
  expect(said.filter((each) => each.startsWith('making it failed'))).toHaveLength(4);
  await ask(works, many[0]!);
  expect(begun).toBe(5);
  await ask(resting, many[0]!);
  await ask(resting, many[0]!);
  expect(begun).toBe(6);
});

test('overlays that take longer than a task waits are done without, and made all the same', async () => {
  let end: () => void = () => undefined;
  const generate: GenerateOverlays = () =>
    new Promise((resolve) => (end = () => resolve(undefined)));
  using works = new OverlayWorks(generate, silent);
  let looks = 0;
  const isThere = (): Promise<boolean> => Promise.resolve((looks += 1) > 1);
  const make = { roots: ['a'], overlays: ['O5'], isThere, signal: never };
  expect(await works.make({ ...make, forMs: 1 })).toEqual(['it is still being made']);
  expect(looks).toBe(1);
  end();
  expect(await works.make(make)).toEqual([]);
});
