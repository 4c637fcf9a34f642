import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BusError } from '../../../../src/errors/bus-error.js';
import { blastRadius, graphOf, type BlastNode } from '../../../../src/pgc/analyse/blast-radius.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { openIndex, type OpenedTree } from '../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const lines = (...text: string[]): string => `${text.join('\n')}\n`;

const files = {
  'include/api.h': lines(
    'int dev_put(int a);',
    'void *memcpy(void *to, void *from, int n);',
    'static inline int dev_put_twice(int a)',
    '{',
    '\treturn dev_put(a) + dev_put(a);',
    '}',
  ),
  'core/dev.c': lines(
    '#include "api.h"',
    'static int helper(int a)',
    '{',
    '\treturn a;',
    '}',
    'int dev_put(int a)',
    '{',
    '\treturn helper(a);',
    '}',
  ),
  'drv/card.c': lines(
    '#include "api.h"',
    'static int helper(int a)',
    '{',
    '\tmemcpy(a, a, 1);',
    '\treturn dev_put(a);',
    '}',
    'static int card_open(int a)',
    '{',
    '\treturn helper(a);',
    '}',
    'static long card_ioctl(int a)',
    '{',
    '\treturn dev_put_twice(a);',
    '}',
    'static const struct file_operations card_ops = {',
    '\t.open = card_open,',
    '\t.unlocked_ioctl = card_ioctl,',
    '};',
    'SYSCALL_DEFINE1(card, int, a)',
    '{',
    '\treturn card_open(a);',
    '}',
  ),
  // t is called by a and x; x is also reached by the long way a, b, x.
  'maze/diamond.c': lines(
    'int t(void) { return 0; }',
    'int a(void) { return t(); }',
    'int b(void) { return a(); }',
    'int x(void) { return b() + t(); }',
    'int y(void) { return x(); }',
    'int z(void) { return y(); }',
  ),
  'maze/either.c': lines(
    'int fast(void) { return 1; }',
    'int slow(void) { return 2; }',
    '#ifdef FAST',
    'int either(void) { return fast(); }',
    '#else',
    'int either(void) { return slow(); }',
    '#endif',
  ),
  'maze/ring.c': lines(
    'int two(void);',
    'int one(void) { return two(); }',
    'int three(void) { return one(); }',
    'int two(void) { return three(); }',
  ),
  'web/base.ts': lines(
    'export interface Shape { area(): number }',
    'export class Base { grow(): number { return 1; } }',
    'export const scale = (n: number): number => n * 2;',
  ),
  'web/index.ts': lines("export * from './base.js';"),
  'site/page.ts': lines(
    "import { Base, scale as enlarge, type Shape } from '../web/index.js';",
    'export class Page extends Base implements Shape {',
    '  area(): number {',
    '    return enlarge(this.grow());',
    '  }',
    '}',
    'export function main(): Page {',
    '  return new Page();',
    '}',
  ),
  'site/page.test.ts': lines("import { Page } from './page.js';", 'new Page().area();'),
};
const aliases = ['core', 'drv', 'include', 'maze', 'site', 'web'];

let source: TemporaryTree;
let home: TemporaryTree;
let tree: OpenedTree;
beforeAll(async () => {
  source = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  const shards = { shards: aliases.map((alias) => ({ alias, paths: [alias] })) };
  await indexFolder({ root: source.root, home: home.root, jobs: 0, shards });
  tree = await openIndex(source.root, home.root);
});
afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const told = (nodes: BlastNode[]): string[] =>
  nodes.map((each) => `${each.depth} ${each.type} ${each.id} ${each.role} ${each.call_site}`);
const coded = (code: string): object => expect.objectContaining({ code });

describe('consumers', () => {
  test('are found over shards, headers and slots, nearest first', async () => {
    const { consumers, metrics } = await blastRadius(tree, 'dev_put', { direction: 'up' });
    expect(told(consumers)).toEqual([
      '1 calls drv/card.c#helper internal drv/card.c:5',
      '1 calls include/api.h#dev_put_twice api include/api.h:5',
      '2 calls drv/card.c#card_open handler drv/card.c:9',
      '2 calls drv/card.c#card_ioctl handler drv/card.c:13',
      '3 slot drv/card.c#card_ops internal drv/card.c:16',
      '3 calls drv/card.c#sys_card handler drv/card.c:21',
    ]);
    expect(consumers[1]).toMatchObject({ sites: 2, through: 'core/dev.c#dev_put' });
    expect(metrics).toEqual({
      totalImpacted: 6,
      maxConsumerDepth: 3,
      maxDependencyDepth: 0,
      direct_consumers: 2,
      total_dependencies: 0,
      undecided_sites: 0,
      test_consumers: 0,
      criticalPaths: [
        {
          path: ['core/dev.c#dev_put', 'include/api.h#dev_put_twice', 'drv/card.c#card_ioctl'],
          depth: 2,
          reason: 'ioctl handler card_ioctl (drv/card.c:17)',
        },
        {
          path: [
            'core/dev.c#dev_put',
            'drv/card.c#helper',
            'drv/card.c#card_open',
            'drv/card.c#sys_card',
          ],
          depth: 3,
          reason: 'system call card (drv/card.c:19)',
        },
      ],
    });
  });

  test('of a private name are those of its own file', async () => {
    const { targets, consumers } = await blastRadius(tree, 'core/dev.c#helper', { maxDepth: 1 });
    expect(targets.map(({ id }) => id)).toEqual(['core/dev.c#helper']);
    expect(told(consumers)).toEqual(['1 calls core/dev.c#dev_put api core/dev.c:8']);
  });

  test('of a bare name are those of all its definitions, which do not collide', async () => {
    const answer = await blastRadius(tree, 'helper', { maxDepth: 1 });
    expect(answer.targets.map(({ id, filePath }) => [id, filePath])).toEqual([
      ['core/dev.c#helper', 'core/dev.c'],
      ['drv/card.c#helper', 'drv/card.c'],
    ]);
    // dev_put uses one of the two and is used by the other one.
    expect(told(answer.consumers)).toEqual([
      '1 calls core/dev.c#dev_put api core/dev.c:8',
      '1 calls drv/card.c#card_open handler drv/card.c:9',
    ]);
    expect(told(answer.dependencies)).toEqual([
      '1 calls core/dev.c#dev_put api drv/card.c:5',
      '1 calls include/api.h#memcpy api drv/card.c:4',
    ]);
  });

  test('have their least depth, and what lies behind them is not missed', async () => {
    const { consumers } = await blastRadius(tree, 't', { direction: 'up', maxDepth: 3 });
    expect(consumers.map(({ depth, symbol }) => [depth, symbol])).toEqual([
      [1, 'a'],
      [1, 'x'],
      [2, 'b'],
      [2, 'y'],
      [3, 'z'],
    ]);
  });

  test('in a ring are each there once, the target not among them', async () => {
    const { consumers, dependencies } = await blastRadius(tree, 'one', { maxDepth: 16 });
    expect(consumers.map(({ depth, symbol }) => [depth, symbol])).toEqual([
      [1, 'three'],
      [2, 'two'],
    ]);
    expect(dependencies.map(({ depth, symbol }) => [depth, symbol])).toEqual([
      [1, 'two'],
      [2, 'three'],
    ]);
  });

  test('of what is only declared are known too', async () => {
    const { targets, consumers } = await blastRadius(tree, 'memcpy', { maxDepth: 1 });
    expect(targets.map(({ id }) => id)).toEqual(['include/api.h#memcpy']);
    expect(told(consumers)).toEqual(['1 calls drv/card.c#helper internal drv/card.c:4']);
  });
});

test('a structure of operations uses the functions in its fields', async () => {
  const { targets, dependencies } = await blastRadius(tree, 'card_ops', { maxDepth: 1 });
  expect(targets).toMatchObject([{ id: 'drv/card.c#card_ops', kind: 'constant', line: 15 }]);
  expect(told(dependencies)).toEqual([
    '1 slot drv/card.c#card_open handler drv/card.c:16',
    '1 slot drv/card.c#card_ioctl handler drv/card.c:17',
  ]);
});

test('alternatives of the preprocessor are one node with the uses of all', async () => {
  const { targets, dependencies } = await blastRadius(tree, 'either', { direction: 'down' });
  expect(targets.map(({ id, line }) => [id, line])).toEqual([['maze/either.c#either', 4]]);
  expect(told(dependencies)).toEqual([
    '1 calls maze/either.c#fast api maze/either.c:4',
    '1 calls maze/either.c#slow api maze/either.c:6',
  ]);
});

test('each side of an edge knows the other one', () => {
  const graph = graphOf(tree);
  const nodes = Object.keys(files).flatMap((path) => graph.find(path));
  const known = new Set(nodes);
  const down = nodes.flatMap((from) =>
    graph.dependenciesOf(from).map(({ node, type }) => `${from} ${type} ${node}`),
  );
  // What lies outside all symbols is a consumer, and has no dependencies of its own.
  const up = nodes.flatMap((to) =>
    graph
      .consumersOf(to)
      .filter(({ node }) => known.has(node) && graph.nodes.facts(node).kind !== 'file')
      .map(({ node, type }) => `${node} ${type} ${to}`),
  );
  // What a file only declares is none of its symbols.
  expect(down.filter((each) => known.has(Number(each.split(' ')[2]))).sort()).toEqual(up.sort());
  expect(up).toHaveLength(24);
});

describe('modules', () => {
  test('a class is used by who extends it through a re-export, and changed with its methods', async () => {
    const { consumers } = await blastRadius(tree, 'Base', { direction: 'up', maxDepth: 2 });
    expect(told(consumers)).toEqual([
      '1 extends site/page.ts#Page api site/page.ts:2',
      '1 calls site/page.ts#Page.area api site/page.ts:4',
      '2 constructs site/page.test.ts test site/page.test.ts:2',
      '2 constructs site/page.ts#main entry site/page.ts:8',
    ]);
  });

  test('a renamed import leads to the real name, and an interface is used by who implements it', async () => {
    const scale = await blastRadius(tree, 'scale', { direction: 'up', maxDepth: 1 });
    expect(told(scale.consumers)).toEqual(['1 calls site/page.ts#Page.area api site/page.ts:4']);
    const shape = await blastRadius(tree, 'Shape', { direction: 'up', maxDepth: 1 });
    expect(told(shape.consumers)).toEqual([
      '1 extends site/page.ts#Page api site/page.ts:2',
      '1 implements site/page.ts#Page.area api site/page.ts:3',
    ]);
  });

  test('dependencies are what is called, constructed and extended', async () => {
    const { dependencies } = await blastRadius(tree, 'Page', { direction: 'down', maxDepth: 1 });
    expect(told(dependencies)).toEqual([
      '1 extends web/base.ts#Shape api site/page.ts:2',
      '1 implements web/base.ts#Shape.area api site/page.ts:3',
      '1 extends web/base.ts#Base api site/page.ts:2',
      '1 calls web/base.ts#Base.grow api site/page.ts:4',
      '1 calls web/base.ts#scale api site/page.ts:4',
    ]);
  });
});

describe('limits', () => {
  test('a search that meets its limit of nodes says so', async () => {
    const few = await blastRadius(tree, 't', { direction: 'up', nodesMax: 3 });
    expect(few.truncated).toBe(true);
    expect(few.consumers.map(({ symbol }) => symbol)).toEqual(['a', 'x', 'b']);
    const all = await blastRadius(tree, 't', { direction: 'up', nodesMax: 5 });
    expect(all.truncated).toBe(false);
    expect(all.metrics.totalImpacted).toBe(5);
  });

  test.each([0, 17, 1.5])('a depth of %d is refused', async (maxDepth) => {
    await expect(blastRadius(tree, 't', { maxDepth })).rejects.toThrow(coded('USAGE'));
  });

  test('what nobody defines is refused', async () => {
    const failed = await blastRadius(tree, 'no_such_thing').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(BusError);
    expect(failed).toMatchObject({ code: 'NO_SUCH_SYMBOL', exit: 1 });
  });

  test('no colour code is in any answer', async () => {
    // oxlint-disable-next-line no-control-regex
    expect(JSON.stringify(await blastRadius(tree, 'dev_put'))).not.toMatch(/\u001b|\\u001b/);
  });
});

test('a test in the file that it tests is a test', async () => {
  await using other = await TemporaryTree.create({
    'src/lib.rs': lines(
      'pub fn merge(a: i32) -> i32 { a }',
      'pub fn run() -> i32 { merge(1) }',
      '#[cfg(test)]',
      'mod tests {',
      '    use super::*;',
      '    #[test]',
      '    fn merges_one() { assert_eq!(merge(1), 1); }',
      '}',
    ),
  });
  await using its = await TemporaryTree.create();
  await indexFolder({ root: other.root, home: its.root, jobs: 0 });
  const opened = await openIndex(other.root, its.root);
  const { consumers } = await blastRadius(opened, 'merge', { direction: 'up', maxDepth: 1 });
  const roles = consumers.map(({ symbol, role }) => `${symbol} ${role}`).sort();
  expect(roles).toEqual(['merges_one test', 'run api']);
});
