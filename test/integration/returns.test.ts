import { afterEach, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.js';
import { Returns } from '../../src/manager/returns.js';
import type { Logger } from '../../src/observe/log.js';
import type { TaskRecord } from '../../src/task/life/record.js';
import type { PresenceEvent } from '../../src/wire/messages.js';
import { taskOf } from '../support/delegation.js';
import { openBook, type OpenBook } from '../support/task-book.js';
import { temporaryFolder } from '../support/temporary.js';

const folder = temporaryFolder();
let opened: OpenBook;
let presence: (event: PresenceEvent) => void;
let state: (now: string) => void;

/** A client that says what the test lets it say. */
const client = {
  onPresence: (watch: typeof presence) => ((presence = watch), { [Symbol.dispose]: () => {} }),
  onState: (watch: typeof state) => ((state = watch), { [Symbol.dispose]: () => {} }),
} as unknown as Client;

const change = (what: string, id: string, role: string): void =>
  presence({ change: what, agent: { record: { id, role } } } as PresenceEvent);

const said = ({ notes }: TaskRecord): string[] => notes.slice(1).map(({ text }) => text);

/** What the task says after the book has written all that was under way. */
async function notes(id: string): Promise<string[]> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return said(await opened.book.amend(id, {}));
}

afterEach(async () => {
  await opened[Symbol.asyncDispose]();
  folder.remove();
});

test('a task learns who was lost and came back while it was under way, once', async () => {
  opened = await openBook(folder.path);
  const { book } = opened;
  using returns = new Returns(client, book, {} as Logger);
  await book.begin(taskOf({ id: 'waits' }), 'me');
  await book.begin(taskOf({ id: 'works' }), 'me');
  await book.send('works', { type: 'task.ready' });
  await book.send('works', { type: 'attention.passed' });
  const before = await notes('works');
  change('joined', 'shop', 'pgc');
  // However many of those that never come back are lost before.
  for (let each = 0; each < 1_100; each += 1) change('lost', `passing${each}`, 'agent');
  change('lost', 'critic', 'critic');
  change('joined', 'critic', 'critic');
  expect(await notes('works')).toEqual(before);
  change('lost', 'shop', 'pgc');
  expect(await notes('works')).toEqual(before);
  change('joined', 'shop', 'pgc');
  change('joined', 'shop', 'pgc');
  expect(await notes('works')).toEqual([...before, 'pgc.returned: shop']);
  state('live');
  expect(await notes('works')).toEqual([...before, 'pgc.returned: shop']);
  state('connecting');
  state('live');
  await notes('works');
  await returns.noteOwn();
  await returns.noteOwn();
  const all = ['pgc.returned: shop', 'bus.returned', 'manager.returned'];
  expect(await notes('works')).toEqual([...before, ...all]);
  expect(await notes('waits')).toEqual([]);
});
