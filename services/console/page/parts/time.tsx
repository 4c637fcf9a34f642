import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { relativeTime } from './time-text.js';

const now = signal(Date.now());
const tickMs = 5_000;
window.setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, tickMs);

/** How long ago, with the moment itself in the title. */
export function Time({ ms }: { ms: number | string }): JSX.Element {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return <span class="dim">—</span>;
  return (
    <time dateTime={at.toISOString()} title={at.toLocaleString()}>
      {relativeTime(at.getTime(), now.value)}
    </time>
  );
}
