import { mkdir, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BuildNotice, readBuilding } from '../../../../src/pgc/overlay/build-notice.js';
import { indexFolder, type IndexRequest } from '../../../../src/pgc/build/index-folder.js';
import { failedRule, itemsOf } from '../../../../src/pgc/mine/items/items.js';
import { shippedRules } from '../../../../src/pgc/mine/items/rules-in-force.js';
import { placeOf, readManifest } from '../../../../src/pgc/plan/manifest.js';
import { Draft } from '../../../../src/pgc/mine/draft.js';
import { openIndex } from '../../../../src/pgc/search/open-index.js';
import { overlayNames } from '../../../../src/pgc/shapes.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const sources = {
  'mm/slab.c': 'void grow(char *b, char *c)\n{\n\tstrcpy(b, c);\n\tBUG_ON(!b);\n}\n',
  'mm/README.md': '# Slab\n\nIt allocates memory for the rest of the kernel.\n',
  'net/dev.c': 'int rx(void)\n{\n\treturn 0;\n}\n',
};
const twoShards = {
  shards: [
    { alias: 'mm', paths: ['mm'] },
    { alias: 'net', paths: ['net'] },
  ],
};

async function bench() {
  const tree = await TemporaryTree.create(sources);
  const home = await TemporaryTree.create();
  const place = placeOf(tree.root, home.root);
  return {
    ...{ tree, place, home: home.root },
    index: (more: Partial<IndexRequest> = {}) =>
      indexFolder({ root: tree.root, home: home.root, jobs: 0, shards: twoShards, ...more }),
    /** `O4 of mm` and the like, by state. */
    states: async () => {
      const { shards } = await readManifest(place, tree.root);
      const rows = shards.flatMap(({ alias, overlays }) =>
        overlayNames.map((name) => ({ ...overlays[name], where: `${name} of ${alias}` })),
      );
      return (state: string) => rows.filter((row) => row.state === state);
    },
    [Symbol.asyncDispose]: async () => {
      await tree[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

describe('an overlay that fails', () => {
  test('leaves the others, is said to, and is tried again', async () => {
    await using at = await bench();
    await at.index();
    const file = (await at.states())('ready').find(({ where }) => where === 'O4 of mm')?.file ?? '';
    // Nothing can take the place of a folder.
    await rm(join(at.place.segments, file));
    await mkdir(join(at.place.segments, file));
    await writeFile(join(at.place.segments, file, 'kept'), '');
    await at.index();
    const [failed, ...more] = (await at.states())('failed');
    expect(more).toEqual([]);
    expect(failed).toMatchObject({
      ...{ where: 'O4 of mm', generator: 'mission', items: 0, file: '' },
      reason: expect.stringMatching(/^STORE_UNAVAILABLE: .*O4\.ovl/),
    });
    const { overlay } = await openIndex(at.tree.root, at.home);
    expect((await overlay('O2')).map(({ itemCount }) => itemCount)).toEqual([1, 0]);
    expect((await overlay('O4')).map(({ info }) => info.alias)).toEqual(['net']);

    await at.index();
    expect((await at.states())('ready')).toHaveLength(2 * overlayNames.length);
  });

  test('in one text is told by an item that names it', () => {
    const text = 'int a;\n';
    const source = { language: 'c' as const, text, draft: new Draft(text, text.length) };
    const broken = {
      overlay: 4,
      find: () => {
        throw new RangeError('too deep');
      },
    };
    const found = { overlay: 6, rule: 'bound', line_start: 1, line_end: 1, text: 'a < 3' };
    const bound = { ...found, subject: '', severity: '', cwe: '' };
    const items = itemsOf(source, shippedRules, [broken, { overlay: 6, find: () => [bound] }]);
    expect(items).toEqual([{ ...bound, overlay: 4, rule: failedRule, text: 'too deep' }, bound]);
  });

  test('because of git leaves the calls', async () => {
    await using at = await bench();
    at.tree.commit('first');
    at.tree.git('repack', '-adq');
    const packs = join(at.tree.root, '.git/objects/pack');
    const [pack = ''] = (await readdir(packs)).filter((name) => name.endsWith('.pack'));
    at.tree.git('config', 'core.fileMode', 'false');
    await rm(join(packs, pack.replace(/pack$/, 'idx')), { force: true });
    const { history } = await at.index();
    expect(history).toEqual({ commits: 0, is_complete: false, why: 'broken' });
    const failed = (await at.states())('failed');
    expect(failed.map(({ where, items }) => `${where}: ${items}`)).toEqual([
      'O3 of mm: 2',
      'O3 of net: 0',
    ]);
    expect(failed[0]?.reason).toBe('git failed after 0 commits: is an object damaged or lost?');
    const { shards } = await openIndex(at.tree.root, at.home);
    expect(shards[0]?.callsTo('strcpy')).toHaveLength(1);
  });

  test('never hides that the run was interrupted', async () => {
    await using at = await bench();
    await expect(at.index({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  });
});

describe('a run', () => {
  test('makes what is missing', async () => {
    await using at = await bench();
    await at.index();
    const before = await readManifest(at.place, at.tree.root);
    const [mm] = before.shards;
    const { O5: _gone, ...left } = mm!.overlays;
    const without = { ...before, shards: [{ ...mm!, overlays: left }, before.shards[1]!] };
    await writeFile(at.place.manifest, JSON.stringify(without));
    await at.index();
    expect(await readManifest(at.place, at.tree.root)).toEqual(before);
  });

  test('says what it makes anew while it does, and no longer', async () => {
    await using at = await bench();
    const seen: Record<string, string[]>[] = [];
    const look = async (): Promise<void> => {
      const building = await readBuilding(at.place);
      const told = [...(building ?? [])].filter(([, its]) => its.size > 0);
      seen.push(Object.fromEntries(told.map(([alias, its]) => [alias, [...its].sort()])));
    };
    const looks: Promise<void>[] = [];
    const onProgress: IndexRequest['onProgress'] = ({ phase }) => {
      if (phase === 'write') looks.push(look());
    };
    const run = async (more: Partial<IndexRequest>) => {
      looks.length = 0;
      seen.length = 0;
      await at.index({ ...more, onProgress });
      await Promise.all(looks);
      return seen[0];
    };
    expect(await run({})).toEqual({ mm: [...overlayNames], net: [...overlayNames] });
    expect(await run({ layers: ['O4', 'O6'] })).toEqual({ mm: ['O4', 'O6'], net: ['O4', 'O6'] });
    await at.tree.write({ 'net/dev.c': 'int tx;\n' });
    expect(await run({})).toEqual({ net: [...overlayNames] });
    expect(await readBuilding(at.place)).toBeUndefined();
  });

  test('that was killed builds no more', async () => {
    await using at = await bench();
    await at.index();
    await using notice = await BuildNotice.begin(at.place);
    await notice.add(new Map([['mm', ['O4' as const]]]));
    expect(await readBuilding(at.place)).toEqual(new Map([['mm', new Set(['O4'])]]));
    const path = join(at.place.folder, 'building.json');
    const overlays = { mm: ['O4'] };
    // No such process; and one of that number that began at another time.
    for (const [pid, began] of [
      [2 ** 22 + 1, ''],
      [process.pid, '1'],
    ]) {
      await writeFile(path, JSON.stringify({ pid, began, overlays }));
      expect(await readBuilding(at.place)).toBeUndefined();
    }
    await truncate(path, 5);
    expect(await readBuilding(at.place)).toBeUndefined();
  });
});
