import type { Clock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { Client } from '../../src/client/client.js';
import type { Subscription } from '../../src/client/subscriptions.js';
import { askManager } from '../../src/remote/request.js';
import { taskMessages } from '../../src/task/requests/messages.js';
import type { StatusAnswer } from '../../src/wire/messages.js';
import type { Bus } from '../bus.js';
import type { Sample, Samples } from './samples.js';

/** Between two looks for what has changed; a page is told of one kind no more often. */
const lookEveryMs = 1_000;
const managerMsMax = 5_000;

/** What tells by its change that something has changed. */
type Read = (client: Client) => Promise<string>;
/** A look that failed. */
const unread = '';

export type What = 'agents' | 'tasks' | 'gates' | 'mail' | 'prompts';

/** What an open page is told without asking. */
export interface LiveEvents {
  bus: { state: 'online' } | { state: 'offline'; code: string };
  changed: { what: What[] };
  sample: Sample;
}
export type Tell = <Name extends keyof LiveEvents>(event: Name, data: LiveEvents[Name]) => void;

/**
 * Tells open pages how the bus is and what has changed: of agents by their presence, of messages by the counts of the broker, of tasks
 * by the count of the manager. While no page is open it asks nothing.
 */
export class Live implements Disposable {
  readonly #bus: Bus;
  readonly #samples: Samples;
  readonly #clock: Clock;
  readonly #pages = new Set<Tell>();
  #looking: AbortController | undefined;
  /** Agents that came and went. */
  #presences = 0;
  #presence: { client: Client; subscription: Subscription } | undefined;
  #state = '';

  constructor(parts: { bus: Bus; samples: Samples; clock: Clock }) {
    this.#bus = parts.bus;
    this.#samples = parts.samples;
    this.#clock = parts.clock;
  }

  add(tell: Tell): Disposable {
    this.#pages.add(tell);
    if (this.#looking === undefined) this.#begin();
    else tell('bus', this.#busState());
    return {
      [Symbol.dispose]: () => {
        this.#pages.delete(tell);
        if (this.#pages.size === 0) this[Symbol.dispose]();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#looking?.abort();
    this.#looking = undefined;
    this.#samples.watch(undefined);
    this.#presence?.subscription[Symbol.dispose]();
    this.#presence = undefined;
  }

  #begin(): void {
    const looking = new AbortController();
    const watching = this.#bus.onState(() => this.#tellState());
    looking.signal.addEventListener('abort', () => watching[Symbol.dispose]());
    this.#looking = looking;
    this.#state = '';
    this.#tellState();
    this.#samples.watch((sample) => this.#tell('sample', sample));
    void this.#look(looking.signal, ['agents'], () => Promise.resolve(`${this.#presences}`));
    void this.#look(looking.signal, ['mail'], async (client) => mailOf(await client.status()));
    void this.#look(looking.signal, ['tasks', 'gates', 'prompts'], tasksOf);
  }

  /** Each kind has its own look: while the manager is away, that of mail goes on. */
  async #look(over: AbortSignal, what: readonly What[], read: Read): Promise<void> {
    const isOver = (): boolean => over.aborted;
    const now = async (): Promise<string> => {
      const client = await this.#bus.client();
      // The last page may have closed meanwhile.
      if (isOver()) return unread;
      this.#follow(client);
      return read(client);
    };
    for (let seen: string | undefined; !isOver(); await pause(this.#clock, lookEveryMs, over)) {
      const its = await now().catch(() => unread);
      if (isOver()) return;
      // What could not be read may have changed unseen, and a page may have asked for it in vain.
      if (seen !== undefined && its !== unread && its !== seen)
        this.#tell('changed', { what: [...what] });
      seen = its;
    }
  }

  #follow(client: Client): void {
    if (this.#presence?.client === client) return;
    this.#presence?.subscription[Symbol.dispose]();
    const noted = (): void => void (this.#presences += 1);
    this.#presence = { client, subscription: client.onPresence(noted, noted) };
  }

  #tellState(): void {
    const now = this.#busState();
    const state = JSON.stringify(now);
    if (state === this.#state) return;
    this.#state = state;
    this.#tell('bus', now);
  }

  #busState(): LiveEvents['bus'] {
    const { trouble } = this.#bus;
    return trouble === undefined ? { state: 'online' } : { state: 'offline', code: trouble.code };
  }

  #tell<Name extends keyof LiveEvents>(event: Name, data: LiveEvents[Name]): void {
    for (const tell of this.#pages) tell(event, data);
  }
}

function mailOf(status: StatusAnswer): string {
  const { started_ms, accepted, delivered, settled, leases, messages, dead_letters } = status;
  return [started_ms, accepted, delivered, settled, leases, messages, dead_letters].join();
}

/** A manager that was started anew counts from the beginning: its task counts by state tell it apart where that is not enough. */
async function tasksOf(client: Client): Promise<string> {
  const options = { deadlineMs: managerMsMax, isIdempotent: true };
  const { changes, states, waiting } = await askManager(client, taskMessages.numbers, {}, options);
  return JSON.stringify([changes, states, waiting]);
}
