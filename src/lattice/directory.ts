import { CardNames } from './card-names.js';
import { WantedNames } from '../pgc/search/card/name-list.js';
import { ForwardWalk } from '../pgc/bind/module-calls.js';
import { forwarded } from '../pgc/bind/scope.js';
import { BoundedMap } from '../base/bounded-map.js';
import type { Card, CardModule, Definition, Lookup } from '../pgc/shapes.js';

/** Shards that are asked for one name; a name that more of them define says nothing. */
const ownersMax = 6;
/** Re-exports that are followed. */
const forwardsMax = 4;

/** Names of which definitions are remembered; the oldest go first. */
const toldMax = 50_000;

export interface Whereabouts {
  /** Agents that define it; empty when nobody does, or too many. */
  agents: string[];
  /** With the modules and the name that re-exports lead to. */
  lookup: Lookup;
}

/** Which shard defines what, as the cards say. */
export class Directory {
  #sites: Map<string, number> | undefined;
  #hasAllSites: boolean | undefined;
  #renames: Map<string, string[]> | undefined;
  /** What shards have told of names, by agent and name: it holds as long as their cards do. */
  readonly told = new BoundedMap<string, readonly Definition[]>(toldMax);
  readonly #speakC = new Set<string>();
  readonly #modules = new Map<string, { agent: string; module: CardModule }>();
  /** The same by the last part of the path, for modules of which only the end is known. */
  readonly #byTail = new Map<string, string[]>();

  constructor(
    readonly cards: readonly Card[],
    readonly names = new CardNames(cards),
  ) {
    for (const card of cards) {
      if (card.languages.includes('c')) this.#speakC.add(card.agent);
      for (const module of card.modules) {
        this.#modules.set(module.path, { agent: card.agent, module });
        add(this.#byTail, tailOf(module.path), module.path);
      }
    }
  }

  /** Whether nobody has more than a stand-in for a name. */
  isStandIn(name: string): boolean {
    const { real, standIns } = this.names.holdersOf(name);
    return real.length === 0 && standIns.length > 0;
  }

  /** Agents that define a name for others; those with a stand-in only where nobody has the real one. */
  ownersOf(name: string): string[] {
    const { real, standIns } = this.names.holdersOf(name);
    return (real.length > 0 ? real : standIns).flatMap((at) => this.cards[at]?.agent ?? []);
  }

  /** Call sites of a name in shards that do not define it. */
  sitesOf(name: string): number {
    this.#sites ??= sitesIn(this.cards);
    return this.#sites.get(name) ?? 0;
  }

  /** The same, where all cards have said what they leave open; undefined: it would have to be worked out. */
  knownSitesOf(name: string): number | undefined {
    this.#hasAllSites ??= this.cards.every(
      ({ truncated }) => truncated?.includes('unresolved') === false,
    );
    return this.#hasAllSites ? this.sitesOf(name) : undefined;
  }

  /**
   * By agent, those of these names by which its shard may call what others define: its card says what it leaves open. Names that
   * re-exports give count as well. Undefined: only the shard knows.
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

  /** The name, and all others under which re-exports pass it on. */
  #passedOnAs(name: string): Set<string> {
    this.#renames ??= renamesIn(this.#modules.values());
    const all = new Set([name]);
    for (const each of all) for (const other of this.#renames.get(each) ?? []) all.add(other);
    return all;
  }

  /** Who defines what a call looks for. In C the asking shard has looked at home already. */
  find(lookup: Lookup, except: string): Whereabouts {
    if (lookup.modules.length === 0) {
      const agents = this.ownersOf(lookup.name).filter(
        (agent) => agent !== except && this.#speakC.has(agent),
      );
      return { agents: agents.length > ownersMax ? [] : agents, lookup };
    }
    return this.#follow(lookup, 0, new ForwardWalk()) ?? { agents: [], lookup };
  }

  #follow(lookup: Lookup, depth: number, walk: ForwardWalk): Whereabouts | undefined {
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

/** Only who weighs links asks for this, and what a shard leaves open is the dearest part of its card. */
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
