import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../../../src/lattice/ask.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import type { Answer } from '../../../src/pgc/shapes.js';
import { indexedTree, type IndexedTree } from '../../support/indexed-tree.js';

const users = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
const user = (name: string): string => `package ${name}
import "example.com/keep"
func Run${name}() { keep.SaveRecord("${name}") }
`;
const files = {
  'keep/go.mod': 'module example.com/keep\n',
  'keep/keep.go': `package keep
// SaveRecord keeps a record.
func SaveRecord(record string) {}
func NeverCalled() {}
`,
  ...Object.fromEntries(users.map((name) => [`${name}/run.go`, user(name)])),
  'keep/keep_test.go': `package keep
func TestOne() { SaveRecord("one") }
func TestTwo() { SaveRecord("two") }
`,
};

let tree: IndexedTree;
let lattice: Lattice;
beforeAll(async () => {
  tree = await indexedTree(files, ['keep', ...users]);
  const cards = await Promise.all(tree.shards.map((shard) => shard.card()));
  lattice = new Lattice(tree.shards, cards);
});
afterAll(() => tree[Symbol.asyncDispose]());

const asked = (question: string, top_k: number): Promise<Answer> =>
  ask(lattice, { question, overlays: [], top_k });
const callSites = ({ flow }: Answer): string[] => flow.map(({ site }) => site).sort();
const doubts = ({ unsure }: Answer): string[] => unsure.map(({ text }) => text);

test('callers in more shards than are usually asked are all shown', async () => {
  const answer = await asked('Who calls SaveRecord?', 10);
  const tests = [2, 3].map((line) => `keep/keep_test.go:${line}`);
  const sources = users.toSorted().map((name) => `${name}/run.go:3`);
  expect(callSites(answer)).toEqual([...sources, ...tests]);
  expect(answer.evidence.slice(-tests.length).map(({ role }) => role)).toEqual(['test', 'test']);
  expect(doubts(answer)).toEqual([]);
});

test('those for which there is no place among the evidence are told all the same', async () => {
  const answer = await asked('Who calls SaveRecord?', 3);
  expect(callSites(answer)).toHaveLength(users.length + 2);
  const shown = answer.flow.filter(({ evidence }) => evidence > 0).map(({ site }) => site);
  expect(shown).toHaveLength(answer.evidence.filter(({ kind }) => kind === 'call').length);
  expect(shown.filter((site) => site.includes('_test'))).toEqual([]);
  expect(answer.next[0]).toMatchObject({ operation: 'callers', why: 'all 7 call sites' });
  expect(doubts(answer)).toEqual([]);
});

test('what nothing calls in any shard is called nowhere', async () => {
  expect(doubts(await asked('Who calls NeverCalled?', 5))).toContain(
    'NeverCalled is called nowhere',
  );
});

test('where a function is held is shown, and callers in shards that bear no word of the question', async () => {
  await using held = await indexedTree(
    {
      'core/ops.h': 'struct ops { int (*read_all)(int n); };\n',
      'core/run.c': '#include "ops.h"\nint run(struct ops *o) { return o->read_all(1); }\n',
      'disk/disk.c':
        '#include "../core/ops.h"\nstatic int disk_read(int n) { return n; }\n' +
        'struct ops disk_ops = {\n\t.read_all = disk_read,\n};\n',
    },
    ['core', 'disk'],
  );
  const cards = await Promise.all(held.shards.map((shard) => shard.card()));
  const request = { question: 'Who calls disk_read?', overlays: [], top_k: 5 };
  const { evidence, flow } = await ask(new Lattice(held.shards, cards), request);
  expect(evidence.map((each) => `${each.file_path}:${each.line_start} ${each.kind}`)).toContain(
    'disk/disk.c:4 slot',
  );
  // The line of a call through a member does not hold the name, and cannot be cited for it.
  expect(flow.map(({ kind, site, evidence: id }) => [kind, site, id > 0])).toEqual([
    ['call', 'core/run.c:2', false],
    ['slot', 'disk/disk.c:4', true],
  ]);
});
