import { callersOf } from '../../src/pgc/bind/call-sites.js';
import { indexFolder } from '../../src/pgc/build/index-folder.js';
import { openShards } from '../../src/pgc/serve/open-shards.js';
import type { Shard } from '../../src/pgc/serve/shard.js';
import { TemporaryTree } from './git-tree.js';

export interface IndexedTree extends AsyncDisposable {
  root: string;
  /** In the order of the aliases. */
  shards: Shard[];
}

/** Writes the files, indexes them with one shard per top folder and opens the shards. */
export async function indexedTree(
  files: Record<string, string>,
  aliases: readonly string[],
): Promise<IndexedTree> {
  const tree = await TemporaryTree.create(files);
  const home = await TemporaryTree.create();
  const plan = { shards: aliases.map((alias) => ({ alias, paths: [alias] })) };
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, shards: plan });
  const opened = await openShards(tree.root, home.root);
  return {
    root: tree.root,
    shards: opened.shards,
    async [Symbol.asyncDispose]() {
      opened[Symbol.dispose]();
      await tree[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

/** The call sites of a symbol in all shards, with how surely they call it. */
export function callersIn({ shards }: IndexedTree, symbol: string): string[] {
  return shards.flatMap(({ index }) =>
    callersOf(index, [symbol]).map(({ file_path, line, certainty, via }) =>
      [`${file_path}:${line}`, certainty, via].join(' ').trim(),
    ),
  );
}

/** Its uses that call nothing, sorted. */
export function usesIn({ shards }: IndexedTree, symbol: string): string[] {
  return shards
    .flatMap(({ index }) => callersOf(index, [symbol], { withUses: true }))
    .filter(({ kind }) => kind === 'value' || kind === 'type')
    .map(({ file_path, line, kind, certainty }) => `${file_path}:${line} ${kind} ${certainty}`)
    .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
}
