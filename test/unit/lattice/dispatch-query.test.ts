import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { query } from '../../../src/lattice/query/query.js';
import type { Answer } from '../../../src/pgc/shapes.js';
import { indexedTree, type IndexedTree } from '../../support/indexed-tree.js';

const sink = (name: string): string => `package ${name}
// Sink writes records into ${name}.
type Sink struct{}
func (s Sink) Store(record string) { append${name}(record) }
func append${name}(record string) {}
`;
const files = {
  'go.mod': 'module example.com/app\n',
  'pipe/pipe.go': `package pipe
// Keeper stores a record somewhere.
type Keeper interface { Store(record string) }
// DrainPipeline drains the pipeline, record after record.
func DrainPipeline(keeper Keeper) { keeper.Store("record") }
`,
  'kafka/sink.go': sink('kafka'),
  'redis/sink.go': sink('redis'),
  'disk/sink.go': sink('disk'),
};

let tree: IndexedTree;
let lattice: Lattice;
beforeAll(async () => {
  tree = await indexedTree(files, ['pipe', 'kafka', 'redis', 'disk']);
  const cards = await Promise.all(tree.shards.map((shard) => shard.card()));
  lattice = new Lattice(tree.shards, cards);
});
afterAll(() => tree[Symbol.asyncDispose]());

const asked = (question: string): Promise<Answer> =>
  query(
    lattice,
    { question, from: 'pipe', max_hops: 3, top_k: 5 },
    { clock: systemClock, deadlineMs: 5_000 },
  );

test.each(['kafka', 'redis'])(
  'a call through an interface leads to the %s that is asked about',
  async (name) => {
    const answer = await asked(`How does DrainPipeline get a record into ${name}?`);
    expect(answer.query_path).toEqual(['pipe', name]);
    const [, entered] = answer.hops;
    expect(entered?.via).toMatchObject({ from: 'pipe/pipe.go:5', to: `${name}/sink.go:4` });
    const edge = answer.flow.find(({ site }) => site === 'pipe/pipe.go:5');
    expect(edge).toMatchObject({ certainty: 'dispatch', definition: `${name}/sink.go:4` });
  },
);
