/** Callers that wait for a change of a record. */
export class Waiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves at the next change of this id, or when the signal aborts. */
  wait(id: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const all = this.#waiting.get(id) ?? new Set();
      const wake = (): void => {
        all.delete(wake);
        if (all.size === 0) this.#waiting.delete(id);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.set(id, all.add(wake));
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  wake(id: string): void {
    for (const wake of [...(this.#waiting.get(id) ?? [])]) wake();
  }

  wakeAll(): void {
    for (const id of [...this.#waiting.keys()]) this.wake(id);
  }
}
