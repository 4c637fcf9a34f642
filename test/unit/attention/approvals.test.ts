import path from 'node:path';
import { expect, test } from 'vitest';
import { approvalMs, Approvals } from '../../../src/attention/approvals.js';
import type { Classification } from '../../../src/attention/shapes.js';
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
