import { isCode } from '../format/facts.js';
import { importsInto, isC } from '../bind/index-cache.js';
import { isModule } from '../bind/modules.js';
import type { ShardIndex } from '../format/shard-index.js';
import type { FarTargets, PlacedCandidate } from './far-targets.js';
import type { TreeModules } from './tree-modules.js';

/** Bases of one class that are looked at. */
const basesMax = 16;
const typeKinds = new Set(['class', 'interface', 'struct', 'trait', 'type', 'enum']);

/** Where a name is imported, or a type is extended. */
export interface NamedUse {
  shard: number;
  file: number;
  /** The symbol that uses it; -1: the file. */
  symbol: number;
  line: number;
  /** The name as the file knows it. */
  local: string;
}

/**
 * Who imports a name and who extends a type, by the name of what is meant. Worked out once per tree from
 * the imports and the signatures of types; C has neither, so its files are passed over.
 */
export class ModuleUses {
  readonly #imports = new Map<string, NamedUse[]>();
  readonly #extensions = new Map<string, NamedUse[]>();

  constructor(
    readonly shards: readonly ShardIndex[],
    readonly far: FarTargets,
    readonly modules: TreeModules,
  ) {
    for (const [shard, index] of shards.entries()) {
      for (let file = 0; file < index.fileCount; file += 1) {
        const { language } = index.file(file);
        if (!isCode(language) || language === 'c') continue;
        if (!isC(index, file)) this.#readImports(shard, index, file);
        this.#readTypes(shard, index, file);
      }
    }
  }

  importsOf(target: PlacedCandidate): NamedUse[] {
    return (this.#imports.get(target.symbol) ?? []).filter((use) => this.#means(use, target));
  }

  extensionsOf(target: PlacedCandidate): NamedUse[] {
    return (this.#extensions.get(target.symbol) ?? []).filter((use) => this.#means(use, target));
  }

  /** What a name means that a file imports, holds itself, or that only one type of the tree bears. */
  namedBy({ shard, file, local }: NamedUse): PlacedCandidate[] {
    const index = this.shards[shard];
    if (index === undefined) return [];
    const binding = importsInto(index, file).bindings.get(local);
    if (binding === undefined || binding.modules.length === 0)
      return this.#unbound(shard, file, local);
    const name = binding.original === 'default' ? local : binding.original;
    for (const wanted of this.modules.throughForwards({ name, modules: binding.modules })) {
      const found = this.far
        .named(wanted.name)
        .filter((each) => each.container === '' && isModule(each.file_path, wanted.modules));
      if (found.length > 0) return found;
    }
    return [];
  }

  #unbound(shard: number, file: number, name: string): PlacedCandidate[] {
    const path = this.shards[shard]?.file(file).path;
    const types = this.far
      .named(name)
      .filter((each) => typeKinds.has(each.kind) && !each.declaration);
    const own = types.filter((each) => each.file_path === path);
    return own.length > 0 ? own : types.length === 1 ? types : [];
  }

  #means(use: NamedUse, target: PlacedCandidate): boolean {
    return this.namedBy(use).some((each) => each.shard === target.shard && each.id === target.id);
  }

  #readImports(shard: number, index: ShardIndex, file: number): void {
    const { bindings } = importsInto(index, file);
    for (const { names, line } of index.importsOf(file)) {
      for (const written of names) {
        const local = written.slice(written.indexOf(':') + 1);
        const binding = bindings.get(local);
        if (binding === undefined || binding.modules.length === 0) continue;
        const name = binding.original === 'default' ? local : binding.original;
        if (name !== '*') add(this.#imports, name, { shard, file, symbol: -1, line, local });
      }
    }
  }

  #readTypes(shard: number, index: ShardIndex, file: number): void {
    for (const symbol of index.symbolsOf(file)) {
      for (const use of extensionsIn(index, shard, symbol)) {
        const original = importsInto(index, file).bindings.get(use.local)?.original ?? use.local;
        add(this.#extensions, original === 'default' ? use.local : original, use);
      }
    }
  }
}

/** The bases of a type, as its file writes them. */
export function extensionsIn(index: ShardIndex, shard: number, symbol: number): NamedUse[] {
  const { kind, signature, file, line_start: line } = index.symbol(symbol);
  if (!typeKinds.has(kind)) return [];
  const bases = [...signature.matchAll(/\| (?:extends|implements):([^|]*)/g)]
    .flatMap(([, list = '']) => list.split(','))
    .map((each) => each.trim().replace(/<.*$/, ''))
    .filter((each) => /^[\w$]+$/.test(each));
  return [...new Set(bases)]
    .slice(0, basesMax)
    .map((local) => ({ shard, file, symbol, line, local }));
}

function add(map: Map<string, NamedUse[]>, name: string, use: NamedUse): void {
  const known = map.get(name);
  if (known === undefined) map.set(name, [use]);
  else known.push(use);
}
