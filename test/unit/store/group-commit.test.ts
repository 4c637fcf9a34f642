import { expect, test } from 'vitest';
import { GroupCommit } from '../../../src/store/group-commit.js';
import type { Db } from '../../../src/store/level-folder.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const clock = new VirtualClock();

/** One for what has just ended, one for the turn that a group waits. */
async function turns(): Promise<void> {
  await clock.turn();
  await clock.turn();
}

/** A disk whose writes end when told to. */
function setUp() {
  /** Keys of each write that has begun. */
  const writes: string[][] = [];
  let end: () => void = () => undefined;
  const batch = () => {
    const keys: string[] = [];
    return {
      put: (key: string) => keys.push(key),
      write: () => {
        writes.push(keys);
        return new Promise<void>((resolve) => (end = resolve));
      },
    };
  };
  const db = { batch } as unknown as Db;
  const commits = new GroupCommit({ db, path: 'store', clock, onFailed: () => undefined });
  const add = (...keys: string[]): void => {
    for (const key of keys) void commits.add([{ type: 'put', key, value: Buffer.alloc(0) }], true);
  };
  /** Ends the write under way after so long, and lets what follows begin. */
  const endAfter = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    end();
    await turns();
  };
  return { writes, add, endAfter };
}

test('callers of one turn share a write', async () => {
  const { writes, add } = setUp();
  add('a', 'b');
  await turns();
  expect(writes).toEqual([['a', 'b']]);
});

test('where the disk is slow, the next write waits for the callers of the last, but not for long', async () => {
  const { writes, add, endAfter } = setUp();
  add('a', 'b');
  await turns();
  add('c');
  await endAfter(20);
  expect(writes).toHaveLength(1);
  add('d', 'e');
  await turns();
  expect(writes[1]).toEqual(['c', 'd', 'e']);
  add('f');
  await endAfter(20);
  await clock.advance(4);
  expect(writes).toHaveLength(2);
  await clock.advance(1);
  expect(writes[2]).toEqual(['f']);
});

test('where it is fast, and for a single caller, nothing waits', async () => {
  const { writes, add, endAfter } = setUp();
  add('a', 'b');
  await turns();
  add('c');
  await endAfter(1);
  expect(writes[1]).toEqual(['c']);
  await endAfter(20);
  add('d');
  await turns();
  expect(writes[2]).toEqual(['d']);
});
