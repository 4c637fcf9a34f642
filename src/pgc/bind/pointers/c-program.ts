import type { BoundPlace } from '../change/change.js';
import type { ShardIndex, SymbolPlace } from '../../format/shard-index.js';
import { nameHash } from '../../format/name-hash.js';
import { IncludeGraph } from './includes.js';
import { NameTable, valueKinds } from './name-table.js';

/** Something that calls are bound to. */
export type Place = BoundPlace;

/** A structure, a union, or a type without a tag. */
export interface Structure {
  name: string;
  path: string;
  /** Types by member, `ops.read` for one of a structure without a name. */
  fields: Map<string, string>;
  /** Members by their numbers. */
  positions: Map<string, string>;
  /** Members that are pointers to functions, by their own type. */
  methods: Map<string, Place & { result: string }>;
  /** `ops.` where a structure without a name is the member `ops`. */
  prefixes: Set<string>;
  /** Macros that stand for members. */
  macros: string[];
}

/** A type by another name. */
export interface Alias {
  path: string;
  type: string;
}

/** What is called so, as a type. */
interface NamedTypes {
  structures: readonly Structure[];
  aliases: readonly Alias[];
}

/** A symbol of a name. */
export interface Named extends SymbolPlace {
  shard: number;
  symbol: number;
  path: string;
}

const cTypes = new Set(['struct', 'union']);
/** Tag before the name of a type. */
const tagged = /^(struct|union) /;

/** What all texts of C in a code base say of names and types; read as it is asked for. */
export class CProgram {
  readonly includes: IncludeGraph;
  readonly names: NameTable;
  /** Of each shard the paths of its files; empty: not of C. */
  readonly #paths: readonly (readonly string[])[];
  readonly #types = new Map<string, NamedTypes>();
  /** Of a file, by the tags of their structures: members that are pointers to functions. */
  readonly #methods = new Map<string, Map<string, number[]>>();

  constructor(readonly shards: readonly ShardIndex[]) {
    this.#paths = shards.map((index) =>
      Array.from({ length: index.fileCount }, (_, file) =>
        isC(index, file) ? index.file(file).path : '',
      ),
    );
    this.includes = new IncludeGraph(this.#filesOf());
    this.names = new NameTable(shards, (shard, file) => this.pathOf(shard, file) !== '');
  }

  /** Empty: it is not of C. */
  pathOf(shard: number, file: number): string {
    return this.#paths[shard]?.[file] ?? '';
  }

  /** Whether something may have this name as a value. */
  readonly isValue = (name: string): boolean =>
    (this.names.kindsOf(nameHash(name)) & valueKinds) !== 0;

  /** All symbols of a name in texts of C, in order of the shards. */
  symbolsNamed(name: string): Named[] {
    const found: Named[] = [];
    for (const shard of this.names.shardsOf(name)) {
      const index = this.shards[shard];
      for (const symbol of index?.symbolsNamed(name) ?? []) {
        const row = (index as ShardIndex).symbolPlace(symbol);
        const path = this.pathOf(shard, row.file);
        if (path !== '') found.push({ ...row, shard, symbol, path });
      }
    }
    return found;
  }

  /** By `struct x`, `union x`, or the name of a type. */
  structuresNamed(name: string): readonly Structure[] {
    return this.#typesNamed(name).structures;
  }

  aliasesNamed(name: string): readonly Alias[] {
    return this.#typesNamed(name).aliases;
  }

  /** The type of a variable, the result of a function; `=`: what a macro is another name of. */
  typeOf({ shard, symbol }: Pick<Place, 'shard' | 'symbol'>): string {
    let found = '';
    if (symbol < 0) return found;
    for (const { role, type } of this.shards[shard]?.typesOfSymbol(symbol) ?? [])
      if (role === 'value') found = type.startsWith('{') ? type : `=${type}`;
      else if (role === 'result' || role === 'returned') found = type;
    return found;
  }

  /** Empty: it has no name. */
  parameterOf({ shard, symbol }: Place, at: number): string {
    let found = '';
    for (const { role, name, type } of this.shards[shard]?.typesOfSymbol(symbol) ?? [])
      if (role === 'parameter' && Number(type) === at) found = name;
    return found;
  }

  #typesNamed(name: string): NamedTypes {
    let found = this.#types.get(name);
    if (found === undefined) this.#types.set(name, (found = this.#readTypes(name)));
    return found;
  }

  #readTypes(written: string): NamedTypes {
    const [, tag] = tagged.exec(written) ?? [];
    const name = tag === undefined ? written : written.slice(tag.length + 1);
    const structures: Structure[] = [];
    const aliases: Alias[] = [];
    const symbols = this.symbolsNamed(name).sort(
      (one, other) => one.shard - other.shard || one.symbol - other.symbol,
    );
    for (const each of symbols) {
      const isTagged = cTypes.has(each.kind);
      if (tag !== undefined && each.kind !== tag) continue;
      const structure = this.#structure(each, aliases);
      if (structure !== undefined && isTagged === (tag !== undefined)) structures.push(structure);
    }
    return { structures, aliases: tag === undefined ? aliases : [] };
  }

  /** Undefined: it has no members. Other names of types are added to `aliases`. */
  #structure(its: Named, aliases: Alias[]): Structure | undefined {
    const { shard, symbol, name: own, path } = its;
    let found: Structure | undefined;
    const structure = (): Structure =>
      (found ??= {
        ...{ name: own, path, fields: new Map(), positions: new Map() },
        ...{ methods: new Map(), prefixes: new Set(), macros: [] },
      });
    for (const { role, name, type } of this.shards[shard]?.typesOfSymbol(symbol) ?? [])
      if (role === 'field' || (role === 'alias' && name !== '')) {
        const { fields, positions, prefixes } = structure();
        (role === 'field' ? fields : positions).set(name, type);
        for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
          prefixes.add(name.slice(0, dot + 1));
      } else if (role === 'base') structure().macros.push(type);
      else if (role === 'alias') aliases.push({ path, type });
    if (found !== undefined) this.#addMethods(found, its);
    return found;
  }

  /** Members are beside their structures; those under another condition may be of the same name. */
  #addMethods(structure: Structure, { shard, file, path }: Named): void {
    const index = this.shards[shard] as ShardIndex;
    for (const symbol of this.#methodsOf(index, shard, file).get(structure.name) ?? []) {
      const { name, container, kind } = index.symbolPlace(symbol);
      const inner = container.split('.').slice(1);
      const prefix = inner.length === 0 ? '' : `${inner.join('.')}.`;
      const result = this.typeOf({ shard, symbol });
      structure.methods.set(prefix + name, {
        ...{ shard, symbol, name, kind, container, file: { path }, result },
      });
      if (prefix !== '') structure.prefixes.add(prefix);
    }
  }

  #methodsOf(index: ShardIndex, shard: number, file: number): ReadonlyMap<string, number[]> {
    const key = `${shard} ${file}`;
    let found = this.#methods.get(key);
    if (found === undefined) {
      this.#methods.set(key, (found = new Map<string, number[]>()));
      for (const symbol of index.symbolsOf(file))
        if (index.outline(symbol).kind === 'method')
          push(found, index.symbolPlace(symbol).container.split('.', 1)[0] ?? '', symbol);
    }
    return found;
  }

  *#filesOf(): Generator<{ path: string; targets: () => readonly string[] }> {
    for (const [shard, paths] of this.#paths.entries())
      for (const [file, path] of paths.entries())
        if (path !== '')
          yield {
            path,
            targets: () => this.shards[shard]?.importsOf(file).map(({ target }) => target) ?? [],
          };
  }
}

function isC(index: ShardIndex, file: number): boolean {
  return index.file(file).language === 'c';
}

export function push<Key, Each>(map: Map<Key, Each[]>, key: Key, each: Each): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [each]);
  else known.push(each);
}
