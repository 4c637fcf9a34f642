import {
  ResourceTemplate,
  type McpServer,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import { asBusError, BusError } from '../../src/errors/bus-error.js';
import { shardMessages } from '../../src/pgc/serve/messages.js';
import type { Card, CardTerm, TopologyAnswer } from '../../src/pgc/shapes.js';
import type { AgentView } from '../../src/wire/messages.js';
import { fitted, listsOf, type Cut } from '../../src/operations/bounds.js';
import type { Bus } from '../bus.js';
import { listed } from '../../src/operations/agents.js';

/** Of one resource. A client reads it whole. */
const resourceCharsMax = 60_000;
const deadlineMs = 30_000;
/** Of a shard's vocabulary. */
const termsShown = 60;
const scopeShown = 50;
/** The protocol takes no more completions. */
const completionsMax = 100;

const uris = {
  agents: 'sigma://agents',
  topology: 'sigma://topology',
  shard: (agent: string) => `sigma://shards/${encodeURIComponent(agent)}`,
};

/** `sigma://agents`, `sigma://topology` and `sigma://shards/{agent}`, as JSON. */
export function addResources(server: McpServer, bus: Bus): void {
  const json = { mimeType: 'application/json' };
  server.registerResource(
    'agents',
    uris.agents,
    { ...json, title: 'Agents', description: 'Every registered agent, reachable or not.' },
    () =>
      read(uris.agents, bus, async () => {
        const agents = (await (await bus.client()).agents()).map(({ record, ...its }) =>
          listed({ ...record, ...its }),
        );
        return document({ total: agents.length, agents }, listsOf('agents'));
      }),
  );
  server.registerResource(
    'topology',
    uris.topology,
    { ...json, title: 'Topology', description: 'Which shard depends on which, by references.' },
    () =>
      read(uris.topology, bus, async () => {
        const topology = await (await bus.questions()).topology({}, { deadlineMs });
        return document(strongestFirst(topology), listsOf('edges', 'shards'));
      }),
  );
  const names = async (): Promise<string[]> => shardNames(await shardsOn(bus));
  server.registerResource(
    'shard',
    new ResourceTemplate('sigma://shards/{agent}', {
      list: () =>
        // A list that fails hides the other resources; a shard that cannot be named is no loss then.
        bus.running(async () => {
          const all = await names().catch((): string[] => []);
          const resources = all.map((name) => ({ uri: uris.shard(name), name, ...json }));
          return { resources };
        }),
      complete: {
        agent: async (value) =>
          (await names().catch((): string[] => []))
            .filter((name) => name.startsWith(value))
            .slice(0, completionsMax),
      },
    }),
    { ...json, title: 'Shard', description: 'What one shard covers, and its most telling words.' },
    (uri, { agent }) => {
      const name = decodeURIComponent(String(agent));
      return read(uri.href, bus, async () =>
        document(briefly(await cardOf(bus, name)), listsOf('terms', 'scope')),
      );
    },
  );
}

/** Coded like the failures of tools; the protocol has no other place for it than the text. */
async function read(
  uri: string,
  bus: Bus,
  write: () => Promise<string>,
): Promise<ReadResourceResult> {
  return bus.running(async () => {
    try {
      return { contents: [{ uri, mimeType: 'application/json', text: await write() }] };
    } catch (error) {
      const { code, message, next } = asBusError(error);
      throw new Error(`${code}: ${message}. ${next}`, { cause: error });
    }
  });
}

function document<V extends object>(whole: V, cut: Cut<V>): string {
  const { structured } = fitted(whole, cut, resourceCharsMax, (value, isCut) => ({
    structured: { ...value, truncated: isCut },
    text: '',
  }));
  return JSON.stringify(structured);
}

function strongestFirst(topology: TopologyAnswer): TopologyAnswer {
  const edges = [...topology.edges].sort((one, other) => other.references - one.references);
  return { ...topology, edges };
}

async function shardsOn(bus: Bus): Promise<AgentView[]> {
  return (await bus.client()).agents({ role: 'pgc' });
}

/** By alias where it is the only one of that name, otherwise by id. */
function shardNames(views: readonly AgentView[]): string[] {
  const times = new Map<string, number>();
  for (const { record } of views) times.set(record.alias, (times.get(record.alias) ?? 0) + 1);
  return views.map(({ record: { alias, id } }) => (times.get(alias) === 1 ? alias : id));
}

/** Throws UNKNOWN_AGENT also for an agent that is no shard. */
async function cardOf(bus: Bus, agent: string): Promise<Card> {
  const client = await bus.client();
  const isShard = (await shardsOn(bus)).some(({ record }) =>
    [record.alias, record.id].includes(agent),
  );
  if (!isShard) throw new BusError('UNKNOWN_AGENT', { agent });
  const { type, request, answer } = shardMessages.card;
  const options = { deadlineMs, isIdempotent: true };
  return answer.decode(
    (await client.request(`agent:${agent}`, type, request.encode({}), options)).body,
  );
}

/** A card is megabytes for those who route. A reader wants to know what the shard is about. */
function briefly(card: Card) {
  const { agent, alias, project, root, scope, languages, files, lines, index_version } = card;
  return {
    ...{ agent, alias, project, root, languages, files, lines, index_version },
    scope: scope.slice(0, scopeShown),
    scope_total: scope.length,
    terms: telling(card.terms, card.documents),
    defines_total: card.defines.length,
  };
}

/** Frequent here and yet not everywhere, which is what the card itself chooses its terms by. */
function telling(terms: readonly CardTerm[], documents: number): string[] {
  const total = Math.max(1, documents);
  const worth = (each: CardTerm): number =>
    each.documents * Math.log((total + 1) / Math.max(1, each.documents));
  return [...terms]
    .sort((one, other) => worth(other) - worth(one))
    .slice(0, termsShown)
    .map(({ term }) => term);
}
