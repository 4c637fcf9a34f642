import path from 'node:path';
import { expect, test } from 'vitest';
import { approvalMs, Approvals } from '../../../src/attention/approvals.js';
import type { Classification } from '../../../src/attention/shapes.js';
import { classify } from '../../../src/attention/classify/classify.js';
import { loadPolicy } from '../../../src/attention/policy/policy-file.js';
import { tasksLayout } from '../../../src/store/layouts.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

const seen = (target: string): Classification => ({
  ...{ level: 'Elevated', findings: [], intensity: 'medium', is_cacheable: true, description: '' },
  pattern: { tool: 'rm', target, environment: 'local', signals: ['Irreversibility'] },
  digest: { action: '1'.repeat(64), files: {} },
});

test('an approval holds for its session, its pattern and its time, and no longer', async () => {
  const folder = temporaryFolder();
  const store = await openTestStore(path.join(folder.path, 'store'), tasksLayout);
  try {
    let nowMs = 1_000;
    const approvals = new Approvals({ store, nowMs: () => nowMs });
    await approvals.remember('mine', seen('a'), 'p');
    nowMs += approvalMs - 1;
    expect(await approvals.find('mine', seen('a'))).toMatchObject({ by: 'p', given_ms: 1_000 });
    expect(await approvals.find('mine', seen('b'))).toBeUndefined();
    expect(await approvals.find('theirs', seen('a'))).toBeUndefined();
    nowMs += 1;
    expect(await approvals.find('mine', seen('a'))).toBeUndefined();
    expect(await approvals.list()).toEqual([]);
  } finally {
    await store[Symbol.asyncDispose]();
    folder.remove();
  }
});

const inspector = {
  read: () => Promise.resolve(undefined),
  isTracked: () => Promise.resolve(false),
};

/** As it is classified; `cwd` from the root. */
const pushed = (argv: string[], cwd = '', env = {}): Promise<Classification> =>
  classify(
    {
      ...{ runner: 'command', argv, cwd, env, stdin: '', read_only: false },
      ...{ idempotency_key: '', data: [], scope: [] },
    },
    { policy: loadPolicy(), inspector },
  );

test('what was approved is the exact action: another option, folder or variable is asked about', async () => {
  const folder = temporaryFolder();
  const store = await openTestStore(path.join(folder.path, 'store'), tasksLayout);
  try {
    const approvals = new Approvals({ store, nowMs: () => 1_000 });
    const plain = ['git', 'push', 'origin', 'dev'];
    expect(await approvals.remember('mine', await pushed(plain), 'p')).toBe(true);
    expect(await approvals.find('mine', await pushed(plain))).toMatchObject({
      action: 'git push origin dev',
    });
    for (const other of [
      await pushed(['git', 'push', '--force', 'origin', 'dev']),
      await pushed(['git', 'push', '--no-verify', 'origin', 'dev']),
      await pushed(plain, 'sub'),
      await pushed(plain, '', { LC_ALL: 'C' }),
    ])
      expect(await approvals.find('mine', other), other.description).toBeUndefined();
    expect(await approvals.revoke('mine')).toHaveLength(1);
    expect(await approvals.find('mine', await pushed(plain))).toBeUndefined();
  } finally {
    await store[Symbol.asyncDispose]();
    folder.remove();
  }
});

test('a script that changed since it was approved is another action', async () => {
  const folder = temporaryFolder();
  const store = await openTestStore(path.join(folder.path, 'store'), tasksLayout);
  try {
    const approvals = new Approvals({ store, nowMs: () => 1_000 });
    const shown = { ...seen('a'), digest: { action: '1'.repeat(64), files: { 'a.sh': 'before' } } };
    await approvals.remember('mine', shown, 'p');
    expect(await approvals.find('mine', shown)).toBeDefined();
    const changed = { ...shown, digest: { ...shown.digest, files: { 'a.sh': 'after' } } };
    expect(await approvals.find('mine', changed)).toBeUndefined();
  } finally {
    await store[Symbol.asyncDispose]();
    folder.remove();
  }
});
