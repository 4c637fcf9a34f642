import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findBundledModel } from '../../../../../src/model/bundled-model.js';
import { dot } from '../../../../../src/model/embedder.js';
import { indexFolder } from '../../../../../src/pgc/build/index-folder.js';
import { Engine } from '../../../../../src/pgc/search/vectors/engine.js';
import {
  tableFingerprint,
  tablePath,
  writeTable,
} from '../../../../../src/pgc/search/vectors/table-file.js';
import { eventually } from '../../../../support/eventually.js';
import { TemporaryTree } from '../../../../support/git-tree.js';
import { tinyTable, tinyVocabulary } from '../../../../support/tiny-table.js';

const isCampaign = process.env.SIGMA_TEST_RUNS !== undefined;
const isMissing = 'missing' in findBundledModel();
let home: TemporaryTree;
beforeEach(async () => {
  home = await TemporaryTree.create();
});
afterEach(() => home[Symbol.asyncDispose]());

test('switched off, there is nothing, and nothing is lacking', async () => {
  await using engine = await Engine.open({ home: home.root, settings: 'off', env: {} });
  const { kind, embedder, judge, lack } = engine;
  expect({ kind, embedder, judge, lack }).toEqual({ kind: 'none', lack: '' });
});

test('an endpoint embeds and judges, and is not asked before it must', async () => {
  const settings = { url: 'http://127.0.0.1:1/v1', model: 'm', symbolsMax: 7 };
  await using engine = await Engine.open({ home: home.root, settings, env: {} });
  expect(engine.kind).toBe('endpoint');
  expect(engine.embedder?.fingerprint).toBe('m at 127.0.0.1:1/v1/embeddings');
  expect(engine.judge).toBe(engine.embedder);
  expect([engine.table, engine.symbolsMax, engine.lack]).toEqual([undefined, 7, '']);
});

test('the table of the home is used at once', async () => {
  await writeTable(home.root, tinyTable(), tinyVocabulary);
  await using engine = await Engine.open({ home: home.root, settings: 'auto', env: {} });
  expect(engine.kind).toBe('bundled');
  expect(engine.embedder).toBe(engine.table);
  expect(engine.table?.fingerprint).toBe(tableFingerprint);
});

test('while somebody waits for an answer no table is made', async () => {
  await using engine = await Engine.open({ home: home.root, settings: 'auto', env: {} });
  expect(engine.embedder).toBeUndefined();
  expect(engine.lack).toMatch(/is not installed|run sigma index/);
});

test('without a model that runs an index is made all the same, and says what it lacks', async () => {
  await using tree = await TemporaryTree.create({ 'a.c': 'int one(void) { return 1; }\n' });
  // Its process ends at once; without the packages there is no model at all.
  const model = { module: new URL('file:///nowhere/model.mjs') };
  const { shards, notes } = await indexFolder({
    ...{ root: tree.root, home: home.root, jobs: 0 },
    embedding: { settings: 'auto', env: {}, model },
  });
  expect(shards.length).toBe(1);
  expect(notes.join('\n')).toMatch(/^search by meaning: .*; sigma doctor tells more$/);
});

describe.skipIf(isMissing)('with the bundled model (skipped where it is not installed)', () => {
  test('a run that is cancelled leaves no process of the model behind', async () => {
    await home.write({
      'model.mjs':
        "import { writeFileSync as write } from 'node:fs';\n" +
        "process.on('message', () => write(new URL('pid', import.meta.url), String(process.pid)));\n",
    });
    const model = { module: pathToFileURL(path.join(home.root, 'model.mjs')) };
    const controller = new AbortController();
    const { signal } = controller;
    const opening = Engine.open({
      ...{ home: home.root, settings: 'auto', env: {}, derives: true, signal },
      model,
    });
    opening.catch(() => undefined);
    let pid = 0;
    await eventually(async () => {
      pid = Number(await readFile(path.join(home.root, 'pid'), 'utf8'));
      expect(pid).toBeGreaterThan(0);
    });
    controller.abort(new Error('cancelled'));
    await expect(opening).rejects.toThrow('cancelled');
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  // Half a minute of both cores: `npm run campaign:properties` runs it.
  test.runIf(isCampaign)(
    'a table is derived once and kept; a damaged one is derived again',
    async () => {
      const open = (derives: boolean): Promise<Engine> =>
        Engine.open({ home: home.root, settings: 'auto', env: {}, derives });
      // What a run that was killed has left is no table.
      await writeTable(home.root, tinyTable(), tinyVocabulary);
      const bytes = await readFile(tablePath(home.root));
      await writeFile(tablePath(home.root), bytes.subarray(0, bytes.length - 8));
      await using derived = await open(true);
      expect(derived.lack).toBe('');
      await using kept = await open(false);
      const embed = (engine: Engine, text: string): Float32Array => engine.table!.embedOne(text);
      expect(embed(kept, 'release a socket')).toEqual(embed(derived, 'release a socket'));
      const [asked, near, far] = ['free the memory', 'release memory pages', 'parse json text'];
      const cosine = (text: string): number => dot(embed(kept, asked), embed(kept, text));
      expect(cosine(near)).toBeGreaterThan(cosine(far) + 0.2);
    },
    180_000,
  );
});
