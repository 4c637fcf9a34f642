import { createHash } from 'node:crypto';

/**
 * The service of agents that have the whole index of a tree; the same name on every machine. `root`: absolute, without
 * links.
 */
export function treeServiceOf(root: string): string {
  return `tree-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
}
