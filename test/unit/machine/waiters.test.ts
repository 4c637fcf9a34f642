import { expect, test } from 'vitest';
import { Waiters } from '../../../src/machine/waiters.js';

test('who waits is woken by a change, by the end of all, or because nobody waits for it any more', async () => {
  const waiters = new Waiters();
  const said: string[] = [];
  const wait = (id: string, name: string, signal = new AbortController().signal): Promise<void> =>
    waiters.wait(id, signal).then(() => void said.push(name));
  const gone = new AbortController();
  const all = [wait('a', 'one'), wait('a', 'gone', gone.signal), wait('b', 'other')];
  gone.abort();
  await all[1];
  expect(said).toEqual(['gone']);
  await wait('a', 'too late', gone.signal);
  waiters.wake('a');
  await all[0];
  expect(said).toEqual(['gone', 'too late', 'one']);
  waiters.wakeAll();
  await Promise.all(all);
  expect(said.at(-1)).toBe('other');
});
