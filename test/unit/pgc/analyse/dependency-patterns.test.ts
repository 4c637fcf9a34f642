import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  dependencyPatterns,
  type DependencyPatterns,
  type PatternsOptions,
} from '../../../../src/pgc/analyse/dependency-patterns.js';
import { CodeGraph } from '../../../../src/pgc/analyse/code-graph.js';
import { declaredLayers, layersFile } from '../../../../src/pgc/analyse/layers.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { openIndex } from '../../../../src/pgc/search/open-index.js';
import type { ShardIndex } from '../../../../src/pgc/format/shard-index.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const lines = (...text: string[]): string => `${text.join('\n')}\n`;

/** `count` functions of a folder that each call one function. */
const callersOf = (callee: string, count: number): string =>
  lines(
    ...Array.from(
      { length: count },
      (_, at) => `int ${callee}_user_${at}(void) { return ${callee}(); }`,
    ),
  );

/** The app uses the library 22 times; the library uses the app once. */
const twoFolders = {
  'app/use.c': callersOf('lib_get', 22),
  'app/app.c': 'int app_get(void) { return 1; }\n',
  'lib/lib.c': lines(
    'int lib_get(void) { return 1; }',
    'int lib_back(void)',
    '{',
    '\treturn app_get();',
    '}',
  ),
};

async function patternsOf(
  files: Record<string, string>,
  options: PatternsOptions & { shards?: number; prepare?: (root: string) => Promise<void> } = {},
): Promise<DependencyPatterns> {
  await using tree = await TemporaryTree.create(files);
  await using home = await TemporaryTree.create();
  await options.prepare?.(tree.root);
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, shards: options.shards ?? 2 });
  return await dependencyPatterns(await openIndex(tree.root, home.root), options);
}

describe('inferred layers', () => {
  test('the rare direction between two folders is a violation, with its site', async () => {
    expect(await patternsOf(twoFolders)).toEqual({
      filter: 'dependencies',
      mode: 'inferred',
      layers: ['app', 'lib'],
      pairs: [
        { from: 'app', to: 'lib', uses: 22, verdict: 'allowed' },
        { from: 'lib', to: 'app', uses: 1, verdict: 'violation' },
      ],
      violations: [
        {
          from_layer: 'lib',
          to_layer: 'app',
          from_symbol: 'lib_back',
          to_symbol: 'app_get',
          file_path: 'lib/lib.c',
          line: 4,
          to_path: 'app/app.c',
          type: 'calls',
        },
      ],
      violations_total: 1,
      cycles: [],
      uses_outside: 0,
      truncated: false,
      warnings: [],
    });
  });

  test('folders that use each other alike are a cycle and no violation', async () => {
    const found = await patternsOf({
      'app/use.c': callersOf('lib_get', 12) + lines('int app_get(void) { return 1; }'),
      'lib/lib.c': callersOf('app_get', 12) + lines('int lib_get(void) { return 1; }'),
    });
    expect(found.pairs.map(({ verdict }) => verdict)).toEqual(['undecided', 'undecided']);
    expect(found.violations_total).toBe(0);
    expect(found.cycles).toEqual([{ layers: ['app', 'lib'], path: ['app', 'lib', 'app'] }]);
  });

  test('too few uses decide nothing', async () => {
    const found = await patternsOf({ ...twoFolders, 'app/use.c': callersOf('lib_get', 18) });
    expect(found.pairs.map(({ uses, verdict }) => [uses, verdict])).toEqual([
      [18, 'undecided'],
      [1, 'undecided'],
    ]);
  });

  test('a call that may mean either of two folders is no evidence', async () => {
    const files = {
      'one/a.c': 'int twice(void) { return 1; }\n',
      'two/b.c': 'int twice(void) { return 2; }\n',
      'use/c.c': 'int user(void) { return twice(); }\n',
    };
    for (const shards of [1, 3]) expect((await patternsOf(files, { shards })).pairs).toEqual([]);
  });

  test('shared headers belong to no layer', async () => {
    const found = await patternsOf({
      'include/api.h': 'static inline int api(void) { return deep(); }\n',
      'core/deep.c': 'int deep(void) { return 1; }\n',
      'drv/card.c': '#include "api.h"\nint card(void) { return api(); }\n',
    });
    expect(found).toMatchObject({ pairs: [], uses_outside: 2 });
  });

  test('a folder that holds most of the code is split, and imports are uses', async () => {
    const found = await patternsOf({
      'src/base/log.ts': 'export const log = (text: string): void => { void text; };\n',
      'src/web/page.ts': lines(
        "import { log } from '../base/log.js';",
        'export function page(): void {',
        "  log('x');",
        '}',
      ),
      'src/main.ts': "import { page } from './web/page.js';\npage();\n",
      'tool/run.ts': "import { page } from '../src/web/page.js';\nexport const run = page;\n",
    });
    expect(found.pairs).toEqual([
      { from: 'src', to: 'src/web', uses: 2, verdict: 'undecided' },
      { from: 'src/web', to: 'src/base', uses: 2, verdict: 'undecided' },
      { from: 'tool', to: 'src/web', uses: 1, verdict: 'undecided' },
    ]);
  });

  test('what exceeds the limit is counted and not listed', async () => {
    const back = lines('int b1(void) { return app_get(); }', 'int b2(void) { return app_get(); }');
    const files = { ...twoFolders, 'lib/more.c': back, 'app/use.c': callersOf('lib_get', 40) };
    const few = await patternsOf(files, { limit: 2 });
    expect(few).toMatchObject({ violations_total: 3, truncated: true });
    expect(few.violations.map(({ file_path, line }) => `${file_path}:${line}`)).toEqual([
      'lib/lib.c:4',
      'lib/more.c:1',
    ]);
    expect(await patternsOf(files, { limit: 3 })).toMatchObject({ truncated: false });
  });
});

describe('when the time is up', () => {
  /** Over at the n-th look. */
  const overAt = (n: number): (() => boolean) => {
    let looks = 0;
    return () => (looks += 1) >= n;
  };

  test('what was not counted is named, and nothing is inferred of it', async () => {
    const whole = await patternsOf(twoFolders, { isOver: () => false });
    expect(whole.violations_total).toBe(1);
    // At the last, all uses of the one folder are counted, and none of the other.
    for (const at of [1, 2, 12, 24]) {
      const found = await patternsOf(twoFolders, { isOver: overAt(at) });
      expect(found.truncated).toBe(true);
      expect(found.warnings.join(' ')).toMatch(/counted in all of [01] of 2 shards.*: .*(app|lib)/);
      expect(found.violations).toEqual([]);
      expect(found.pairs.every(({ verdict }) => verdict === 'undecided')).toBe(true);
    }
  });

  test('where the target lies is looked at first', async () => {
    const files = { ...twoFolders, 'far/far.c': callersOf('lib_get', 30) };
    const firstOf = async (target: string): Promise<string | undefined> => {
      const { pairs } = await patternsOf(files, { target, shards: 3, isOver: overAt(8) });
      return pairs[0]?.from;
    };
    expect(await firstOf('app_get')).toBe('app');
    expect(await firstOf('far/far.c')).toBe('far');
  });
});

test('calls of one name lead each where it leads by itself, whatever the files of a shard include', async () => {
  const of = (folder: string) => ({
    [`${folder}/${folder}.h`]: 'int twice(void);\n',
    [`${folder}/${folder}.c`]: `#include "${folder}.h"\nint twice(void) { return 1; }\n`,
  });
  await using tree = await TemporaryTree.create({
    ...of('one'),
    ...of('two'),
    'use/a.c': '#include "../one/one.h"\nint a(void) { return twice(); }\n',
    'use/b.c': '#include "../two/two.h"\nint b(void) { return twice(); }\n',
  });
  await using home = await TemporaryTree.create();
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, shards: 3 });
  const { shards } = await openIndex(tree.root, home.root);
  const alone = resultsOf(shards, false);
  expect(resultsOf(shards, true)).toEqual(alone);
  // Best first.
  const [one, two] = ['one/one.c', 'two/two.c'];
  expect(alone).toMatchObject({ 'use/a.c': [one, two], 'use/b.c': [two, one] });
});

/** By the path of the call: the paths of what it leads to. */
function resultsOf(shards: readonly ShardIndex[], isTogether: boolean): Record<string, string[]> {
  const graph = new CodeGraph(shards);
  const found: Record<string, string[]> = {};
  for (const [shard, index] of shards.entries()) {
    const calls = index.callsTo('twice');
    const together = graph.targetsOfAll(shard, calls);
    for (const [at, call] of calls.entries()) {
      const nodes = isTogether ? together[at]! : graph.targets(shard, call);
      found[index.file(call.file).path] = nodes.map((node) => graph.nodes.facts(node).file_path);
    }
  }
  return found;
}

test('of a target only what touches it is listed, and all is counted', async () => {
  const back = lines('int b1(void) { return app_get(); }', 'int b2(void) { return app_get(); }');
  const files = { ...twoFolders, 'lib/more.c': back, 'app/use.c': callersOf('lib_get', 40) };
  const found = await patternsOf(files, { limit: 1, target: 'b2' });
  expect(found.violations.map(({ from_symbol }) => from_symbol)).toEqual(['b2']);
  expect(found).toMatchObject({ violations_total: 3, truncated: false });
});

describe('declared layers', () => {
  const declared = (allowed: [string, string][]): Record<string, string> => ({
    ...twoFolders,
    [layersFile]: JSON.stringify({
      layers: [
        { name: 'top', paths: ['app/use.c'] },
        { name: 'bottom', paths: ['lib/'] },
      ],
      allowed,
    }),
  });

  test('what is not allowed is a violation, however often it is done', async () => {
    const found = await patternsOf(declared([]), { limit: 1 });
    expect(found).toMatchObject({
      mode: 'declared',
      pairs: [{ from: 'top', to: 'bottom', uses: 22, verdict: 'violation' }],
      violations_total: 22,
      // lib uses app/app.c, which no layer holds.
      uses_outside: 1,
      truncated: true,
    });
  });

  test('what is allowed is none', async () => {
    const found = await patternsOf(declared([['top', 'bottom']]));
    expect(found).toMatchObject({ violations: [], violations_total: 0, truncated: false });
  });

  test('the longest path decides', () => {
    const { layerOf } = declaredLayers(
      '{"layers":[{"name":"a","paths":["x","."]},{"name":"b","paths":["x/y"]}],"allowed":[]}',
    );
    expect(['x/y/z.c', 'x/yy.c', 'q.c', 'x'].map(layerOf)).toEqual(['b', 'a', 'a', 'a']);
  });

  test.each([
    ['{', `${layersFile}: `],
    ['[]', `${layersFile}: top level: `],
    ['{"layers":[],"allowed":[]}', `${layersFile}: layers: `],
    ['{"layers":[{"name":"a","paths":[]}],"allowed":[]}', `${layersFile}: layers[0].paths: `],
    ['{"layers":[{"name":"a","paths":["x"],"z":1}],"allowed":[]}', `${layersFile}: layers[0]: `],
    ['{"layers":[{"name":"a","paths":["../x"]}],"allowed":[]}', 'layers[0].paths[0]: ../x is not'],
    [
      '{"layers":[{"name":"a","paths":["x"]},{"name":"a","paths":["y"]}],"allowed":[]}',
      'layers[1].name: a stands twice',
    ],
    [
      '{"layers":[{"name":"a","paths":["x"]},{"name":"b","paths":["./x/"]}],"allowed":[]}',
      'layers[1].paths[0]: ./x/ is given to a already',
    ],
    [
      '{"layers":[{"name":"a","paths":["x"]}],"allowed":[["a","c"]]}',
      'allowed[0]: there is no layer c',
    ],
    ['{"layers":[{"name":"a","paths":["x"]}],"allowed":[["a"]]}', `${layersFile}: allowed[0]`],
  ])('the file %s is refused with its place', (text, place) => {
    expect(() => declaredLayers(text)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(place),
      }),
    );
  });

  test('a layers file that is a link is not followed', async () => {
    const outcome = patternsOf(
      { ...twoFolders, '.sigma/other.json': '{}' },
      { prepare: (root) => symlink(join(root, '.sigma/other.json'), join(root, layersFile)) },
    );
    await expect(outcome).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
