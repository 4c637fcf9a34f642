import { BusError } from '../../errors/bus-error.js';

/** A started task that waits for a free place under the concurrency limit. */
export interface Waiting {
  id: string;
  owner: string;
  /** The least goes first. */
  order: number;
}

type Waiter = Waiting & { go: () => void };

/**
 * Keeps the number of running tasks of a queue within its limit. A task keeps its place until it is over, also while it waits for another worker.
 */
export class QueueTurns {
  readonly #limitOf: (owner: string) => number;
  readonly #taken = new Map<string, Set<string>>();
  readonly #waiting = new Map<string, Set<Waiter>>();

  /** `limitOf` gives the limit of an owner; 0: none. */
  constructor(limitOf: (owner: string) => number) {
    this.#limitOf = limitOf;
  }

  /** Takes a place for a task that an earlier process had started. */
  restore({ owner, id }: Pick<Waiting, 'owner' | 'id'>): void {
    this.#taken.set(owner, (this.#taken.get(owner) ?? new Set()).add(id));
  }

  /** Resolves when the task may go on. Throws CANCELLED when the signal aborts. */
  async turn(waiting: Waiting, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new BusError('CANCELLED');
    const { owner, id } = waiting;
    if (this.#taken.get(owner)?.has(id) === true) return;
    await new Promise<void>((resolve, reject) => {
      const all = this.#waiting.get(owner) ?? new Set();
      const end = (): void => {
        all.delete(mine);
        if (all.size === 0) this.#waiting.delete(owner);
        signal.removeEventListener('abort', give);
      };
      const give = (): void => {
        end();
        reject(new BusError('CANCELLED'));
      };
      const go = (): void => {
        end();
        this.restore(waiting);
        resolve();
      };
      const mine: Waiter = { ...waiting, go };
      signal.addEventListener('abort', give, { once: true });
      this.#waiting.set(owner, all.add(mine));
      this.serve(owner);
    });
  }

  /** Frees the place of a task that is over. */
  release({ owner, id }: Pick<Waiting, 'owner' | 'id'>): void {
    const taken = this.#taken.get(owner);
    if (taken?.delete(id) !== true) return;
    if (taken.size === 0) this.#taken.delete(owner);
    this.serve(owner);
  }

  /** Gives free places to waiting tasks. */
  serve(owner: string): void {
    const limit = this.#limitOf(owner) || Infinity;
    const inOrder = [...(this.#waiting.get(owner) ?? [])].sort((a, b) => a.order - b.order);
    for (const each of inOrder) {
      if ((this.#taken.get(owner)?.size ?? 0) >= limit) return;
      each.go();
    }
  }
}
