/** Owns resources and closes them in reverse order, also when opening a later one fails. */
export class Scope implements AsyncDisposable {
  readonly #owned: (Disposable | AsyncDisposable)[] = [];
  #closing: Promise<void> | undefined;

  own<T extends Disposable | AsyncDisposable>(resource: T): T {
    this.#owned.push(resource);
    return resource;
  }

  defer(close: () => void | Promise<void>): void {
    this.own({ [Symbol.asyncDispose]: async () => close() });
  }

  /** Every owner is closed even when one fails; the first failure is thrown at the end. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const failures: unknown[] = [];
    for (const resource of this.#owned.reverse()) {
      try {
        if (Symbol.asyncDispose in resource) await resource[Symbol.asyncDispose]();
        else resource[Symbol.dispose]();
      } catch (error) {
        failures.push(error);
      }
    }
    this.#owned.length = 0;
    if (failures.length > 0) throw failures[0];
  }
}
