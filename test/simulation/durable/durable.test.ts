import { describe, expect, test } from 'vitest';
import { machines } from './machines.js';
import earlier from './earlier-release.json' with { type: 'json' };
import { campaign, faultsOf, seedThatFinds } from './run.js';
import { crashPoints, plants, Trial, type Earlier } from './trial.js';

/** What a part of `npm test` may cost; `npm run campaign:durable` runs 200. */
const seeds = 4;

test('through crashes at every point nothing is lost, doubled or done before it is on disk', async () => {
  const rows = await campaign({ from: 1, seeds });
  expect(rows.flatMap(({ faults }) => faults)).toEqual([]);
  expect(rows).toHaveLength(machines.length * crashPoints.length);
  // A trial without a crash proves nothing.
  for (const { machine, point, strikes } of rows)
    expect([machine, point, strikes > 0]).toEqual([machine, point, true]);
});

describe.each(plants)('the planted fault "%s"', (plant) => {
  test.each(machines.map((make) => [make().name, make] as const))(
    'is found in the machine %s',
    async (_, make) => {
      expect(await seedThatFinds(plant, make, 5)).toBeDefined();
    },
  );
});

/** Written by release 0.1.0, whose process ended in the middle. */
const left: Record<string, Earlier> = earlier;

// Steps of a query hold answers, whose shape is another one now: they are dropped, see test/unit/lattice/journal.test.ts.
const goesOn = machines.filter((make) => make().name !== 'lattice journal');

test.each(goesOn.map((make) => [make().name, make] as const))(
  'what an earlier release left is gone on with: %s',
  async (name, make) => {
    for (const point of crashPoints) {
      const trial = new Trial(make(), point, 1, undefined, left[name]);
      expect([point, faultsOf(await trial.run())]).toEqual([point, []]);
    }
  },
);
