import { expect, test } from 'vitest';
import { z } from 'zod';
import { dated } from '../../../src/operations/dated.js';
import {
  drafted,
  listing,
  looks,
  type Asking,
  type Operation,
} from '../../../src/operations/operation.js';
import type { StatesRequest } from '../../../src/pgc/serve/messages.js';
import type { TreeState } from '../../../src/pgc/plan/tree-state.js';

const state: TreeState = {
  ...{ project: 'p', root: '/p', commit: 'a'.repeat(40), of: 'work tree', index: 'one' },
  ...{ compared: 'all', files_changed: 0, files_unsure: 0, changed: [], is_replaced: false },
};
const rows = Array.from({ length: 400 }, (_, at) => ({
  ...{ symbol: `caller_${at}`, file_path: `src/file_${at}.go`, line: 1, agent: 'p' },
  definition: `src/defined_${at}.go:7`,
}));
const operation: Operation<z.ZodObject> = {
  ...{ name: 'rows', title: '', description: '', doing: '', annotations: looks },
  input: z.strictObject({}),
  output: z.looseObject({}),
  run: () =>
    Promise.resolve(
      listing({ rows }, ['rows'], (part) => part.rows.map((each) => each.file_path).join('\n')),
    ),
};

/** Answers with these states in turn. */
async function answered(
  states: readonly TreeState[],
  { maxTokens = 6_000, folder = '/p/src', its = operation } = {},
): Promise<{ text: string; trees: TreeState[]; asked: StatesRequest[] }> {
  const asked: StatesRequest[] = [];
  const bus = {
    folder,
    states: (request: StatesRequest) => {
      asked.push(request);
      return Promise.resolve([states[asked.length - 1]]);
    },
  } as unknown as Asking;
  const call = { bus, signal: AbortSignal.timeout(10_000), tell: () => undefined };
  const given = { ...call, person: () => undefined };
  const { text, structured } = await drafted(dated(its), { max_tokens: maxTokens }, given);
  return { text, trees: (structured as { trees: TreeState[] }).trees, asked };
}

test('all files of an answer are compared, also those that stand within a place', async () => {
  const { text, asked } = await answered([state, state]);
  expect(asked[0]).toEqual({ agents: [], paths: [], compares: false });
  expect(asked[1]).toMatchObject({ agents: ['p'], compares: true });
  expect(asked[1]?.paths).toEqual(expect.arrayContaining(['src/file_399.go', 'src/defined_7.go']));
  expect(text).toMatch(/State: p, work tree at a{9}, up to date/);
});

test('of an answer that is cut, only changed files that it still shows are named', async () => {
  const changed = ['src/file_0.go', 'src/file_399.go'];
  const now = { ...state, files_changed: 400, changed };
  const { text, trees } = await answered([state, now], { maxTokens: 700 });
  expect(trees[0]?.changed).toEqual(['src/file_0.go']);
  expect(text).toContain('; 400 files changed since, shown here: src/file_0.go');
});

test('an answer during which the index was exchanged does not say that it is up to date', async () => {
  const { text, trees } = await answered([state, { ...state, index: 'two' }]);
  expect(trees[0]?.is_replaced).toBe(true);
  expect(text).toContain('a newer index came while this was answered');
  expect(text).not.toContain('up to date');
});

test('who works in a folder without an index is told so, and what to run', async () => {
  const { text } = await answered([state, state], { folder: '/pieces/of a' });
  expect(text).toContain('This folder has no index');
  expect(text).toContain('run `sigma up "/pieces/of a"` once');
  expect((await answered([state, state])).text).not.toContain('no index');
});

test('an answer that is of no tree has no state', async () => {
  const run: typeof operation.run = async (...its) => ({
    ...(await operation.run(...its)),
    isDateless: true,
  });
  const { text, trees } = await answered([state, state], { its: { ...operation, run } });
  expect(text).not.toContain('State:');
  // A client checks the answer against the schema of the tool.
  expect(trees).toEqual([]);
});
