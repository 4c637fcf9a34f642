import { afterAll, beforeAll, expect, test } from 'vitest';
import { PgcOnBus } from '../../services/executor/pgc-on-bus.js';
import type { Client } from '../../src/client/client.js';
import { latticeMessages, latticeService } from '../../src/pgc/messages.js';
import { testBus, type TestBus } from '../support/bus.js';
import { memoryHarness } from '../support/networks.js';

let bus: TestBus;
let client: Client;
const told: { name: string; deadlineMs: number; request: unknown }[] = [];

beforeAll(async () => {
  bus = testBus(memoryHarness());
  await bus.start();
  const manager = await bus.client('manager-1', { role: 'manager' });
  const { ask, patterns, algebra } = latticeMessages;
  for (const [name, { type, request, answer }] of Object.entries({ ask, patterns, algebra }))
    manager.serve({
      [type]: ({ body, deadlineMs }) => {
        told.push({ name, deadlineMs, request: request.decode(body) });
        return answer.encode({} as never);
      },
    });
  await manager.offer([latticeService]);
  client = await bus.client('worker-1');
});
afterAll(() => bus.close());

/** A worker whose task has so much time left. */
const pgcWith = (leftMs: number): PgcOnBus =>
  new PgcOnBus({
    ...{ client, agent: '', works: undefined as never, signal: new AbortController().signal },
    leftMs: () => leftMs,
  });

test.each([
  { leftMs: 600_000, analysisMs: 120_000 },
  { leftMs: 100_000, analysisMs: 50_000 },
])(
  'of $leftMs ms an analysis gets $analysisMs at most, and a question its own time',
  async ({ leftMs, analysisMs }) => {
    told.length = 0;
    const pgc = pgcWith(leftMs);
    await pgc.patterns(7, 'mm/slab.c');
    await pgc.algebra('O1 - O2', 1);
    await pgc.ask('How?', []);
    expect(told.map(({ name }) => name)).toEqual(['patterns', 'algebra', 'ask']);
    const request = { filter: 'dependencies', limit: 7, target: 'mm/slab.c' };
    expect(told[0]?.request).toMatchObject(request);
    const limits = [analysisMs, analysisMs, 30_000];
    for (const [at, { deadlineMs }] of told.entries()) {
      expect(deadlineMs).toBeLessThanOrEqual(limits[at]!);
      // As it was given, but for the way.
      expect(deadlineMs).toBeGreaterThan(limits[at]! / 2);
    }
  },
);
