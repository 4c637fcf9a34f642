import type { JSX } from 'preact';
import { countText } from './amounts.js';

/** Which rows of many are shown, and the way to the others. */
export function Pager({
  offset,
  limit,
  total,
  linkAt,
}: {
  offset: number;
  limit: number;
  total: number;
  linkAt: (offset: number) => string;
}): JSX.Element | null {
  if (total <= limit && offset === 0) return null;
  const last = Math.max(0, Math.floor((total - 1) / limit) * limit);
  const link = (words: string, to: number, isThere: boolean): JSX.Element =>
    isThere ? (
      <a class="button" href={linkAt(to)}>
        {words}
      </a>
    ) : (
      <span class="button is-off" aria-disabled="true">
        {words}
      </span>
    );
  return (
    <nav class="row" aria-label="Pages of the list">
      <span class="dim">
        {countText(Math.min(total, offset + 1))}–{countText(Math.min(total, offset + limit))} of{' '}
        {countText(total)}
      </span>
      {link('First', 0, offset > 0)}
      {link('Earlier rows', Math.max(0, offset - limit), offset > 0)}
      {link('Later rows', offset + limit, offset + limit < total)}
      {link('Last', last, offset < last)}
    </nav>
  );
}
