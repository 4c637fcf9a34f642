import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundedQueue } from '../../../src/base/bounded-queue.js';

test('behaves as a list that refuses what exceeds its limit', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.option(fc.integer(), { nil: undefined }), { maxLength: 600 }),
      (limit, steps) => {
        const queue = new BoundedQueue<number>(limit);
        const model: number[] = [];
        for (const step of steps) {
          if (step === undefined) expect(queue.take()).toBe(model.shift());
          else if (queue.offer(step)) model.push(step);
          else expect(model).toHaveLength(limit);
          expect(queue.size).toBe(model.length);
        }
        expect(queue.takeAll()).toEqual(model);
        expect(queue.size).toBe(0);
      },
    ),
  );
});
