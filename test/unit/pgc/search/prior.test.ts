import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { roleOf } from '../../../../src/pgc/source/role.js';
import { isAside } from '../../../../src/pgc/search/prior.js';
import { analyse } from '../../../../src/pgc/search/question/question.js';
import { Retriever } from '../../../../src/pgc/search/retrieve.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

const files = {
  'src/ask.ts': `export function ask(text: string): string {
  return text;
}
`,
  'src/mailbox.ts': `/** Leases a letter to the reader that asks for it, until the lease runs out. */
export function lease(reader: string, letter: string): string {
  return reader + letter;
}
`,
  'src/mailbox.test.ts': `/** Leases a letter to the reader that asks for it, until the lease runs out. */
export function leaseOfTests(reader: string, letter: string): string {
  return reader + letter;
}
`,
  'src/sample.ts': `export const question = 'which letter does the reader ask for, and until when does the lease run';
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['src']);
});
afterAll(() => tree[Symbol.asyncDispose]());

function found(text: string): string[] {
  const { index } = tree.shards[0]!;
  const hits = new Retriever(index).search(analyse(text), { limit: 10 });
  return hits.flatMap((hit) => (hit.symbol === undefined ? [] : [index.symbol(hit.symbol).name]));
}

describe('a question in plain words', () => {
  test('finds what explains it before its test, a string that repeats it, and a namesake of one word', () => {
    const [first, ...others] = found('How does a reader ask for the lease of a letter?');
    expect(first).toBe('lease');
    expect(others).toEqual(expect.arrayContaining(['leaseOfTests', 'question', 'ask']));
  });

  test('finds the test as well when it speaks of tests', () => {
    expect(found('Which test leases a letter to a reader?')[0]).toBe('leaseOfTests');
  });

  test('finds the namesake when it is written as code', () => {
    expect(found('What does `ask` do?')[0]).toBe('ask');
  });
});

test.each([
  ['test/unit/pgc/answer/ask.test.ts', true],
  ['lib/test_kmod.c', true],
  ['tools/testing/selftests/net/a.c', true],
  ['app/models/user_test.py', true],
  ['src/wire/generated/proto.js', true],
  ['src/attest/key.ts', false],
  ['drivers/net/latest.c', false],
])('%s is beside the code: %s', (path, expected) => {
  expect(isAside(roleOf(path))).toBe(expected);
});
