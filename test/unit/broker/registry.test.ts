import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Registry } from '../../../src/broker/registry.js';
import { agentKey } from '../../../src/store/keys.js';
import type { LevelStore } from '../../../src/store/level-store.js';
import type { Store } from '../../../src/store/port.js';
import type { AgentRecord } from '../../../src/wire/messages.js';
import { recordOf } from '../../support/bus.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
let store: LevelStore;
beforeEach(async () => {
  folder = temporaryFolder();
  store = await openTestStore(path.join(folder.path, 'store'));
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  folder.remove();
});

const record = (id: string): AgentRecord => ({ ...recordOf(id), id, role: 'pgc' });
const load = (from: Store = store, agentsMax = 10, corrupt: string[] = []): Promise<Registry> =>
  Registry.load(from, agentsMax, (key) => corrupt.push(key));
const durable = (nowMs: number, online: string[] = []) => ({
  isEphemeral: false,
  nowMs,
  isStaying: ({ id }: AgentRecord) => online.includes(id),
});

test('what was registered is there after a restart, what was ephemeral is not', async () => {
  const before = await load();
  await before.register(record('mm'), durable(1));
  await before.register(record('guest'), { ...durable(1), isEphemeral: true });
  const after = await load();
  expect(after.ids()).toEqual(['mm']);
  expect(after.record('mm')).toEqual(record('mm'));
  expect(after.withAlias('mm')).toEqual(['mm']);
});

test('a full registry forgets the offline agent that was seen longest ago, on disk too, and never an online one', async () => {
  const registry = await load(store, 2);
  await registry.register(record('old-but-online'), durable(1));
  await registry.register(record('offline'), durable(2));
  await registry.register(record('new'), durable(3, ['old-but-online']));
  expect(registry.ids()).toEqual(['new', 'old-but-online']);
  expect((await load(store, 2)).ids()).toEqual(['new', 'old-but-online']);
  await expect(
    registry.register(record('one-more'), durable(4, ['old-but-online', 'new'])),
  ).rejects.toMatchObject({ code: 'REGISTRY_FULL' });
  expect(registry.ids()).toEqual(['new', 'old-but-online']);
});

test('agents that register at the same time never are more than the limit', async () => {
  const registry = await load(store, 2);
  await registry.register(record('old'), durable(1));
  await registry.register(record('older'), durable(0));
  const both = await Promise.all([
    registry.register(record('new'), durable(2)),
    registry.register(record('newer'), durable(3)),
  ]);
  expect(both).toEqual([['older'], ['old']]);
  expect(registry.ids()).toEqual(['new', 'newer']);
  // One that comes back while it is being forgotten counts as another one more.
  const outcome = await Promise.allSettled([
    registry.register(record('newest'), durable(4, ['newer'])),
    registry.register(record('new'), durable(5, ['newer'])),
  ]);
  expect(outcome).toMatchObject([{ value: ['new'] }, { reason: { code: 'REGISTRY_FULL' } }]);
  expect(registry.ids()).toEqual(['newer', 'newest']);
  expect((await load(store, 2)).ids()).toEqual(['newer', 'newest']);
});

test('what could not be stored is not listed', async () => {
  const failing: Store = Object.assign(Object.create(store) as Store, {
    entries: store.entries.bind(store),
    hasRoom: () => true,
    commit: () => Promise.reject(new Error('disk full')),
  });
  const registry = await load(failing);
  await expect(registry.register(record('mm'), durable(1))).rejects.toThrow('disk full');
  expect(registry.ids()).toEqual([]);
});

test('a stored record that is damaged is left out and reported, the others are served', async () => {
  const registry = await load();
  await registry.register(record('good'), durable(1));
  await registry.register(record('bad'), durable(1));
  const bytes = (await store.get(agentKey('bad')))!;
  bytes[bytes.length - 1]! ^= 1;
  await store.commit([{ type: 'put', key: agentKey('bad'), value: bytes }]);
  const corrupt: string[] = [];
  expect((await load(store, 10, corrupt)).ids()).toEqual(['good']);
  expect(corrupt).toEqual([agentKey('bad')]);
});
