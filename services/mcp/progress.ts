import type { ServerContext } from '@modelcontextprotocol/server';

/** Nothing finer is known of most calls than that they go on. */
const everyMs = 1_000;

/** Tells a client that asked for it how far its call is: at the beginning, every second, at steps and at the end. */
export class Progress implements Disposable {
  readonly #context: ServerContext;
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #toldLast = -1;
  #doing: string;

  constructor(context: ServerContext, doing: string) {
    this.#context = context;
    this.#doing = doing;
    if (this.#token === undefined) return;
    void this.#notify(doing);
    this.#timer = setInterval(() => {
      void this.#notify(`${this.#doing} (${Math.round(this.#elapsedS)} s)`);
    }, everyMs);
  }

  tell(doing: string): void {
    this.#doing = doing;
    void this.#notify(doing);
  }

  /** Resolves when it is on its way: what follows is the result. */
  async done(): Promise<void> {
    this[Symbol.dispose]();
    await this.#notify('done');
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  get #token(): string | number | undefined {
    return this.#context.mcpReq._meta?.progressToken;
  }

  get #elapsedS(): number {
    return (performance.now() - this.#startedMs) / 1_000;
  }

  async #notify(message: string): Promise<void> {
    const { signal, notify } = this.#context.mcpReq;
    if (this.#token === undefined || signal.aborted) return;
    // It must grow with every notification, however fast they follow each other.
    const progress = Math.max(this.#toldLast + 0.001, Math.round(this.#elapsedS * 1_000) / 1_000);
    this.#toldLast = progress;
    const params = { progressToken: this.#token, progress, message };
    // A client that is gone needs no progress; its call ends by itself.
    await notify({ method: 'notifications/progress', params }).catch(() => undefined);
  }
}
