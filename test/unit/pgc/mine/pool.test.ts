import { describe, expect, test } from 'vitest';
import { decodeFacts } from '../../../../src/pgc/format/packed-facts.js';
import { fileMsMax, MinerPool, queuedPerJob } from '../../../../src/pgc/mine/pool.js';

import { VirtualClock } from '../../../support/virtual-clock.js';

const moody = new URL('../../../support/miners/moody-worker.mjs', import.meta.url);

async function textOf(facts: Promise<Uint8Array>): Promise<string> {
  return Buffer.from(await facts).toString();
}

test('without workers files are mined in this thread', async () => {
  await using pool = new MinerPool(0);
  const facts = decodeFacts(await pool.mine('c', Buffer.from('int f(void) { return g(); }')));
  expect(facts.symbols.map((each) => each.name)).toEqual(['f']);
});

describe('with the real worker', () => {
  test('workers give the same facts as this thread, and leave the source to its owner', async () => {
    await using pool = new MinerPool(2);
    await using inThread = new MinerPool(0);
    const source = Buffer.from('/* Runs. */\nstatic int run(void)\n{\n\treturn walk();\n}\n');
    const both = await Promise.all([pool.mine('c', source), pool.mine('c', source)]);
    const here = await inThread.mine('c', source);
    for (const facts of both) expect(Buffer.from(facts).equals(Buffer.from(here))).toBe(true);
    expect(source.toString()).toContain('run');
  });
});

describe('with a worker that misbehaves', () => {
  test('an error costs only the file that caused it', async () => {
    await using pool = new MinerPool(1, { worker: moody });
    const broken = pool.mine('python', Buffer.from('throw'));
    const next = pool.mine('python', Buffer.from('x'));
    await expect(broken).rejects.toMatchObject({
      code: 'MINER_FAILED',
      data: { detail: 'the parser broke' },
    });
    expect(await textOf(next)).toBe('mined x');
  });

  test('a worker that ends is replaced', async () => {
    await using pool = new MinerPool(1, { worker: moody });
    await expect(pool.mine('c', Buffer.from('exit'))).rejects.toMatchObject({
      code: 'MINER_FAILED',
    });
    expect(await textOf(pool.mine('c', Buffer.from('y')))).toBe('mined y');
  });

  test('a file that takes too long is given up, and the next one is mined', async () => {
    await using pool = new MinerPool(1, { worker: moody, fileMsMax: 500 });
    const slow = pool.mine('c', Buffer.from('hang'));
    const next = pool.mine('c', Buffer.from('z'));
    await expect(slow).rejects.toMatchObject({
      code: 'MINER_FAILED',
      data: { detail: 'it took longer than 500 ms' },
    });
    expect(await textOf(next)).toBe('mined z');
  });

  test('time that passes without work does not count', async () => {
    const clock = new VirtualClock();
    await using pool = new MinerPool(1, { worker: moody, clock });
    const mined = pool.mine('c', Buffer.from('z'));
    await clock.advance(fileMsMax);
    expect(await textOf(mined)).toBe('mined z');
  });

  test('there is no room while the queue is full, and again when a worker takes from it', async () => {
    await using pool = new MinerPool(1, { worker: moody, fileMsMax: 500 });
    // One in the worker, the others in the queue.
    const files = Array.from({ length: 1 + queuedPerJob }, (_, i) =>
      textOf(pool.mine('c', Buffer.from(i === 0 ? 'hang' : `${i}`))).catch(() => 'failed'),
    );
    await Promise.resolve();
    let hasRoom = false;
    const room = pool.room().then(() => (hasRoom = true));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(hasRoom).toBe(false);
    await room;
    expect(await Promise.all(files)).toEqual(['failed', 'mined 1', 'mined 2']);
  });

  test('many that wait for room are all mined', async () => {
    await using pool = new MinerPool(1);
    const texts = Array.from({ length: 20 }, (_, at) => Buffer.from(`int f${at}(void);`));
    const facts = await Promise.all(texts.map((text) => pool.mine('c', text)));
    expect(facts).toHaveLength(texts.length);
  });

  test('recycling ends what is idle at once, and what is at work after its file', async () => {
    await using pool = new MinerPool(2, { worker: moody });
    const who = () => textOf(pool.mine('c', Buffer.from('who')));
    expect(new Set(await Promise.all([who(), who()])).size).toBe(1);
    // With so much to do a second thread pays.
    await pool.mine('c', Buffer.alloc(1024 * 1024));
    const before = await Promise.all([who(), who()]);
    expect(new Set(before).size).toBe(2);
    const open = who();
    // It is given to a worker before anything else happens, such as its answer.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await pool.recycle();
    // The one at work ends its file.
    expect(before).toContain(await open);
    const after = await Promise.all([who(), who(), who(), who()]);
    for (const thread of after) expect(before).not.toContain(thread);
  });

  test('closing cancels what is being mined and what waits', async () => {
    const pool = new MinerPool(1, { worker: moody });
    const files = Array.from({ length: 2 + queuedPerJob }, () =>
      pool.mine('c', Buffer.from('hang')),
    );
    const outcomes = Promise.allSettled(files);
    await Promise.resolve();
    await pool.close();
    for (const each of await outcomes) {
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'CANCELLED' } });
    }
    await expect(pool.mine('c', Buffer.from('late'))).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});
