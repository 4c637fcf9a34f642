import { asBusError } from '../../errors/bus-error.js';
import {
  deadPrefix,
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
import { letterOf, readSeen, restore } from '../letters.js';
import type { Letter } from '../mailbox.js';

/** Sequence numbers reserved on disk at once, so that not every message has to write the next one. */
const seqBlock = 10_000;

/** What of the store is known in memory: every letter by seq, and what still has to be written. */
export class MailIndex {
  readonly letters = new Map<number, Letter>();
  readonly #store: Store;
  readonly #dedupe: Dedupe;
  readonly #onCorrupt: (key: string, detail: string) => void;
  /** Settled here, but the disk refused to hear of it: written again when the store is back. */
  readonly #owed = new Map<number, Operation[]>();
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
   * Reads what is on disk and not yet known here; returns the new letters in order of seq, which the caller
   * makes known. Also after the
   * store was reopened: a batch that failed may have reached the disk all the same.
   */
  async load(): Promise<Letter[]> {
    // What ends while we read was known before, and must not come back for being read.
    const known = new Set([...this.letters.keys(), ...this.#owed.keys()]);
    await this.#payOwed();
    const fresh: Letter[] = [];
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
      const letter = this.#read(key, value);
      if (letter === undefined) continue;
      const state = states.get(seq);
      if (state !== undefined) restore(letter, state);
      const grave = dead.get(seq);
      if (grave !== undefined) {
        restore(letter, grave);
        letter.deadMs = grave.dead_ms;
      }
      fresh.push(letter);
    }
    const reserved = Number((await this.#store.get(nextSeqKey))?.toString() ?? '1');
    this.#nextSeq = Math.max(this.#nextSeq, last + 1, reserved);
    this.#reservedSeq = Math.max(this.#reservedSeq, reserved);
    return fresh;
  }

  /** The next sequence number; `operations` is given what must be written with it. */
  takeSeq(operations: Operation[]): number {
    const seq = this.#nextSeq;
    this.#nextSeq += 1;
    if (seq >= this.#reservedSeq) {
      const value = Buffer.from(String(seq + seqBlock));
      operations.push({ type: 'put', key: nextSeqKey, value });
    }
    return seq;
  }

  /** Synced. Throws STORE_UNAVAILABLE; it may be on disk all the same, which `load` finds out. */
  async commit(operations: Operation[]): Promise<void> {
    await this.#store.commit(operations);
    // Reserved only now: a block whose record was refused is not.
    const reserved = operations.find((each) => each.key === nextSeqKey);
    if (reserved?.type === 'put')
      this.#reservedSeq = Math.max(this.#reservedSeq, Number(reserved.value.toString()));
  }

  /** What became of a letter. Not synced: lost with the power, it is delivered once more. */
  note(letter: Letter, operations: Operation[]): void {
    this.#store.write(operations).catch(() => this.owe(letter.seq, operations));
  }

  /** To be written when the store is back. */
  owe(seq: number, operations: Operation[]): void {
    this.#owed.set(seq, [...(this.#owed.get(seq) ?? []), ...operations]);
  }

  /** Nobody misses it when it fails. */
  tidy(operations: Operation[]): void {
    if (operations.length > 0) this.#store.write(operations).catch(() => undefined);
  }

  getMany(keys: string[]): Promise<(Buffer | undefined)[]> {
    return this.#store.getMany(keys);
  }

  onReopened(listener: () => void): Disposable {
    return this.#store.onReopened(listener);
  }

  async #payOwed(): Promise<void> {
    const owed = new Map(this.#owed);
    this.#owed.clear();
    try {
      // At once: what is noted from now on is written behind it.
      await this.#store.write([...owed.values()].flat());
    } catch (error) {
      for (const [seq, operations] of owed)
        this.#owed.set(seq, [...operations, ...(this.#owed.get(seq) ?? [])]);
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

  #read(key: string, value: Buffer): Letter | undefined {
    try {
      return letterOf(decodeFrame(value), value);
    } catch (error) {
      // Left where it is: it may be evidence, and it cannot be delivered.
      this.#onCorrupt(key, asBusError(error).message);
      return undefined;
    }
  }
}
