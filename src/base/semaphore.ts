interface Waiter {
  begin: () => void;
}

/** Limits concurrent work; the rest waits in order of arrival. */
export class Semaphore {
  readonly #atOnce: number;
  readonly #waitingMax: number;
  readonly #refusal: (limit: number) => Error;
  readonly #waiting = new Set<Waiter>();
  #taken = 0;

  /** `waitingMax`: one more waiter is refused with the error from `refusal`. */
  constructor(parts: { atOnce: number; waitingMax: number; refusal: (limit: number) => Error }) {
    const { atOnce, waitingMax, refusal } = parts;
    this.#refusal = refusal;
    this.#atOnce = atOnce;
    this.#waitingMax = waitingMax;
  }

  /** Throws the error of the work, the refusal, or the reason of a signal that aborts before the work starts. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#taken < this.#atOnce) this.#taken += 1;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  /** Passes the slot to the first waiter, so that a newcomer cannot overtake it. */
  #turn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#waiting.size >= this.#waitingMax) throw this.#refusal(this.#waitingMax);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(waiter);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        begin: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      this.#waiting.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next.begin();
  }
}
