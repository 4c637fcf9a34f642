import type { ItemFact } from '../format/facts.js';
import { oneLine } from '../mine/items/item.js';
import type { FileHistory, History } from '../source/git/history.js';
import { printableLine } from '../source/git/commit-text.js';

/**
 * The O3 items of one file from git: its history, its most frequent authors, and files that change together with it.
 * Anchored on its first line.
 */
export function lineageItems(history: History, path: string): ItemFact[] {
  const known = history.of(path);
  if (known === undefined) return [];
  return [
    item('history', sentenceOf(known, history.isComplete), known.last.author),
    ...known.authors.map(({ name, commits }) =>
      item('author', `${commits} of ${counted(known.commits, 'commit')} by ${name}`, name),
    ),
    ...known.co_changes.map((other) =>
      item(
        'co-change',
        `changes together with ${printableLine(other.path)} (${other.together} of ${known.commits} commits)`,
        other.path,
      ),
    ),
  ];
}

/** The day of the last change, parsed from the text of a `history` item. */
export function changeOf(text: string): string | undefined {
  return /, last (\d{4}-\d{2}-\d{2}) by /.exec(text)?.[1];
}

/** How many commits a `history` item speaks of. */
export function commitsOf(text: string): number {
  return Number(/^(?:at least )?(\d+) commit/.exec(text)?.[1] ?? 0);
}

/** A history that was cut short has only its newest part. */
function sentenceOf(known: FileHistory, isComplete: boolean): string {
  const { commits, authors_total, first, last } = known;
  const count = `${counted(commits, 'commit')} by ${counted(authors_total, 'author')}`;
  const span = isComplete
    ? `${count} since ${first.date}`
    : `at least ${count} since ${first.date} or before`;
  return `${span}, last ${last.date} by ${last.author}: ${last.subject}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function item(rule: string, text: string, subject: string): ItemFact {
  return {
    ...{ overlay: 3, rule, line_start: 1, line_end: 1, text: oneLine(text) },
    ...{ subject, severity: '', cwe: '' },
  };
}
