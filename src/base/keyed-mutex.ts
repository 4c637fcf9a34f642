/** One piece of work after the other for each key, in the order in which they came. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** As the work ends; what an earlier one threw is not its concern. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    // Never rejected: what comes behind it is begun in any case.
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
