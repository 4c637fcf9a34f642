import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { minerVersion } from '../../../../src/pgc/format/facts.js';
import { placeOf, type IndexPlace } from '../../../../src/pgc/plan/manifest.js';
import { openFacts } from '../../../../src/pgc/build/open-facts.js';
import { factsKey } from '../../../../src/store/keys.js';
import { factsLayout } from '../../../../src/store/layouts.js';
import { TemporaryTree } from '../../../support/git-tree.js';
import { openTestStore } from '../../../support/store.js';

const of = { language: 'c', blob: '1'.repeat(40) } as const;
const facts = Buffer.from('what was mined');

async function filled(home: string): Promise<IndexPlace> {
  const place = placeOf('/somewhere', home);
  await using opened = await openFacts(place, '/somewhere', {});
  await opened.facts.put(of, facts);
  await opened.facts.flush();
  return place;
}

describe('mined facts', () => {
  test('are there when they are opened again', async () => {
    await using home = await TemporaryTree.create();
    const place = await filled(home.root);
    await using opened = await openFacts(place, '/somewhere', {});
    expect(opened.note).toBe('');
    expect(await opened.facts.getMany([of])).toEqual([facts]);
  });

  test('of other versions of the miner go, and their number tells that room can be given back', async () => {
    await using home = await TemporaryTree.create();
    const place = await filled(home.root);
    const old = Array.from({ length: 1_234 }, (_, at) =>
      factsKey(minerVersion - 1, 'c', String(at).padStart(40, '0')),
    );
    {
      await using store = await openTestStore(place.facts, factsLayout);
      await store.write(old.map((key) => ({ type: 'put', key, value: facts })));
    }
    {
      await using opened = await openFacts(place, '/somewhere', {});
      expect(opened.facts.removed).toBe(old.length);
      expect(await opened.facts.getMany([of])).toEqual([facts]);
    }
    await using opened = await openFacts(place, '/somewhere', {});
    expect(opened.facts.removed).toBe(0);
  });

  const damages: [string, (folder: string, manifest: string) => Promise<void>][] = [
    ['the pointer to its list of files is empty', (folder) => truncate(join(folder, 'CURRENT'))],
    ['the pointer names another file', (folder) => writeFile(join(folder, 'CURRENT'), 'X-1\n')],
    ['the list of files is gone', (folder, manifest) => rm(join(folder, manifest))],
    ['the list of files is empty', (folder, manifest) => truncate(join(folder, manifest))],
  ];
  test.each(damages)('whose store is damaged are thrown away: %s', async (_, damage) => {
    await using home = await TemporaryTree.create();
    const place = await filled(home.root);
    const manifest = (await readdir(place.facts)).find((name) => name.startsWith('MANIFEST'));
    await damage(place.facts, manifest ?? '');
    await using opened = await openFacts(place, '/somewhere', {});
    expect(opened.note).toMatch(/^all files are mined again: /);
    expect(await opened.facts.has(of)).toBe(false);
    await opened.facts.put(of, facts);
    await opened.facts.flush();
    expect(await opened.facts.getMany([of])).toEqual([facts]);
  });

  test('of another layout are thrown away', async () => {
    await using home = await TemporaryTree.create();
    const place = placeOf('/somewhere', home.root);
    const newer = await openTestStore(place.facts, { ...factsLayout, version: 9 });
    await newer[Symbol.asyncDispose]();
    await using opened = await openFacts(place, '/somewhere', {});
    expect(opened.note).toContain('has layout facts 9');
  });

  test('that another process has open are left alone', async () => {
    await using home = await TemporaryTree.create();
    const place = await filled(home.root);
    await using opened = await openFacts(place, '/somewhere', {});
    await expect(openFacts(place, '/somewhere', {})).rejects.toMatchObject({
      code: 'INDEX_BUILDING',
    });
    expect(await opened.facts.getMany([of])).toEqual([facts]);
  });

  test('of which a bit has changed on disk are not there', async () => {
    await using home = await TemporaryTree.create();
    const place = await filled(home.root);
    {
      await using opened = await openFacts(place, '/somewhere', {});
      await opened.store.compact();
    }
    const table = (await readdir(place.facts)).find((name) => name.endsWith('.ldb')) ?? '';
    const bytes = await readFile(join(place.facts, table));
    const at = bytes.indexOf('mined');
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await writeFile(join(place.facts, table), bytes);
    await using opened = await openFacts(place, '/somewhere', {});
    expect(await opened.facts.getMany([of])).toEqual([undefined]);
  });
});
