import type { Router, XPublisher } from 'zeromq';
import type { Trace } from '../base/trace.js';

/** CURVE_REFUSED: an unknown key. CURVE_REQUIRED: no key at all. HANDSHAKE_FAILED: anything else, also silence. */
export type RefusalCode = 'CURVE_REFUSED' | 'CURVE_REQUIRED' | 'HANDSHAKE_FAILED';

/** Refused connections. libzmq closes them; here they are counted and logged. */
export class Refusals {
  readonly #address: string;
  readonly #trace: Trace;
  readonly #counts = new Map<RefusalCode, number>();

  constructor(address: string, trace: Trace) {
    this.#address = address;
    this.#trace = trace;
  }

  /** The only observer of that socket: a second one would miss what the first sees. */
  watch(socket: Router | XPublisher): void {
    const { events } = socket;
    events.on('handshake:error:auth', () => this.#count('CURVE_REFUSED'));
    events.on('handshake:error:protocol', ({ error }) =>
      this.#count(
        error.code === 'ERR_ZMTP_MECHANISM_MISMATCH' ? 'CURVE_REQUIRED' : 'HANDSHAKE_FAILED',
      ),
    );
    events.on('handshake:error:other', ({ error }) => {
      if (!isGone(error.code)) this.#count('HANDSHAKE_FAILED');
    });
  }

  counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }

  #count(code: RefusalCode): void {
    const count = (this.#counts.get(code) ?? 0) + 1;
    this.#counts.set(code, count);
    // The gate logs unknown keys, with their address.
    if (code === 'CURVE_REFUSED' || !isTold(count)) return;
    this.#trace('warn', 'a connection was refused', { code, listener: this.#address, count });
  }
}

/** The client left by itself, such as a probe. */
function isGone(code: string | undefined): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** A stranger must not fill the log: only the 1st, 2nd, 4th, 8th … refusal is logged. */
export function isTold(count: number): boolean {
  return (count & (count - 1)) === 0;
}
