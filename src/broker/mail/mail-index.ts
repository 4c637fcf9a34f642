import { asBusError } from '../../errors/bus-error.js';
import {
  deadPrefix,
  messageKey,
  messagePrefix,
  nextSeqKey,
  seenPrefix,
  seqOfKey,
  statePrefix,
} from '../../store/keys.js';
import type { Operation, Store } from '../../store/port.js';
import { decodeFrame } from '../../wire/frame.js';
import { messageViewCodec, type MessageView } from '../../wire/messages.js';
import type { Dedupe } from './dedupe.js';
import type { Posting } from './postings.js';
import { storedMessageOf, readSeen, restore } from './stored-message.js';
import type { StoredMessage } from './mailbox.js';

/** Sequence numbers reserved on disk at once, so that not every message has to write the next one. */
const seqBlock = 10_000;

/** The stored messages in memory, by seq, and the writes that are still due. */
export class MailIndex {
  readonly messages = new Map<number, StoredMessage>();
  readonly #store: Store;
  readonly #dedupe: Dedupe;
  readonly #onCorrupt: (key: string, detail: string) => void;
  /** Writes that failed on disk; repeated when the store is back. */
  readonly #retries = new Map<number, Operation[]>();
  #nextSeq = 1;
  #reservedSeq = 1;

  constructor(parts: {
    store: Store;
    dedupe: Dedupe;
    onCorrupt: (key: string, detail: string) => void;
  }) {
    this.#store = parts.store;
    this.#dedupe = parts.dedupe;
    this.#onCorrupt = parts.onCorrupt;
  }

  get isStoreServing(): boolean {
    return this.#store.state === 'serving';
  }

  /**
   * Reads what is on disk and not yet known here; returns the new messages in order of seq, which the caller
   * makes known. Also after the
   * store was reopened: a batch that failed may have reached the disk all the same.
   */
  async load(): Promise<StoredMessage[]> {
    // A message settled while we read must not come back.
    const known = new Set([...this.messages.keys(), ...this.#retries.keys()]);
    await this.#writeRetries();
    const fresh: StoredMessage[] = [];
    let last = 0;
    for await (const [key, value] of this.#store.entries({ prefix: seenPrefix })) {
      const seq = seqOfKey(key);
      last = Math.max(last, seq);
      const sender = key.slice(seenPrefix.length, key.lastIndexOf('/'));
      const { atMs, id, mailbox } = readSeen(value);
      this.#dedupe.remember(sender, id, { seq, mailbox, atMs, isSettled: true });
    }
    const states = await this.#views(statePrefix);
    const dead = await this.#views(deadPrefix);
    for await (const [key, value] of this.#store.entries({ prefix: messagePrefix })) {
      const seq = seqOfKey(key);
      last = Math.max(last, seq);
      if (known.has(seq)) continue;
      const message = this.#read(key, value);
      if (message === undefined) continue;
      const state = states.get(seq);
      if (state !== undefined) restore(message, state);
      const deadView = dead.get(seq);
      if (deadView !== undefined) {
        restore(message, deadView);
        message.deadMs = deadView.dead_ms;
      }
      fresh.push(message);
    }
    const reserved = Number((await this.#store.get(nextSeqKey))?.toString() ?? '1');
    this.#nextSeq = Math.max(this.#nextSeq, last + 1, reserved);
    this.#reservedSeq = Math.max(this.#reservedSeq, reserved);
    return fresh;
  }

  takeSeq(): number {
    const seq = this.#nextSeq;
    this.#nextSeq += 1;
    return seq;
  }

  /** Synced, with the reservation of their numbers where it is due. Throws STORE_UNAVAILABLE as `commit` does. */
  async store(batch: readonly Posting[]): Promise<void> {
    const operations: Operation[] = [];
    const reserved = this.#nextSeq > this.#reservedSeq ? this.#nextSeq + seqBlock : 0;
    if (reserved > 0)
      operations.push({ type: 'put', key: nextSeqKey, value: Buffer.from(String(reserved)) });
    for (const { message, bytes } of batch)
      operations.push({ type: 'put', key: messageKey(message.seq), value: bytes });
    await this.#store.commit(operations);
    // Reserved only now: a block whose record was refused is not.
    this.#reservedSeq = Math.max(this.#reservedSeq, reserved);
  }

  /** Synced. Throws STORE_UNAVAILABLE; it may be on disk all the same, which `load` finds out. */
  commit(operations: Operation[]): Promise<void> {
    return this.#store.commit(operations);
  }

  /** Writes a change of state without fsync: after a power loss the message is delivered once more. */
  writeUnsynced(message: StoredMessage, operations: Operation[]): void {
    this.#store.write(operations).catch(() => this.retryLater(message.seq, operations));
  }

  /** Keeps the operations until the store is back. */
  retryLater(seq: number, operations: Operation[]): void {
    this.#retries.set(seq, [...(this.#retries.get(seq) ?? []), ...operations]);
  }

  /** Best effort: a failure is ignored. */
  writeBestEffort(operations: Operation[]): void {
    if (operations.length > 0) this.#store.write(operations).catch(() => undefined);
  }

  getMany(keys: string[]): Promise<(Buffer | undefined)[]> {
    return this.#store.getMany(keys);
  }

  onReopened(listener: () => void): Disposable {
    return this.#store.onReopened(listener);
  }

  async #writeRetries(): Promise<void> {
    const due = new Map(this.#retries);
    this.#retries.clear();
    try {
      // At once: what is noted from now on is written behind it.
      await this.#store.write([...due.values()].flat());
    } catch (error) {
      for (const [seq, operations] of due)
        this.#retries.set(seq, [...operations, ...(this.#retries.get(seq) ?? [])]);
      throw error;
    }
  }

  async #views(prefix: string): Promise<Map<number, MessageView>> {
    const views = new Map<number, MessageView>();
    for await (const [key, value] of this.#store.entries({ prefix })) {
      try {
        views.set(seqOfKey(key), messageViewCodec.decode(value));
      } catch (error) {
        this.#onCorrupt(key, asBusError(error).message);
      }
    }
    return views;
  }

  #read(key: string, value: Buffer): StoredMessage | undefined {
    try {
      return storedMessageOf(decodeFrame(value), value);
    } catch (error) {
      // It cannot be delivered, but stays on disk for inspection.
      this.#onCorrupt(key, asBusError(error).message);
      return undefined;
    }
  }
}
