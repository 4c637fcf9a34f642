import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkIndex } from '../../../../src/pgc/build/index-check.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { hashOf } from '../../../../src/pgc/format/word-lists/hashed-lists.js';
import { placeOf, readManifest, type ManifestShard } from '../../../../src/pgc/plan/manifest.js';
import { openWords } from '../../../../src/pgc/plan/open-shard.js';
import { openIndex } from '../../../../src/pgc/search/open-index.js';
import { vocabularyOf, VocabularyWords } from '../../../../src/pgc/search/locate/vocabulary.js';
import { TemporaryTree } from '../../../support/git-tree.js';
import { said } from '../../../support/said.js';
import { servedFiles } from '../../../support/served-files.js';

const count = 40;
/** A shard of few lines is always written as a whole. */
const padding = ' *\n'.repeat(130);
const fileText = (at: number): string =>
  [
    `/* Part of the pump.\n${padding} */`,
    `#include "pump.h"`,
    `static int step_${at}(int flow) { return flow + ${at}; }`,
    `int pump_${at}(int flow)`,
    '{',
    `\tBUG_ON(flow > ${at});`,
    `\tstrcpy(buffer, input);`,
    `\treturn step_${at}(pump_${(at + 1) % count}(flow));`,
    '}',
    '',
  ].join('\n');

async function pump(): Promise<TemporaryTree> {
  const files = Array.from({ length: count }, (_, at) => [`src/p${at}.c`, fileText(at)] as const);
  return TemporaryTree.create({
    ...Object.fromEntries(files),
    'src/pump.h': 'int pump_1(int flow);\n',
    'src/about.md': '# Pump\n\nThe pump moves what flows. See `pump_3()`.\n',
  });
}

const shards = { shards: [{ alias: 'src', paths: ['src'] }] };

/** All that the index of a tree says. */
async function allOf(root: string, home: string): Promise<unknown> {
  const { manifest, shards: all, overlaysIn } = await openIndex(root, home);
  const place = placeOf(root, home);
  return Promise.all(
    all.map(async (index, at) => {
      const shard = manifest.shards[at] as ManifestShard;
      const overlays = await Promise.all(
        (['O2', 'O4', 'O5', 'O6', 'O7'] as const).map(async (name) => {
          const items = await overlaysIn(shard.alias).open(name);
          return [[...(items?.items() ?? [])], items?.info.rules, items?.terms.averageLength(0)];
        }),
      );
      const words = await openWords(place, shard);
      const vocabulary = new VocabularyWords(vocabularyOf(words));
      const terms = index.terms().map(({ term }) => hashOf(term));
      const { bound } = index;
      const sites = Array.from({ length: index.siteCount }, (_, site) => [
        bound?.bindingOf(site),
        bound?.targetsOf(site).map((target) => bound.target(target)),
      ]);
      return {
        ...{ said: said(index), sites, overlays, info: { ...index.info, overlays: {} } },
        counts: [shard.items, shard.calls, shard.files, shard.lines, shard.version],
        files: Array.from({ length: words.fileCount }, (_, file) => [
          ...[words.file(file), words.lengths(file), words.language(file)],
        ]),
        words: terms.map((term) => [words.wordCounts(term), words.nameCounts(term)]),
        places: terms.map((term) => words.places(term)),
        known: terms.map((term) => [vocabulary.word(term), vocabulary.definers(term)]),
        sums: [words.lengthSums(), [...words.paths()], [...vocabulary.paths()], words.steps()],
      };
    }),
  );
}

async function deltaOf(root: string, home: string): Promise<ManifestShard['delta']> {
  return (await readManifest(placeOf(root, home), root)).shards[0]?.delta;
}

test('a small change is written beside the files of its shard, and says what a first run would', async () => {
  await using tree = await pump();
  await using home = await TemporaryTree.create();
  await using other = await TemporaryTree.create();
  const index = (at: string) => indexFolder({ root: tree.root, home: at, jobs: 0, shards });
  await index(home.root);
  const shardOf = async () =>
    (await readManifest(placeOf(tree.root, home.root), tree.root)).shards[0];
  const whole = await shardOf();
  expect(whole?.delta).toBeUndefined();
  await writeFile(join(tree.root, 'src/p3.c'), `${fileText(7).replaceAll('_7', '_x')}int late;\n`);
  await index(home.root);
  const first = await deltaOf(tree.root, home.root);
  expect(first?.hides).toEqual(['src/p3.c']);
  const { overlaysIn } = await openIndex(tree.root, home.root);
  await rm(join(tree.root, 'src/p5.c'));
  await index(home.root);
  // A host that still serves the first one is told that there is another, not that it is damaged.
  await expect(overlaysIn('src').open('O5')).rejects.toMatchObject({ code: 'OVERLAY_BUILDING' });
  expect((await deltaOf(tree.root, home.root))?.hides).toEqual(['src/p3.c', 'src/p5.c']);
  await index(other.root);
  expect(await deltaOf(tree.root, other.root)).toBeUndefined();
  expect(await allOf(tree.root, home.root)).toEqual(await allOf(tree.root, other.root));
  expect((await checkIndex(tree.root, home.root)).is_sound).toBe(true);
  // Back as it was: it has no delta any more.
  await writeFile(join(tree.root, 'src/p3.c'), fileText(3));
  await writeFile(join(tree.root, 'src/p5.c'), fileText(5));
  await index(home.root);
  expect(await shardOf()).toEqual(whole);
  expect((await checkIndex(tree.root, home.root)).is_sound).toBe(true);
  await index(other.root);
  expect(await allOf(tree.root, home.root)).toEqual(await allOf(tree.root, other.root));
});

test('a large change, or a damaged file, has the shard written as a whole', async () => {
  await using tree = await pump();
  await using home = await TemporaryTree.create();
  const index = () => indexFolder({ root: tree.root, home: home.root, jobs: 0, shards });
  await index();
  await writeFile(join(tree.root, 'src/p3.c'), `${fileText(3)}int late;\n`);
  await index();
  const place = placeOf(tree.root, home.root);
  const { segment = '' } = (await deltaOf(tree.root, home.root)) ?? {};
  await writeFile(join(place.segments, segment), 'damaged');
  expect((await checkIndex(tree.root, home.root)).is_sound).toBe(false);
  await index();
  expect((await checkIndex(tree.root, home.root)).is_sound).toBe(true);
  expect(await deltaOf(tree.root, home.root)).toBeUndefined();
  for (const at of [7, 8, 9, 10, 11, 12])
    await writeFile(join(tree.root, `src/p${at}.c`), 'int late;\n');
  await index();
  expect(await deltaOf(tree.root, home.root)).toBeUndefined();
  await using fresh = await TemporaryTree.create();
  await indexFolder({ root: tree.root, home: fresh.root, jobs: 0, shards });
  expect(await servedFiles(tree.root, home.root)).toEqual(await servedFiles(tree.root, fresh.root));
});

test('rules of a tree for a language that has not changed are those of its shard', async () => {
  await using tree = await pump();
  await using home = await TemporaryTree.create();
  await using other = await TemporaryTree.create();
  const versionIn = async (at: string): Promise<string | undefined> => {
    await indexFolder({ root: tree.root, home: at, jobs: 0, shards });
    const [shard] = (await readManifest(placeOf(tree.root, at), tree.root)).shards;
    return shard?.overlays.O2?.version;
  };
  await tree.write({
    'src/tool.py': 'import os\nos.system(x)\n',
    '.sigma/security.json': '{"off":[{"id":"shell-command","languages":["python"]}]}',
  });
  const first = await versionIn(home.root);
  await tree.write({ 'src/p3.c': `${fileText(3)}int late;\n` });
  expect(await versionIn(home.root)).toBe(first);
  expect(await deltaOf(tree.root, home.root)).toBeDefined();
  expect(await versionIn(other.root)).toBe(first);
});
