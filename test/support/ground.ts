import { systemClock } from '../../src/base/clock.js';
import { TreeGround } from '../../src/critic/tree-ground.js';
import { Lattice } from '../../src/lattice/lattice.js';
import { LatticeQuestions } from '../../src/lattice/questions.js';
import { lazyCardOf } from '../../src/pgc/card.js';
import type { IndexedTree } from './indexed-tree.js';

/** What a critic may ask of an indexed tree, without analyses of the whole of it. */
export function groundIn({
  root,
  shards,
}: Pick<IndexedTree, 'root' | 'shards'>): Promise<TreeGround> {
  const lattice = new Lattice(shards, () => shards.map(({ index }) => lazyCardOf(index)));
  const trees = shards.map(({ index }) => index.info);
  return TreeGround.open(root, new LatticeQuestions(lattice, systemClock, trees));
}
