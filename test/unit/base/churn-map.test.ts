import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChurnMap } from '../../../src/base/churn-map.js';

test('holds what a Map holds, in its order, however much comes and goes', () => {
  const operations = fc.array(fc.tuple(fc.nat(40), fc.boolean()), {
    minLength: 600,
    maxLength: 1_500,
  });
  fc.assert(
    fc.property(operations, (steps) => {
      const map = new Map<number, number>();
      const churned = new ChurnMap<number, number>();
      for (const [at, [key, isKept]] of steps.entries()) {
        if (isKept) {
          map.set(key, at);
          churned.set(key, at);
        } else expect(churned.delete(key)).toBe(map.delete(key));
        expect(churned.get(key)).toBe(map.get(key));
      }
      expect(churned.entries()).toEqual([...map]);
      expect(churned.values()).toEqual([...map.values()]);
      expect(churned.size).toBe(map.size);
    }),
    { numRuns: 30 },
  );
});
