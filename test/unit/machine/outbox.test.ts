import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Outbox, type Pending } from '../../../src/machine/outbox.js';
import { deedPrefix } from '../../../src/store/keys.js';
import { tasksLayout } from '../../../src/store/layouts.js';
import type { Store } from '../../../src/store/port.js';
import type { SideEffect } from '../../../src/task/life/advance.js';

import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

const sideEffects: SideEffect[] = [{ type: 'turn.await' }, { type: 'task.attend' }];

function outboxOn(
  store: Store,
  closing: AbortSignal,
  perform: (id: string, effect: SideEffect) => Promise<void>,
): Outbox<SideEffect> {
  const parts = { store, clock: systemClock, random: () => 0, onTrouble: () => undefined };
  return new Outbox({ ...parts, prefix: deedPrefix, perform, closing });
}

function add(outbox: Outbox<SideEffect>, pending: Pending<SideEffect>[]): void {
  outbox.push('a', pending);
  outbox.work('a');
}

test('what a process leaves undone is there for the next one', async () => {
  const folder = temporaryFolder();
  await using store = await openTestStore(folder.path, tasksLayout);
  const closing = new AbortController();
  // It waits for something, and gives up when the process ends.
  const outbox = outboxOn(store, closing.signal, () => {
    return new Promise((_, reject) => {
      closing.signal.addEventListener('abort', () => reject(new Error('it ends')));
    });
  });
  const pending = outbox.named('a', sideEffects);
  await store.commit(pending);
  outbox.resume();
  add(outbox, pending);
  closing.abort();
  await outbox.ended();
  const left: string[] = [];
  for await (const key of store.keys({ prefix: deedPrefix })) left.push(key);
  expect(left).toEqual(pending.map(({ key }) => key));
  const done: string[] = [];
  const next = outboxOn(store, new AbortController().signal, (_, { type }) => {
    done.push(type);
    return Promise.resolve();
  });
  await next.read();
  next.resume();
  await next.ended();
  expect(done).toEqual(['turn.await', 'task.attend']);
  folder.remove();
});

test('what is added while the last is just done is done as well', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const done: string[] = [];
    // A disk on which nothing is left waits for nothing.
    const store = { write: () => Promise.resolve() } as unknown as Store;
    const outbox = outboxOn(store, new AbortController().signal, (_, { type }) => {
      done.push(type);
      return Promise.resolve();
    });
    outbox.resume();
    const [first, second] = outbox.named('a', sideEffects);
    add(outbox, [first!]);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    add(outbox, [second!]);
    await new Promise(setImmediate);
    expect(done).toEqual(['turn.await', 'task.attend']);
  }
});
