import { ChurnMap } from '../../base/churn-map.js';
import { asBusError, type BusError } from '../../errors/bus-error.js';
import type { StoredMessage } from './mailbox.js';

/** How a SEND ended, called once. `error`: it was not accepted. `isDuplicate`: accepted before, nothing was stored. */
export type OnPosted = (error: BusError | undefined, seq: number, isDuplicate: boolean) => void;

/** A message on its way to disk, with its bytes there. */
export interface Posting {
  readonly message: StoredMessage;
  readonly bytes: Buffer;
  readonly onPosted: OnPosted;
  /** Of SENDs that repeated it meanwhile. */
  repeats: OnPosted[] | undefined;
}

/**
 * SENDs whose message is on its way to disk. All that one part of a peer brings share one batch, one promise
 * and one way back: what is done once for each message is done hundreds of times for each fsync.
 */
export class Postings {
  readonly #commit: (batch: readonly Posting[]) => Promise<void>;
  readonly #onEnded: (batch: readonly Posting[], error: BusError | undefined) => void;
  readonly #bySeq = new ChurnMap<number, Posting>();
  #forming: Posting[] = [];
  /** Bytes that were not handed over yet. */
  formingBytes = 0;

  constructor(parts: {
    commit: (batch: readonly Posting[]) => Promise<void>;
    onEnded: (batch: readonly Posting[], error: BusError | undefined) => void;
  }) {
    this.#commit = parts.commit;
    this.#onEnded = parts.onEnded;
  }

  add(message: StoredMessage, bytes: Buffer, onPosted: OnPosted): void {
    const posting = { message, bytes, onPosted, repeats: undefined };
    this.#bySeq.set(message.seq, posting);
    // Not at once: the part that brought it brings more.
    if (this.#forming.length === 0) queueMicrotask(() => void this.#handOver());
    this.#forming.push(posting);
    this.formingBytes += bytes.length;
  }

  has(seq: number): boolean {
    return this.#bySeq.get(seq) !== undefined;
  }

  /** Another SEND of the same message ends as the first one does. False: it is on its way no more. */
  repeat(seq: number, onPosted: OnPosted): boolean {
    const posting = this.#bySeq.get(seq);
    if (posting === undefined) return false;
    posting.repeats ??= [];
    posting.repeats.push(onPosted);
    return true;
  }

  async #handOver(): Promise<void> {
    const batch = this.#forming;
    this.#forming = [];
    this.formingBytes = 0;
    let failure: BusError | undefined;
    try {
      await this.#commit(batch);
    } catch (error) {
      failure = asBusError(error);
    }
    for (const { message } of batch) this.#bySeq.delete(message.seq);
    this.#onEnded(batch, failure);
  }
}
