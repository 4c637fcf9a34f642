import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SourceText } from '../../../../src/pgc/shapes.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

// Made up of parts: what looks like a secret is refused by those who keep code.
const issued = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
const random = ['xK9vQ2mZ', 'pL4wRt7Y', 'bN3cHs6D'].join('');

const files = {
  'app/login.ts': `/** Signs in with ${issued} for the tests. */
export function signIn(name: string): string {
  const token =
    '${random}';
  return name + token;
}

export const dbPassword = '${random}';
`,
};

let tree: IndexedTree;
beforeAll(async () => void (tree = await indexedTree(files, ['app'])));
afterAll(() => tree[Symbol.asyncDispose]());

async function sourceOf(symbol: string): Promise<SourceText> {
  const [found] = (await tree.shards[0]?.sources([symbol])) ?? [];
  if (found === undefined) throw new Error(`${symbol} is not there`);
  return found;
}

test('a definition comes whole, with the lines as they were indexed', async () => {
  const { definition, lines, cut } = await sourceOf('signIn');
  expect([definition.line, definition.line_end, cut]).toEqual([2, 6, false]);
  expect(lines.map(({ line }) => line)).toEqual([2, 3, 5, 6]);
});

test('nothing of it shows a credential: no line, no line below its name, no comment', async () => {
  const { definition, lines, hidden } = await sourceOf('signIn');
  expect(JSON.stringify({ definition, lines })).not.toMatch(new RegExp(`${issued}|${random}`));
  expect(definition.doc).toContain('Signs in with');
  expect(hidden).toBe(1);
});

test('of what is nothing but a credential, only that is said', async () => {
  const { lines, hidden } = await sourceOf('dbPassword');
  expect([lines, hidden]).toEqual([[], 1]);
});
