import { parseType, type TypeText } from '../../format/expression.js';
import type { TypeRole } from '../../format/facts.js';
import type { FileRow, ShardIndex, SymbolPlace, TypeRow } from '../../format/shard-index.js';
import type { LanguageRules, SourceText } from './rules.js';

/** A definition of the program, in any shard. */
export interface Definition {
  shard: number;
  symbol: number;
  name: string;
  /** By which it is meant: its name, unless it is inside a function. */
  key: string;
  kind: string;
  container: string;
  /** It has no body: a method of an interface. */
  isAbstract: boolean;
  isDeclaration: boolean;
  file: SourceText;
  types: readonly TypeRow[];
}

/** Top-level names of one package or module, and the methods of its types. */
export interface NameScope {
  names: Map<string, Definition[]>;
  /** By type, then by method. */
  members: Map<string, Map<string, Definition[]>>;
  /** The files that make it up. */
  texts: SourceText[];
}

/** All definitions of one language in a code base, by scope. */
export class Definitions {
  readonly scopes = new Map<string, NameScope>();
  readonly texts: SourceText[] = [];
  readonly all: Definition[] = [];
  /** By name: they are visible where their text says so by no name. */
  readonly macros = new Map<string, Definition[]>();
  /** A scope that is a name of another one. */
  readonly inner: (scope: string, name: string) => string | undefined;

  constructor(
    readonly shards: readonly ShardIndex[],
    readonly rules: LanguageRules,
  ) {
    const files = this.#files();
    const places = rules.placesOf(files.map(({ row, types }) => ({ path: row.path, types })));
    this.inner = (scope, name) => places.inner?.(scope, name);
    for (const [at, each] of files.entries()) {
      const { shard, file, row, types } = each;
      const scope = places.scopes[at] ?? '';
      const index = shards[shard];
      if (index === undefined) continue;
      const imports = index.importsOf(file);
      const text = {
        shard,
        file,
        path: row.path,
        scope,
        ...places.imported(row.path, imports, types),
        types: types.filter(({ symbol }) => symbol < 0),
      };
      this.texts.push(text);
      this.scopeOf(scope).texts.push(text);
      this.#addSymbols(index, text, types);
    }
  }

  #files(): { shard: number; file: number; row: FileRow; types: TypeRow[] }[] {
    return this.shards.flatMap((index, shard) =>
      Array.from({ length: index.fileCount }, (_, file) => file).flatMap((file) => {
        const row = index.file(file);
        const isOurs = this.rules.languages.includes(row.language);
        return isOurs ? [{ shard, file, row, types: index.typesOf(file) }] : [];
      }),
    );
  }

  #addSymbols(index: ShardIndex, file: SourceText, types: readonly TypeRow[]): void {
    const typesOf = new Map<number, TypeRow[]>();
    for (const each of types) push(typesOf, each.symbol, each);
    for (const symbol of index.symbolsOf(file.file)) {
      const row = index.symbolPlace(symbol);
      const { name, kind, container } = row;
      // Its text is a scope of its own, which an import names.
      if (kind === 'module' && row.declaration) continue;
      const its = typesOf.get(symbol) ?? [];
      const local = its.find(({ role }) => role === 'local')?.name;
      const isMember = container !== '' && (local === undefined || kind === 'method');
      const key = isMember ? name : (local ?? name);
      const definition: Definition = {
        ...{ shard: file.shard, symbol, name, key, kind, container, file },
        ...{ isAbstract: isAbstract(row), isDeclaration: row.declaration, types: its },
      };
      this.all.push(definition);
      if (kind === 'macro') push(this.macros, name, definition);
      const scope = this.scopeOf(file.scope);
      if (!isMember) push(scope.names, key, definition);
      else {
        const of = local ?? container;
        const members = scope.members.get(of) ?? new Map<string, Definition[]>();
        scope.members.set(of, members);
        push(members, name, definition);
      }
    }
  }

  /** A method that another text defines for a type. */
  addMember({ file, key }: Definition, method: Definition): void {
    const { members } = this.scopeOf(file.scope);
    const known = members.get(key) ?? new Map<string, Definition[]>();
    members.set(key, known);
    if (known.get(method.name)?.includes(method) !== true) push(known, method.name, method);
  }

  scopeOf(key: string): NameScope {
    let scope = this.scopes.get(key);
    if (scope === undefined)
      this.scopes.set(key, (scope = { names: new Map(), members: new Map(), texts: [] }));
    return scope;
  }

  /** The methods that a type declares itself. */
  methodsOf({ file, key }: Definition): ReadonlyMap<string, Definition[]> {
    return this.scopes.get(file.scope)?.members.get(key) ?? noMembers;
  }
}

const noMembers: ReadonlyMap<string, Definition[]> = new Map();

function isAbstract({ declaration, kind, container }: SymbolPlace): boolean {
  return declaration && kind === 'method' && container !== '';
}

/** What a definition says in one role, in order. */
export function typesIn(
  { types }: Definition,
  role: TypeRole,
): { name: string; type: TypeText | undefined; text: string }[] {
  return types
    .filter((each) => each.role === role)
    .map(({ name, type }) => ({ name, type: parsed(type), text: type }));
}

const parsedTypes = new Map<string, TypeText | undefined>();
const parsedMax = 100_000;

function parsed(text: string): TypeText | undefined {
  if (parsedTypes.has(text)) return parsedTypes.get(text);
  if (parsedTypes.size >= parsedMax) parsedTypes.clear();
  const type = parseType(text);
  parsedTypes.set(text, type);
  return type;
}

function push<Key, Each>(map: Map<Key, Each[]>, key: Key, each: Each): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [each]);
  else known.push(each);
}
