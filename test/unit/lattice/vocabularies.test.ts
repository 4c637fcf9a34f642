import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Vocabularies, type VersionedPort } from '../../../src/lattice/route/vocabularies.js';
import { indexedTree, type IndexedTree } from '../../support/indexed-tree.js';

let tree: IndexedTree;
beforeAll(async () => {
  const files = {
    'net/a.c': 'int net_send(void) { return 1; }\n',
    'mm/a.c': 'int page_get(void) { return 1; }\n',
  };
  tree = await indexedTree(files, ['mm', 'net']);
});
afterAll(async () => tree[Symbol.asyncDispose]());

test('the words of a shard are fetched once per version, and those of a shard that is gone are forgotten', async () => {
  const fetched: string[] = [];
  const shards = (version: string): VersionedPort[] =>
    tree.shards.map((shard) => ({
      version,
      port: Object.assign(Object.create(shard) as VersionedPort['port'], {
        vocabulary: () => {
          fetched.push(`${shard.agent} ${version}`);
          return shard.vocabulary();
        },
      }),
    }));
  const vocabularies = new Vocabularies();
  const told = async (asked: VersionedPort[]): Promise<string[]> => {
    const { errors } = await vocabularies.tree(asked, systemClock, new AbortController().signal);
    expect(errors).toEqual([]);
    return fetched.splice(0).sort();
  };
  expect(await told(shards('1'))).toEqual(['mm 1', 'net 1']);
  expect(await told(shards('1'))).toEqual([]);
  expect(await told(shards('2'))).toEqual(['mm 2', 'net 2']);
  expect(await told(shards('2').slice(0, 1))).toEqual([]);
  expect(await told(shards('2'))).toEqual(['net 2']);
});
