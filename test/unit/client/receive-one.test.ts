import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { receiveOne } from '../../../src/remote/receive.js';
import { statusOf } from '../../../src/task/queue/queue.js';
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
  const status = statusOf(state);
  const row = { id: 'a', name: 'a', state, status, is_delivering: false } as QueueRow;
  const its = { owner: 'me', rows: [row], parent: '', siblings: [] };
  return () => Promise.resolve({ ...its, concurrency: 0, supervised: false });
};
const wait = { agent: 'me', from: 'a', lifo: false, waitMs: Infinity, idleMs: 60 };

test('it waits for a task that is under way, however long that takes', async () => {
  const queueOf = queueWith('running');
  expect(await receiveOne(clientAfter(300), { ...wait, queueOf })).toBe(message);
});

test('where no agent is known to be at work it ends, and says so', async () => {
  const stranger = { ...wait, from: 'somebody' };
  await expect(
    receiveOne(clientAfter(300), { ...stranger, queueOf: queueWith('running') }),
  ).rejects.toMatchObject({ code: 'INBOX_EMPTY' });
});

test('a limit of the caller counts also while a task is under way', async () => {
  const short = { ...wait, waitMs: 60, queueOf: queueWith('running') };
  await expect(receiveOne(clientAfter(300), short)).rejects.toMatchObject({ code: 'INBOX_EMPTY' });
});

test('a message that another reader holds is waited for: that reader may have died', async () => {
  const queueOf = queueWith('completed');
  const leased = { messages: [{ state: 'leased', from: 'a' }], next: 0 };
  const client = Object.assign(clientAfter(100), {
    mail: { inbox: () => Promise.resolve(leased) },
  });
  expect(await receiveOne(client, { ...wait, idleMs: 2_000, holdsNone: true, queueOf })).toBe(
    message,
  );
  const noneLeft = { code: 'NOBODY_LEFT' };
  await expect(receiveOne(clientAfter(100), { ...wait, queueOf })).rejects.toMatchObject(noneLeft);
  const others = { messages: [{ state: 'leased', from: 'b' }], next: 0 };
  const elsewhere = Object.assign(clientAfter(100), {
    mail: { inbox: () => Promise.resolve(others) },
  });
  await expect(receiveOne(elsewhere, { ...wait, holdsNone: true, queueOf })).rejects.toMatchObject(
    noneLeft,
  );
});
