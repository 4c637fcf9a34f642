import { BusError } from '../../src/errors/bus-error.js';

/** The code and the message of the error that `act` throws; empty without one. Rethrows every other error. */
export function codeOf(act: () => unknown): { code: string; detail: string } {
  try {
    act();
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    return { code: error.code, detail: error.message };
  }
  return { code: '', detail: '' };
}
