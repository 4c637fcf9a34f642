import { seenKey } from '../../store/keys.js';
import type { Operation } from '../../store/port.js';

interface Seen {
  seq: number;
  /** Where it went. */
  mailbox: string;
  atMs: number;
  /** Its message is settled: there is an entry on disk. */
  isSettled: boolean;
}

export interface DedupeLimits {
  /** Message ids remembered of one sender; beyond it the oldest are forgotten. */
  seenPerSenderMax: number;
  /** Of all senders. Beyond it the sender with the most entries forgets its oldest. */
  seenMax: number;
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
  #size = 0;

  constructor(limits: DedupeLimits) {
    this.#limits = limits;
  }

  /** The seq of the message that this sender sent under this id. */
  seqOf(sender: string, id: string): number | undefined {
    return this.#senders.get(sender)?.get(id)?.seq;
  }

  /** Where it went; see `Seen.mailbox`. */
  mailboxOf(sender: string, id: string): string | undefined {
    return this.#senders.get(sender)?.get(id)?.mailbox;
  }

  /** Owns `seen` from now on. */
  remember(sender: string, id: string, seen: Seen): void {
    let ids = this.#senders.get(sender);
    if (ids === undefined) {
      ids = new Map();
      this.#senders.set(sender, ids);
    }
    if (!ids.has(id)) this.#size += 1;
    ids.set(id, seen);
  }

  /** Its message was not stored after all. */
  forget(sender: string, id: string): void {
    const ids = this.#senders.get(sender);
    if (ids?.delete(id) !== true) return;
    this.#size -= 1;
    if (ids.size === 0) this.#senders.delete(sender);
  }

  /** Its message is settled. False: the id is forgotten already, and needs no entry on disk. */
  settled(sender: string, id: string): boolean {
    const seen = this.#senders.get(sender)?.get(id);
    if (seen !== undefined) seen.isSettled = true;
    return seen !== undefined;
  }

  /** Forgets what is too much after this sender has sent something, and returns what to delete on disk. */
  thin(sender: string, nowMs: number): Operation[] {
    const { seenPerSenderMax, seenMax } = this.#limits;
    const operations: Operation[] = [];
    if ((this.#senders.get(sender)?.size ?? 0) > seenPerSenderMax + slack)
      this.#forget(sender, seenPerSenderMax, nowMs, operations);
    if (this.#size <= seenMax) return operations;
    let [largest, most] = [sender, 0];
    for (const [name, { size }] of this.#senders) if (size > most) [largest, most] = [name, size];
    this.#forget(largest, Math.max(most - slack, most >> 1), nowMs, operations);
    return operations;
  }

  /** Forgets entries over a limit or past the window; returns what to delete on disk. */
  prune(nowMs: number): Operation[] {
    const operations: Operation[] = [];
    for (const sender of [...this.#senders.keys()])
      this.#forget(sender, this.#limits.seenPerSenderMax, nowMs, operations);
    return operations;
  }

  #forget(sender: string, max: number, nowMs: number, operations: Operation[]): void {
    const ids = this.#senders.get(sender);
    if (ids === undefined) return;
    let excess = ids.size - max;
    for (const [id, { seq, atMs, isSettled }] of ids) {
      if (excess <= 0 && atMs > nowMs - this.#limits.seenMs) break;
      excess -= 1;
      ids.delete(id);
      this.#size -= 1;
      if (isSettled) operations.push({ type: 'del', key: seenKey(sender, seq) });
    }
    if (ids.size === 0) this.#senders.delete(sender);
  }
}
