import { AgentCard, type AgentCardSignatureGenerator } from '@a2a-js/sdk';
import { createHash } from 'node:crypto';
import { BusError } from '../../src/errors/bus-error.js';
import { listed, type ListedAgent } from '../../src/operations/agents.js';
import { answerTokens } from '../../src/operations/bounds.js';
import { drafted } from '../../src/operations/operation.js';
import type { Bus } from '../bus.js';
import { version } from '../version.js';
import { listAgents, useOf } from './roles.js';

export const protocolVersion = '1.0';
/** What the bus knows of an agent beside what A2A has fields for. */
const agentExtension = 'urn:sigma-bus:agent:1';
/** Signed cards that are kept; the one that was asked for longest ago goes first. */
const keptMax = 1_000;
const bearer = 'bearer';

type CardedAgent = Pick<ListedAgent, 'id' | 'alias' | 'role'> & Partial<ListedAgent>;

export interface ServedCard {
  card: AgentCard;
  body: string;
  etag: string;
  /** When it was first asked for as it is now. */
  since: Date;
}

/** The agents of the bus as A2A shows them: each with a signed card at an address of its own. */
export class Cards {
  readonly #bus: Bus;
  readonly #origin: () => string;
  readonly #sign: AgentCardSignatureGenerator;
  /** By what they say: a signature is another one each time. */
  readonly #signed = new Map<string, Promise<ServedCard>>();

  constructor(parts: { bus: Bus; origin: () => string; sign: AgentCardSignatureGenerator }) {
    this.#bus = parts.bus;
    this.#origin = parts.origin;
    this.#sign = parts.sign;
  }

  /** The way in, which says nothing of any code: it is there without a token, and before there is a bus. */
  front(): Promise<ServedCard> {
    return this.signed({ id: 'manager', alias: 'manager', role: 'manager' });
  }

  /** By id, or by the alias that it alone has. Throws UNKNOWN_AGENT, AMBIGUOUS_ALIAS, NO_BROKER. */
  async find(name: string): Promise<ListedAgent> {
    const views = await (await this.#bus.client()).agents();
    const found = views.filter(({ record: { id, alias } }) => [id, alias].includes(name));
    const view = found.find(({ record }) => record.id === name) ?? found[0];
    if (view === undefined) throw new BusError('UNKNOWN_AGENT', { agent: name });
    if (view.record.id !== name && found.length > 1)
      throw new BusError('AMBIGUOUS_ALIAS', { alias: name });
    const { record, ...its } = view;
    return listed({ ...record, ...its });
  }

  /** As `list_agents` filters. Throws TOOL_INPUT, NO_BROKER. */
  async list(query: URLSearchParams, signal: AbortSignal): Promise<object> {
    const { offset = '0', ...filters } = Object.fromEntries(query);
    const from = Number(offset);
    const input = { ...filters, offset: from, max_tokens: answerTokens.max };
    const call = { bus: this.#bus, signal, tell: () => undefined, person: () => undefined };
    const { structured } = await drafted(listAgents, input, call);
    const { agents, total, shown } = structured as {
      agents: ListedAgent[];
      total: number;
      shown: number;
    };
    const cards = await Promise.all(agents.map((each) => this.signed(each)));
    const next = from + shown < total ? from + shown : null;
    return { agents: cards.map(({ body }) => JSON.parse(body) as object), total, next };
  }

  signed(agent: CardedAgent): Promise<ServedCard> {
    const card = cardOf(agent, this.#origin());
    const etag = createHash('sha256').update(JSON.stringify(card)).digest('base64url');
    const known = this.#signed.get(etag);
    const served = known ?? this.#served(card, etag);
    // Asked for last.
    this.#signed.delete(etag);
    this.#signed.set(etag, served);
    const [oldest] = this.#signed.keys();
    if (this.#signed.size > keptMax && oldest !== undefined) this.#signed.delete(oldest);
    return served;
  }

  async #served(unsigned: AgentCard, etag: string): Promise<ServedCard> {
    const card = await this.#sign(unsigned);
    return {
      card,
      body: JSON.stringify(AgentCard.toJSON(card)),
      etag: `"${etag}"`,
      since: new Date(),
    };
  }
}

function cardOf(agent: CardedAgent, origin: string): AgentCard {
  const { id, alias, role, last_seen_ms: _seen, load: _load, ...its } = agent;
  const { description, skill } = useOf(agent);
  const modes = ['text/markdown', 'application/json'];
  return {
    name: alias === '' ? id : alias,
    description,
    version,
    supportedInterfaces: [
      {
        url: `${origin}/agents/${encodeURIComponent(id)}`,
        ...{ protocolBinding: 'JSONRPC', tenant: '', protocolVersion },
      },
    ],
    provider: undefined,
    capabilities: {
      ...{ streaming: true, pushNotifications: false, extendedAgentCard: false },
      extensions: [
        {
          ...{ uri: agentExtension, description: 'What the bus knows of it.', required: false },
          params: { id, role, ...its },
        },
      ],
    },
    securitySchemes: {
      [bearer]: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { scheme: 'Bearer', bearerFormat: '', description: 'The token of this home.' },
        },
      },
    },
    securityRequirements: [{ schemes: { [bearer]: { list: [] } } }],
    defaultInputModes: ['text/plain', ...modes],
    defaultOutputModes: modes,
    skills: skill ? [{ ...skill, inputModes: [], outputModes: [], securityRequirements: [] }] : [],
    signatures: [],
  };
}
