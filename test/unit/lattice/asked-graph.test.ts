import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { LatticeQuestions } from '../../../src/lattice/questions.js';
import type { Answer, FlowEdge } from '../../../src/pgc/shapes.js';
import { indexedTree, type IndexedTree } from '../../support/indexed-tree.js';

/** More of everything than an answer has room for evidence. */
const many = Array.from({ length: 14 }, (_, at) => `part${at}`);
const files = {
  'step/go.mod': 'module example.com/step\n',
  'step/step.go':
    'package step\ntype Stage interface{ Exec(n int) int }\n' +
    'func Perform(s Stage, n int) int {\n' +
    many.map((each) => `\tn += ${each}(n)\n`).join('') +
    '\treturn s.Exec(n)\n}\n' +
    many.map((each) => `func ${each}(n int) int { return n }\n`).join(''),
  ...Object.fromEntries(
    many.map((each) => [
      `run/${each}.go`,
      `package run\nimport "example.com/step"\ntype Of${each} struct{}\n` +
        `func (o Of${each}) Exec(n int) int { return n }\n` +
        `func Go${each}() int { return step.Perform(Of${each}{}, 1) }\n`,
    ]),
  ),
};

let tree: IndexedTree;
let questions: LatticeQuestions;
beforeAll(async () => {
  tree = await indexedTree(files, ['step', 'run']);
  const cards = await Promise.all(tree.shards.map((shard) => shard.card()));
  questions = new LatticeQuestions(new Lattice(tree.shards, cards), systemClock);
});
afterAll(() => tree[Symbol.asyncDispose]());

const options = { deadlineMs: 30_000 };
const ways: Record<string, (question: string) => Promise<Answer>> = {
  ask: (question) => questions.ask({ question, overlays: [], top_k: 5 }, options),
  'ask --overlays O3': (question) =>
    questions.ask({ question, overlays: ['O3'], top_k: 5 }, options),
  'lattice query': (question) =>
    questions.query({ question, from: '', max_hops: 6, top_k: 3 }, options),
};
const calls = (flow: FlowEdge[], of: Partial<FlowEdge>): string[] =>
  flow
    .filter((each) =>
      Object.entries(of).every(([name, value]) => Reflect.get(each, name) === value),
    )
    .map(({ from, to, site }) => `${from} ${to} ${site}`)
    .sort();

test.each(Object.keys(ways))(
  '%s knows all that callers, callees and implementations list',
  async (way) => {
    const asked = ways[way]!;
    const { callers } = await questions.callers({ symbol: 'Perform' }, options);
    const { callees } = await questions.callees({ symbol: 'Perform' }, options);
    const { implementations } = await questions.implementations({ symbol: 'Stage' }, options);
    const above = callers
      .map((each) => `${each.symbol} Perform ${each.file_path}:${each.line}`)
      .sort();
    const below = callees
      .map((each) => `Perform ${each.symbol} ${each.file_path}:${each.line}`)
      .sort();
    expect([above.length, implementations.length]).toEqual([many.length, many.length]);
    expect(below.length).toBeGreaterThan(many.length);
    expect(calls((await asked('Who calls Perform?')).flow, { to: 'Perform' })).toEqual(above);
    expect(calls((await asked('What does Perform call?')).flow, { from: 'Perform' })).toEqual(
      below,
    );
    const { flow } = await asked('Perform call chain');
    expect(calls(flow, { to: 'Perform' })).toEqual(above);
    expect(calls(flow, { from: 'Perform' })).toEqual(below);
    const implementing = (await asked('Which implementations of Stage are there?')).flow;
    expect(calls(implementing, { kind: 'implements' })).toEqual(
      implementations.map((each) => `${each.symbol} Stage ${each.file_path}:${each.line}`).sort(),
    );
  },
);

test('one shard knows all of its own', async () => {
  const run = tree.shards.find(({ index }) => index.info.alias === 'run')!;
  const { flow } = await run.ask({ question: 'Who calls Perform?', overlays: [], top_k: 5 });
  expect(calls(flow, { to: 'Perform' })).toHaveLength(many.length);
  const step = tree.shards.find(({ index }) => index.info.alias === 'step')!;
  const { flow: its } = await step.ask({
    ...{ question: 'What does Perform call?', overlays: ['O3'], top_k: 5 },
  });
  expect(new Set(its.map(({ to }) => to))).toEqual(new Set([...many, 'Exec']));
});

test('that nothing calls it, with calls alone, is an answer that shows what it says it of', async () => {
  const answer = await ways['ask --overlays O3']!('Who calls Gopart0?');
  expect(answer.evidence).toMatchObject([{ name: 'Gopart0' }]);
  expect(answer.unsure.map(({ text }) => text)).toEqual(['Gopart0 is called nowhere']);
  expect(answer.errors).toEqual([]);
  const inTests = { question: 'Who calls Perform?', overlays: [], top_k: 5, roles: ['test'] };
  const { unsure } = await questions.ask(inTests, options);
  expect(unsure.map(({ text }) => text)).toContain(
    'Perform is called nowhere in files of the role test',
  );
});

test('of several names the one beside the verb is asked about', async () => {
  const { flow } = await ways.ask!('In Ofpart1, who calls Perform of Stage?');
  expect(calls(flow, { to: 'Perform' })).toHaveLength(many.length);
});
