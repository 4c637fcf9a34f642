import type { TreeState } from '../pgc/plan/tree-state.js';
import { count, line } from './terminal.js';

/** Of a commit id. */
const commitChars = 9;
/** Of changed files. */
const namesShown = 5;

/** A line for each tree: which state of it an answer shows, and what has changed since. */
export function statesText(trees: readonly TreeState[]): string {
  return trees.map(stateText).join('\n');
}

function stateText({ project, commit, of, is_replaced, ...since }: TreeState): string {
  const id = commit.slice(0, commitChars);
  const place = of === 'commit' ? `commit ${id}` : `work tree${commit === '' ? '' : ` at ${id}`}`;
  const newer = is_replaced ? '; a newer index is about to be served' : '';
  return line`State: ${project}, ${place}${of === 'commit' ? '' : sinceThen(since)}${newer}`;
}

type Since = Pick<TreeState, 'files_changed' | 'compared' | 'changed'>;

function sinceThen({ files_changed, compared, changed }: Since): string {
  if (compared === 'none') return '; not compared with its files';
  const shown = changed.slice(0, namesShown).join(', ');
  const more = changed.length > namesShown ? `, ${changed.length - namesShown} more` : '';
  if (compared === 'named')
    return changed.length === 0
      ? '; the files shown here are as they were'
      : `; changed since: ${shown}${more}`;
  if (files_changed === 0) return ', up to date';
  const named = changed.length === 0 ? 'none of them shown here' : `shown here: ${shown}${more}`;
  return `; ${count(files_changed, 'file')} changed since, ${named}`;
}
