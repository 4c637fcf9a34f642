import { expect, test } from 'vitest';
import { planned } from '../../../../../src/pgc/answer/plans/plan.js';
import { analyse } from '../../../../../src/pgc/search/question/question.js';
import { indexedTree } from '../../../../support/indexed-tree.js';

const files = {
  'pool/pool.py': `NOT_READY = "the pool is not ready yet, try again"


def take_connection(pool):
    """Takes a connection of the pool; a connection is not available where the pool has no connection."""
    if pool.connection is None:
        wait_for_connection(pool)
    return pool.connection


def wait_for_connection(pool):
    raise TimeoutError(f"connection is not available after {pool.wait} ms")


def open_pool(pool):
    if not pool.ready:
        raise RuntimeError(NOT_READY)


def test_connection():
    # The connection is not available after a while.
    return None
`,
  'pool/test_pool.py': `def test_message():
    assert str(error()) == "connection is not available after 5 ms"
`,
};

async function namesFor(text: string): Promise<string[]> {
  await using tree = await indexedTree(files, ['pool']);
  const shard = tree.shards.find(({ index }) => index.info.alias === 'pool');
  if (shard === undefined) throw new Error('no shard');
  const { index, excerpts, search } = shard;
  const question = analyse(text);
  const { found, weighing } = await search.find(question, new Set(['O1']), 40);
  return planned(index, excerpts, question, weighing, found).flatMap((each) =>
    each.kind === 'symbol' && each.symbol !== undefined ? index.symbol(each.symbol).name : [],
  );
}

test.each([
  "Clients fail with 'connection is not available after 3000 ms'. Where does that come from?",
  'The log says "… connection is not available after 12 ms". Who makes this message?',
])('what prints a message comes first, whatever else has its words: %s', async (text) => {
  const names = await namesFor(text);
  expect(names[0]).toBe('wait_for_connection');
  expect(names.filter((name) => name === 'wait_for_connection')).toHaveLength(1);
});

test('a text that has a name leads to what uses it', async () => {
  const names = await namesFor(
    "It stops with an error, 'the pool is not ready yet'. Where is it raised?",
  );
  expect(names.slice(0, 2)).toEqual(['NOT_READY', 'open_pool']);
});

test('words that no text of the code has one behind the other change nothing', async () => {
  const text = "It fails with 'available connection after the pool'. Why?";
  const names = await namesFor(text);
  expect(names.length).toBeGreaterThan(0);
  expect(names[0]).not.toBe('wait_for_connection');
});
