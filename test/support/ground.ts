import { systemClock } from '../../src/base/clock.js';
import { TreeGround } from '../../src/critic/artifact/tree-ground.js';
import { BusError } from '../../src/errors/bus-error.js';
import { Lattice } from '../../src/lattice/lattice.js';
import { LatticeQuestions } from '../../src/lattice/questions.js';
import { lazyCardOf } from '../../src/pgc/search/card/card.js';
import { TreeAnalyses } from '../../src/pgc/analyse/analyses.js';
import { indexFolder } from '../../src/pgc/build/index-folder.js';
import { openIndex } from '../../src/pgc/search/open-index.js';
import { askedBy, treeMessages } from '../../src/pgc/serve/messages.js';
import { openShards } from '../../src/pgc/serve/open-shards.js';
import { TemporaryTree } from './git-tree.js';
import type { IndexedTree } from './indexed-tree.js';

/** The ground of an indexed tree, without analyses. */
export function groundIn({
  root,
  shards,
}: Pick<IndexedTree, 'root' | 'shards'>): Promise<TreeGround> {
  const lattice = new Lattice(shards, () => shards.map(({ index }) => lazyCardOf(index)));
  const trees = shards.map(({ index }) => index.info);
  const none = askedBy(treeMessages, (): Promise<never> =>
    Promise.reject(new BusError('NO_SHARDS')),
  );
  return TreeGround.open(root, new LatticeQuestions(lattice, systemClock, trees), none);
}

/** An indexed tree with its questions and analyses. Closing it removes the tree. */
export class AnalysedTree implements AsyncDisposable {
  private constructor(
    readonly root: string,
    readonly questions: LatticeQuestions,
    readonly analyses: TreeAnalyses,
    readonly close: () => Promise<void>,
  ) {}

  static async of(tree: TemporaryTree): Promise<AnalysedTree> {
    const home = await TemporaryTree.create();
    await indexFolder({ root: tree.root, home: home.root, jobs: 0 });
    const direct = await openShards(tree.root, home.root);
    const { shards } = direct;
    const lattice = new Lattice(shards, () => shards.map(({ index }) => lazyCardOf(index)));
    const opened = openIndex(tree.root, home.root);
    const analyses = new TreeAnalyses(() => opened);
    const trees = shards.map(({ index }) => index.info);
    const questions = new LatticeQuestions(lattice, systemClock, trees);
    return new AnalysedTree(tree.root, questions, analyses, async () => {
      direct[Symbol.dispose]();
      await opened.then((its) => its[Symbol.dispose]()).catch(() => undefined);
      await tree[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    });
  }

  /** Reads the tree again. */
  ground(): Promise<TreeGround> {
    return TreeGround.open(this.root, this.questions, this.analyses);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
