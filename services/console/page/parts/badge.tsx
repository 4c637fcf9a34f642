import type { ComponentChildren, JSX } from 'preact';
import type { Certainty } from '../../../../src/pgc/shapes.js';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent';

export function Badge({
  tone = 'plain',
  title,
  children,
}: {
  tone?: Tone;
  title?: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <span class={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}

export const certainties: Record<Certainty, { word: string; tone: Tone; title: string }> = {
  exact: {
    word: 'exact',
    tone: 'good',
    title: 'Bound by the rules of the language: this call runs this definition.',
  },
  dispatch: {
    word: 'through an interface',
    tone: 'accent',
    title: 'The call goes through an interface that this implements.',
  },
  outside: { word: 'of a library', tone: 'plain', title: 'It leads to a library or the language.' },
  possible: {
    word: 'possible',
    tone: 'warn',
    title: 'Nothing proves what is called; the name fits.',
  },
};

/** How surely a call leads where it is said to. */
export function CertaintyBadge({ certainty }: { certainty: Certainty | '' }): JSX.Element | null {
  if (certainty === '') return null;
  const { word, tone, title } = certainties[certainty];
  return (
    <Badge tone={tone} title={title}>
      {word}
    </Badge>
  );
}

const presences: Readonly<Record<string, Tone>> = {
  ...{ online: 'good', stale: 'warn', offline: 'plain' },
};

/** Whether an agent can be reached. */
export function Presence({ state }: { state: string }): JSX.Element {
  const title = state === 'stale' ? 'It has not been heard for too long.' : '';
  return (
    <Badge tone={presences[state] ?? 'plain'} title={title}>
      {state}
    </Badge>
  );
}
