import type { ShardIndex, TypeRow } from '../../format/shard-index.js';
import { IncludeGraph } from './includes.js';

/** Something that calls are bound to. */
export interface Place {
  shard: number;
  /** -1: no symbol of its own, as a member of a type whose name is that of a function elsewhere. */
  symbol: number;
  name: string;
  kind: string;
  container: string;
  /** Of a function that shares its name and container with others; else 0. */
  line?: number;
  file: { path: string };
}

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
interface Alias {
  path: string;
  type: string;
}

/** `source` is put into `target`. */
export interface Flow {
  path: string;
  source: string;
  target: string;
}

const cTypes = new Set(['struct', 'union']);

/** What all texts of C in a code base say of types. */
export class CProgram {
  /** By `struct x`, `union x`, or the name of a type. */
  readonly structures = new Map<string, Structure[]>();
  readonly aliases = new Map<string, Alias[]>();
  /** Types of variables and results of functions, by shard and symbol; `=`: what a macro is another name of. */
  readonly types: Map<number, string>[] = [];
  /** Names of parameters by number. */
  readonly parameters: Map<number, Map<number, string>>[] = [];
  readonly includes: IncludeGraph;

  constructor(readonly shards: readonly ShardIndex[]) {
    this.includes = new IncludeGraph(filesOf(shards));
    for (const [shard, index] of shards.entries()) {
      this.types.push(new Map());
      this.parameters.push(new Map());
      for (let file = 0; file < index.fileCount; file += 1)
        if (isC(index, file)) this.#read(shard, index, file);
    }
  }

  /** What is put where, in order of the files: read anew each time, because they are many. */
  *flows(): Generator<Flow> {
    for (const index of this.shards)
      for (let file = 0; file < index.fileCount; file += 1) {
        if (!isC(index, file)) continue;
        const { path } = index.file(file);
        for (const { role, name, type } of index.ownTypesOf(file))
          if (role === 'assigned') yield { path, source: name, target: type };
      }
  }

  #read(shard: number, index: ShardIndex, file: number): void {
    const rows = index.typesOf(file);
    if (rows.length === 0) return;
    const { path } = index.file(file);
    const own = new Map<string, Structure[]>();
    for (let at = 0; at < rows.length;) {
      const symbol = rows[at]?.symbol ?? -1;
      const from = at;
      while (at < rows.length && rows[at]?.symbol === symbol) at += 1;
      const its = rows.slice(from, at);
      if (symbol >= 0) this.#ofSymbol({ shard, index, path, own }, symbol, its);
    }
    if (own.size > 0) this.#methods(shard, index, file, own);
  }

  #ofSymbol({ shard, index, path, own }: Text, symbol: number, rows: readonly TypeRow[]): void {
    let structure: Structure | undefined;
    for (const { role, name, type } of rows)
      if (role === 'field' || (role === 'alias' && name !== '')) {
        structure ??= this.#structure(index, path, own, symbol);
        const to = role === 'field' ? structure.fields : structure.positions;
        to.set(name, type);
        for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
          structure.prefixes.add(name.slice(0, dot + 1));
      } else if (role === 'base') {
        structure ??= this.#structure(index, path, own, symbol);
        structure.macros.push(type);
      } else if (role === 'alias')
        push(this.aliases, index.symbolPlace(symbol).name, { path, type });
      else if (role === 'value' || role === 'result' || role === 'returned')
        this.types[shard]?.set(
          symbol,
          role === 'value' && !type.startsWith('{') ? `=${type}` : type,
        );
      else if (role === 'parameter') {
        const known = this.parameters[shard]?.get(symbol) ?? new Map<number, string>();
        this.parameters[shard]?.set(symbol, known.set(Number(type), name));
      }
  }

  #structure(
    index: ShardIndex,
    path: string,
    own: Map<string, Structure[]>,
    symbol: number,
  ): Structure {
    const { name, kind } = index.symbolPlace(symbol);
    const structure: Structure = {
      ...{ name, path, fields: new Map(), positions: new Map() },
      ...{ methods: new Map(), prefixes: new Set(), macros: [] },
    };
    push(this.structures, cTypes.has(kind) ? `${kind} ${name}` : name, structure);
    push(own, name, structure);
    return structure;
  }

  /** Members are beside their structures; those under another condition may be of the same name. */
  #methods(
    shard: number,
    index: ShardIndex,
    file: number,
    own: ReadonlyMap<string, Structure[]>,
  ): void {
    const { path } = index.file(file);
    for (const symbol of index.symbolsOf(file)) {
      if (index.outline(symbol).kind !== 'method') continue;
      const { name, container, kind } = index.symbolPlace(symbol);
      const [tag = '', ...inner] = container.split('.');
      const prefix = inner.length === 0 ? '' : `${inner.join('.')}.`;
      const result = this.types[shard]?.get(symbol) ?? '';
      for (const structure of own.get(tag) ?? []) {
        structure.methods.set(prefix + name, {
          ...{ shard, symbol, name, kind, container, file: { path }, result },
        });
        if (prefix !== '') structure.prefixes.add(prefix);
      }
    }
  }
}

interface Text {
  shard: number;
  index: ShardIndex;
  path: string;
  own: Map<string, Structure[]>;
}

export function isC(index: ShardIndex, file: number): boolean {
  return index.file(file).language === 'c';
}

export function push<Key, Each>(map: Map<Key, Each[]>, key: Key, each: Each): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [each]);
  else known.push(each);
}

function* filesOf(
  shards: readonly ShardIndex[],
): Generator<{ path: string; targets: () => readonly string[] }> {
  for (const index of shards)
    for (let file = 0; file < index.fileCount; file += 1)
      if (isC(index, file))
        yield {
          path: index.file(file).path,
          targets: () => index.importsOf(file).map(({ target }) => target),
        };
}
