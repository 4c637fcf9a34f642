import { asBusError } from '../errors/bus-error.js';
import {
  deadPrefix,
  messagePrefix,
  nextSeqKey,
  seenPrefix,
  seqOfKey,
  statePrefix,
} from '../store/keys.js';
import type { Operation, Store } from '../store/port.js';
import { decodeFrame } from '../wire/frame.js';
import { messageViewCodec, type MessageView } from '../wire/messages.js';
import type { Dedupe } from './dedupe.js';
import { letterOf, restore } from './letters.js';
import type { Letter } from './mailbox.js';

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
   * Reads what is on disk and not yet known here; returns the new letters in order of seq. Also after the
   * store was reopened: a batch that failed may have reached the disk all the same.
   */
  async load(): Promise<Letter[]> {
    await this.#payOwed();
    const fresh: Letter[] = [];
    let last = 0;
    for await (const [key, value] of this.#store.entries({ prefix: seenPrefix })) {
      const seq = seqOfKey(key);
      last = Math.max(last, seq);
      const sender = key.slice(seenPrefix.length, key.lastIndexOf('/'));
      const text = value.toString();
      const space = text.indexOf(' ');
      this.#dedupe.remember(sender, text.slice(space + 1), seq, Number(text.slice(0, space)));
    }
    const states = await this.#views(statePrefix);
    const dead = await this.#views(deadPrefix);
    for await (const [key, value] of this.#store.entries({ prefix: messagePrefix })) {
      const seq = seqOfKey(key);
      last = Math.max(last, seq);
      if (this.letters.has(seq) || this.#owed.has(seq)) continue;
      const letter = this.#read(key, value);
      if (letter === undefined) continue;
      const state = states.get(seq);
      if (state !== undefined) restore(letter, state);
      const grave = dead.get(seq);
      if (grave !== undefined) {
        restore(letter, grave);
        letter.deadMs = grave.dead_ms;
      }
      this.letters.set(seq, letter);
      this.#dedupe.remember(letter.from, letter.id, seq, letter.storedMs);
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
      this.#reservedSeq = seq + seqBlock;
      const value = Buffer.from(String(this.#reservedSeq));
      operations.push({ type: 'put', key: nextSeqKey, value });
    }
    return seq;
  }

  /** Synced. Throws STORE_UNAVAILABLE; then nothing has happened as far as anybody is told. */
  commit(operations: Operation[]): Promise<void> {
    return this.#store.commit(operations);
  }

  /** What became of a letter. Not synced: lost with the power, it is delivered once more. */
  note(letter: Letter, operations: Operation[]): void {
    this.#store.write(operations).catch(() => {
      const earlier = this.#owed.get(letter.seq) ?? [];
      this.#owed.set(letter.seq, [...earlier, ...operations]);
    });
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
    for (const [seq, operations] of [...this.#owed]) {
      await this.#store.write(operations);
      this.#owed.delete(seq);
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
