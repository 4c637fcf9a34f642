import type { InputOf } from '../../call.js';

/** As `task update` takes it. */
export function changeOf(id: string, what: string, text: string): InputOf<'task update'> {
  if (what === 'answer') return { id, answer: text };
  if (what === 'revise') return { id, revise: text === '' || text };
  if (what === 'done' || what === 'failed') return { id, outcome: what, why: text };
  return { id, [what]: true, why: text };
}
