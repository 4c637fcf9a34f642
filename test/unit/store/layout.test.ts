import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Level } from 'level';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Registry } from '../../../src/broker/registry.js';
import { agentKey, schemaKey } from '../../../src/store/keys.js';
import type { Layout } from '../../../src/store/layout.js';
import { busLayout, factsLayout } from '../../../src/store/layouts.js';
import { LevelStore } from '../../../src/store/level-store.js';
import type { Operation, Store } from '../../../src/store/port.js';
import { amend, decodeFrame, encodeFrame } from '../../../src/wire/frame.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
let place: string;
beforeEach(() => {
  folder = temporaryFolder();
  place = path.join(folder.path, 'store');
});
afterEach(() => folder.remove());

/** Records as the program of that version wrote them. */
function fixture(name: string): [key: string, value: Buffer][] {
  const file = new URL(`../../fixtures/store/${name}.json`, import.meta.url);
  const records = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return Object.entries(records).map(([key, value]) => [key, Buffer.from(value, 'base64')]);
}

async function makeStore(entries: [key: string, value: Buffer][]): Promise<void> {
  const db = new Level<string, Buffer>(place, { keyEncoding: 'utf8', valueEncoding: 'buffer' });
  await db.batch(entries.map(([key, value]) => ({ type: 'put' as const, key, value })));
  await db.close();
}

const schemaOf = async (store: Store): Promise<string | undefined> =>
  (await store.get(schemaKey))?.toString();
const version = (text: string): [string, Buffer] => [schemaKey, Buffer.from(text)];
const agentsOf = (store: Store): Promise<Registry> =>
  Registry.load(store, 10, (key) => {
    throw new Error(`damaged: ${key}`);
  });

test('a broker of today finds the agents of a store of version 1', async () => {
  await makeStore(fixture('bus-1'));
  await using store = await openTestStore(place);
  const registry = await agentsOf(store);
  expect(registry.ids()).toEqual(['manager', 'operator-1', 'pgc-linux-mm']);
  expect(registry.record('pgc-linux-mm')).toMatchObject({
    alias: 'mm',
    overlays: { O1: { state: 'ready', version: '3f1c', items: 48_210 } },
  });
  expect(await schemaOf(store)).toBe('2');
});

test('agents of version 1 were stored at the time of their migration', async () => {
  await makeStore(fixture('bus-1'));
  const clock = { ...systemClock, nowMs: () => 1_753_000_000_123 };
  await using store = await LevelStore.open(place, {
    layout: busLayout,
    clock,
    random: Math.random,
  });
  const frame = decodeFrame((await store.get(agentKey('manager')))!);
  expect(frame.envelope.stored_ms).toBe(1_753_000_000_123);
});

test('an agent that a killed migration has stamped keeps its time', async () => {
  const before = fixture('bus-1').map(([key, value]): [string, Buffer] =>
    key === agentKey('manager')
      ? [key, encodeFrame(amend(decodeFrame(value), { stored_ms: 77 }))]
      : [key, value],
  );
  await makeStore(before);
  await using store = await openTestStore(place);
  const frame = decodeFrame((await store.get(agentKey('manager')))!);
  expect(frame.envelope.stored_ms).toBe(77);
});

test('a damaged record survives the migration for the registry to report', async () => {
  const bytes = Buffer.from('not a frame');
  await makeStore([...fixture('bus-1'), [agentKey('damaged'), bytes]]);
  await using store = await openTestStore(place);
  expect(await store.get(agentKey('damaged'))).toEqual(bytes);
});

test('migrations run in order, each once, and one that was cut short begins anew', async () => {
  await makeStore([version('1')]);
  const ran: number[] = [];
  let isCut = true;
  const step = (from: number) => ({
    from,
    async run(store: { commit: (operations: Operation[]) => Promise<void> }) {
      ran.push(from);
      await store.commit([{ type: 'put', key: `step/${from}`, value: Buffer.from('1') }]);
      if (from === 2 && isCut) throw new Error('cut short');
    },
  });
  const layout: Layout = { name: 'test', version: 4, migrations: [step(1), step(2), step(3)] };
  await expect(openTestStore(place, layout)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  isCut = false;
  for (let times = 0; times < 2; times += 1) {
    await using store = await openTestStore(place, layout);
    expect(await schemaOf(store)).toBe('4');
  }
  expect(ran).toEqual([1, 2, 2, 3]);
});

test.each(['99', '0', 'nonsense'])(
  'a store of version %s is refused and left alone',
  async (text) => {
    await makeStore([version(text)]);
    await expect(openTestStore(place)).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
    await expect(openTestStore(place)).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
  },
);

test('a store of another layout is refused', async () => {
  await (await openTestStore(place, factsLayout))[Symbol.asyncDispose]();
  await expect(openTestStore(place)).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
});

test('a store from before layouts had names is refused as what it is not', async () => {
  await makeStore(fixture('bus-1'));
  await expect(openTestStore(place, factsLayout)).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
  await using store = await openTestStore(place);
  expect(store.state).toBe('serving');
});
