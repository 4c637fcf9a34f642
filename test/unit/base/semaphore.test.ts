import { BusError } from '../../../src/errors/bus-error.js';
import { expect, test } from 'vitest';
import { Semaphore } from '../../../src/base/semaphore.js';

/** Works that end when they are told to. */
function works(turns: Semaphore): {
  begun: string[];
  begin: (name: string, signal?: AbortSignal) => Promise<string>;
  end: (name: string) => Promise<void>;
} {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    begin: (name, signal) =>
      turns.run(() => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, () => resolve(name)));
      }, signal),
    end: async (name) => {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('so many work at once, the others in the order of their coming', async () => {
  const { begun, begin, end } = works(
    new Semaphore({
      atOnce: 2,
      waitingMax: 8,
      refusal: (limit) => new BusError('BROKER_BUSY', { limit }),
    }),
  );
  const all = ['a', 'b', 'c', 'd'].map((name) => begin(name));
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('a');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  await end('c');
  await end('d');
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  const later = [begin('e'), begin('f'), begin('g')];
  expect(begun.slice(4)).toEqual(['e', 'f']);
  for (const name of ['e', 'f', 'g']) await end(name);
  await Promise.all(later);
});

test('what fails makes room as well', async () => {
  const turns = new Semaphore({
    atOnce: 1,
    waitingMax: 8,
    refusal: (limit) => new BusError('BROKER_BUSY', { limit }),
  });
  const failed = turns.run(() => Promise.reject(new Error('it fails')));
  const next = turns.run(() => Promise.resolve('next'));
  await expect(failed).rejects.toThrow('it fails');
  expect(await next).toBe('next');
});

test('whoever gives up while it waits is passed over, and one too many is refused', async () => {
  const { begun, begin, end } = works(
    new Semaphore({
      atOnce: 1,
      waitingMax: 1,
      refusal: (limit) => new BusError('BROKER_BUSY', { limit }),
    }),
  );
  const first = begin('first');
  const gone = new AbortController();
  const waiting = begin('waiting', gone.signal);
  await expect(begin('one too many')).rejects.toMatchObject({ code: 'BROKER_BUSY' });
  gone.abort(new Error('given up'));
  await expect(waiting).rejects.toThrow('given up');
  await expect(begin('given up before', gone.signal)).rejects.toThrow('given up');
  const last = begin('last');
  await end('first');
  expect(begun).toEqual(['first', 'last']);
  await end('last');
  await Promise.all([first, last]);
});
