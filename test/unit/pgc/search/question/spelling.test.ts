import { afterAll, beforeAll, expect, test } from 'vitest';
import { analyse } from '../../../../../src/pgc/search/question/question.js';
import { respelt } from '../../../../../src/pgc/search/question/spelling.js';
import { indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

const files = {
  'src/relay.ts': `/** Hands a request on to a backend that is available, and closes the connection. */
export function relay(backend: string): string {
  return backend;
}
`,
};
const english = new Set(['backed', 'weather']);

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['src']);
});
afterAll(() => tree[Symbol.asyncDispose]());

function read(text: string): { terms: string[]; readAs: string[] } {
  const { question, readAs } = respelt(analyse(text), tree.shards[0]!.index, (word) =>
    english.has(word),
  );
  const terms = question.concepts.flatMap(({ variants }) => variants.map(({ term }) => term));
  return { terms, readAs };
}

test('a letter too few, too many, another one and two in the wrong order are read as the word of the code', () => {
  for (const slip of ['conection', 'connnection', 'cannection', 'conenction']) {
    const { terms, readAs } = read(`How is the ${slip} closed?`);
    expect(terms).toContain('connect');
    expect(readAs).toEqual([`“${slip}” was read as “connection”.`]);
  }
});

test('what is read as a slip is trusted less than what is written', () => {
  const { question } = respelt(analyse('How is a bakend?'), tree.shards[0]!.index, () => false);
  expect(question.concepts).toMatchObject([{ variants: [{ term: 'backend', trust: 0.7 }] }]);
});

test('a word of the language stays, also where a word of the code is near', () => {
  expect(read('Who backed it?')).toMatchObject({ terms: ['back'], readAs: [] });
});

test('a name in code, a short word and what is two slips away stay as they are', () => {
  expect(read('What does bakend() do?')).toMatchObject({ terms: ['bakend'], readAs: [] });
  expect(read('When to clse it?')).toMatchObject({ terms: ['clse'], readAs: [] });
  expect(read('What is a bkaned?')).toMatchObject({ terms: ['bkane'], readAs: [] });
});

test('a misspelt word that says nothing says nothing', () => {
  expect(read('Of whcih backend?')).toMatchObject({ terms: ['backend'], readAs: [] });
});
