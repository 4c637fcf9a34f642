import { expect, test } from 'vitest';
import { planned } from '../../../../../src/pgc/answer/plans/plan.js';
import type { Found } from '../../../../../src/pgc/search/search.js';
import { analyse } from '../../../../../src/pgc/search/question/question.js';
import { indexedTree } from '../../../../support/indexed-tree.js';

const files = {
  'pool/pool.py': `NOT_READY = "the pool is not ready yet, try again"


def available_connection(pool):
    """Clients take a connection here: not available, where clients fail and come later, with a log message."""
    connection = pool.available_connection
    while connection is None:
        connection = retry_connection(pool, log=True, message=None)
        wait_for_connection(pool)
    return connection


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

/** In the order of the ranking, and of the plan. */
async function namesFor(text: string): Promise<{ ranked: string[]; names: string[] }> {
  await using tree = await indexedTree(files, ['pool']);
  const shard = tree.shards.find(({ index }) => index.info.alias === 'pool');
  if (shard === undefined) throw new Error('no shard');
  const { index, excerpts, search } = shard;
  const question = analyse(text);
  const { found, weighing } = await search.find(question, new Set(['O1']), 40);
  const namesOf = (hits: readonly Found[]): string[] =>
    hits.flatMap((each) =>
      each.kind === 'symbol' && each.symbol !== undefined ? index.symbol(each.symbol).name : [],
    );
  const names = namesOf(planned(index, excerpts, question, weighing, found));
  return { ranked: namesOf(found), names };
}

test.each([
  "Clients fail with 'connection is not available after 3000 ms'. Where does that come from?",
  'The log says "… connection is not available after 12 ms". Who makes this message?',
])('what prints a message comes first, whatever else has its words: %s', async (text) => {
  const { ranked, names } = await namesFor(text);
  expect(ranked[0]).not.toBe('wait_for_connection');
  expect(names[0]).toBe('wait_for_connection');
  expect(names.filter((name) => name === 'wait_for_connection')).toHaveLength(1);
});

test('a text that has a name leads to what uses it', async () => {
  const { names } = await namesFor(
    "It stops with an error, 'the pool is not ready yet'. Where is it raised?",
  );
  expect(names.slice(0, 2)).toEqual(['NOT_READY', 'open_pool']);
});

test('words that no text of the code has one behind the other change nothing', async () => {
  const text = "It fails with 'available connection after the pool'. Why?";
  const { ranked, names } = await namesFor(text);
  expect(ranked.length).toBeGreaterThan(0);
  expect(names).toEqual(ranked);
});
