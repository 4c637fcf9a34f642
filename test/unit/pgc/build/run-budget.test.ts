import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { diskBytesMin, memoryBytesMin, RunBudget } from '../../../../src/pgc/build/run-budget.js';
import { eventually } from '../../../support/eventually.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const mebibyte = 1024 * 1024;

describe('the budget of a run', () => {
  test('that nothing fits in says what the least is', async () => {
    await using tree = await TemporaryTree.create();
    expect(() => new RunBudget(tree.root, { memoryBytes: memoryBytesMin - 1 })).toThrow(
      '--memory of 512 MB is too little; the least useful is 512 MB',
    );
    expect(() => new RunBudget(tree.root, { diskBytes: mebibyte })).toThrow(
      '--disk of 1 MB is too little; the least useful is 16 MB',
    );
  });

  test('decides how many threads there are, and how much heap each may use', async () => {
    await using tree = await TemporaryTree.create();
    using small = new RunBudget(tree.root, { memoryBytes: memoryBytesMin });
    using large = new RunBudget(tree.root, { memoryBytes: 8_192 * mebibyte });
    expect([small.jobs(0), small.jobs(1), small.jobs(8)]).toEqual([0, 1, 2]);
    expect(large.jobs(8)).toBe(8);
    // A shard takes more than a miner, and one thread for it is no better than none.
    expect([small.writers(8), large.writers(0), large.writers(1), large.writers(4)]).toEqual([
      0, 0, 0, 4,
    ]);
    expect([small.heapMegabytes(2), large.heapMegabytes(2)]).toEqual([192, 1_024]);
  });

  test('has the miners start anew when memory runs short, and lets the next file in then', async () => {
    await using tree = await TemporaryTree.create();
    let rss = 0.9 * memoryBytesMin;
    let recycled = 0;
    using budget = new RunBudget(tree.root, { memoryBytes: memoryBytesMin }, () => rss);
    const miners = {
      recycle: () => {
        recycled += 1;
        rss = 0.5 * memoryBytesMin;
        return Promise.resolve();
      },
    };
    await Promise.all([budget.admit(miners), budget.admit(miners)]);
    await budget.admit(miners);
    expect(recycled).toBe(1);
    expect(budget.signal.aborted).toBe(false);
  });

  test('that is exceeded for long ends the run with TOO_LARGE', async () => {
    await using tree = await TemporaryTree.create();
    const rss = memoryBytesMin + 1;
    using budget = new RunBudget(tree.root, { memoryBytes: memoryBytesMin }, () => rss);
    await eventually(() => expect(budget.signal.aborted).toBe(true));
    expect(budget.signal.reason).toMatchObject({
      code: 'TOO_LARGE',
      data: { bytes: rss, limit: memoryBytesMin },
    });
  });

  test('of disk is checked all the time, and before what is known to come', async () => {
    await using tree = await TemporaryTree.create({ 'facts/a': Buffer.alloc(1_000) });
    using budget = new RunBudget(tree.root, { diskBytes: diskBytesMin });
    await budget.expectDisk(diskBytesMin - 1_000);
    await expect(budget.expectDisk(diskBytesMin - 999)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      data: { detail: 'the index takes 17 MB, --disk allows 16 MB' },
    });
    await tree.write({ 'segments/b': Buffer.alloc(diskBytesMin) });
    await eventually(() =>
      expect(budget.signal.reason).toMatchObject({ code: 'STORE_UNAVAILABLE' }),
    );
  });

  test('needs free space whatever is allowed', async () => {
    await using tree = await TemporaryTree.create();
    using budget = new RunBudget(tree.root, {});
    await expect(budget.expectDisk(2 ** 60)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await wait(300);
    expect(budget.signal.aborted).toBe(false);
  });
});
