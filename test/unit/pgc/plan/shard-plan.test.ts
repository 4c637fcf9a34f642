import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isName } from '../../../../src/base/ids.js';
import { BusError } from '../../../../src/errors/bus-error.js';
import { aliasOf, ownerOf, type PlannedFile } from '../../../../src/pgc/plan/planned-shards.js';
import {
  parseShardRequest,
  planShards,
  type ShardRequest,
} from '../../../../src/pgc/plan/shard-plan.js';
import { autoShardsMax, shardLinesMax } from '../../../../src/pgc/plan/shard-plan-cut.js';

const folderName = fc.constantFrom(
  'net',
  'drivers',
  'mm',
  'intel',
  'e1000',
  'Über',
  'a b',
  '.x',
  'c_d',
);
const files = fc.uniqueArray(
  fc.record({
    path: fc
      .tuple(fc.array(folderName, { maxLength: 5 }), fc.constantFrom('a.c', 'b.h', 'main.py'))
      .map(([folders, name]) => [...folders, name].join('/')),
    lines: fc.integer({ min: 0, max: 90_000 }),
  }),
  { selector: (file) => file.path, minLength: 1, maxLength: 60 },
);
const request = fc.oneof(fc.constant('auto' as const), fc.integer({ min: 1, max: 20 }));

function linesPerShard(all: readonly PlannedFile[], wanted: ShardRequest): Map<string, number> {
  const { shards } = planShards(all, wanted, 'linux');
  const owner = ownerOf(shards);
  const lines = new Map(shards.map((shard) => [shard.alias, 0]));
  for (const file of all) {
    const alias = shards[owner(file.path)!]!.alias;
    lines.set(alias, lines.get(alias)! + file.lines);
  }
  return lines;
}

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof BusError ? error.code : String(error);
  }
  return 'nothing thrown';
}

/** `folders` folders of one file each. */
function flatTree(folders: number, lines: number): PlannedFile[] {
  return Array.from({ length: folders }, (_, n) => ({
    path: `d${String(n).padStart(3, '0')}/a.c`,
    lines,
  }));
}

describe('a shard plan', () => {
  test('gives every path exactly one owner, also paths that do not exist yet', () => {
    fc.assert(
      fc.property(files, request, fc.array(folderName), (all, wanted, folders) => {
        const { shards } = planShards(all, wanted, 'linux');
        const owner = ownerOf(shards);
        const scopes = shards.flatMap((shard) => shard.paths);
        expect(new Set(scopes).size).toBe(scopes.length);
        for (const { path } of all) expect(shards[owner(path)!]).toBeDefined();
        expect(owner([...folders, 'new.c'].join('/'))).toBeDefined();
      }),
      { examples: [[[{ path: 'a.c', lines: 0 }], 4, ['net']]] },
    );
  });

  test('of files without lines gives no shard without a folder', () => {
    const { shards } = planShards([{ path: 'a.c', lines: 0 }], 4, 'linux');
    expect(shards).toEqual([{ alias: 'linux', paths: ['.'] }]);
  });

  test('has unique aliases that are valid names', () => {
    fc.assert(
      fc.property(files, request, (all, wanted) => {
        const aliases = planShards(all, wanted, 'linux').shards.map((shard) => shard.alias);
        expect(aliases.every(isName)).toBe(true);
        expect(new Set(aliases).size).toBe(aliases.length);
      }),
    );
  });

  test('never has more shards than asked for', () => {
    fc.assert(
      fc.property(files, fc.integer({ min: 1, max: 20 }), (all, wanted) => {
        const { shards } = planShards(all, wanted, 'linux');
        expect(shards.length).toBeLessThanOrEqual(wanted);
      }),
    );
  });

  test('keeps the owner of every file when a file is added and the plan is kept', () => {
    fc.assert(
      fc.property(files, request, folderName, (all, wanted, folder) => {
        const owner = ownerOf(planShards(all, wanted, 'linux').shards);
        const sibling = all[0]!.path.split('/').slice(0, -1);
        expect(owner([...sibling, 'zz.c'].join('/'))).toBe(owner(all[0]!.path));
        expect(owner([...sibling, folder, 'never-seen', 'zz.c'].join('/'))).toBeDefined();
      }),
      { examples: [[[{ path: 'a.c', lines: 0 }], 4, 'net']] },
    );
  });

  test('does not depend on the order of the files', () => {
    const all = flatTree(40, 9_000);
    expect(planShards([...all].reverse(), 'auto', 'p')).toEqual(planShards(all, 'auto', 'p'));
  });

  test.each([1, 2, 3, 4, 7, 16])(
    'gives exactly %i balanced shards when the folders allow it',
    (count) => {
      const lines = [...linesPerShard(flatTree(200, 1_000), count).values()];
      expect(lines).toHaveLength(count);
      expect(Math.max(...lines) / (200_000 / count)).toBeLessThan(1.6);
      expect(lines.reduce((a, b) => a + b, 0)).toBe(200_000);
    },
  );

  test('of a small tree is one shard that is named after the project', () => {
    const plan = planShards([{ path: 'src/a.ts', lines: 10 }], 'auto', 'sigma');
    expect(plan).toEqual({ mode: 'auto', shards: [{ alias: 'sigma', paths: ['.'] }] });
  });

  test('cuts along folders until each shard fits the budget', () => {
    const lines = [...linesPerShard(flatTree(64, 10_000), 'auto').values()];
    expect(Math.max(...lines)).toBeLessThanOrEqual(shardLinesMax);
    expect(Math.min(...lines)).toBeGreaterThanOrEqual(shardLinesMax / 4);
  });

  test('grows the budget rather than give too many shards', () => {
    const lines = linesPerShard(flatTree(900, 60_000), 'auto');
    expect(lines.size).toBeLessThanOrEqual(autoShardsMax);
    expect(lines.size).toBeGreaterThan(autoShardsMax / 2);
  });

  test('never divides the files of one folder', () => {
    const all = Array.from({ length: 50 }, (_, n) => ({ path: `mm/${n}.c`, lines: 9_000 }));
    expect(planShards(all, 8, 'linux').shards).toHaveLength(1);
  });

  test('names a shard after its folder', () => {
    const all = [
      { path: 'drivers/net/ethernet/intel/e1000.c', lines: 90_000 },
      { path: 'kernel/dma/mapping.c', lines: 60_000 },
    ];
    const aliases = planShards(all, 'auto', 'linux').shards.map((shard) => shard.alias);
    expect(aliases).toEqual(['kernel', 'drivers']);
    expect(aliasOf('conf/zookeeper')).toBe('conf-zookeeper');
  });
});

describe('an explicit plan', () => {
  const plan = {
    shards: [
      { alias: 'net', paths: ['net', 'include/net/'] },
      { alias: 'core', paths: ['./net/core'] },
    ],
  };

  test('gives a path to the longest prefix that names it and leaves the rest out', () => {
    const request = parseShardRequest(JSON.stringify(plan));
    const { shards } = planShards([], request, 'linux');
    const owner = ownerOf(shards);
    expect(owner('net/core/dev.c')).toBe(1);
    expect(owner('net/ipv4/tcp.c')).toBe(0);
    expect(owner('include/net/sock.h')).toBe(0);
    expect(owner('network/a.c')).toBeUndefined();
    expect(owner('mm/slab.c')).toBeUndefined();
  });

  test.each([
    ['nonsense', 'SHARD_PLAN_INVALID'],
    ['{"shards":[]}', 'SHARD_PLAN_INVALID'],
    ['{"shards":[{"alias":"A B","paths":["a"]}]}', 'SHARD_PLAN_INVALID'],
    ['{"shards":[{"alias":"a","paths":[]}]}', 'SHARD_PLAN_INVALID'],
    ['{"shards":[{"alias":"a","paths":["x"]},{"alias":"a","paths":["y"]}]}', 'SHARD_PLAN_INVALID'],
    [
      '{"shards":[{"alias":"a","paths":["x"]},{"alias":"b","paths":["./x/"]}]}',
      'SHARD_PLAN_INVALID',
    ],
    ['{"shards":[{"alias":"a","paths":["x\\u0000"]}]}', 'SHARD_PLAN_INVALID'],
    ['{"shards":[{"alias":"a","paths":["../x"]}]}', 'PATH_OUTSIDE_ROOT'],
    ['{"shards":[{"alias":"a","paths":["a/../../x"]}]}', 'PATH_OUTSIDE_ROOT'],
    ['{"shards":[{"alias":"a","paths":["/etc"]}]}', 'PATH_OUTSIDE_ROOT'],
    ['0', 'SHARD_PLAN_INVALID'],
    ['99999', 'SHARD_PLAN_INVALID'],
  ])('is refused when it reads %s', (text, code) => {
    expect(codeOf(() => parseShardRequest(text))).toBe(code);
  });
});
