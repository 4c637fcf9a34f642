import type { Subscription } from '../src/client/subscriptions.js';
import { BusError } from '../src/errors/bus-error.js';
import type { AgentsPort } from '../src/nats/micro/gateway.js';
import { answerTokens } from '../src/operations/bounds.js';
import { textOf, type Asking } from '../src/operations/operation.js';
import { registry, type AnyOperation } from '../src/operations/registry.js';
import type { AgentView } from '../src/wire/messages.js';

/** Of one question, as long as an operation may take. */
const timeoutS = 600;

/** What a text to an agent is, by its role. */
interface Use {
  description: string;
  operation: string;
  argumentsOf: (agent: string, text: string) => object;
}

/** Questions alone: work is for those who have shown who they are. */
const uses: Readonly<Record<string, Use>> = {
  pgc: {
    description:
      'Knows a part of a code base by its index. A prompt is a question; the answer shows the lines that prove it.',
    operation: 'query_agent',
    argumentsOf: (agent, question) => ({ agent, question }),
  },
  manager: {
    description:
      'Knows all code of this bus. A prompt is a question, which goes to the agents that know most of it.',
    operation: 'ask',
    argumentsOf: (_, question) => ({ question }),
  },
  critic: {
    description: 'Reviews a text: its claims about code are looked up, and it gets a score.',
    operation: 'critique',
    argumentsOf: (_, text) => ({ path: 'message.md', text }),
  },
};

/** The agents of a bus as others may ask them: with the operations that models have, in text. */
export class AskedAgents implements AgentsPort, Disposable {
  readonly #bus: Asking;
  readonly #operations: ReadonlyMap<string, AnyOperation>;
  /** As many as the broker remembers. */
  readonly #views = new Map<string, AgentView>();
  readonly #watchers = new Set<() => void>();
  #presence: Subscription | undefined;

  private constructor(bus: Asking, operations: readonly AnyOperation[]) {
    this.#bus = bus;
    this.#operations = new Map(operations.map((each) => [each.name, each]));
  }

  /** Throws NO_BROKER. */
  static async open(bus: Asking): Promise<AskedAgents> {
    const client = await bus.client();
    const agents = new AskedAgents(
      bus,
      (await Promise.all(registry.map((each) => each.load()))).flat(),
    );
    agents.#presence = client.onPresence(
      ({ agent }) => agents.#changed(() => agents.#views.set(agent.record.id, agent)),
      (id) => agents.#changed(() => agents.#views.delete(id)),
    );
    return agents;
  }

  agents(): readonly AgentView[] {
    return [...this.#views.values()];
  }

  onChange(changed: () => void): Disposable {
    this.#watchers.add(changed);
    return { [Symbol.dispose]: () => void this.#watchers.delete(changed) };
  }

  describe({ record }: AgentView): string | undefined {
    return uses[record.role]?.description;
  }

  async *ask(agent: string, text: string, signal: AbortSignal): AsyncGenerator<string> {
    const role = this.#views.get(agent)?.record.role ?? '';
    const use = uses[role];
    const operation = this.#operations.get(use?.operation ?? '');
    if (use === undefined || operation === undefined)
      throw new BusError('UNKNOWN_AGENT', { agent });
    const limits = { timeout_seconds: timeoutS, max_tokens: answerTokens.max };
    const call = { bus: this.#bus, signal, tell: () => undefined };
    yield await textOf(operation, { ...use.argumentsOf(agent, text), ...limits }, call);
  }

  [Symbol.dispose](): void {
    this.#presence?.[Symbol.dispose]();
    this.#watchers.clear();
  }

  #changed(change: () => void): void {
    change();
    for (const changed of this.#watchers) changed();
  }
}
