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

function stateText(state: TreeState): string {
  const { project, commit, of, is_replaced } = state;
  const id = commit.slice(0, commitChars);
  const place = of === 'commit' ? `commit ${id}` : `work tree${commit === '' ? '' : ` at ${id}`}`;
  if (is_replaced)
    return line`State: ${project}, ${place}; a newer index came while this was answered, which may be of the one before`;
  return line`State: ${project}, ${place}${of === 'commit' ? '' : sinceThen(state)}`;
}

function sinceThen({ files_changed, files_unsure, compared, changed }: TreeState): string {
  if (compared === 'none') return '; not compared with its files';
  const unsure = files_unsure === 0 ? '' : `, ${files_unsure} more were touched`;
  const names = changed.slice(0, namesShown).join(', ');
  const more = changed.length > namesShown ? ' and more' : '';
  const shown = changed.length === 0 ? 'none of them shown here' : `shown here: ${names}${more}`;
  if (files_changed > 0)
    return `; ${count(files_changed, 'file')} changed since${unsure}, ${shown}`;
  const same = compared === 'all' ? ', up to date' : '; the files shown here are as they were';
  return files_unsure === 0 ? same : `; ${count(files_unsure, 'file')} touched since, not compared`;
}
