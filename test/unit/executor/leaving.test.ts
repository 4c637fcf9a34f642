import { expect, test } from 'vitest';
import { Book } from '../../../src/executor/book.js';
import { Executor } from '../../../src/executor/executor.js';
import { systemClock } from '../../../src/base/clock.js';
import type { Client } from '../../../src/client/client.js';
import type { Message } from '../../../src/client/inbox.js';
import { delegationMessages } from '../../../src/delegation/task/messages.js';
import { readTask } from '../../../src/delegation/task/schema.js';
import type { Logger } from '../../../src/observe/log.js';
import { executorLayout } from '../../../src/store/layouts.js';
import { temporaryFolder } from '../../support/temporary.js';
import { openTestStore } from '../../support/store.js';
import { divertedStore } from '../../support/task-book.js';

test('what is put on disk while it leaves is for the next process, and keeps this one alive no longer', async () => {
  const folder = temporaryFolder();
  await using store = await openTestStore(folder.path, executorLayout);
  let write = (): void => undefined;
  const disk = new Promise<void>((resolve) => (write = resolve));
  const slow = divertedStore(store, async (_, write) => (await disk, write()));
  const said: ((message: Message) => Promise<void>)[] = [];
  const client = { receive: (on: (message: Message) => Promise<void>) => said.push(on) };
  const log = { info: () => undefined, debug: () => undefined } as unknown as Logger;
  let timers = 0;
  const executor = new Executor(
    {
      ...{
        client: client as unknown as Client,
        log,
        runners: new Map(),
        book: new Book(slow, systemClock, log),
      },
      clock: {
        ...systemClock,
        after: () => ((timers += 1), { [Symbol.dispose]: () => undefined }),
      },
      pgcFor: () => expect.fail('nothing is begun'),
    },
    { work: 1, prompts: 1 },
  );
  await executor.receive();
  const { type, codec } = delegationMessages.assign;
  const wish = { task: 'x', runner: 'command', action: { argv: ['true'] } };
  const assignment = {
    ...{ task: readTask(wish, 'one'), attempt: 1, lease_ms: 1_000 },
    ...{ until_ms: Date.now() + 300_000, manager: 'desk', grants: [], depth: 0, parent: 'me' },
  };
  const taken = said[0]!({ type, from: 'desk', body: codec.encode(assignment) } as Message);
  await executor.leave();
  write();
  await taken;
  expect(timers).toBe(0);
  expect(await new Book(store, systemClock, log).all()).toHaveLength(1);
});
