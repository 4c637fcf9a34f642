import type { CallBinding } from '../format/bound-calls.js';
import { hasModules, isCFamily, type FactsLanguage } from '../format/facts.js';
import { moduleOf } from './modules.js';
import { cFilesOf } from './pointers/far-headers.js';
import { IncludeGraph } from './pointers/includes.js';
import { scopeOf, type FileScope } from './scope.js';
import type { Lookup } from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';

export interface CallTargets {
  /** Definitions in this shard that the call may reach. */
  inside: number[];
  /** What other shards define, or may define instead; none when no other shard can be meant. */
  lookups: readonly Lookup[];
  /** Of these, how many are asked themselves: the others implement them. */
  asked?: number;
  /** How many of the first `inside` are equally good; the others may be meant in another configuration. */
  sure: number;
  /** `unbound`: of C, found by the rule of visibility. */
  binding: CallBinding;
}

/** Entries per cache; a full cache is cleared. */
const entriesMax = 100_000;
interface Cache {
  targets: Map<string, CallTargets>;
  sites: Map<string, number>;
  scopes: Map<number, FileScope>;
  modules?: Map<string, number>;
  /** By file number: the most frequent lookup. */
  isC?: readonly boolean[];
  paths?: readonly string[];
  includes: Map<number, readonly string[]>;
  graph?: IncludeGraph;
}

/** An index never changes, so cached results hold for as long as it lives. */
const caches = new WeakMap<ShardIndex, Cache>();

function cacheOf(index: ShardIndex): Cache {
  let cache = caches.get(index);
  if (cache === undefined) {
    cache = { targets: new Map(), sites: new Map(), scopes: new Map(), includes: new Map() };
    caches.set(index, cache);
  }
  return cache;
}

/** As long as an index lives: it never changes. */
export function cached<Key, Value>(known: Map<Key, Value>, key: Key, work: () => Value): Value {
  let value = known.get(key);
  if (value === undefined) {
    value = work();
    if (known.size >= entriesMax) known.clear();
    known.set(key, value);
  }
  return value;
}

/** The cached targets of a key, computed on the first request. */
export function cachedTargets(
  index: ShardIndex,
  key: string,
  work: () => CallTargets,
): CallTargets {
  const { targets } = cacheOf(index);
  return cached(targets, key, work);
}

/** Number of call sites of a name in this shard. */
export function siteCount(index: ShardIndex, name: string): number {
  const { sites } = cacheOf(index);
  return cached(sites, name, () => index.callsTo(name).length);
}

/** The imports of a file, cached. */
export function importsInto(index: ShardIndex, file: number): FileScope {
  const { scopes } = cacheOf(index);
  return cached(scopes, file, () => scopeOf(index, file));
}

/** Module name → file, for languages with modules. */
export function filesByModule(index: ShardIndex): ReadonlyMap<string, number> {
  const cache = cacheOf(index);
  if (cache.modules === undefined) {
    cache.modules = new Map();
    for (const file of filesWithModules(index))
      cache.modules.set(moduleOf(index.file(file).path), file);
  }
  return cache.modules;
}

export function isC(index: ShardIndex, file: number): boolean {
  const cache = cacheOf(index);
  cache.isC ??= Array.from({ length: index.fileCount }, (_, each) =>
    isCFamily(index.file(each).language),
  );
  return cache.isC[file] ?? false;
}

export function pathOf(index: ShardIndex, file: number): string {
  const cache = cacheOf(index);
  cache.paths ??= Array.from({ length: index.fileCount }, (_, each) => index.file(each).path);
  return cache.paths[file] ?? '';
}

/** Which headers a file reaches through its includes. */
export function headersSeen(index: ShardIndex, file: number): (header: string) => boolean {
  const cache = cacheOf(index);
  const path = pathOf(index, file);
  return (header) => {
    cache.graph ??= new IncludeGraph([...cFilesOf(index), ...farFilesOf(index)]);
    return cache.graph.includersOf(header).has(path);
  };
}

function farFilesOf({ bound }: ShardIndex): ReturnType<typeof cFilesOf> {
  return [...(bound?.farHeaders() ?? [])].map(([path, targets]) => ({
    path,
    targets: () => targets,
  }));
}

/** Include targets of a file, as written. */
export function includesOf(index: ShardIndex, file: number): readonly string[] {
  const { includes } = cacheOf(index);
  return cached(includes, file, () => index.importsOf(file).map(({ target }) => target));
}

function filesWithModules(index: ShardIndex): number[] {
  if (!index.info.languages.some((each) => hasModules(each as FactsLanguage))) return [];
  return Array.from({ length: index.fileCount }, (_, file) => file).filter((file) =>
    hasModules(index.file(file).language),
  );
}
