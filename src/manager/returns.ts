import type { Client } from '../client/client.js';
import { systemClock } from '../base/clock.js';
import { asBusError } from '../errors/bus-error.js';
import type { Logger } from '../observe/log.js';
import type { TaskBook } from '../task/book/book.js';
import { stateOf, withNoteOnce } from '../task/life/advance.js';

/** Agents that are gone at a time. */
const goneMax = 1_000;
/** What waited for its turn since then may have been held up, too. */
const recentMs = 60_000;

/** Of which states the tasks learn that an agent of this role is back. Workers claim again what they have. */
const concerned: Readonly<Record<string, readonly string[]>> = {
  critic: ['critiquing'],
  pgc: ['assigned', 'running', 'reviewing'],
};

/** An agent that was lost and came back stands in the notes of the tasks that it may have held up: a person who was away reads it there. */
export class Returns implements Disposable {
  readonly #book: TaskBook;
  readonly #log: Logger;
  readonly #watches: Disposable;
  readonly #gone = new Set<string>();
  #isLost = false;

  constructor(client: Client, book: TaskBook, log: Logger) {
    this.#book = book;
    this.#log = log;
    const presence = client.onPresence(({ change, agent: { record } }) => {
      const { id, role } = record;
      const states = Object.hasOwn(concerned, role) ? concerned[role] : undefined;
      // Passing agents, which never come back, would fill the list.
      if (states === undefined) return;
      if (change === 'lost' && this.#gone.size < goneMax) this.#gone.add(id);
      if (change !== 'joined' || !this.#gone.delete(id)) return;
      void this.#note(`${role}.returned: ${id}`, states);
    });
    const state = client.onState((now) => {
      if (now === 'live' && this.#isLost) void this.#note('bus.returned', underWay);
      this.#isLost = now !== 'live';
    });
    this.#watches = {
      [Symbol.dispose]: () => {
        presence[Symbol.dispose]();
        state[Symbol.dispose]();
      },
    };
  }

  /** Of this manager itself, before it goes on with what an earlier process left. */
  noteOwn(): Promise<void> {
    return this.#note('manager.returned', underWay);
  }

  [Symbol.dispose](): void {
    this.#watches[Symbol.dispose]();
  }

  async #note(said: string, states: readonly string[]): Promise<void> {
    const sinceMs = states === underWay ? systemClock.nowMs() - recentMs : Infinity;
    const its = this.#book
      .open()
      .filter((each) => states.includes(stateOf(each)) || each.updated_ms > sinceMs);
    try {
      for (const { id } of its)
        await this.#book.amend(id, (record) => ({
          notes: withNoteOnce(record, said, systemClock.nowMs()),
        }));
    } catch (error) {
      this.#log.warn({ code: asBusError(error).code }, `not noted: ${said}`);
    }
  }
}

const underWay: readonly string[] = [
  ...['attending', 'assigned', 'running', 'clarifying', 'blocked'],
  ...['reviewing', 'critiquing', 'revising', 'deciding'],
];
