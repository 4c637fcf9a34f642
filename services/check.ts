import { asBusError } from '../src/errors/bus-error.js';

/**
 * What `sigma doctor` looked at. `absent`: something that one can do without, for now. `unchecked`: it cannot be seen from here, or
 * not by this agent.
 */
export interface Check {
  name: string;
  state: 'ok' | 'absent' | 'unchecked' | 'broken';
  detail: string;
  /** What to do; empty: nothing. */
  next: string;
}

export function ok(name: string, detail: string, next = ''): Check {
  return { name, state: 'ok', detail, next };
}

export function unchecked(name: string, detail: string): Check {
  return { name, state: 'unchecked', detail, next: '' };
}

export function broken(name: string, error: unknown): Check {
  const { message, next } = asBusError(error);
  return { name, state: 'broken', detail: message, next };
}
