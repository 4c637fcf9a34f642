import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TemporaryTree } from '../support/git-tree.js';
import { sigma } from '../support/sigma.js';

let home: TemporaryTree;
let tree: TemporaryTree;
beforeEach(async () => {
  home = await TemporaryTree.create();
  tree = await TemporaryTree.create({ 'a.c': 'int one(void) { return 1; }\n' });
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await tree[Symbol.asyncDispose]();
});

interface Check {
  name: string;
  state: string;
  detail: string;
  next: string;
}
const checkOf = (json: { checks: Check[] }, name: string): Check | undefined =>
  json.checks.find((each) => each.name === name);

test('where all is in place nothing is broken, and the indexes are listed', async () => {
  await sigma(home.root, ['index', tree.root]);
  const { code, json } = await sigma(home.root, ['doctor', '--json']);
  expect(code).toBe(0);
  expect(json.is_sound).toBe(true);
  expect(json.checks.map(({ name, state }: Check) => `${name}: ${state}`)).toEqual([
    'node: ok',
    'native parts: ok',
    'settings: ok',
    'home: ok',
    'language model: ok',
    'sandbox: ok',
  ]);
  expect(json.indexes).toEqual([{ root: tree.root, shards: 1 }]);
  const { stdout } = await sigma(home.root, ['doctor']);
  expect(stdout).toContain(`index of ${tree.root}: 1 shard\n`);
  expect(stdout).toContain('nothing is broken');
});

test('a root that programs must not see is told', async () => {
  const executor = { root: path.join(home.root, 'place') };
  await home.write({ 'config.json': JSON.stringify({ executor }) });
  const { code, json } = await sigma(home.root, ['doctor', '--json']);
  expect(code).toBe(1);
  expect(checkOf(json, 'sandbox')).toMatchObject({ state: 'broken' });
  const off = { executor: { sandbox: 'off' } };
  await home.write({ 'config.json': JSON.stringify(off) });
  const { json: without } = await sigma(home.root, ['doctor', '--json']);
  expect(checkOf(without, 'sandbox')).toMatchObject({ state: 'absent', detail: 'switched off' });
});

test('a home below a file cannot be made', async () => {
  await tree.write({ file: 'x' });
  const { json } = await sigma(path.join(tree.root, 'file/home'), ['doctor', '--json']);
  expect(checkOf(json, 'home')?.state).toBe('broken');
});

test('a home that is not there yet is no fault, and stays away', async () => {
  const elsewhere = path.join(home.root, 'not/yet');
  const { code, json } = await sigma(elsewhere, ['doctor', '--json']);
  expect(code).toBe(0);
  expect(checkOf(json, 'home')?.detail).toBe(`${elsewhere} (made when it is needed)`);
});

test('a language model that is not there is broken: somebody wants it', async () => {
  const model = { url: 'http://127.0.0.1:1/v1', model: 'letters' };
  await home.write({ 'config.json': JSON.stringify({ model }) });
  const { code, json } = await sigma(home.root, ['doctor', '--json']);
  expect(code).toBe(1);
  expect(json.is_sound).toBe(false);
  expect(checkOf(json, 'language model')).toMatchObject({
    state: 'broken',
    detail: expect.stringContaining('letters does not answer') as string,
    next: expect.stringContaining('model.url') as string,
  });
});

test('a setting that cannot be is told, and the rest is looked at all the same', async () => {
  await home.write({ 'config.json': '{"heartbeat": 1000}' });
  const { code, json } = await sigma(home.root, ['doctor', '--json']);
  expect(code).toBe(1);
  expect(checkOf(json, 'settings')).toMatchObject({
    state: 'broken',
    detail: expect.stringContaining('heartbeat') as string,
  });
  expect(checkOf(json, 'node')?.state).toBe('ok');
});

test('a damaged index is broken, with what to do', async () => {
  await sigma(home.root, ['index', tree.root]);
  const folder = path.join(home.root, 'pgc/odd-000000000000');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'manifest.json'), 'nonsense');
  const { code, json } = await sigma(home.root, ['doctor', '--json']);
  expect(code).toBe(1);
  expect(checkOf(json, 'index odd-000000000000')).toMatchObject({
    state: 'broken',
    next: 'Run sigma index REPO.',
  });
  expect(json.indexes.length).toBe(1);
});

test('what is JSON and no manifest is damaged: one line each, with what to do', async () => {
  const texts = ['null', '5', '[]', '{"root":5}', '{"root":"here"}', '{"root":"/srv/tree"}'];
  for (const [at, text] of texts.entries())
    await home.write({ [`pgc/odd-${at}/manifest.json`]: text });
  const { code, json } = await sigma(home.root, ['doctor', '--json']);
  expect(code).toBe(1);
  expect(json.indexes).toEqual([]);
  expect(json.checks.filter(({ name }: Check) => name.startsWith('index'))).toEqual(
    texts.map((_, at) => ({
      name: `index odd-${at}`,
      state: 'broken',
      detail: expect.stringMatching(
        new RegExp(`^the index file \\S+odd-${at}/manifest.json is damaged \\(.+\\)$`),
      ) as string,
      next: `Run sigma index ${at === 5 ? '/srv/tree' : 'REPO'}.`,
    })),
  );
  const { stdout, stderr } = await sigma(home.root, ['doctor']);
  expect(stderr).toBe('');
  expect(stdout.split('\n').filter((line) => line.includes('odd-'))).toHaveLength(2 * texts.length);
});

test('a tree with an odd name is told in one line too', async () => {
  const text = JSON.stringify({ root: '/srv/odd\n\u001b[2Jtree' });
  await home.write({ 'pgc/odd-0/manifest.json': text });
  const { stdout } = await sigma(home.root, ['doctor']);
  expect(stdout).toContain('  index odd-0: Run sigma index /srv/odd??[2Jtree.\n');
});
