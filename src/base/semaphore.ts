interface Waiter {
  begin: () => void;
}

/** So many at once; the others wait for their turn, in the order of their coming. */
export class Semaphore {
  readonly #atOnce: number;
  readonly #waitingMax: number;
  readonly #refusal: (limit: number) => Error;
  readonly #waiting = new Set<Waiter>();
  #taken = 0;

  /** `waitingMax`: one more is refused with what `refusal` makes. */
  constructor(parts: { atOnce: number; waitingMax: number; refusal: (limit: number) => Error }) {
    const { atOnce, waitingMax, refusal } = parts;
    this.#refusal = refusal;
    this.#atOnce = atOnce;
    this.#waitingMax = waitingMax;
  }

  /** Throws what the work throws, the refusal, and the reason of a signal that is given before its turn has come. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#taken < this.#atOnce) this.#taken += 1;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  /** Whoever ends hands its turn on, so that nobody who comes meanwhile is before those who wait. */
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
