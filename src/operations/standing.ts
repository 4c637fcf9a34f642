import type { CommandLine } from './operation.js';

/** With which rights a person asks, and in whose name. */
export interface Standing {
  /** Of the connection, over ipc; over a network the identity file names it. */
  role: 'operator' | 'client';
  /** See `Call`. */
  actor: string;
  session: string;
}

/** Each command and each page is another agent: approvals of a person are remembered for all of them together. */
const personSession = 'operator';

/** `self`: the agent that a person acts as. `as`: another one that they name. */
export function standingOf(
  { asks = 'index' }: Pick<CommandLine, 'asks'>,
  self: () => string,
  as: string | undefined,
): Standing {
  const isInName = asks === 'as an agent' || asks === 'bus';
  return {
    role: asks.startsWith('as ') || as !== undefined ? 'operator' : 'client',
    actor: as ?? (isInName ? self() : ''),
    session: as === undefined ? personSession : '',
  };
}
