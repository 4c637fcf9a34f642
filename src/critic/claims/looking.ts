import type { MarkdownText } from '../artifact/markdown.js';
import type { Claim, PathName } from './claim.js';
import { placeOf } from './places.js';
import type { Tree } from './tree.js';
import { hasWord } from './words.js';

/**
 * Which names of the document belong to the tree. Only where nearly all of a kind are there does a missing one prove
 * anything: a document may as well speak of another program.
 */
export interface Namespaces {
  names: boolean;
  files: boolean;
}

/** What every look-up is given. */
export interface Looking {
  tree: Tree;
  read: MarkdownText;
  claim: Claim;
  owns: Namespaces;
}

/** Whether an example of the document has the word: examples name things of their readers. */
export function isInExample({ read }: Looking, word: string): boolean {
  return read.fences.some(({ text }) => hasWord(text, word));
}

/** At least eight names, or three files, and three in four of them are in the tree. */
export async function namespacesOf(claims: readonly Claim[], tree: Tree): Promise<Namespaces> {
  const words = await tree.words();
  const names = new Set<string>();
  const files = new Map<string, PathName>();
  for (const { statement } of claims) {
    if (statement.kind === 'symbol') names.add(statement.symbol.name);
    if (statement.kind === 'path' && !statement.path.path.includes('/'))
      files.set(statement.path.path, statement.path);
  }
  return {
    names: words.isComplete && areMost([...names], 8, (each) => words.has(each)),
    files: areMost([...files.values()], 3, (each) => placeOf(tree, each).is !== 'nowhere'),
  };
}

function areMost<T>(all: readonly T[], min: number, isOwn: (each: T) => boolean): boolean {
  const own = all.filter(isOwn).length;
  return own >= min && 4 * own >= 3 * all.length;
}
