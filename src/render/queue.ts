import type { QueueAnswer, QueueRow } from '../task/requests/messages.js';
import { spanOf } from './task.js';
import { printable, table } from './terminal.js';

/** Of what a task tells of itself, in its row. */
const progressChars = 60;

export function renderQueue({
  owner,
  rows,
  siblings,
  concurrency,
  supervised,
}: QueueAnswer): string {
  const bounds = [
    ...(concurrency > 0 ? [`${concurrency} at a time`] : []),
    ...(supervised ? ['supervised'] : []),
  ];
  const head = `Queue of ${printable(owner)}${bounds.length > 0 ? ` (${bounds.join(', ')})` : ''}`;
  return [
    rows.length === 0 ? `${head}: nothing.` : `${head}\n${rowsTable(rows)}`,
    ...(siblings.length === 0 ? [] : ['Beside you:', rowsTable(siblings)]),
  ].join('\n');
}

function rowsTable(rows: readonly QueueRow[]): string {
  const titles = ['NAME', 'STATUS', 'STATE', 'SINCE', 'ID', 'PROGRESS'];
  return table([titles, ...rows.map(rowOf)]);
}

function rowOf(row: QueueRow): string[] {
  const { name, status, state, created_ms, started_ms, finished_ms, id, progress } = row;
  const sinceMs = finished_ms || started_ms || created_ms;
  const shown = row.is_delivering ? `${status} (its result is on its way)` : status;
  const doing =
    progress.length <= progressChars ? progress : `${progress.slice(0, progressChars - 1)}…`;
  return [name || '-', shown, state, spanOf(Date.now() - sinceMs), id, doing];
}
