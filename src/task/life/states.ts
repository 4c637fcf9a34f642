/** States in which a task is over. Apart from the machine, so that readers of tasks need not load it. */
export const finalStates = [
  'completed',
  'not_done',
  'failed',
  'halted',
  'cancelled',
  'timed_out',
] as const;
export type FinalState = (typeof finalStates)[number];

export function isFinal(state: string): state is FinalState {
  return (finalStates as readonly string[]).includes(state);
}
