import type { MarkdownText } from '../artifact/markdown.js';
import type { Claim } from './claim.js';
import type { Tree } from './tree.js';
import { hasWord } from './words.js';

/** What every look-up is given. */
export interface Looking {
  tree: Tree;
  read: MarkdownText;
  claim: Claim;
}

/** Whether an example of the document has the word: examples name things of their readers. */
export function isInExample({ read }: Looking, word: string): boolean {
  return read.fences.some(({ text }) => hasWord(text, word));
}
