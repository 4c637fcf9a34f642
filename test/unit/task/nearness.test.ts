import { expect, test } from 'vitest';
import { evidenceCitation } from '../../../src/delegation/grounding/gathered.js';
import type { ConfidenceLevel } from '../../../src/delegation/task/shapes.js';
import { ask } from '../../../src/lattice/ask.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { nearnessOf } from '../../../src/manager/nearness.js';
import { lazyCardOf } from '../../../src/pgc/search/card/card.js';
import { chainTree } from '../../support/chain-tree.js';
import { citationOf, evidenceOf, taskOf } from '../../support/delegation.js';

const question = 'Who calls nic_log?';

async function stage() {
  const tree = await chainTree();
  const { shards } = tree;
  const lattice = new Lattice(shards, () => shards.map(({ index }) => lazyCardOf(index)));
  const answer = await ask(lattice, { question, overlays: [], top_k: 0 });
  const cited = answer.evidence.map((each) => evidenceCitation(each, question));
  return { tree, lattice, answer, cited };
}

test('how near and how sure evidence is, the PGC says to the question of the task', async () => {
  const { tree, lattice, answer, cited } = await stage();
  await using _ = tree;
  const said = (fields: Parameters<typeof evidenceOf>[0], task = question) =>
    nearnessOf([lattice], taskOf({ task }), evidenceOf(fields));
  const whole = await said({ citations: cited, queries_executed: [question] });
  expect(whole.answered).toBe(answer.confidence);
  expect(whole.citations.map(({ similarity }) => similarity)).toEqual(
    cited.map(({ similarity }) => similarity),
  );
  // A line of what the PGC gives is as near as that; its worker need not say so.
  const line = { ...cited[0]!, line_end: cited[0]!.line_start, similarity: 0.1, agent: '' };
  const [part] = (await said({ citations: [line] })).citations;
  expect(part!.similarity).toBe(cited[0]!.similarity);
  // Who cites nothing has no part in the answer of the PGC.
  expect((await said({ citations: [], queries_executed: [question] })).answered).toBeUndefined();
  // For another task the same evidence is nothing, whatever its worker has asked.
  const beside = await said(
    { citations: cited, queries_executed: [question] },
    'How is memory freed?',
  );
  expect(beside.answered).toBeUndefined();
  expect(beside.citations.every(({ similarity = 0 }) => similarity < 0.7)).toBe(true);
});

test.each<[string, string[], ConfidenceLevel]>([
  ['a query of its own finds it as near', [question], 'high'],
  ['nothing that it asked finds it', ['How is memory freed?'], 'low'],
  ['it asked nothing', [], 'low'],
])('where %s, a worker may claim as much', async (_, queries_executed, claimable) => {
  const { tree, lattice, cited } = await stage();
  await using __ = tree;
  const calls = cited.filter(({ overlay }) => overlay === 'O3');
  const said = evidenceOf({ citations: calls, queries_executed, grounding_confidence: 'high' });
  const task = taskOf({ task: 'How is memory freed?' });
  expect((await nearnessOf([lattice], task, said)).claimable).toBe(claimable);
});

test('a similarity that a worker made up counts for nothing', async () => {
  const { tree, lattice } = await stage();
  await using _ = tree;
  const made = citationOf({ file_path: 'nowhere.c', similarity: 0.99 });
  const said = evidenceOf({ citations: [made], grounding_confidence: 'high' });
  const { citations, answered, claimable } = await nearnessOf([lattice], taskOf(), said);
  expect(citations[0]).not.toHaveProperty('similarity');
  expect([answered, claimable]).toEqual([undefined, 'low']);
});

test('a task of one shard is measured by that shard', async () => {
  const { tree, lattice, cited } = await stage();
  await using _ = tree;
  const of = (pgc: string) =>
    nearnessOf([lattice], taskOf({ task: question, pgc }), evidenceOf({ citations: cited }));
  const agents = new Set(cited.map(({ agent }) => agent));
  const own = await Promise.all([...agents].map(of));
  expect(own.some(({ citations }) => citations.some(({ similarity = 0 }) => similarity > 0))).toBe(
    true,
  );
  expect((await of('nobody')).citations.every(({ similarity }) => similarity === undefined)).toBe(
    true,
  );
});

test('where no index can be asked, no similarity is known, and no claim is called a lie', async () => {
  const said = evidenceOf({ citations: [citationOf()], grounding_confidence: 'high' });
  const { citations, claimable } = await nearnessOf([], taskOf(), said);
  expect(citations[0]).not.toHaveProperty('similarity');
  expect(claimable).toBe('high');
});
