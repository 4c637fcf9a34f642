import { runGit } from '../../pgc/source/git/run-git.js';
import type { Questions } from '../../lattice/questions.js';
import type { Analyses } from '../../pgc/analyse/analyses.js';
import { ConfinedReader, isInnerPath } from '../../pgc/source/confined-reader.js';
import { SourceTree } from '../../pgc/source/source-tree.js';
import type { Ground } from '../ground.js';

/** Of one file that a critic reads for a line or two. */
const fileBytesMax = 8 * 1024 * 1024;
/** A zero byte in this much of the beginning means that it is no text: the rule of git. */
const binaryProbeBytes = 8_000;
const gitMsMax = 5_000;

function textOf(bytes: Buffer): string | undefined {
  return bytes.subarray(0, binaryProbeBytes).includes(0) ? undefined : bytes.toString();
}

/** The tree of an index as it stands on this machine, and the index itself. */
export class TreeGround implements Ground {
  readonly root: string;
  readonly questions: Questions;
  readonly analyses: Analyses;
  readonly #tree: SourceTree;
  readonly #reader: ConfinedReader;
  #paths: Promise<readonly string[]> | undefined;

  private constructor(tree: SourceTree, questions: Questions, analyses: Analyses) {
    this.root = tree.root;
    this.questions = questions;
    this.analyses = analyses;
    this.#tree = tree;
    this.#reader = new ConfinedReader(tree.root, fileBytesMax);
  }

  /** Throws REPO_UNREADABLE. */
  static async open(root: string, questions: Questions, analyses: Analyses): Promise<TreeGround> {
    return new TreeGround(await SourceTree.open(root), questions, analyses);
  }

  paths(): Promise<readonly string[]> {
    return (this.#paths ??= this.#listed());
  }

  async read(path: string): Promise<string | undefined> {
    const read = await this.#reader.read(path);
    return 'refused' in read ? undefined : textOf(read.bytes);
  }

  async committed(path: string): Promise<string | undefined> {
    if (!isInnerPath(path)) return undefined;
    // `./`: the tree may be a folder of a repository.
    const args = ['cat-file', 'blob', `HEAD:./${path}`];
    const bytes = await runGit(this.root, args, gitMsMax, fileBytesMax);
    return bytes === undefined ? undefined : textOf(bytes);
  }

  /** Also files that no miner knows: a document may name them. */
  async #listed(): Promise<readonly string[]> {
    const { files, leftOut } = await this.#tree.list();
    const absent = new Set(['absent', 'name is not UTF-8', 'outside the root']);
    const others = leftOut.filter(({ reason }) => !absent.has(reason));
    return [...files, ...others].map(({ path }) => path).sort();
  }
}

/** Folders of these paths; the root is ''. */
export function foldersOf(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set(['']);
  for (const each of paths)
    for (let at = each.indexOf('/'); at >= 0; at = each.indexOf('/', at + 1))
      folders.add(each.slice(0, at));
  return folders;
}
