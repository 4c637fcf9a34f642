import type { SparseTrace } from '../base/sparse-trace.js';
import type { BusError } from '../errors/bus-error.js';
import type { PeerId } from '../transport/port.js';
import { Command, makeFrame, type EnvelopeFields } from '../wire/frame.js';
import { encodeFailure } from '../wire/messages.js';
import type { Outboxes } from './outboxes.js';

/** Encodes and sends what the broker itself has to say; counts rejections by code. */
export class Writer {
  readonly #outboxes: Outboxes;
  readonly #trace: SparseTrace;
  readonly #refused = new Map<string, number>();

  constructor(outboxes: Outboxes, trace: SparseTrace) {
    this.#outboxes = outboxes;
    this.#trace = trace;
  }

  get refused(): Record<string, number> {
    return Object.fromEntries(this.#refused);
  }

  /** Throws TOO_LARGE. Dropped if the peer does not read. */
  write(peer: PeerId, command: Command, envelope: EnvelopeFields, body?: Buffer): void {
    if (this.#outboxes.offer(peer, makeFrame(command, envelope, body))) return;
    this.#trace.log('warn', 'an answer was dropped: the peer does not read');
  }

  reject(peer: PeerId, id: string, error: BusError): void {
    this.#refused.set(error.code, (this.#refused.get(error.code) ?? 0) + 1);
    this.write(peer, Command.REJECT, { correlation: id }, encodeFailure(error));
  }

  reset(peer: PeerId, type: 'UNKNOWN_SESSION' | 'FRAME_CORRUPT'): void {
    this.write(peer, Command.RESET, { type });
  }
}
