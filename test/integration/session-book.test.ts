import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { questionOf, sessionState } from '../../src/attention/session/record.js';
import type { SessionRecord } from '../../src/attention/session/session-record.js';
import { readAttend } from '../../src/attention/session/request.js';
import type { SessionEffect } from '../../src/attention/session/session.machine.js';
import { systemClock, type Clock } from '../../src/base/clock.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { tasksLayout } from '../../src/store/layouts.js';
import { SessionBook } from '../../src/task/book/session-book.js';
import { eventually } from '../support/eventually.js';
import { openTestStore } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

const folders: (() => void)[] = [];
afterEach(() => folders.splice(0).forEach((remove) => remove()));

function newFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder.remove);
  return path.join(folder.path, 'tasks');
}

/** It is later at each look. */
function ticking(): Clock {
  let nowMs = 0;
  return { ...systemClock, nowMs: () => (nowMs += 1), after: systemClock.after.bind(systemClock) };
}

/** A book on a real store; `perform` says what is done of an effect. */
async function open(
  folder: string,
  perform: (record: SessionRecord, effect: SessionEffect, book: SessionBook) => Promise<void>,
  limits = {},
): Promise<{ book: SessionBook; close: () => Promise<void> }> {
  const store = await openTestStore(folder, tasksLayout);
  const book: SessionBook = await SessionBook.open({
    ...{ store, clock: ticking(), random: () => 0.5, limits },
    perform: (record, effect) => perform(record, effect, book),
    onTrouble: () => undefined,
  });
  book.resume();
  const close = async (): Promise<void> => {
    await book[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  };
  return { book, close };
}

const never = (): Promise<void> => Promise.reject(new Error('the disk is slow'));
const asked = (context: string): ReturnType<typeof readAttend> =>
  readAttend({ context, args: 'x' });

test('what a session asks for is done by the next process, where this one did not come to it', async () => {
  const folder = newFolder();
  const first = await open(folder, never);
  const begun = await first.book.begin(asked('one'), 'me');
  expect(await first.book.begin(asked('one'), 'me')).toEqual(begun);
  await first.close();

  const done: string[] = [];
  const next = await open(folder, async (record, effect, book) => {
    done.push(effect.type);
    if (effect.type !== 'upstream.scan') return;
    const event = { type: 'upstream.scanned', isClear: false } as const;
    await book.decide(record.id, () => ({ event, patch: {} }));
  });
  await eventually(() => expect(sessionState(next.book.get('one'))).toBe('routing'), 5_000);
  expect([done, questionOf(next.book.get('one'))?.number]).toEqual([['upstream.scan'], 1]);
  await next.close();

  const last = await open(folder, never);
  expect(sessionState(last.book.get('one'))).toBe('routing');
  await last.close();
});

test('open sessions are limited, those that are over make room; another one of an open context is refused', async () => {
  const { book, close } = await open(newFolder(), () => Promise.resolve(), { open: 2, kept: 2 });
  const over = (context: string): Promise<SessionRecord> =>
    book.decide(context, () => ({ event: { type: 'session.escaped' }, patch: {} }));
  const code = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'done',
      (error: unknown) => asBusError(error).code,
    );
  await book.begin(asked('a'), 'me');
  expect(await code(book.begin(asked('a'), 'you'))).toBe('SESSION_EXISTS');
  await book.begin(asked('b'), 'me');
  expect(await code(book.begin(asked('c'), 'me'))).toBe('ATTEND_FULL');
  await over('a');
  await book.begin(asked('c'), 'me');
  await over('b');
  await book.begin(asked('d'), 'me');
  await over('c');
  await book.begin(asked('e'), 'me');
  expect(book.list().map(({ id }) => id)).not.toContain('a');
  await over('e');
  expect((await book.begin(asked('e'), 'me')).run).toBe(2);
  await close();
});
