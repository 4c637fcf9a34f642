import { targetsOfCalls } from '../../bind/call-graph.js';
import { isC } from '../../bind/index-cache.js';
import { isCFamily, type FactsLanguage } from '../../format/facts.js';
import type { CallRow, ShardIndex } from '../../format/shard-index.js';
import type { CardReference } from '../../shapes.js';

/** Files that define one name for a shard; beyond them it belongs to everybody. */
const referenceFilesMax = 64;

/** How often something is called that another shard may define, by the name and the container it would have there. */
export class References {
  readonly #found = new Map<
    string,
    { term: string; container: string; sites: number; files: Set<string> }
  >();

  add(term: string, container: string, sites: number, path = ''): void {
    const key = `${term} ${container}`;
    let known = this.#found.get(key);
    if (known === undefined)
      this.#found.set(key, (known = { term, container, sites: 0, files: new Set() }));
    known.sites += sites;
    if (path !== '' && known.files.size < referenceFilesMax) known.files.add(path);
  }

  sitesOf(term: string, container: string): number {
    return this.#found.get(`${term} ${container}`)?.sites ?? 0;
  }

  sorted(): CardReference[] {
    return [...this.#found.values()]
      .map(({ term, container, sites, files }) => ({
        ...{ term, documents: sites },
        files: [...files].sort(),
        container,
      }))
      .sort(
        (one, other) => compare(one.term, other.term) || compare(one.container, other.container),
      );
  }
}

/** Calls that another shard may define. */
export function referencesOf(index: ShardIndex): CardReference[] {
  const found = boundReferences(index);
  if (index.info.languages.some((each) => isCFamily(each as FactsLanguage)))
    for (const [name, calls] of index.callsByName()) {
      const sites = openSites(index, name, calls);
      if (sites > 0) found.add(name, '', sites);
    }
  return found.sorted();
}

/** Those of the calls that the binder has seen: by its tables alone. */
export function boundReferences(index: ShardIndex): References {
  const found = new References();
  const { bound, callCount } = index;
  if (bound === undefined) return found;
  const far = new Map<number, { name: string; container: string; path: string } | undefined>();
  const add = (target: number): void => {
    if (!far.has(target)) {
      const its = bound.target(target);
      far.set(target, its.symbol < 0 ? its : undefined);
    }
    const its = far.get(target);
    if (its !== undefined) found.add(its.name, its.container, 1, its.path);
  };
  for (const [site, target] of bound.edges()) {
    if (site >= callCount) break;
    // What a variable holds is called, not the variable.
    if (bound.kindOf(target) === 'variable') continue;
    add(target);
    if (bound.bindingOf(site) === 'dispatch')
      for (const each of bound.implementing(target)) add(each);
  }
  return found;
}

/** How many of all calls of one name another shard may define, as far as no binder has seen them. */
export function openSites(index: ShardIndex, name: string, calls: readonly CallRow[]): number {
  const open = openAmong(index, calls);
  if (open.length === 0) return 0;
  const isBound = (id: number): boolean => (index.bound?.targetsOf(id).length ?? 0) > 0;
  // What is called at file level alone counts if it is known to be elsewhere, or not defined here.
  const isWanted =
    calls.some(({ id, caller }) => caller >= 0 || isBound(id)) ||
    index.symbolsNamed(name).every((each) => index.outline(each).declaration);
  return isWanted ? open.length : 0;
}

/** Of calls of one name: those that no binder has seen, and that may leave the shard. */
export function openAmong(index: ShardIndex, calls: readonly CallRow[]): CallRow[] {
  const { bound } = index;
  const unseen = calls.filter(
    ({ id, file }) => isC(index, file) && (bound?.bindingOf(id) ?? 'unbound') === 'unbound',
  );
  const targets = targetsOfCalls(index, unseen);
  return unseen.filter((_, at) => (targets[at]?.lookups.length ?? 0) > 0);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
