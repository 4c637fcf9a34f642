import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QueueTurns } from '../../../src/task/queue/queue-turns.js';

const settled = (): Promise<void> => new Promise(setImmediate);

type Move =
  | { on: 'start' }
  | { on: 'end'; pick: number }
  | { on: 'withdraw'; pick: number }
  | { on: 'limit'; to: number };

const move: fc.Arbitrary<Move> = fc.oneof(
  { arbitrary: fc.constant({ on: 'start' as const }), weight: 4 },
  { arbitrary: fc.record({ on: fc.constant('end' as const), pick: fc.nat() }), weight: 3 },
  fc.record({ on: fc.constant('withdraw' as const), pick: fc.nat() }),
  fc.record({ on: fc.constant('limit' as const), to: fc.integer({ min: 1, max: 4 }) }),
);

test('whatever comes, no more than the limit are let go, the oldest first, and nobody waits for a free place', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
      let limit = 2;
      const turns = new QueueTurns(() => limit);
      const waiting = new Map<string, AbortController>();
      const going: string[] = [];
      let next = 0;
      for (const each of moves) {
        const before = [...waiting.keys()];
        const taken = going.length;
        switch (each.on) {
          case 'start': {
            next += 1;
            const id = `t${String(next).padStart(3, '0')}`;
            const gone = new AbortController();
            waiting.set(id, gone);
            turns.turn({ id, owner: 'me', order: next }, gone.signal).then(
              () => {
                waiting.delete(id);
                going.push(id);
              },
              () => waiting.delete(id),
            );
            break;
          }
          case 'end':
            if (going.length > 0) {
              const [id = ''] = going.splice(each.pick % going.length, 1);
              turns.release({ owner: 'me', id });
            }
            break;
          case 'withdraw':
            waiting.get(before[each.pick % Math.max(1, before.length)] ?? '')?.abort();
            break;
          case 'limit':
            limit = each.to;
            turns.serve('me');
        }
        await settled();
        // One that was lowered lets those go on that had begun.
        expect(going.length).toBeLessThanOrEqual(Math.max(limit, taken));
        expect(waiting.size === 0 || going.length >= limit).toBe(true);
        const let1 = going.filter((id) => before.includes(id));
        expect(let1).toEqual([...let1].sort());
        for (const id of let1)
          expect([...waiting.keys()].every((other) => other > id || !before.includes(other))).toBe(
            true,
          );
      }
    }),
    { numRuns: 200 },
  );
});

test('who had its turn in an earlier process has it, and counts', async () => {
  const turns = new QueueTurns(() => 1);
  const { signal } = new AbortController();
  turns.restore({ owner: 'me', id: 'old' });
  let isGoing = false;
  void turns.turn({ owner: 'me', id: 'new', order: 2 }, signal).then(() => (isGoing = true));
  await turns.turn({ owner: 'me', id: 'old', order: 1 }, signal);
  await settled();
  expect(isGoing).toBe(false);
  turns.release({ owner: 'me', id: 'old' });
  await settled();
  expect(isGoing).toBe(true);
});
