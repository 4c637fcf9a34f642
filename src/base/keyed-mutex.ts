/** Runs work for each key one after the other, in order of arrival. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Resolves or rejects as the work does; failures of earlier work do not matter. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    // Never rejects: later work starts in any case.
    const settled = mine.catch(() => undefined);
    this.#last.set(key, settled);
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return mine;
  }

  /** Resolves when all that was begun by now has ended. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
