import { cpSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.js';
import { indexFolder } from '../../src/pgc/build/index-folder.js';
import type { FarMiners } from '../../src/pgc/mine/spread.js';
import { MineService, minersOn } from '../../src/pgc/serve/mine-service.js';
import { testBus, type TestBus } from '../support/bus.js';
import { memoryHarness } from '../support/networks.js';
import { servedFiles } from '../support/served-files.js';
import { temporaryFolder } from '../support/temporary.js';

let bus: TestBus;
let folder: ReturnType<typeof temporaryFolder>;
let tree: string;
const services: MineService[] = [];

beforeEach(async () => {
  folder = temporaryFolder();
  tree = path.join(folder.path, 'tree');
  cpSync(path.resolve(import.meta.dirname, '../../src/transport'), tree, { recursive: true });
  bus = testBus(memoryHarness());
  await bus.start();
});
afterEach(async () => {
  await bus.close();
  for (const each of services.splice(0)) await each[Symbol.asyncDispose]();
  folder.remove();
});

async function miner(name: string): Promise<Client> {
  const service = new MineService(1);
  services.push(service);
  const client = await bus.client(name, { role: 'pgc' });
  await service.serveOn(client);
  return client;
}

async function index(home: string, far?: FarMiners) {
  const its = path.join(folder.path, home);
  const report = await indexFolder({ root: tree, home: its, jobs: 1, far });
  const { files_mined: mined, notes, left_out: leftOut } = report;
  return { mined, notes, leftOut, files: await servedFiles(tree, its) };
}

test('an index that others mined a part of is that of one, file by file', async () => {
  const here = await index('one');
  await miner('pgc-miner-1');
  await miner('pgc-miner-2');
  const far = await minersOn(await bus.client('asker'));
  const spread = await index('many', far);
  expect(spread.files).toEqual(here.files);
  expect(spread.mined).toBe(here.mined);
  expect(spread.leftOut).toEqual(here.leftOut);
  const shares = spread.notes.filter((note) => /^pgc-miner-[12] mined \d+ files$/.test(note));
  expect(shares).toHaveLength(2);
});

test('where the others fail, or are gone, their files are mined here', async () => {
  const here = await index('one');
  const client = await miner('pgc-miner-1');
  const far = await minersOn(await bus.client('asker'));
  let asked = 0;
  const failing: FarMiners = {
    places: far!.places,
    mine: async (...its) => {
      asked += 1;
      if (asked === 3) await client.close();
      return far!.mine(...its);
    },
  };
  const spread = await index('many', failing);
  expect(asked).toBeGreaterThan(3);
  expect(spread.files).toEqual(here.files);
  expect(spread.leftOut).toEqual(here.leftOut);
});

test('only hosts of shards may offer to mine', async () => {
  const service = new MineService(1);
  services.push(service);
  const stranger = await bus.client('stranger');
  await expect(service.serveOn(stranger)).rejects.toMatchObject({ code: 'UNAUTHORISED' });
  expect(await minersOn(stranger)).toBeUndefined();
});

test('without miners there is none to ask', async () => {
  expect(await minersOn(await bus.client('asker'))).toBeUndefined();
});
