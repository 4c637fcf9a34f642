import { BusError } from '../../errors/bus-error.js';

/** One that was started, and waits until its queue lets it go on. */
export interface Waiting {
  id: string;
  owner: string;
  /** The least goes first. */
  order: number;
}

type Waiter = Waiting & { go: () => void };

/**
 * How many tasks of a queue are under way at once: never more than its limit. Whoever had its turn keeps it until it is over,
 * also while it looks for a worker again.
 */
export class QueueTurns {
  readonly #limitOf: (owner: string) => number;
  readonly #taken = new Map<string, Set<string>>();
  readonly #waiting = new Map<string, Set<Waiter>>();

  /** `limitOf`: 0: none. */
  constructor(limitOf: (owner: string) => number) {
    this.#limitOf = limitOf;
  }

  /** Of one that an earlier process had let go. */
  restore({ owner, id }: Pick<Waiting, 'owner' | 'id'>): void {
    this.#taken.set(owner, (this.#taken.get(owner) ?? new Set()).add(id));
  }

  /** Resolves when it may go on. Throws CANCELLED when the signal is given. */
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

  /** It is over. */
  release({ owner, id }: Pick<Waiting, 'owner' | 'id'>): void {
    const taken = this.#taken.get(owner);
    if (taken?.delete(id) !== true) return;
    if (taken.size === 0) this.#taken.delete(owner);
    this.serve(owner);
  }

  /** After its limit changed. */
  serve(owner: string): void {
    const limit = this.#limitOf(owner) || Infinity;
    const inOrder = [...(this.#waiting.get(owner) ?? [])].sort((a, b) => a.order - b.order);
    for (const each of inOrder) {
      if ((this.#taken.get(owner)?.size ?? 0) >= limit) return;
      each.go();
    }
  }
}
