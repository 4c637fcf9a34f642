import { createHash } from 'node:crypto';
import { BusError } from '../errors/bus-error.js';
import type { Card, TopologyAnswer } from '../pgc/shapes.js';
import { Directory } from './directory.js';

/** Example symbols per edge. */
const symbolsShown = 5;

/** Who refers to whom. `neighbours` are in order of preference: the strongest dependency first. */
export type Adjacency = ReadonlyMap<string, readonly string[]>;

/**
 * A depends on B with the number of A's call sites of names that A lacks and B defines for others; in
 * languages with modules in a file that A imports. A name that several shards define counts in parts: each
 * of n owners gets 1/n² of its sites.
 */
export function topologyOf(cards: readonly Card[]): TopologyAnswer {
  const sorted = [...cards].sort((one, other) => (one.agent < other.agent ? -1 : 1));
  const directory = new Directory(sorted);
  const edges = sorted.flatMap((card) => edgesOf(card, directory));
  return { version: versionOf(sorted), shards: sorted.map((card) => card.agent), edges };
}

function edgesOf(card: Card, directory: Directory): TopologyAnswer['edges'] {
  const found = new Map<string, { weight: number; symbols: { name: string; weight: number }[] }>();
  for (const { term, documents, modules, container } of card.unresolved) {
    const kind = container === '' ? 'direct' : 'member';
    const wanted = { name: term, kind, container, modules };
    const { agents, lookup } = directory.find(wanted, card.agent);
    const targets = agents.filter((agent) => agent !== card.agent);
    const weight = documents / targets.length ** 2;
    for (const agent of targets) {
      const edge = found.get(agent) ?? { weight: 0, symbols: [] };
      edge.weight += weight;
      edge.symbols.push({ name: lookup.name, weight });
      found.set(agent, edge);
    }
  }
  return [...found]
    .map(([to, edge]) => ({
      from: card.agent,
      to,
      references: Math.round(edge.weight),
      symbols: edge.symbols
        .sort((one, other) => other.weight - one.weight || (one.name < other.name ? -1 : 1))
        .slice(0, symbolsShown)
        .map((each) => each.name),
    }))
    .filter((edge) => edge.references > 0)
    .sort((one, other) => other.references - one.references || (one.to < other.to ? -1 : 1));
}

/** Changes with the index version of any shard and with nothing else. */
function versionOf(sorted: readonly Card[]): string {
  const hash = createHash('sha256');
  for (const card of sorted) hash.update(`${card.agent}\0${card.index_version}\0`);
  return hash.digest('hex').slice(0, 16);
}

export function adjacencyOf(topology: TopologyAnswer): Adjacency {
  const adjacency = new Map<string, string[]>(topology.shards.map((agent) => [agent, []]));
  for (const edge of topology.edges) adjacency.get(edge.from)?.push(edge.to);
  return adjacency;
}

/**
 * The shortest route, both ends included, by breadth-first search. Throws UNKNOWN_AGENT, NO_ROUTE when
 * no dependency leads there, MAX_HOPS_EXCEEDED when the shortest route visits more than `agentsMax` agents.
 */
export function pathBetween(
  adjacency: Adjacency,
  from: string,
  to: string,
  agentsMax = Infinity,
): string[] {
  for (const agent of [from, to]) {
    const isKnown =
      adjacency.has(agent) || [...adjacency.values()].some((each) => each.includes(agent));
    if (!isKnown) throw new BusError('UNKNOWN_AGENT', { agent });
  }
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  for (let level = [from]; level.length > 0 && !cameFrom.has(to);) {
    const next: string[] = [];
    for (const agent of level) {
      for (const neighbour of adjacency.get(agent) ?? []) {
        if (cameFrom.has(neighbour)) continue;
        cameFrom.set(neighbour, agent);
        next.push(neighbour);
      }
    }
    level = next;
  }
  if (!cameFrom.has(to)) throw new BusError('NO_ROUTE', { from, to });
  const path: string[] = [];
  for (let at: string | undefined = to; at !== undefined; at = cameFrom.get(at)) path.unshift(at);
  if (path.length > agentsMax) throw new BusError('MAX_HOPS_EXCEEDED', { limit: agentsMax });
  return path;
}
