import { afterAll, beforeAll, expect, test } from 'vitest';
import { Directory } from '../../../../src/lattice/topology/directory.js';
import { calleesOf } from '../../../../src/pgc/bind/call-sites.js';
import { ForwardWalk, forwardModulesMax } from '../../../../src/pgc/bind/module-calls.js';
import type { Card, Lookup } from '../../../../src/pgc/shapes.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

/** Barrels that all pass on each other; ways through them grow with the fourth power. */
const barrels = 60;
const names = Array.from({ length: barrels }, (_, at) => `b${at}`);
const files: Record<string, string> = {
  'lib/main.ts': [
    "import { missing, buried } from './b0.js';",
    'export function run(): void {',
    '  missing();',
    '  buried();',
    '}',
    '',
  ].join('\n'),
  'lib/deep.ts': 'export function buried(): void {}\n',
};
for (const [at, name] of names.entries()) {
  const others = names
    .filter((each) => each !== name)
    .map((each) => `export * from './${each}.js';`);
  // Only the last one knows the way out.
  if (at === barrels - 1) others.push("export * from './deep.js';");
  files[`lib/${name}.ts`] = `${others.join('\n')}\n`;
}

let tree: IndexedTree;
let card: Card;
beforeAll(async () => {
  tree = await indexedTree(files, ['lib']);
  card = await tree.shards[0]!.card();
});
afterAll(() => tree[Symbol.asyncDispose]());

const lookup = (name: string): Lookup => ({
  name,
  kind: 'direct',
  path: '',
  line: 0,
  container: '',
  modules: ['lib/b0'],
});

test('barrels that pass on each other are searched once each, and what they hold is found', () => {
  const [run] = calleesOf(tree.shards[0]!.index, ['run']);
  expect(run?.calls.map((each) => [each.symbol, each.definition])).toEqual([
    ['missing', ''],
    ['buried', 'lib/deep.ts:1'],
  ]);
});

test('so does the directory of several shards', () => {
  const directory = new Directory([card]);
  expect(directory.find(lookup('missing'), 'other').agents).toEqual([]);
  expect(directory.find(lookup('buried'), 'other').agents).toEqual([card.agent]);
});

test('a module is entered again for another name or nearer to the start, and within the budget', () => {
  const walk = new ForwardWalk();
  expect(walk.enter('lib/b0', lookup('x'), 2)).toBe(true);
  expect(walk.enter('lib/b0', lookup('x'), 2)).toBe(false);
  expect(walk.enter('lib/b0', lookup('x'), 1)).toBe(true);
  expect(walk.enter('lib/b0', lookup('y'), 2)).toBe(true);
  for (let at = 3; at < forwardModulesMax; at += 1)
    expect(walk.enter(`lib/c${at}`, lookup('x'), 0)).toBe(true);
  expect(walk.enter('lib/last', lookup('x'), 0)).toBe(false);
});
