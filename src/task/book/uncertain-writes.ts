import type { KeyedMutex } from '../../base/keyed-mutex.js';
import type { Operation, Store } from '../../store/port.js';

interface UncertainWrite {
  key: string;
  bytes: Buffer;
  adopt: () => void;
}

/** One change of a record, with what goes with it. */
export interface Change extends UncertainWrite {
  id: string;
  more: readonly Operation[];
}

interface UncertainWritesParts {
  store: Store;
  /** One change of an id at a time. */
  turns: KeyedMutex;
  onTrouble: (id: string, error: unknown) => void;
}

/**
 * Writes records, and adopts them only when they are on disk. A batch that was rejected while it was written may be on disk all the same: the next change of its record looks first, and so does a store that serves again.
 */
export class UncertainWrites implements Disposable {
  readonly #parts: UncertainWritesParts;
  readonly #reopened: Disposable;
  /** At most as many as were written at the same time. */
  readonly #open = new Map<string, UncertainWrite>();

  constructor(parts: UncertainWritesParts) {
    this.#parts = parts;
    const { store, turns, onTrouble } = parts;
    this.#reopened = store.onReopened(() => {
      for (const id of this.#open.keys())
        turns.run(id, () => this.settle(id)).catch((error: unknown) => onTrouble(id, error));
    });
  }

  /** Calls `adopt` once the record is on disk. Throws STORE_UNAVAILABLE. */
  async commit({ id, key, bytes, more, adopt }: Change): Promise<void> {
    const { store } = this.#parts;
    const isServing = store.state === 'serving';
    try {
      await store.commit([{ type: 'put', key, value: bytes }, ...more]);
    } catch (error) {
      if (isServing) this.#open.set(id, { key, bytes, adopt });
      throw error;
    }
    adopt();
  }

  /** Called in the turn of this id, before its record is read. Throws STORE_UNAVAILABLE. */
  async settle(id: string): Promise<void> {
    const write = this.#open.get(id);
    if (write === undefined) return;
    const found = await this.#parts.store.get(write.key);
    this.#open.delete(id);
    if (found?.equals(write.bytes)) write.adopt();
  }

  [Symbol.dispose](): void {
    this.#reopened[Symbol.dispose]();
  }
}
