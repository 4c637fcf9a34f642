import type { Tone } from '../../parts/badge.js';

/** How a task stands, for its colour. */
export type Standing = 'waits' | 'works' | 'checked' | 'asks' | 'done' | 'bad';

const standings: Readonly<Record<string, Standing>> = {
  ...{ queued: 'waits', pending: 'waits' },
  ...{ assigned: 'works', running: 'works', revising: 'works' },
  ...{ reviewing: 'checked', critiquing: 'checked' },
  ...{ attending: 'asks', deciding: 'asks', clarifying: 'asks', blocked: 'asks' },
  completed: 'done',
  ...{ not_done: 'bad', failed: 'bad', halted: 'bad', cancelled: 'bad', timed_out: 'bad' },
};

export function standingOf(state: string): Standing {
  return standings[state] ?? 'waits';
}

export const toneOf: Readonly<Record<Standing, Tone>> = {
  ...{ waits: 'plain', works: 'accent', checked: 'accent', asks: 'warn', done: 'good', bad: 'bad' },
};

/** What waits for a person first, then what goes on, then what is over. */
export const stateOrder: readonly string[] = [
  ...['deciding', 'clarifying', 'blocked', 'attending', 'running', 'assigned', 'reviewing'],
  ...['critiquing', 'revising', 'pending', 'queued'],
  ...['completed', 'not_done', 'failed', 'halted', 'cancelled', 'timed_out'],
];

/** `not_done` is written by programs. */
export function stateWords(state: string): string {
  return state.replaceAll('_', ' ');
}

/** What each change of a task does, as a person is told before they do it. */
export const changeWords: Readonly<
  Record<string, { action: string; means: string; needs?: string }>
> = {
  answer: { action: 'Answer', means: 'Its worker goes on with your answer.', needs: 'Your answer' },
  accept: { action: 'Accept', means: 'Its result counts, as if it had passed the review.' },
  refuse: { action: 'Refuse', means: 'Its result does not count; the task ends without one.' },
  revise: {
    action: 'Have it revised',
    means: 'It is done again, with your advice.',
    needs: 'What to do better',
  },
  halt: { action: 'Halt', means: 'It ends now, and what depends on it is blocked.' },
  relax: { action: 'Go on without', means: 'It goes on without the evidence that it lacks.' },
  regenerate: {
    action: 'Make its overlays',
    means: 'The overlays that it lacks are made first; that may take minutes.',
  },
  reassign: { action: 'Try again', means: 'It is given to a worker once more.' },
  done: { action: 'It was done', means: 'The action that was interrupted counts as done.' },
  failed: { action: 'It failed', means: 'The action that was interrupted counts as failed.' },
  cancel: { action: 'Cancel', means: 'It ends now, with all that it started.' },
};

/** Those that end something. */
export const ending: ReadonlySet<string> = new Set(['refuse', 'halt', 'cancel', 'failed']);
