import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { receiveOne } from '../../../src/remote/receive.js';
import type { QueueAnswer, QueueRow } from '../../../src/task/requests/messages.js';
import type { MessageAnswer } from '../../../src/wire/messages.js';

/** How long a wait without a limit lasts. */

const message = { view: { seq: 1 } } as MessageAnswer;

/** A mailbox into which the message comes after so long. */
function clientAfter(ms: number): Client {
  const atMs = performance.now() + ms;
  const take = async ({ deadlineMs }: { deadlineMs: number }): Promise<MessageAnswer> => {
    await pause(Math.min(deadlineMs, Math.max(0, atMs - performance.now())));
    if (performance.now() >= atMs) return message;
    throw new BusError('INBOX_EMPTY', { mailbox: 'agent:me' });
  };
  return { take } as unknown as Client;
}

const queueWith = (state: string): (() => Promise<QueueAnswer>) => {
  const row = { id: 'a', name: 'a', state, status: 'running', is_delivering: false } as QueueRow;
  const its = { owner: 'me', rows: [row], parent: '', siblings: [] };
  return () => Promise.resolve({ ...its, concurrency: 0, supervised: false });
};
const wait = { agent: 'me', from: 'a', lifo: false, waitMs: Infinity, idleMs: 60 };

test('it waits for a task that is under way, however long that takes', async () => {
  const queueOf = queueWith('running');
  expect(await receiveOne(clientAfter(300), { ...wait, queueOf })).toBe(message);
});

test('where nobody is known to be at work it ends, and says so', async () => {
  const stranger = { ...wait, from: 'somebody' };
  await expect(
    receiveOne(clientAfter(300), { ...stranger, queueOf: queueWith('running') }),
  ).rejects.toMatchObject({ code: 'INBOX_EMPTY' });
});

test('a limit of the caller counts also while a task is under way', async () => {
  const short = { ...wait, waitMs: 60, queueOf: queueWith('running') };
  await expect(receiveOne(clientAfter(300), short)).rejects.toMatchObject({ code: 'INBOX_EMPTY' });
});
