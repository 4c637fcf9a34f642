import { systemClock } from '../../../src/base/clock.js';
import { pause } from '../../../src/base/pause.js';
import type { Entry } from '../../../src/prompt/agent/transcript.js';
import { damagedRecord } from '../../../src/store/damaged.js';
import { historyKey, historyOfPrefix } from '../../../src/store/keys.js';
import type { Store } from '../../../src/store/port.js';

/** Between two attempts to write what could not be written. */
const diskPauseMs = 1_000;

/** What happened in the conversation of one attempt at one task, on disk. Goes away with its assignment. */
export class History {
  readonly #store: Store;
  readonly #task: string;
  readonly #attempt: number;
  readonly #entries: Entry[] = [];
  #bytes = 0;

  private constructor(store: Store, task: string, attempt: number) {
    this.#store = store;
    this.#task = task;
    this.#attempt = attempt;
  }

  /** Throws RECORD_DAMAGED, STORE_UNAVAILABLE. */
  static async open(store: Store, task: string, attempt: number): Promise<History> {
    const history = new History(store, task, attempt);
    const prefix = historyOfPrefix(task, attempt);
    for await (const [key, value] of store.entries({ prefix })) {
      if (key !== historyKey(task, attempt, history.#entries.length))
        throw damagedRecord(key, new Error('an entry before it is missing'));
      history.#entries.push(decodeEntry(key, value));
      history.#bytes += value.length;
    }
    return history;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** As they stand on disk. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves when it is on disk: one that takes nothing now is waited for. Throws STORE_UNAVAILABLE when the signal is given. */
  async append(entry: Entry, signal: AbortSignal): Promise<void> {
    const value = Buffer.from(JSON.stringify(entry));
    const key = historyKey(this.#task, this.#attempt, this.#entries.length);
    for (;;) {
      try {
        await this.#store.commit([{ type: 'put', key, value }]);
        break;
      } catch (error) {
        if (signal.aborted) throw error;
        await pause(systemClock, diskPauseMs, signal);
      }
    }
    this.#entries.push(entry);
    this.#bytes += value.length;
  }
}

function decodeEntry(key: string, value: Buffer): Entry {
  try {
    const entry = JSON.parse(value.toString()) as Entry;
    if (typeof entry.kind !== 'string' || !Number.isFinite(entry.at_ms))
      throw new Error('a part of it is missing');
    return entry;
  } catch (error) {
    throw damagedRecord(key, error);
  }
}
