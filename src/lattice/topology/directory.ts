import { CardNames } from './card-names.js';
import { ownerOf } from '../../pgc/plan/planned-shards.js';
import { WantedNames } from '../../pgc/search/card/name-list.js';
import { ForwardWalk } from '../../pgc/bind/module-calls.js';
import { forwarded } from '../../pgc/bind/scope.js';
import { BoundedMap } from '../../base/bounded-map.js';
import type { Card, CardModule, Definition, Lookup } from '../../pgc/shapes.js';

/** Limit of owners of a name; a name with more owners is ignored. */
const ownersMax = 6;
/** Limit of re-exports that are followed. */
const forwardsMax = 4;

/** Names of which definitions are remembered; the oldest go first. */
const definitionsMax = 50_000;

export interface NameOwners {
  /** Agents that define it; empty when none does, or too many. */
  agents: string[];
  /** With the modules and the name that re-exports lead to. */
  lookup: Lookup;
}

/** Finds the shards that define a name, from the cards. */
export class Directory {
  #sites: Map<string, number> | undefined;
  #hasAllSites: boolean | undefined;
  #renames: Map<string, string[]> | undefined;
  /** Definitions that shards have returned, by agent and name; valid as long as the cards. */
  readonly definitions = new BoundedMap<string, readonly Definition[]>(definitionsMax);
  readonly cAgents = new Set<string>();
  /** By root: the agent of a path. */
  readonly #owners = new Map<string, (path: string) => string | undefined>();
  readonly #modules = new Map<string, { agent: string; module: CardModule }>();
  /** Paths by their last part, for modules of which only the end is known. */
  readonly #byTail = new Map<string, string[]>();

  constructor(
    readonly cards: readonly Card[],
    readonly names = new CardNames(cards),
  ) {
    for (const card of cards) {
      if (card.languages.includes('c')) this.cAgents.add(card.agent);
      for (const module of card.modules) {
        this.#modules.set(module.path, { agent: card.agent, module });
        add(this.#byTail, tailOf(module.path), module.path);
      }
    }
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
   * For an agent, those of these names that its shard may call in other shards, by the open names of its card and with re-exports. Undefined: only the shard knows.
   */
  whoCalls(names: Iterable<string>): (agent: string) => ReadonlySet<string> | undefined {
    const meant = new Map<string, string[]>();
    for (const name of names) for (const each of this.#passedOnAs(name)) add(meant, each, name);
    const wanted = new WantedNames(meant.keys());
    return (agent) => {
      const at = this.cards.findIndex((card) => card.agent === agent);
      if (this.cards[at]?.truncated?.includes('unresolved') !== false) return undefined;
      const open = this.names.openAmong(at, wanted);
      return open && new Set(open.flatMap((each) => meant.get(each) ?? []));
    };
  }

  /** The name, and all names under which it is re-exported. */
  #passedOnAs(name: string): Set<string> {
    this.#renames ??= renamesIn(this.#modules.values());
    const all = new Set([name]);
    for (const each of all) for (const other of this.#renames.get(each) ?? []) all.add(other);
    return all;
  }

  /** The agents that define the target of a call. In C the calling shard has searched itself already. */
  find(lookup: Lookup, except: string): NameOwners {
    if (lookup.path !== '') {
      const owner = this.#ownerOf(lookup.path, except);
      return { agents: owner === undefined ? [] : [owner], lookup };
    }
    if (lookup.modules.length === 0) {
      const agents = this.ownersOf(lookup.name).filter(
        (agent) => agent !== except && this.cAgents.has(agent),
      );
      return { agents: agents.length > ownersMax ? [] : agents, lookup };
    }
    return this.#follow(lookup, 0, new ForwardWalk()) ?? { agents: [], lookup };
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

  #follow(lookup: Lookup, depth: number, walk: ForwardWalk): NameOwners | undefined {
    const holders = lookup.modules.flatMap((each) => this.#holders(each));
    const agents = holders
      .filter(({ module }) => module.defines.includes(lookup.name))
      .map(({ agent }) => agent);
    if (agents.length > 0) {
      const distinct = [...new Set(agents)];
      return { agents: distinct.length > ownersMax ? [] : distinct, lookup };
    }
    if (depth >= forwardsMax) return undefined;
    const wanted = lookup.container || (lookup.kind === 'member' ? '' : lookup.name);
    if (wanted === '') return undefined;
    for (const { module } of holders) {
      if (!walk.enter(module.path, lookup, depth)) continue;
      for (const forward of module.forwards) {
        if (forward.name !== '' && forward.name !== wanted) continue;
        const original = forward.name === '' ? wanted : forward.original;
        const next = forwarded(lookup, { original, modules: forward.modules });
        const further = this.#follow(next, depth + 1, walk);
        if (further !== undefined) return further;
      }
    }
    return undefined;
  }

  #holders(module: string): { agent: string; module: CardModule }[] {
    if (!module.startsWith('**/')) {
      const known = this.#modules.get(module);
      return known === undefined ? [] : [known];
    }
    const end = module.slice(2);
    const paths = this.#byTail.get(tailOf(end)) ?? [];
    return paths
      .filter((each) => `/${each}`.endsWith(end))
      .flatMap((each) => this.#modules.get(each) ?? []);
  }
}

function renamesIn(modules: Iterable<{ module: CardModule }>): Map<string, string[]> {
  const renames = new Map<string, string[]>();
  for (const { module } of modules)
    for (const { name, original } of module.forwards)
      if (name !== '' && name !== original) add(renames, original, name);
  return renames;
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

function tailOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function add(map: Map<string, string[]>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}
