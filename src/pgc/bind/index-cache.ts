import { hasModules, isCFamily } from '../format/facts.js';
import { moduleOf } from './modules.js';
import { scopeOf, type FileScope } from './scope.js';
import type { Lookup } from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';

export interface CallTargets {
  /** Definitions in this shard that the call may reach. */
  inside: number[];
  /** What another shard may define instead; undefined when no other shard can be meant. */
  lookup: Lookup | undefined;
}

/** Entries per cache; a full cache is cleared. */
const remembered = 100_000;
interface Memory {
  targets: Map<string, CallTargets>;
  sites: Map<string, number>;
  scopes: Map<number, FileScope>;
  aliases?: Map<string, Set<string>>;
  modules?: Map<string, number>;
  /** By file number: the most frequent lookup. */
  isC?: readonly boolean[];
  paths?: readonly string[];
  includes: Map<number, readonly string[]>;
}

/** An index never changes, so cached results hold for as long as it lives. */
const memories = new WeakMap<ShardIndex, Memory>();

function memoryOf(index: ShardIndex): Memory {
  let memory = memories.get(index);
  if (memory === undefined) {
    memory = { targets: new Map(), sites: new Map(), scopes: new Map(), includes: new Map() };
    memories.set(index, memory);
  }
  return memory;
}

/** The cached targets of a key, computed on the first request. */
export function rememberedTargets(
  index: ShardIndex,
  key: string,
  work: () => CallTargets,
): CallTargets {
  const { targets } = memoryOf(index);
  let known = targets.get(key);
  if (known === undefined) {
    known = work();
    if (targets.size >= remembered) targets.clear();
    targets.set(key, known);
  }
  return known;
}

/** Number of call sites of a name in this shard. */
export function siteCount(index: ShardIndex, name: string): number {
  const { sites } = memoryOf(index);
  let known = sites.get(name);
  if (known === undefined) {
    known = index.callsTo(name).length;
    if (sites.size >= remembered) sites.clear();
    sites.set(name, known);
  }
  return known;
}

/** The imports of a file, cached. */
export function importsInto(index: ShardIndex, file: number): FileScope {
  const { scopes } = memoryOf(index);
  let known = scopes.get(file);
  if (known === undefined) scopes.set(file, (known = scopeOf(index, file)));
  return known;
}

/** Names under which files of this shard import a name: `import { encode as pack }`. */
export function aliasesOf(index: ShardIndex, name: string): readonly string[] {
  const memory = memoryOf(index);
  if (memory.aliases === undefined) {
    memory.aliases = new Map();
    for (const file of filesWithModules(index)) {
      for (const [local, { original }] of importsInto(index, file).bindings) {
        if (local === original || original === '*') continue;
        const known = memory.aliases.get(original) ?? new Set();
        memory.aliases.set(original, known.add(local));
      }
    }
  }
  return [...(memory.aliases.get(name) ?? [])];
}

/** Module name → file, for languages with modules. */
export function filesByModule(index: ShardIndex): ReadonlyMap<string, number> {
  const memory = memoryOf(index);
  if (memory.modules === undefined) {
    memory.modules = new Map();
    for (const file of filesWithModules(index))
      memory.modules.set(moduleOf(index.file(file).path), file);
  }
  return memory.modules;
}

export function isC(index: ShardIndex, file: number): boolean {
  const memory = memoryOf(index);
  memory.isC ??= Array.from({ length: index.fileCount }, (_, each) =>
    isCFamily(index.file(each).language),
  );
  return memory.isC[file] ?? false;
}

export function pathOf(index: ShardIndex, file: number): string {
  const memory = memoryOf(index);
  memory.paths ??= Array.from({ length: index.fileCount }, (_, each) => index.file(each).path);
  return memory.paths[file] ?? '';
}

/** Include targets of a file, as written. */
export function includesOf(index: ShardIndex, file: number): readonly string[] {
  const { includes } = memoryOf(index);
  let known = includes.get(file);
  if (known === undefined)
    includes.set(file, (known = index.importsOf(file).map(({ target }) => target)));
  return known;
}

function filesWithModules(index: ShardIndex): number[] {
  return Array.from({ length: index.fileCount }, (_, file) => file).filter((file) =>
    hasModules(index.file(file).language),
  );
}
