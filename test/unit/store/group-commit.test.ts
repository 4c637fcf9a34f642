import { expect, test } from 'vitest';
import { GroupCommit } from '../../../src/store/group-commit.js';
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
  const newBatch = () => {
    const keys: string[] = [];
    return {
      put: (key: string) => keys.push(key),
      del: (key: string) => keys.push(key),
      write: () => {
        writes.push(keys);
        return new Promise<void>((resolve) => (end = resolve));
      },
    };
  };
  const commits = new GroupCommit({ newBatch, path: 'store', clock, onFailed: () => undefined });
  const add = (...keys: string[]): void => {
    for (const key of keys) void commits.add([{ type: 'put', key, value: Buffer.alloc(0) }], true);
  };
  /** Ends the write under way, and lets what follows begin. */
  const endWrite = async (): Promise<void> => {
    end();
    await turns();
  };
  return { writes, add, end: endWrite };
}

test('callers of one turn share a write', async () => {
  const { writes, add } = setUp();
  add('a', 'b');
  await turns();
  expect(writes).toEqual([['a', 'b']]);
});

test('what comes while a write is on its way shares the next one, in order', async () => {
  const { writes, add, end } = setUp();
  add('a');
  await turns();
  add('b', 'c');
  await turns();
  add('d');
  expect(writes).toEqual([['a']]);
  await end();
  expect(writes).toEqual([['a'], ['b', 'c', 'd']]);
});
