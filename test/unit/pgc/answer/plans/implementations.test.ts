import { expect, test } from 'vitest';
import { familiesOf } from '../../../../../src/pgc/answer/plans/families.js';
import { planned } from '../../../../../src/pgc/answer/plans/plan.js';
import type { ShardIndex } from '../../../../../src/pgc/format/shard-index.js';
import type { AskRequest, Evidence } from '../../../../../src/pgc/shapes.js';
import { analyse } from '../../../../../src/pgc/search/question/question.js';
import type { Shard } from '../../../../../src/pgc/serve/shard.js';
import { indexedTree } from '../../../../support/indexed-tree.js';

const go = {
  'go.mod': 'module example.org/vault\n\ngo 1.22\n',
  'vault/store.go': `package vault

// SnapshotStore keeps snapshots of the state.
type SnapshotStore interface {
	Create(id string) error
	Close() error
}

// Runner runs what it is given.
type Runner interface {
	Run() error
}
`,
  'vault/file.go': `package vault

type FileStore struct{ dir string }

func (f *FileStore) Create(id string) error { return nil }
func (f *FileStore) Close() error { return nil }
`,
  'vault/memory.go': `package vault

type MemoryStore struct{ all map[string]string }

func (m *MemoryStore) Create(id string) error { return nil }
func (m *MemoryStore) Close() error { return nil }
`,
  'vault/discard.go': `package vault

type DiscardStore struct{}

func (d *DiscardStore) Create(id string) error { return nil }
func (d *DiscardStore) Close() error { return nil }
`,
  'vault/run.go': `package vault

type Loop struct{}

func (l *Loop) Run() error { return nil }

type Once struct{}

func (o *Once) Run() error { return nil }

// keepSnapshots keeps snapshots of the state in the places for snapshots.
func keepSnapshots(places []string) {
	for _, snapshots := range places {
		_ = snapshots
	}
}
`,
  'vault/store_test.go': `package vault

type fakeStore struct{}

func (f *fakeStore) Create(id string) error { return nil }
func (f *fakeStore) Close() error { return nil }
`,
};

const c = {
  'spread/peer.h': `struct peer {
	int (*init_peer)(int group);
};
`,
  'spread/round_robin.c': `#include "peer.h"

static int init_round_robin(int group) { return group; }

struct peer round_robin = { .init_peer = init_round_robin };
`,
  'spread/least_used.c': `#include "peer.h"

static int init_least_used(int group) { return group + 1; }

struct peer least_used = { .init_peer = init_least_used };
`,
  'spread/print.c': `void print_group(int group) { }
`,
};

function namesOf(index: ShardIndex, symbols: readonly number[]): string[] {
  return symbols.map((each) => index.symbol(each).name).sort();
}

async function plannedNames({ index, excerpts, search }: Shard, text: string): Promise<string[]> {
  const question = analyse(text);
  const { found, weighing } = await search.find(question, new Set(['O1']), 40);
  return planned(index, excerpts, question, weighing, found).flatMap((each) =>
    each.kind === 'symbol' && each.symbol !== undefined ? index.symbol(each.symbol).name : [],
  );
}

async function shown(shard: Shard, more: Partial<AskRequest>): Promise<Evidence[]> {
  const question = 'Which places exist that keep snapshots of the state?';
  const answer = await shard.ask({ question, overlays: [], top_k: 3, ...more });
  return answer.evidence;
}

async function only(files: Record<string, string>, alias: string) {
  const tree = await indexedTree(files, [alias]);
  const shard = tree.shards.find(({ index }) => index.info.alias === alias);
  if (shard === undefined) throw new Error(`no shard ${alias}`);
  return { shard, tree };
}

test('which places there are is answered by all that implement the interface the question speaks of, without tests', async () => {
  const { shard, tree } = await only(go, 'vault');
  await using _ = tree;
  const names = await plannedNames(shard, 'Which places exist that keep snapshots of the state?');
  expect(names.slice(0, 6)).toEqual(
    expect.arrayContaining(['SnapshotStore', 'FileStore', 'MemoryStore', 'DiscardStore']),
  );
  expect(names.slice(0, 6)).not.toContain('fakeStore');
  expect(names.filter((name) => name === 'FileStore')).toHaveLength(1);
});

test('another question, and one that names a symbol, keeps the order of the ranking', async () => {
  const { shard, tree } = await only(go, 'vault');
  await using _ = tree;
  for (const text of [
    'How are snapshots of the state kept?',
    'Which places exist that keep what `keepSnapshots` keeps?',
  ]) {
    const question = analyse(text);
    const { found, weighing } = await shard.search.find(question, new Set(['O1']), 40);
    expect(planned(shard.index, shard.excerpts, question, weighing, found)).toEqual(found);
  }
});

test('a family has the sources that implement a type; a method that most of them replace speaks for the types', async () => {
  const { shard, tree } = await only(go, 'vault');
  await using _ = tree;
  const { index } = shard;
  const families = familiesOf(index);
  const stores = families.filter(({ sort }) => sort === 'SnapshotStore');
  expect(stores.map(({ name }) => name).sort()).toEqual([
    'SnapshotStore',
    'SnapshotStore.Close',
    'SnapshotStore.Create',
  ]);
  for (const { members, methods } of stores) {
    expect(namesOf(index, members)).toEqual(['DiscardStore', 'FileStore', 'MemoryStore']);
    expect(methods).toBeUndefined();
  }
  const runner = families.find(({ name }) => name === 'Runner');
  expect(runner?.methods?.map((each) => index.symbol(each).container).sort()).toEqual([
    'Loop',
    'Once',
  ]);
});

test('a plan adds nothing of files that are not asked for', async () => {
  const test = {
    'vault/keep_test.go':
      'package vault\n\n// keeps snapshots of the state in places\nfunc keepPlaces() {}\n',
  };
  const { shard, tree } = await only({ ...go, ...test }, 'vault');
  await using _ = tree;
  const all = await shown(shard, { roles: ['test'] });
  expect(all.map(({ role }) => role)).toEqual(all.map(() => 'test'));
  expect(all.length).toBeGreaterThan(0);
});

test('a plan puts no symbols before the items that alone are asked for', async () => {
  const place = (at: number): string =>
    `## Place ${at}\n\nA place that keeps snapshots of the state, number ${at}.\n`;
  const note = { 'vault/README.md': `# Vault\n\n${[1, 2, 3, 4].map(place).join('\n')}` };
  const { shard, tree } = await only({ ...go, ...note }, 'vault');
  await using _ = tree;
  const ready = ['O2', 'O4', 'O5', 'O6', 'O7'];
  const all = await shown(shard, { overlays: ready });
  expect(all.map(({ file_path }) => file_path)).toEqual(Array(3).fill('vault/README.md'));
});

test('in C the functions that stand in one field are a family', async () => {
  const { shard, tree } = await only(c, 'spread');
  await using _ = tree;
  const names = familiesOf(shard.index)
    .filter(({ sort }) => sort === 'peer')
    .map(({ members }) => namesOf(shard.index, members).join());
  expect(names).toContain('init_least_used,init_round_robin');
});
