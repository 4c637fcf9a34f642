import { CardNames } from './card-names.js';
import { ownerOf } from '../../pgc/plan/planned-shards.js';
import { WantedNames } from '../../pgc/search/card/name-list.js';
import { BoundedMap } from '../../base/bounded-map.js';
import type { Card, CardReference, Definition, Lookup } from '../../pgc/shapes.js';

/** Limit of owners of a name; a name with more owners is ignored. */
const ownersMax = 6;
/** Names of which definitions are remembered; the oldest go first. */
const definitionsMax = 50_000;

/** Finds the shards that define a name, from the cards. */
export class Directory {
  #sites: Map<string, number> | undefined;
  #hasAllSites: boolean | undefined;
  /** Definitions that shards have returned, by agent and name; valid as long as the cards. */
  readonly definitions = new BoundedMap<string, readonly Definition[]>(definitionsMax);
  readonly cAgents = new Set<string>();
  /** By root: the agent of a path. */
  readonly #owners = new Map<string, (path: string) => string | undefined>();

  constructor(
    readonly cards: readonly Card[],
    readonly names = new CardNames(cards),
  ) {
    for (const card of cards) if (card.languages.includes('c')) this.cAgents.add(card.agent);
  }

  /** Whether a name has stand-ins only, and no real definition. */
  isStandIn(name: string): boolean {
    const { real, standIns } = this.names.holdersOf(name);
    return real.length === 0 && standIns.length > 0;
  }

  /** Agents that define a name for other shards; those with a stand-in only when no agent has a real definition. */
  ownersOf(name: string): string[] {
    const { real, standIns } = this.names.holdersOf(name);
    return (real.length > 0 ? real : standIns).flatMap((at) => this.cards[at]?.agent ?? []);
  }

  /** Call sites of a name in shards that do not define it. */
  sitesOf(name: string): number {
    this.#sites ??= sitesIn(this.cards);
    return this.#sites.get(name) ?? 0;
  }

  /** As `sitesOf`; undefined: some cards do not list their open names, so that it is not known without work. */
  knownSitesOf(name: string): number | undefined {
    this.#hasAllSites ??= this.cards.every(
      ({ truncated }) => truncated?.includes('unresolved') === false,
    );
    return this.#hasAllSites ? this.sitesOf(name) : undefined;
  }

  /**
   * For an agent, those of these names that its shard may call in other shards, by the open names of its card. Undefined: only the shard knows.
   */
  whoCalls(names: Iterable<string>): (agent: string) => ReadonlySet<string> | undefined {
    const wanted = new WantedNames(names);
    return (agent) => {
      const at = this.cards.findIndex((card) => card.agent === agent);
      if (this.cards[at]?.truncated?.includes('unresolved') !== false) return undefined;
      const open = this.names.openAmong(at, wanted);
      return open && new Set(open);
    };
  }

  /**
   * The agents that define the target of a call; none when there are too many. In C the calling shard has searched itself
   * already.
   */
  find({ name, path }: Pick<Lookup, 'name' | 'path'>, except: string): string[] {
    if (path !== '') return this.#ownersOfFiles([path], except);
    const agents = this.ownersOf(name).filter(
      (agent) => agent !== except && this.cAgents.has(agent),
    );
    return agents.length > ownersMax ? [] : agents;
  }

  /** As `find`, for a name that the card of an agent lists: those that define it for others. */
  findOpen({ term, files }: CardReference, agent: string): string[] {
    if (files.length === 0) return this.find({ name: term, path: '' }, agent);
    const defining = new Set(this.ownersOf(term));
    return this.#ownersOfFiles(files, agent).filter((owner) => defining.has(owner));
  }

  #ownersOfFiles(files: readonly string[], agent: string): string[] {
    const owners = new Set(files.flatMap((path) => this.#ownerOf(path, agent) ?? []));
    return owners.size > ownersMax ? [] : [...owners];
  }

  /** The agent that holds a file of the tree that another one belongs to. */
  #ownerOf(path: string, agent: string): string | undefined {
    const root = this.cards.find((card) => card.agent === agent)?.root ?? '';
    let owners = this.#owners.get(root);
    if (owners === undefined) {
      const cards = this.cards.filter((card) => card.root === root);
      const at = ownerOf(cards.map(({ alias, scope }) => ({ alias, paths: scope })));
      owners = (wanted) => cards[at(wanted) ?? -1]?.agent;
      this.#owners.set(root, owners);
    }
    return owners(path);
  }
}

/** Computed on demand: only links are weighed by it, and open names are the largest part of a card. */
function sitesIn(cards: readonly Card[]): Map<string, number> {
  const sites = new Map<string, number>();
  for (const { unresolved } of cards) {
    for (const { term, documents } of unresolved)
      sites.set(term, (sites.get(term) ?? 0) + documents);
  }
  return sites;
}
