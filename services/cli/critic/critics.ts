import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '../../../src/base/ids.js';
import type { Client } from '../../../src/client/client.js';
import type { Config } from '../../../src/config/config.js';
import {
  criticService,
  type ArtifactHistory,
  type CriticRow,
  type RatifyRequest,
} from '../../../src/critic/review/messages.js';
import type { Critique, CritiqueRequest } from '../../../src/critic/shapes.js';
import { asBusError } from '../../../src/errors/bus-error.js';
import { isListening } from '../../../src/transport/probe.js';
import { withClient } from '../connect.js';
import { RemoteCritic, type CriticPort, type Reviewing } from '../../../src/remote/critic.js';

/** A critic that has just been started, or that reviews in another process, is waited for. */
const beginningMs = 10_000;
const retryMs = 250;

/**
 * The critic of this home: over the bus where one serves there, else in this process, without a broker. One id is one review
 * in both: asked again, it goes on where it was.
 */
export class Critics implements CriticPort {
  readonly #config: Config;

  constructor(config: Config) {
    this.#config = config;
  }

  critique(request: CritiqueRequest, options: Reviewing = {}): Promise<Critique> {
    const named = request.id === '' ? { ...request, id: newId('review') } : request;
    return this.#with((critic) => critic.critique(named, options));
  }

  history(artifact: string): Promise<ArtifactHistory> {
    return this.#with((critic) => critic.history(artifact));
  }

  finished(id: string): Promise<Critique> {
    return this.#with((critic) => critic.finished(id));
  }

  list(): Promise<{ rows: CriticRow[]; more: boolean }> {
    return this.#with((critic) => critic.list());
  }

  ratify(said: RatifyRequest): Promise<ArtifactHistory> {
    return this.#with((critic) => critic.ratify(said), 'operator');
  }

  /** Several questions to one critic, at once or one after the other. */
  together<T>(work: (critic: CriticPort) => Promise<T>): Promise<T> {
    return this.#with(work);
  }

  /** The role operator is proven to the broker, where there is one. */
  async #with<T>(work: (critic: CriticPort) => Promise<T>, role = 'client'): Promise<T> {
    for (const untilMs = performance.now() + beginningMs; ;) {
      const isThere = await isListening(this.#config.bus);
      const found = isThere ? await this.#there(work, role) : undefined;
      if (found !== undefined) return found.answer;
      try {
        return await this.#here(work);
      } catch (error) {
        // It has its store already, and will serve, or end, in a moment.
        const isElsewhere = asBusError(error).code === 'CRITIC_ELSEWHERE';
        if (!isElsewhere || performance.now() >= untilMs) throw error;
        await delay(retryMs);
      }
    }
  }

  /** Undefined: no critic serves on the bus. */
  #there<T>(
    work: (critic: CriticPort) => Promise<T>,
    role: string,
  ): Promise<{ answer: T } | undefined> {
    return withClient(
      this.#config,
      async (client) =>
        (await serves(client)) ? { answer: await work(new RemoteCritic(client)) } : undefined,
      role,
    );
  }

  async #here<T>(work: (critic: CriticPort) => Promise<T>): Promise<T> {
    const { withLocalCritic } = await import('./local-critic.js');
    return withLocalCritic(this.#config, work);
  }
}

async function serves(client: Client): Promise<boolean> {
  const { services } = await client.status();
  return services.some(({ name }) => name === criticService);
}
