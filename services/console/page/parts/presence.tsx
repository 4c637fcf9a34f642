import type { JSX } from 'preact';
import { Badge, type Tone } from './badge.js';

const tones: Readonly<Record<string, Tone>> = { online: 'good', stale: 'warn', offline: 'plain' };

/** Whether an agent can be reached. */
export function Presence({ state }: { state: string }): JSX.Element {
  const title = state === 'stale' ? 'It has not been heard for too long.' : '';
  return (
    <Badge tone={tones[state] ?? 'plain'} title={title}>
      {state}
    </Badge>
  );
}
