import { createHash } from 'node:crypto';
import { BusError } from '../../errors/bus-error.js';
import type { Card, TopologyAnswer } from '../../pgc/shapes.js';
import { Directory } from './directory.js';

/** Example symbols per edge. */
const symbolsShown = 5;

/** Who refers to whom. `neighbours` are in order of preference: the strongest dependency first. */
export type Adjacency = ReadonlyMap<string, readonly string[]>;

/** Edges of one answer; beyond them the strongest. */
export const edgesMax = 20_000;

type Edge = TopologyAnswer['edges'][number];

/** The edges of one card; valid while the card and the owners of its open names stay the same. */
interface Row {
  version: string;
  edges: Edge[];
}

/**
 * Which shard depends on which. A depends on B with the number of A's call sites of names that A lacks and B defines for
 * others; in languages that are bound by types, of what is defined in a file of B. A name that several shards define counts for those
 * that A needs anyway, in proportion to the names that only they define. Where A needs none of them for sure, each of n
 * owners gets 1/n² of the sites. Only the rows of shards that changed, or whose open names got or lost an owner, are
 * computed again; with no change the answer is the same object.
 */
export class TopologyKeeper {
  #cards = new Map<string, Card>();
  #rows = new Map<string, Row>();
  #answer: TopologyAnswer | undefined;
  /** Rows computed so far. */
  worked = 0;

  /** `directoryOf`: a directory of these cards; to make one of a hundred shards takes seconds. */
  of(cards: readonly Card[], directoryOf?: () => Directory): TopologyAnswer {
    const sorted = [...cards].sort((one, other) => (one.agent < other.agent ? -1 : 1));
    const version = versionOf(sorted);
    if (this.#answer?.version === version) return this.#answer;
    const rows = this.#rowsOf(sorted, directoryOf ?? (() => new Directory(sorted)));
    this.#rows = rows;
    this.#cards = new Map(sorted.map((card) => [card.agent, card]));
    const all = sorted.flatMap((card) => rows.get(card.agent)?.edges ?? []);
    return (this.#answer = {
      version,
      shards: sorted.map((card) => card.agent),
      edges: strongest(all),
      nodes: sorted.map(({ agent, files, lines }) => ({ agent, files, lines })),
      truncated: all.length > edgesMax,
    });
  }

  #rowsOf(sorted: readonly Card[], directoryOf: () => Directory): Map<string, Row> {
    const isFirst = this.#cards.size === 0;
    const changes = isFirst ? noChanges : changesBetween([...this.#cards.values()], sorted);
    const kept = new Map<string, Row>();
    const anew: Card[] = [];
    for (const card of sorted) {
      const known = this.#rows.get(card.agent);
      if (known?.version === card.index_version && !concerns(changes, card))
        kept.set(card.agent, known);
      else anew.push(card);
    }
    if (anew.length === 0) return kept;
    this.worked += anew.length;
    const directory = directoryOf();
    directory.names.learn(namesOpenIn(anew));
    for (const card of anew)
      kept.set(card.agent, { version: card.index_version, edges: edgesOf(card, directory) });
    return kept;
  }
}

/** Open names of shards that another shard may define. */
function* namesOpenIn(cards: readonly Card[]): Iterable<string> {
  for (const { unresolved } of cards) for (const { term } of unresolved) yield term;
}

interface Changes {
  /** Names that some shard defines now and did not, or the other way round. */
  names: ReadonlySet<string>;
  /** Files belong to other shards than before. */
  scopes: boolean;
}

const noChanges: Changes = { names: new Set(), scopes: false };

function changesBetween(before: readonly Card[], now: readonly Card[]): Changes {
  const old = new Map(before.map((card) => [card.agent, card]));
  const present = new Set(now.map(({ agent }) => agent));
  const gone = before.filter(({ agent }) => !present.has(agent)).map((card) => [card, undefined]);
  const changed = now
    .filter((card) => old.get(card.agent)?.index_version !== card.index_version)
    .map((card) => [old.get(card.agent), card]);
  const names = new Set<string>();
  let scopes = false;
  for (const [one, other] of [...gone, ...changed]) {
    const [left, right] = [ownedBy(one), ownedBy(other)];
    for (const name of [...left.keys(), ...right.keys()])
      if (left.get(name) !== right.get(name)) names.add(name);
    scopes ||= scopeOf(one) !== scopeOf(other);
  }
  return { names, scopes };
}

/** How a card owns each name: in C or another language, as a real definition or a stand-in. */
function ownedBy(card: Card | undefined): Map<string, string> {
  const language = card?.languages.includes('c') === true ? 'c' : '-';
  const standIns = new Set(card?.stand_ins);
  return new Map(
    card?.defines.map((name) => [name, `${language}${standIns.has(name) ? '~' : '='}`]),
  );
}

function scopeOf(card: Card | undefined): string {
  return JSON.stringify([card?.root, card?.scope]);
}

function concerns({ names, scopes }: Changes, card: Card): boolean {
  if (names.size === 0 && !scopes) return false;
  return card.unresolved.some(({ term, files }) => names.has(term) || (scopes && files.length > 0));
}

function edgesOf(card: Card, directory: Directory): Edge[] {
  const open = card.unresolved.map((reference) => ({
    sites: reference.documents,
    name: reference.term,
    agents: directory.findOpen(reference, card.agent).filter((agent) => agent !== card.agent),
  }));
  const sure = new Map<string, number>();
  for (const { sites, agents } of open) {
    const [only] = agents;
    if (only !== undefined && agents.length === 1) sure.set(only, (sure.get(only) ?? 0) + sites);
  }
  const found = new Map<string, { weight: number; symbols: { name: string; weight: number }[] }>();
  for (const { sites, agents, name } of open) {
    const known = agents.reduce((sum, agent) => sum + (sure.get(agent) ?? 0), 0);
    for (const agent of agents) {
      const share = known > 0 ? (sure.get(agent) ?? 0) / known : 1 / agents.length ** 2;
      if (share === 0) continue;
      const edge = found.get(agent) ?? { weight: 0, symbols: [] };
      edge.weight += sites * share;
      edge.symbols.push({ name, weight: sites * share });
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

function strongest(edges: Edge[]): Edge[] {
  if (edges.length <= edgesMax) return edges;
  const kept = new Set(edges.toSorted((a, b) => b.references - a.references).slice(0, edgesMax));
  return edges.filter((edge) => kept.has(edge));
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
