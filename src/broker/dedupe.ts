import { seenKey } from '../store/keys.js';
import type { Operation } from '../store/port.js';

interface Seen {
  seq: number;
  atMs: number;
  /** Its message is settled: there is an entry on disk. */
  isSettled: boolean;
}

export interface DedupeLimits {
  /** Message ids remembered of one sender; beyond it the oldest are forgotten. */
  seenPerSenderMax: number;
  /** How long an id is remembered. */
  seenMs: number;
}

/** Ids beyond the limit before they are forgotten together, in one write. */
const slack = 512;

/**
 * Which message ids of which sender were accepted, and as what: the second SEND of an id gets the first
 * one's outcome (zguide ch. 4, "Idempotent Services"). An id is on disk in its message as long as that is
 * stored, and under `seen/` from the batch that settles it on, so that at no moment both are missing.
 */
export class Dedupe {
  readonly #limits: DedupeLimits;
  readonly #senders = new Map<string, Map<string, Seen>>();

  constructor(limits: DedupeLimits) {
    this.#limits = limits;
  }

  /** The seq of the message that this sender sent under this id. */
  seqOf(sender: string, id: string): number | undefined {
    return this.#senders.get(sender)?.get(id)?.seq;
  }

  remember(sender: string, id: string, seq: number, atMs: number, isSettled: boolean): void {
    let ids = this.#senders.get(sender);
    if (ids === undefined) {
      ids = new Map();
      this.#senders.set(sender, ids);
    }
    ids.set(id, { seq, atMs, isSettled });
  }

  /** Its message is settled. False: the id is forgotten already, and needs no entry on disk. */
  settled(sender: string, id: string): boolean {
    const seen = this.#senders.get(sender)?.get(id);
    if (seen !== undefined) seen.isSettled = true;
    return seen !== undefined;
  }

  isCrowded(sender: string): boolean {
    return (this.#senders.get(sender)?.size ?? 0) > this.#limits.seenPerSenderMax + slack;
  }

  /** Forgets what is too much of this sender, or too old of anybody, and returns what to delete on disk. */
  prune(nowMs: number, sender?: string): Operation[] {
    const operations: Operation[] = [];
    const { seenPerSenderMax, seenMs } = this.#limits;
    const senders = sender === undefined ? [...this.#senders.keys()] : [sender];
    for (const name of senders) {
      const ids = this.#senders.get(name);
      if (ids === undefined) continue;
      let excess = ids.size - seenPerSenderMax;
      for (const [id, { seq, atMs, isSettled }] of ids) {
        if (excess <= 0 && atMs > nowMs - seenMs) break;
        excess -= 1;
        ids.delete(id);
        if (isSettled) operations.push({ type: 'del', key: seenKey(name, seq) });
      }
      if (ids.size === 0) this.#senders.delete(name);
    }
    return operations;
  }
}
