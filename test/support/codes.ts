import { BusError } from '../../src/errors/bus-error.js';

/** The code of what is thrown, and what it says about it. Anything but a coded error is thrown on. */
export function codeOf(act: () => unknown): { code: string; detail: string } {
  try {
    act();
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    return { code: error.code, detail: error.message };
  }
  return { code: '', detail: '' };
}
