import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { relativeTime } from './time-text.js';

const tick = signal(0);
const tickMs = 5_000;
window.setInterval(() => {
  if (!document.hidden) tick.value += 1;
}, tickMs);

/** How long ago, with the moment itself in the title. */
export function Time({ ms }: { ms: number | string }): JSX.Element {
  // Read so that it is drawn anew; what came since the last tick is not in the future.
  void tick.value;
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return <span class="dim">–</span>;
  return (
    <time dateTime={at.toISOString()} title={at.toLocaleString()}>
      {relativeTime(at.getTime(), Date.now())}
    </time>
  );
}
