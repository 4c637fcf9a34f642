import { describe, expect, test } from 'vitest';
import { shardNames } from '../../../../src/pgc/plan/shard-names.js';

/** `folder 30`: a path and its lines; `. 5`: the files of the root. */
function namesOf(shards: readonly (readonly string[])[], project = 'product'): string[] {
  const weighed = shards.map((paths) =>
    paths.map((each) => {
      const [path = '', lines] = each.split(' ');
      return { path: path === '.' ? '' : path, lines: Number(lines) };
    }),
  );
  return shardNames(weighed, { project });
}

describe('the name of a shard', () => {
  test.each<[string, string[][], string[]]>([
    [
      'is the last name of its path',
      [['service/history 90'], ['service/matching 80'], ['common 70', '. 5']],
      ['history', 'matching', 'common'],
    ],
    [
      'has the nearest folder that tells it from other shards',
      [['conf/zookeeper 90'], ['server/lib/zookeeper 80'], ['client/lib/zookeeper 70']],
      ['conf-zookeeper', 'server-zookeeper', 'client-zookeeper'],
    ],
    [
      'is short where only the others have more to tell them apart by',
      [['core/src/main/java/org/a 90'], ['core/src/test/java/org/a 80']],
      ['a', 'test-a'],
    ],
    [
      'is the whole path where no one folder tells it from all others',
      [['a/x 90'], ['b/y/x 80'], ['a/y/x 80'], ['b/a/x 70']],
      ['a-x', 'b-y-x', 'a-y-x', 'b-a-x'],
    ],
    [
      'is short where it is the tail of another',
      [['net 90'], ['drivers/net 80']],
      ['net', 'drivers-net'],
    ],
    [
      'is that of the folder around all of its folders, if nothing else is in there',
      [['docs/api 20', 'docs/guide 30'], ['src 90']],
      ['docs', 'src'],
    ],
    [
      'is that of the largest folder, if the folder around them is shared',
      [
        ['src/pgc 60', 'src/prompt 10', 'src/wire 5'],
        ['src/broker 90', 'src/critic 20'],
      ],
      ['pgc', 'broker'],
    ],
    [
      'is that of a folder without what others have of it, unless one of its folders is most of it',
      [['lib 10', 'lib/a 20', 'lib/b 20'], ['lib/modules 90'], ['t 1', 't/unit 90'], ['t/smoke 9']],
      ['lib', 'modules', 'unit', 'smoke'],
    ],
    [
      'is not that of the tests beside the code',
      [['provider 30', 'store 20', 'test 90'], ['notify 80'], ['t/e2e 50', 't 1']],
      ['provider', 'notify', 't'],
    ],
    [
      'leaves out where build tools put sources',
      [['server/src/main/java 90'], ['server/src/test/java 80'], ['client/src/main/java 70']],
      ['server', 'test', 'client'],
    ],
    ['is never empty', [['src/main/java 90'], ['docs 5']], ['java', 'docs']],
    ['is that of the project for the whole tree', [['. 90']], ['product']],
    [
      'is that of the project for files of the root',
      [['. 90', 'docs 5'], ['t 80']],
      ['product', 't'],
    ],
    [
      'is not that of the project where a folder is called so',
      [['. 90', 'docs 5'], ['product 80']],
      ['root', 'product'],
    ],
  ])('%s', (_, shards, names) => {
    expect(namesOf(shards)).toEqual(names);
  });

  test('is used once, also beside those that are known', () => {
    const others = ['a/core'];
    const made = shardNames([[{ path: 'b/core', lines: 9 }], [{ path: 'c/x', lines: 9 }]], {
      ...{ project: 'product', others },
      taken: new Set(['a-core', 'x']),
    });
    expect(made).toEqual(['b-core', 'x-2']);
  });
});
