import { systemClock } from '../base/clock.js';
import { asBusError } from '../errors/bus-error.js';
import type { Logger } from '../observe/log.js';
import type { TaskHandler } from './task-handler.js';

/** How often a store that cannot be used is tried again. */
const tryEveryMs = 15_000;

export interface KeptTasksParts {
  /** Throws STORE_LOCKED, STORE_SCHEMA, STORE_UNAVAILABLE. */
  open: () => Promise<readonly [TaskHandler, AsyncDisposable]>;
  log: Logger;
}

/**
 * The handler of tasks, as soon as its store can be opened. Without a disk it may promise nothing, so until then no
 * request about tasks is answered; questions are answered all the same.
 */
export class KeptTasks implements AsyncDisposable {
  readonly #parts: KeptTasksParts;
  #opened: readonly [TaskHandler, AsyncDisposable] | undefined;
  #opening: Promise<void> = Promise.resolve();
  #next: Disposable | undefined;
  #isClosed = false;

  constructor(parts: KeptTasksParts) {
    this.#parts = parts;
  }

  /** Undefined until tasks are taken. */
  get handler(): TaskHandler | undefined {
    return this.#opened?.[0];
  }

  begin(): void {
    if (!this.#isClosed) this.#opening = this.#open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#next?.[Symbol.dispose]();
    await this.#opening;
    for (const each of this.#opened ?? []) await each[Symbol.asyncDispose]();
  }

  async #open(): Promise<void> {
    const { open, log } = this.#parts;
    try {
      this.#opened ??= await open();
      await this.#opened[0].begin();
      log.info({ open: this.#opened[0].book.openTasks }, 'tasks are taken');
    } catch (error) {
      log.error({ code: asBusError(error).code }, 'tasks are not taken yet');
      if (!this.#isClosed) this.#next = systemClock.after(tryEveryMs, () => this.begin());
    }
  }
}
